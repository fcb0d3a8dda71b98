// SPDX-License-Identifier: Apache-2.0
//
// What a search found, for those who show it.
#pragma once

#include "batch/batch_curve.h"
#include "cli/options.h"

typedef struct ppi_batch_result {
  const struct ppi_tool_options *options;
  const ppi_batch_try *tries;  // smallest batch first
  size_t num_tries;
  size_t from;
  uint64_t latency_ns;       // 0: none is asked for
  bool interrupted, failed;  // by a signal; one did not end well
} ppi_batch_result;
