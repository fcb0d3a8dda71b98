// SPDX-License-Identifier: Apache-2.0
//
// One try of `search-batch`: runs the command, tells how it ended, and finds in
// its logs how much it got done. Main thread only.
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

// ppi_batch_measure reads the logs in `folder` whose names begin with `prefix`.
// One batch is a step, or a range whose name one of `stages` matches (joined by
// commas; NULL: steps). With `removes` the logs go.
void ppi_batch_measure(const char *folder, const char *prefix,
                       const char *stages, bool removes, ppi_batch_try *out);

// Samples a second; 0: not known.
double ppi_batch_throughput(const ppi_batch_try *try);

#endif  // PPI_BATCH_RUN_H_
