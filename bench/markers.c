// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of each marker: markers [REPETITIONS]. The floor is the
// least that any recorder does: two clock reads and two 16-byte stores, timed
// in the same repetition. The figures are medians.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/mark.h"
#include "pprof/session.h"
#include "rows.h"
#include "timing.h"

enum { MAX_KINDS = 10 };

PPROF_SITE(site, "bench", PPROF_CATEGORY_USER_DEFINED);

static void run_empty(void) {
  for (int i = 0; i < BURST; i++) __asm__ volatile("");
}

static void run_scope(void) {
  for (int i = 0; i < BURST; i++) {
    PPROF_SCOPE("scope");
  }
}

static void run_push_pop(void) {
  for (int i = 0; i < BURST; i++) {
    pprof_push(&site);
    pprof_pop();
  }
}

static void run_nested(void) {
  pprof_push(&site);
  run_push_pop();
  pprof_pop();
}

static void run_push_name(void) {
  for (int i = 0; i < BURST; i++) {
    pprof_push_name("a name of 21 letters.", PPROF_CATEGORY_USER_DEFINED);
    pprof_pop();
  }
}

static void run_range(void) {
  for (int i = 0; i < BURST / 2; i++) pprof_range_end(pprof_range_begin(&site));
}

static void run_mark(void) {
  for (int i = 0; i < BURST; i++) pprof_mark(&site);
}

// The least that peers do: one call for each end, which looks at a flag and at
// the room of the thread's ring, and publishes a record of 16 bytes. A ring
// holds a burst and is emptied after it.
enum { PEER_ROOM = 4096 };
static atomic_bool peer_is_on = true;
static __thread struct {
  uint64_t records[PEER_ROOM][2];
  _Atomic uint64_t head;
  uint64_t tail;
} peer_ring;

__attribute__((noinline)) static void peer_record(uint64_t what) {
  if (!atomic_load_explicit(&peer_is_on, memory_order_relaxed)) return;
  uint64_t head = atomic_load_explicit(&peer_ring.head, memory_order_relaxed);
  if (head - peer_ring.tail == PEER_ROOM) return;
  uint64_t *slot = peer_ring.records[head % PEER_ROOM];
  slot[0] = ppi_clock_counter();
  slot[1] = what;
  atomic_store_explicit(&peer_ring.head, head + 1, memory_order_release);
}

static void run_peer(void) {
  for (int i = 0; i < BURST; i++) {
    peer_record((uintptr_t)&site);
    peer_record(0);
  }
  peer_ring.tail = peer_ring.head;
}

typedef struct kind {
  const char *name;
  void (*run)(void);
  unsigned num;       // pairs in a burst
  bool recorded;      // in a session; else while none runs
  double amd, intel;  // bounds, x floor; 0: none
} kind;
#if defined PPROF_BENCH_SHARED
#define PAIR_BOUND 1.15
#else
#define PAIR_BOUND 1.10
#endif

static const kind kinds[] = {
    {"floor", run_floor, BURST, false, 0, 0},
    {"empty loop", run_empty, BURST, false, 0, 0},
    {"scope, off", run_scope, BURST, false, 0, 0},
    {"the least that a peer does", run_peer, BURST, false, 0, 0},
    {"scope", run_scope, BURST, true, 1.05, PAIR_BOUND},
    {"push, pop", run_push_pop, BURST, true, 1.05, PAIR_BOUND},
    {"push, pop in a range", run_nested, BURST + 1, true, 1.05, PAIR_BOUND},
    {"push_name(21), pop", run_push_name, BURST, true, 1.15, 1.30},
    {"range_begin, end", run_range, BURST / 2, true, 1.3, 2.0},
    {"mark", run_mark, BURST, true, 0, 0},
};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

// Medians of one way to run.
typedef struct column {
  double ns[MAX_KINDS], ratio[MAX_KINDS];
} column;

typedef struct bench_run {
  int num_threads, repetitions;
  pthread_barrier_t barrier;
  pprof_session *session;
  uint64_t failed_flushes;
  // By kind, thread, repetition.
  double *ns[MAX_KINDS];
} bench_run;

typedef struct worker {
  bench_run *bench;
  int number;
  pthread_t thread;
} worker;

