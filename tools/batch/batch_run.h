// SPDX-License-Identifier: Apache-2.0
//
// Runs one try of `search-batch` and records its result. Main thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ppi_batch_try {
  size_t batch;
  bool started, survived, says_no_memory;
  int interrupted;  // by this signal; 0: no
  // "ok", "exit 3", "signal 9, out of memory", "timed out after 60 s".
  char result[64];
  uint64_t wall_ns;
  // From its logs. The first batch of each run is warm-up and not counted,
  // unless it is the only one.
  size_t num_runs;                // with batches; 0: unknown
  uint64_t num_batches, span_ns;  // the longest of the runs
  uint64_t p50_ns, p99_ns;        // of one batch; of all runs
} ppi_batch_try;

// ppi_batch_run runs `argv` (ends with NULL) with its output on stderr.
// `out->batch` is set. After `limit_ns` (0: none) the command is ended.
void ppi_batch_run(char *const *argv, bool keeps_sigpipe, uint64_t limit_ns,
                   ppi_batch_try *out);
