// SPDX-License-Identifier: Apache-2.0
//
// log_dump LOG: prints a log as canonical lines, then how reading it ended.
// Exits 0 when the log is whole, 4 when it is damaged, 3 when it is no log.
#include <stdio.h>

#include "log_lines.h"
#include "pprof/log.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: log_dump LOG\n");
    return 2;
  }
  pprof_sink *lines = log_lines_create(stdout);
  if (!lines) return 3;
  pprof_error error = {{0}};
  pprof_status status = pprof_log_read(argv[1], lines, &error);
  lines->destroy(lines);
  printf("status %s\n", pprof_status_string(status));
  if (status != PPROF_STATUS_OK) fprintf(stderr, "%s\n", error.text);
  if (status == PPROF_STATUS_OK) return 0;
  return status == PPROF_STATUS_CORRUPT ? 4 : 3;
}
