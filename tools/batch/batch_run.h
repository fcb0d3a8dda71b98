// SPDX-License-Identifier: Apache-2.0
//
// One try of `search-batch`: runs the command and tells how it ended. Main
// thread only.
#ifndef PPI_BATCH_RUN_H_
#define PPI_BATCH_RUN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ppi_batch_try {
  size_t batch;
  bool started, survived, interrupted;
  char result[64];  // "ok", "exit 3", "signal 9, out of memory"
  uint64_t wall_ns;
  // From its logs. The first batch of each run is warm-up and not counted,
  // unless it is the only one.
  size_t num_runs;                // that have batches; 0: nothing is known
  uint64_t num_batches, span_ns;  // the longest of the runs
} ppi_batch_try;

// ppi_batch_run runs `argv` (ends with NULL) with its output on stderr.
// `out->batch` is set.
void ppi_batch_run(char *const *argv, bool keeps_sigpipe, ppi_batch_try *out);

#endif  // PPI_BATCH_RUN_H_
