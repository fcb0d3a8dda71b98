// SPDX-License-Identifier: Apache-2.0
//
// Prints the changes of a program over its past, as a table and as SVG.
#pragma once

#include "cli/options.h"
#include "compare/compare_changes.h"
#include "compare/compare_samples.h"
#include "file/text.h"

typedef struct ppi_history_stage {
  const ppi_compare_stage *stage;  // of one of the points
  ppi_past_run *runs;
  size_t num_runs, capacity;
  ppi_change changes[PPI_MOST_CHANGES];
  bool is_new[PPI_MOST_CHANGES];  // not found without the last point
  size_t num_changes;
} ppi_history_stage;

// All pointers are borrowed.
typedef struct ppi_history {
  const struct ppi_tool_options *options;
  const char *const *points;  // their names
  size_t num_points;
  const ppi_history_stage *stages;
  size_t num_stages;
  ppi_metric metric;
} ppi_history;

// Answers `code`, or PPI_EXIT_USAGE if a write failed.
int ppi_history_print(const ppi_history *history, int code);

void ppi_history_plot(const ppi_history *history, ppi_page *page);