static void measure(const worker *self, int k, int repetition) {
  bench_run *bench = self->bench;
  pthread_barrier_wait(&bench->barrier);
  uint64_t start = thread_ns();
  kinds[k].run();
  uint64_t ns = thread_ns() - start;
  pthread_barrier_wait(&bench->barrier);
  if (repetition >= 0)
    bench->ns[k][self->number * bench->repetitions + repetition] =
        (double)ns / kinds[k].num;
  if (self->number == 0 && kinds[k].recorded &&
      pprof_session_flush(bench->session) != PPROF_STATUS_OK)
    bench->failed_flushes++;
}

// The kinds that need no session come first, in the same repetition of the
// same run: the session is started after them and stays for the others.
static void *work(void *argument) {
  const worker *self = argument;
  bench_run *bench = self->bench;
  pin(self->number);
  // Repetition -1 warms up.
  for (int i = -1; i < bench->repetitions; i++)
    for (int k = 0; k < NUM_KINDS; k++)
      if (kinds[k].recorded == (bench->session != NULL) || k == 0)
        measure(self, k, i);
  return NULL;
}

static bool run_threads(bench_run *bench) {
  worker workers[MAX_THREADS];
  pthread_barrier_init(&bench->barrier, NULL, (unsigned)bench->num_threads);
  int num = 0;
  for (; num < bench->num_threads; num++) {
    workers[num] = (worker){.bench = bench, .number = num};
    if (pthread_create(&workers[num].thread, NULL, work, &workers[num])) break;
  }
  // A thread less would wait at the barrier for ever.
  if (num < bench->num_threads) exit(1);
  for (int i = 0; i < num; i++) pthread_join(workers[i].thread, NULL);
  pthread_barrier_destroy(&bench->barrier);
  return bench->failed_flushes == 0;
}

static void summarise(const bench_run *bench, bool in_session, column *out) {
  size_t num = (size_t)bench->num_threads * (size_t)bench->repetitions;
  double *ratios = calloc(num, sizeof *ratios);
  if (!ratios) exit(1);
  for (int k = NUM_KINDS - 1; k >= 0; k--) {
    if (kinds[k].recorded != in_session && k != 0) continue;
    for (size_t i = 0; i < num; i++)
      ratios[i] = bench->ns[k][i] / bench->ns[0][i];
    out->ratio[k] = median(ratios, num);
    if (k != 0) out->ns[k] = median(bench->ns[k], num);
  }
  out->ns[0] = median(bench->ns[0], num);
  free(ratios);
}

static void discard(pprof_sink *sink) {
  free(sink);
}

static pprof_session *start_session(void) {
  pprof_session *session = NULL;
  pprof_error error = {""};
  pprof_sink *sink = calloc(1, sizeof *sink);
  if (!sink) return NULL;
  sink->size = sizeof *sink;
  sink->destroy = discard;
  if (pprof_session_create(NULL, &session, &error) != PPROF_STATUS_OK) {
    free(sink);
    return NULL;
  }
  if (pprof_session_add_sink(session, sink) != PPROF_STATUS_OK)
    free(sink);
  else if (pprof_session_start(session) == PPROF_STATUS_OK)
    return session;
  pprof_session_destroy(session);
  return NULL;
}

// Every marker is in the session's count, and none was lost.
static bool counts_agree(const bench_run *bench) {
  uint64_t expected = 0;
  for (int k = 0; k < NUM_KINDS; k++)
    if (kinds[k].recorded) expected += kinds[k].num;
  expected *= (uint64_t)(bench->repetitions + 1) * (uint64_t)bench->num_threads;
  pprof_stats stats = {.size = sizeof stats};
  pprof_session_stats(bench->session, &stats);
  if (stats.recorded == expected && stats.lost == 0) return true;
  fprintf(stderr,
          "markers: %" PRIu64 " recorded, %" PRIu64 " lost, %" PRIu64
          " expected\n",
          stats.recorded, stats.lost, expected);
  return false;
}

static bool run_column(int num_threads, int repetitions, column *out) {
  bench_run bench = {.num_threads = num_threads, .repetitions = repetitions};
  size_t num = (size_t)num_threads * (size_t)repetitions;
  for (int k = 0; k < NUM_KINDS; k++)
    if (!(bench.ns[k] = calloc(num, sizeof *bench.ns[k]))) return false;
  bool ok = run_threads(&bench);
  summarise(&bench, false, out);
  bench.session = start_session();
  if (bench.session) {
    ok = run_threads(&bench) && ok;
    ok = pprof_session_stop(bench.session, NULL) == PPROF_STATUS_OK && ok;
    ok = counts_agree(&bench) && ok;
    pprof_session_destroy(bench.session);
    summarise(&bench, true, out);
  } else {
    fprintf(stderr, "markers: no session starts\n");
    ok = false;
  }
  for (int k = 0; k < NUM_KINDS; k++) free(bench.ns[k]);
  return ok;
}

