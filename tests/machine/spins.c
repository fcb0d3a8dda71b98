// SPDX-License-Identifier: Apache-2.0
//
// Calls that each use a processor for some milliseconds: spins CALLS MS.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pprof/pprof.h"

static double used_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 3 || pprof_start(NULL, NULL) != PPROF_STATUS_OK) return 1;
  puts("started");
  fflush(stdout);
  for (int i = 0; i < atoi(argv[1]); i++) {
    PPROF_SCOPE("work");
    double end_ms = used_ms() + atof(argv[2]);
    while (used_ms() < end_ms) {
    }
  }
  return pprof_stop(NULL) == PPROF_STATUS_OK ? 0 : 1;
}
