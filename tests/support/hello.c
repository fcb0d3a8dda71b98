// SPDX-License-Identifier: Apache-2.0
//
// Runs the smallest instrumented program: three frames, two stages each. It
// leaves a log; `pprof-report LOG` prints its tables.
#include "pprof/pprof.h"

int main(void) {
  volatile double sum = 0;
  if (pprof_start(NULL, NULL) != PPROF_STATUS_OK) return 1;
  for (int frame = 0; frame < 3; frame++) {
    PPROF_SCOPE_CAT("frame", PPROF_CATEGORY_INFERENCE);
    for (int i = 0; i < 1000000; i++) sum += i;
    PPROF_SCOPE("postprocess");
    for (int i = 0; i < 500000; i++) sum -= i;
    pprof_step(1);
  }
  return pprof_stop(NULL) == PPROF_STATUS_OK && sum > 0 ? 0 : 1;
}
