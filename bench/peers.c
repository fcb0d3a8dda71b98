// SPDX-License-Identifier: Apache-2.0
//
// Times one pair of markers in each of several libraries, with equal bodies,
// against the floor of the same repetition: peers LOG [REPETITIONS]. It also
// prints the expected content of each library's output; peers.py, which starts
// LTTng, counts it.
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "peers_lttng.h"
#include "pprof/log.h"
#include "pprof/mark.h"
#include "pprof/session.h"
#include "rows.h"
#include "tests/nvtx/client.h"
#include "timing.h"

PPROF_SITE(stage, "stage_decode", PPROF_CATEGORY_USER_DEFINED);

#define BARRIER() __asm__ volatile("" ::: "memory")

static void run_clock(void) {
  static __thread struct timespec record[64][2];
  for (unsigned i = 0; i < BURST; i++) {
    clock_gettime(CLOCK_MONOTONIC, &record[i % 64][0]);
    BARRIER();
    clock_gettime(CLOCK_MONOTONIC, &record[i % 64][1]);
    BARRIER();
  }
}

static void run_nvtx(void) {
  for (int i = 0; i < BURST; i++) {
    nvtxRangePushA("stage_decode");
    BARRIER();
    nvtxRangePop();
    BARRIER();
  }
}

static void run_lttng(void) {
  for (int i = 0; i < BURST; i++) {
    lttng_ust_tracepoint(pprof_bench, stage_begin);
    BARRIER();
    lttng_ust_tracepoint(pprof_bench, stage_end);
    BARRIER();
  }
}

static void run_scope(void) {
  for (int i = 0; i < BURST; i++) {
    PPROF_SCOPE("stage_decode");
    BARRIER();
  }
}

static void run_push_pop(void) {
  for (int i = 0; i < BURST; i++) {
    pprof_push(&stage);
    BARRIER();
    pprof_pop();
    BARRIER();
  }
}

typedef struct peer {
  const char *name;
  void (*run)(void);
  int ranges;  // what one pair leaves in our log
} peer;
static const peer peers[] = {
    {"floor", run_floor, 0},
    {"two reads of clock_gettime", run_clock, 0},
    {"NVTX without a tool", run_nvtx, 0},
    {"LTTng-UST, session running", run_lttng, 0},
    {"pprof, scope, log on disk", run_scope, 1},
    {"pprof, push and pop, log on disk", run_push_pop, 1},
};
enum { NUM_PEERS = sizeof peers / sizeof *peers };

typedef struct bench_run {
  int num_threads, repetitions;
  pprof_session *session;
  pthread_barrier_t barrier;
  double *ns[NUM_PEERS];  // by thread, repetition
} bench_run;

typedef struct worker {
  bench_run *bench;
  int number;
  pthread_t thread;
} worker;

// Repetition -1 warms up. Our collector works outside the timed part; LTTng's
// consumer is a process of its own.
static void *work(void *argument) {
  const worker *self = argument;
  bench_run *bench = self->bench;
  pin(self->number);
  for (int i = -1; i < bench->repetitions; i++)
    for (int k = 0; k < NUM_PEERS; k++) {
      pthread_barrier_wait(&bench->barrier);
      uint64_t start = thread_ns();
      peers[k].run();
      uint64_t ns = thread_ns() - start;
      pthread_barrier_wait(&bench->barrier);
      if (i >= 0)
        bench->ns[k][self->number * bench->repetitions + i] =
            (double)ns / BURST;
      if (self->number == 0 && peers[k].ranges &&
          pprof_session_flush(bench->session) != PPROF_STATUS_OK)
        exit(1);
    }
  return NULL;
}

static void *allocate(size_t num, size_t size) {
  void *memory = calloc(num, size);
  if (!memory) exit(1);
  return memory;
}

static void report(const bench_run *bench) {
  size_t num = (size_t)bench->num_threads * (size_t)bench->repetitions;
  double *ratios = allocate(num, sizeof *ratios);
  for (int k = 1; k < NUM_PEERS; k++) {
    for (size_t i = 0; i < num; i++)
      ratios[i] = bench->ns[k][i] / bench->ns[0][i];
    char what[96];
    snprintf(what, sizeof what, "%s, %d thread%s", peers[k].name,
             bench->num_threads, bench->num_threads > 1 ? "s" : "");
    bench_row(what, median(ratios, num), "x floor", 0);
  }
  free(ratios);
}

static void measure(bench_run *bench) {
  worker workers[MAX_THREADS];
  size_t num = (size_t)bench->num_threads * (size_t)bench->repetitions;
  for (int k = 0; k < NUM_PEERS; k++)
    bench->ns[k] = allocate(num, sizeof *bench->ns[k]);
  pthread_barrier_init(&bench->barrier, NULL, (unsigned)bench->num_threads);
  for (int i = 0; i < bench->num_threads; i++) {
    workers[i] = (worker){.bench = bench, .number = i};
    // A thread less would wait at the barrier for ever.
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) exit(1);
  }
  for (int i = 0; i < bench->num_threads; i++)
    pthread_join(workers[i].thread, NULL);
  pthread_barrier_destroy(&bench->barrier);
  report(bench);
  for (int k = 0; k < NUM_PEERS; k++) free(bench->ns[k]);
}

static pprof_session *start_session(const char *path) {
  pprof_session *session = NULL;
  pprof_sink *log = NULL;
  pprof_error error = {""};
  if (pprof_session_create(NULL, &session, &error) != PPROF_STATUS_OK ||
      pprof_log_writer_create(path, &log, &error) != PPROF_STATUS_OK ||
      pprof_session_add_sink(session, log) != PPROF_STATUS_OK ||
      pprof_session_start(session) != PPROF_STATUS_OK) {
    fprintf(stderr, "peers: no session: %s\n", error.text);
    exit(1);
  }
  return session;
}

int main(int argc, char **argv) {
  long asked = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
  if (argc < 2 || argc > 3 || asked < 1 || asked > MAX_REPETITIONS) {
    fprintf(stderr, "usage: peers LOG [REPETITIONS, at most %d]\n",
            MAX_REPETITIONS);
    return 2;
  }
  bench_run bench = {.repetitions = (int)asked};
  bench.session = start_session(argv[1]);
  uint64_t pairs = 0;
  for (bench.num_threads = 1; bench.num_threads <= 2; bench.num_threads++) {
    measure(&bench);
    pairs += (uint64_t)(asked + 1) * BURST * (uint64_t)bench.num_threads;
  }
  pprof_status status = pprof_session_stop(bench.session, NULL);
  pprof_session_destroy(bench.session);
  printf("pairs\t%" PRIu64 "\n", pairs);
  return status == PPROF_STATUS_OK ? 0 : 1;
}
