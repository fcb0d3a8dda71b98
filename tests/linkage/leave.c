// SPDX-License-Identifier: Apache-2.0
//
// A program that records to OUTPUT and returns without a stop.
#include <pprof/pprof.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  static pprof_site site = {"left", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}};
  if (argc != 2) return 2;
  setenv("PPROF_OUTPUT", argv[1], 1);
  if (pprof_start(NULL, NULL) != PPROF_STATUS_OK) return 3;
  pprof_mark(&site);
  return 0;
}
