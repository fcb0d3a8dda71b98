// SPDX-License-Identifier: Apache-2.0
//
// A call for each line of the standard input, which uses a processor for some
// milliseconds, hands over what is recorded, and answers with a line: spins MS.
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
  if (argc != 2 || pprof_start(NULL, NULL) != PPROF_STATUS_OK) return 1;
  setlinebuf(stdout);
  puts("started");
  while (getchar() == '\n') {
    PPROF_SCOPE("work");
    double end_ms = used_ms() + atof(argv[1]);
    while (used_ms() < end_ms) {
    }
    pprof_session_flush(pprof_session_current());
    puts("called");
  }
  return pprof_stop(NULL) == PPROF_STATUS_OK ? 0 : 1;
}
