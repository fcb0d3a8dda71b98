// SPDX-License-Identifier: Apache-2.0
//
// A user's C program, built against an installed pprof: OUTPUT. It marks two
// stages, leaves a log at OUTPUT and fails when a marker was lost.
#include <pprof/pprof.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what, const pprof_error *error) {
  fprintf(stderr, "%s: %s\n", what, error->text);
  return 1;
}

int main(int argc, char **argv) {
  pprof_error error = {{0}};
  if (argc != 2) return 2;
  setenv("PPROF_OUTPUT", argv[1], 1);
  if (pprof_start(NULL, &error)) return fail("start", &error);
  for (int i = 0; i < 10; i++) {
    PPROF_SCOPE_CAT("model", PPROF_CATEGORY_INFERENCE);
    PPROF_SCOPE("outside_c");
  }
  pprof_stats stats = {.size = sizeof(stats)};
  if (pprof_session_flush(pprof_session_current())) return 1;
  if (pprof_session_stats(pprof_session_current(), &stats)) return 1;
  if (pprof_stop(&error)) return fail("stop", &error);
  printf("pprof %s lost %llu\n", pprof_version(),
         (unsigned long long)stats.lost);
  return stats.lost ? 1 : 0;
}
