// SPDX-License-Identifier: Apache-2.0
//
// A user's C++ program, built against an installed pprof: OUTPUT. It marks from
// two threads and leaves a log at OUTPUT.
#include <pprof/pprof.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

static void work() {
  for (int i = 0; i < 10; i++) {
    PPROF_SCOPE_CAT("model", PPROF_CATEGORY_INFERENCE);
    PPROF_SCOPE("outside_cc");
  }
}

int main(int argc, char **argv) {
  pprof_error error = {};
  if (argc != 2) return 2;
  setenv("PPROF_OUTPUT", argv[1], 1);
  pprof_status status = pprof_start(nullptr, &error);
  if (status == PPROF_STATUS_OK) {
    std::thread other(work);
    work();
    other.join();
    status = pprof_stop(&error);
  }
  if (status == PPROF_STATUS_OK) return 0;
  std::fprintf(stderr, "%s: %s\n", pprof_status_string(status), error.text);
  return 1;
}
