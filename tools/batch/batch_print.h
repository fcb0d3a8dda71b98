// SPDX-License-Identifier: Apache-2.0
//
// Prints the result of a search: as a table, in words, as a curve. Main thread
// only.
#pragma once

#include "batch/batch_curve.h"
#include "cli/options.h"
#include "file/text.h"

typedef struct ppi_batch_result {
  const struct ppi_tool_options *options;
  const ppi_batch_try *tries;  // smallest batch first
  size_t num_tries;
  size_t from;
  uint64_t latency_ns;       // 0: no limit
  bool interrupted, failed;  // by a signal; a try failed
} ppi_batch_result;

// Prints in --format; answers `code`, or the exit code of a failed print.
int ppi_batch_print(const ppi_batch_result *result, int code);
// The curve as one HTML file that needs nothing else.
void ppi_batch_plot(const ppi_batch_result *result, ppi_page *page);
