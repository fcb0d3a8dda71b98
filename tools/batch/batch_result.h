// SPDX-License-Identifier: Apache-2.0
//
// The result of a search, as printed and drawn.
#pragma once

#include "batch/batch_curve.h"
#include "cli/options.h"

typedef struct ppi_batch_result {
  const struct ppi_tool_options *options;
  const ppi_batch_try *tries;  // smallest batch first
  size_t num_tries;
  size_t from;
  uint64_t latency_ns;       // 0: no limit
  bool interrupted, failed;  // by a signal; a try failed
} ppi_batch_result;
