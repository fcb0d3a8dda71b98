// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of CPU times in a range: cpu [REPETITIONS]. Three kinds
// take turns on one thread: pairs of push and pop with a name that the choice
// lists under `cpu`, pairs with another name, and the system calls alone.
#include <string.h>

#include "pprof/mark.h"
#include "pprof/session.h"
#include "rows.h"
#include "session/choice_session.h"
#include "spool/cpu_use.h"
#include "timing.h"

enum { PAIRS = 1000 };

PPROF_SITE(plain, "plain", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(measured, "measured", PPROF_CATEGORY_INFERENCE);

static void run_plain(void) {
  for (int i = 0; i < PAIRS; i++) {
    pprof_push(&plain);
    pprof_pop();
  }
}

static void run_measured(void) {
  for (int i = 0; i < PAIRS; i++) {
    pprof_push(&measured);
    pprof_pop();
  }
}

static void run_calls(void) {
  static ppi_cpu_file file;
  ppi_cpu_use use;
  for (int i = 0; i < PAIRS; i++) {
    ppi_cpu_use_begin(&file, &use);
    ppi_cpu_use_end(&file, &use);
  }
}

typedef struct subject {
  const char *what;
  void (*run)(void);
  double ns[MAX_REPETITIONS];
} subject;

static subject subjects[] = {
    {.what = "cpu, static: push + pop, not listed", .run = run_plain},
    {.what = "cpu, static: push + pop, listed", .run = run_measured},
    {.what = "cpu, static: its system calls alone", .run = run_calls}};
enum { NUM_SUBJECTS = sizeof subjects / sizeof *subjects };

static pprof_status start(pprof_session **out) {
  static const char *const names[] = {"measured"};
  const ppi_choice choice = {.cpu = names, .num_cpu = 1};
  pprof_options options = {.size = sizeof options};
  pprof_status status = pprof_session_create(&options, out, NULL);
  if (status == PPROF_STATUS_OK) status = ppi_session_set_choice(*out, &choice);
  return status == PPROF_STATUS_OK ? pprof_session_start(*out) : status;
}

int main(int argc, char **argv) {
  int repetitions = argc > 1 ? atoi(argv[1]) : 500;
  pprof_session *session = NULL;
  if (repetitions < 1 || repetitions > MAX_REPETITIONS) return 2;
  if (start(&session) != PPROF_STATUS_OK) return 1;
  pin(0);
  print_build("-O2, static");
  printf("medians of %d repetitions of %d pairs, pinned, thread CPU time\n\n",
         repetitions, (int)PAIRS);
  for (int i = 0; i < repetitions; i++) {
    for (int k = 0; k < NUM_SUBJECTS; k++) {
      uint64_t begin_ns = thread_ns();
      subjects[k].run();
      subjects[k].ns[i] = (double)(thread_ns() - begin_ns) / PAIRS;
    }
    if (pprof_session_flush(session) != PPROF_STATUS_OK) return 1;
  }
  pprof_stats stats = {.size = sizeof stats};
  if (pprof_session_stop(session, NULL) != PPROF_STATUS_OK ||
      pprof_session_stats(session, &stats) != PPROF_STATUS_OK || stats.lost)
    return 1;
  pprof_session_destroy(session);
  for (int k = 0; k < NUM_SUBJECTS; k++)
    bench_row(subjects[k].what, median(subjects[k].ns, (size_t)repetitions),
              "ns", 0);
  return 0;
}