static uint64_t num_lost(pprof_session *session) {
  pprof_stats stats = {.size = sizeof stats};
  pprof_session_flush(session);
  pprof_session_stats(session, &stats);
  return stats.lost;
}

static bool compare_lost(int repetitions, double *ratios,
                         pprof_session *session) {
  enum { MORE_THAN_A_TABLE = 100000 };
  for (int i = 0; i < MORE_THAN_A_TABLE; i++) pprof_range_begin(&site);
  uint64_t before = num_lost(session);
  for (int i = 0; i < repetitions; i++) {
    uint64_t start = thread_ns();
    run_floor();
    uint64_t between = thread_ns();
    run_range();
    uint64_t end = thread_ns();
    ratios[i] = 2 * (double)(end - between) / (double)(between - start);
  }
  return num_lost(session) - before == (uint64_t)repetitions * (BURST / 2);
}

// A range for which there is no place any more; 0: it could not be measured.
static double lost_ratio(int repetitions) {
  double ratio = 0, *ratios = calloc((size_t)repetitions, sizeof *ratios);
  pprof_session *session = ratios ? start_session() : NULL;
  if (session && compare_lost(repetitions, ratios, session))
    ratio = median(ratios, (size_t)repetitions);
  pprof_session_destroy(session);
  free(ratios);
  return ratio;
}

#if defined PPROF_BENCH_SHARED
#define LINKAGE "libpprof.so"
#elif defined PPROF_BENCH_LTO
#define LINKAGE "static with LTO"
#else
#define LINKAGE "static"
#endif

static void print_table(const column *one, const column *two) {
  printf("%-26s %17s %19s\n", "", "1 thread", "2 threads");
  printf("%-26s %9s %7s %11s %7s\n", "a pair", "ns", "ratio", "ns", "ratio");
  for (int k = 0; k < NUM_KINDS; k++)
    printf("%-26s %9.2f %7.2f %11.2f %7.2f\n", kinds[k].name, one->ns[k],
           one->ratio[k], two->ns[k], two->ratio[k]);
}

static void print_rows(const column *one, const column *two, double lost) {
  char what[128];
  enum { EMPTY = 1, OFF = 2, PEER = 3 };
  bench_row("scope off, over an empty loop, " LINKAGE,
            one->ns[OFF] - one->ns[EMPTY], "ns", 0.1);
  for (int k = 0; k < NUM_KINDS; k++) {
    if (!kinds[k].recorded && k != PEER) continue;
    const column *columns[] = {one, two};
    for (int i = 0; i < 2; i++) {
      snprintf(what, sizeof what, "%s, " LINKAGE ", %d thread%s", kinds[k].name,
               i + 1, i ? "s" : "");
      bench_row(what, columns[i]->ratio[k], "x floor",
                bench_bound(kinds[k].amd, kinds[k].intel));
    }
  }
  bench_row("range_begin, end, lost, " LINKAGE, lost, "x floor",
            bench_bound(1.1, 1.3));
}

int main(int argc, char **argv) {
  long asked = argc > 1 ? strtol(argv[1], NULL, 10) : 500;
  if (argc > 2 || asked < 1 || asked > MAX_REPETITIONS) {
    fprintf(stderr, "usage: markers [REPETITIONS, at most %d]\n",
            MAX_REPETITIONS);
    return 2;
  }
  int repetitions = (int)asked;
  column one = {{0}, {0}}, two = one;
  char build[64];
  snprintf(build, sizeof build, LINKAGE ", pprof %s", pprof_version());
  print_machine(build, repetitions);
  bool ok = run_column(1, repetitions, &one);
  ok = run_column(2, repetitions, &two) && ok;
  double lost = lost_ratio(repetitions);
  ok = ok && lost > 0;
  print_table(&one, &two);
  printf("%-20s %17.2f\n", "the same, lost", lost);
  print_rows(&one, &two, lost);
  return ok ? 0 : 1;
}
