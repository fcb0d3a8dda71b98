// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of recorded waits: waits [REPETITIONS]. A lock and an
// unlock without contention go through the C library's functions, and through
// the wrappers in front of them with recording off and on. A recorded wait is
// set against a range around the same stretch of time. All kinds take turns on
// one thread.
#include <pthread.h>

#include "pprof/session.h"
#include "real.h"
#include "rows.h"
#include "timing.h"
#include "waits/waits.h"

enum { PAIRS = 1000, SPIN_NS = 1100 };

PPROF_SITE(plain, "plain", PPROF_CATEGORY_INFERENCE);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t spin_ticks;

static void run_c_library(void) {
  const ppi_reals *real = ppi_real();
  for (int i = 0; i < PAIRS; i++) {
    real->pthread_mutex_lock(&mutex);
    real->pthread_mutex_unlock(&mutex);
  }
}

static void run_in_front(void) {
  for (int i = 0; i < PAIRS; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

static void spin(void) {
  uint64_t begin = ppi_clock_ticks();
  while (ppi_clock_ticks() - begin < spin_ticks) {
  }
}

static void run_spin(void) {
  for (int i = 0; i < PAIRS; i++) spin();
}

static void run_range(void) {
  for (int i = 0; i < PAIRS; i++) {
    pprof_push(&plain);
    spin();
    pprof_pop();
  }
}

static void run_wait(void) {
  static int object;
  for (int i = 0; i < PAIRS; i++) {
    pprof_wait_ wait;
    bool begun = pprof_wait_begin_(&wait, &object, PPI_WAIT_MUTEX, &object);
    spin();
    if (begun) pprof_wait_end_(&wait, false);
  }
}

enum { C_LIBRARY, OFF, ON, SPIN, RANGE, WAIT, NUM_SUBJECTS };
static struct {
  void (*run)(void);
  double ns[MAX_REPETITIONS];
} subjects[NUM_SUBJECTS] = {{.run = run_c_library}, {.run = run_in_front},
                            {.run = run_in_front},  {.run = run_spin},
                            {.run = run_range},     {.run = run_wait}};

static void measure(int repetition) {
  for (int k = 0; k < NUM_SUBJECTS; k++) {
    ppi_waits_set(k == ON, false);
    uint64_t begin_ns = thread_ns();
    subjects[k].run();
    subjects[k].ns[repetition] = (double)(thread_ns() - begin_ns) / PAIRS;
  }
}

static double cost_of(int subject, int beside, int repetitions) {
  for (int i = 0; i < repetitions; i++)
    subjects[subject].ns[i] -= subjects[beside].ns[i];
  return median(subjects[subject].ns, (size_t)repetitions);
}

static void print_rows(int repetitions) {
  double off = cost_of(OFF, C_LIBRARY, repetitions);
  double on = cost_of(ON, C_LIBRARY, repetitions);
  double range = cost_of(RANGE, SPIN, repetitions);
  double wait = cost_of(WAIT, SPIN, repetitions);
  bench_row("waits: lock + unlock",
            median(subjects[C_LIBRARY].ns, (size_t)repetitions), "ns", 0);
  bench_row("waits: more, preloaded and off", off, "ns", 1);
  bench_row("waits: more, recorded, without contention", on, "ns", 5);
  bench_row("waits: a range", range, "ns", 0);
  bench_row("waits: a wait, beside its two records", wait - 2 * range, "ns",
            150);
}

int main(int argc, char **argv) {
  int repetitions = argc > 1 ? atoi(argv[1]) : 500;
  pprof_session *session = NULL;
  pprof_options options = {.size = sizeof options};
  if (repetitions < 1 || repetitions > MAX_REPETITIONS) return 2;
  if (pprof_session_create(&options, &session, NULL) != PPROF_STATUS_OK ||
      pprof_session_start(session) != PPROF_STATUS_OK)
    return 1;
  spin_ticks = ppi_clock_state.ticks_per_second / 1000000000.0 * SPIN_NS;
  pin(0);
  print_build("-O2, static");
  printf("medians of %d repetitions of %d pairs, pinned, thread CPU time\n\n",
         repetitions, (int)PAIRS);
  pprof_push(&plain);
  for (int i = 0; i < repetitions; i++) {
    measure(i);
    if (pprof_session_flush(session) != PPROF_STATUS_OK) return 1;
  }
  pprof_pop();
  pprof_stats stats = {.size = sizeof stats};
  if (pprof_session_stop(session, NULL) != PPROF_STATUS_OK ||
      pprof_session_stats(session, &stats) != PPROF_STATUS_OK || stats.lost)
    return 1;
  pprof_session_destroy(session);
  print_rows(repetitions);
  return 0;
}
