// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of a marker as a program grows: growth [REPETITIONS]. It
// varies threads from 1 to 64 on the CPUs at hand, sites from 1 to 50 000 in
// turns, and depth from 1 to 200. It also measures a thread's first marker, and
// the memory of 10 000 threads that come and go. Figures are medians of the
// marking thread's CPU time for one pair. Each is set against the smallest of
// its kind in the same repetition.
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/mark.h"
#include "pprof/session.h"
#include "rows.h"
#include "timing.h"

enum {
  MAX_THREADS_HERE = 64,
  MAX_SITES = 50000,
  MAX_DEPTH = 200,
  SHORT_THREADS = 10000,
  PAIRS = BURST,
  MOST = 8,
};

static pprof_site sites[MAX_SITES];
static char names[MAX_SITES][12];
static pprof_session *session;
static uint64_t recorded, failures;

static void must(bool done, const char *what) {
  if (done) return;
  fprintf(stderr, "growth: %s\n", what);
  exit(1);
}

static void drain(void) {
  if (pprof_session_flush(session) != PPROF_STATUS_OK) failures++;
}

static void discard(pprof_sink *sink) {
  (void)sink;
}

static void start(void) {
  static pprof_sink sink = {.size = sizeof sink, .destroy = discard};
  must(pprof_session_create(NULL, &session, NULL) == PPROF_STATUS_OK &&
           pprof_session_add_sink(session, &sink) == PPROF_STATUS_OK &&
           pprof_session_start(session) == PPROF_STATUS_OK,
       "no session starts");
}

static void stop(void) {
  pprof_stats stats = {.size = sizeof stats};
  must(pprof_session_stop(session, NULL) == PPROF_STATUS_OK, "it did not stop");
  pprof_session_stats(session, &stats);
  if (stats.recorded != recorded || stats.lost) {
    fprintf(stderr,
            "growth: %" PRIu64 " recorded, %" PRIu64 " lost, %" PRIu64
            " expected\n",
            stats.recorded, stats.lost, recorded);
    failures++;
  }
  pprof_session_destroy(session);
}

// Pairs of the first `num` sites in turns, going on where the last call ended.
// Answers ns for one.
static double run_sites(unsigned num) {
  static unsigned at;
  uint64_t from = thread_ns();
  for (int i = 0; i < PAIRS; i++) {
    if (++at >= num) at = 0;
    pprof_push(&sites[at]);
    pprof_pop();
  }
  uint64_t ns = thread_ns() - from;
  recorded += PAIRS;
  drain();
  return (double)ns / PAIRS;
}

static double run_depth(unsigned depth) {
  for (unsigned i = 1; i < depth; i++) pprof_push(&sites[i]);
  uint64_t from = thread_ns();
  for (int i = 0; i < PAIRS; i++) {
    pprof_push(&sites[0]);
    pprof_pop();
  }
  uint64_t ns = thread_ns() - from;
  for (unsigned i = 1; i < depth; i++) pprof_pop();
  recorded += PAIRS + depth - 1;
  drain();
  return (double)ns / PAIRS;
}

typedef struct crew {
  pthread_barrier_t barrier;
  unsigned num;
  int rounds;
  double ns[MAX_THREADS_HERE];  // of a pair: the thread's median round
} crew;

typedef struct member {
  crew *team;
  unsigned number;
  pthread_t thread;
} member;

static void *run_member(void *argument) {
  const member *self = argument;
  crew *team = self->team;
  double *rounds = calloc((size_t)team->rounds, sizeof *rounds);
  must(rounds != NULL, "no memory");
  pin((int)self->number);
  for (int r = -1; r < team->rounds; r++) {
    pthread_barrier_wait(&team->barrier);
    uint64_t from = thread_ns();
    for (int i = 0; i < PAIRS; i++) {
      pprof_push(&sites[0]);
      pprof_pop();
    }
    if (r >= 0) rounds[r] = (double)(thread_ns() - from) / PAIRS;
    pthread_barrier_wait(&team->barrier);
    if (self->number == 0) drain();
  }
  team->ns[self->number] = median(rounds, (size_t)team->rounds);
  free(rounds);
  return NULL;
}

static double run_threads(unsigned num, int rounds) {
  static crew team;
  static member members[MAX_THREADS_HERE];
  team.num = num;
  team.rounds = rounds;
  pthread_barrier_init(&team.barrier, NULL, num);
  for (unsigned i = 0; i < num; i++) {
    members[i] = (member){.team = &team, .number = i};
    must(pthread_create(&members[i].thread, NULL, run_member, &members[i]) == 0,
         "no thread");
  }
  for (unsigned i = 0; i < num; i++) pthread_join(members[i].thread, NULL);
  pthread_barrier_destroy(&team.barrier);
  recorded += (uint64_t)num * PAIRS * (uint64_t)(rounds + 1);
  return median(team.ns, num);
}

// Times a thread's first pair, and the median of later ones for comparison.
static void *time_first(void *argument) {
  double *first_and_later = argument, later[101];
  for (int i = -1; i < 101; i++) {
    uint64_t from = ppi_clock_counter();
    pprof_push(&sites[0]);
    pprof_pop();
    double ticks = (double)(ppi_clock_counter() - from);
    if (i < 0)
      first_and_later[0] = ticks;
    else
      later[i] = ticks;
  }
  first_and_later[1] = median(later, 101);
  return NULL;
}

static double run_first(int repetitions) {
  double *ratios = calloc((size_t)repetitions, sizeof *ratios);
  must(ratios != NULL, "no memory");
  for (int r = 0; r < repetitions; r++) {
    double ticks[2];
    pthread_t thread;
    must(pthread_create(&thread, NULL, time_first, ticks) == 0, "no thread");
    pthread_join(thread, NULL);
    ratios[r] = ticks[0] / ticks[1];
    recorded += 102;
    drain();
  }
  double result = median(ratios, (size_t)repetitions);
  printf("a thread's first pair: %.0f times a later one, at most %.0f\n",
         result, ratios[repetitions - 1]);
  free(ratios);
  return result;
}

static long resident_kib(void) {
  char line[128];
  long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  if (file) fclose(file);
  return kib;
}

static void *mark_once(void *argument) {
  (void)argument;
  pprof_push(&sites[0]);
  pprof_pop();
  return NULL;
}

// The bytes that a thread which came and went leaves: its row's name and
// totals.
static double run_short_threads(void) {
  long before = 0;
  for (int i = 0; i < SHORT_THREADS; i++) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, mark_once, NULL) == 0, "no thread");
    pthread_join(thread, NULL);
    if (i % 100 == 99) drain();
    if (i == SHORT_THREADS / 10) before = resident_kib();
  }
  recorded += SHORT_THREADS;
  long after = resident_kib();
  printf("%d short threads: %ld KiB resident after a tenth, %ld after all\n",
         SHORT_THREADS, before, after);
  return (double)(after - before) * 1024 / (SHORT_THREADS - SHORT_THREADS / 10);
}

typedef double (*measure)(unsigned size);

// Medians of the sizes' ratios to the first in the same repetition.
static void grow(const char *what, measure run, const unsigned *sizes,
                 int repetitions) {
  double *ns[MOST], *ratios[MOST];
  int num = 0;
  char row[64];
  while (num < MOST && sizes[num]) num++;
  for (int s = 0; s < num; s++) {
    ns[s] = calloc((size_t)repetitions, sizeof *ns[s]);
    ratios[s] = calloc((size_t)repetitions, sizeof *ratios[s]);
    must(ns[s] && ratios[s], "no memory");
    run(sizes[s]);
  }
  for (int r = 0; r < repetitions; r++)
    for (int s = 0; s < num; s++) {
      ns[s][r] = run(sizes[s]);
      ratios[s][r] = ns[s][r] / ns[0][r];
    }
  for (int s = 0; s < num; s++) {
    double ratio = median(ratios[s], (size_t)repetitions);
    printf("%-8s %6u %9.2f ns %7.2f\n", what, sizes[s],
           median(ns[s], (size_t)repetitions), ratio);
    snprintf(row, sizeof row, "a pair, static, %u %s to %u", sizes[s], what,
             sizes[0]);
    if (s) bench_row(row, ratio, "x", 1.10);
    free(ns[s]);
    free(ratios[s]);
  }
}

static double run_some_threads(unsigned num) {
  return run_threads(num, 5);
}

int main(int argc, char **argv) {
  static const unsigned threads[] = {1, 2, 4, 16, 64, 0};
  static const unsigned num_sites[] = {1, 100, 1000, 10000, 50000, 0};
  static const unsigned depths[] = {1, 10, 50, 200, 0};
  int repetitions = argc > 1 ? atoi(argv[1]) : 25;
  if (repetitions < 1 || repetitions > MAX_REPETITIONS) return 2;
  char build[64];
  snprintf(build, sizeof build, "pprof %s", pprof_version());
  print_machine(build, repetitions);
  for (int i = 0; i < MAX_SITES; i++) {
    snprintf(names[i], sizeof names[i], "site %d", i);
    sites[i] = (pprof_site){names[i], 0, 0, 0, {0, 0}};
  }
  start();
  // Every site is known before it is timed.
  for (int i = 0; i < MAX_SITES; i++) {
    pprof_push(&sites[i]);
    pprof_pop();
    if (i % PAIRS == 0) drain();
  }
  recorded += MAX_SITES;
  drain();
  grow("threads", run_some_threads, threads, repetitions);
  grow("sites", run_sites, num_sites, repetitions);
  grow("deep", run_depth, depths, repetitions);
  double first = run_first(repetitions);
  double left = run_short_threads();
  stop();
  bench_row("a thread's first pair to a later one, static", first, "x", 1000);
  bench_row("what a thread leaves behind, static", left, "bytes", 512);
  return failures ? 1 : 0;
}
