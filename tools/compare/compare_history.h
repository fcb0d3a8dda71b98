// SPDX-License-Identifier: Apache-2.0
//
// Finds where a program's figure changed for good, over commits or days, and
// prints it as a table and as SVG.
#pragma once

#include "compare/compare_samples.h"

PPROF_BEGIN_C_

struct ppi_tool_options;

enum { PPI_MOST_CHANGES = 32 };

// One run: the logarithm of its figure, and the point at which it was made.
typedef struct ppi_past_run {
  double figure;
  size_t point;
} ppi_past_run;

typedef struct ppi_change {
  size_t point;          // the first one of the new level
  double before, after;  // the levels, in logarithms
  double p;              // corrected for all places and stages
} ppi_change;

// ppi_changes_find finds the changes in the runs of one stage, with points in
// order. The chance of any false change is at most 0.05 over `num_stages`
// stages. Answers the number of changes, which are in order.
size_t ppi_changes_find(const ppi_past_run *runs, size_t num, size_t num_stages,
                        ppi_change out[PPI_MOST_CHANGES]);

// A past is looked at each night, so a look has its share of the error: of
// years in which nothing changed at most 0.05 have any new change.
#define PPI_LOOKS_A_YEAR 365
// ppi_changes_mark says which of the changes are sure by that share, for the
// first time with the last point.
void ppi_changes_mark(const ppi_past_run *runs, size_t num, size_t num_stages,
                      const ppi_change *changes, size_t num_changes,
                      bool *out_is_new);

typedef struct ppi_history_stage {
  const ppi_compare_stage *stage;  // of one of the points
  ppi_past_run *runs;
  size_t num_runs, capacity;
  ppi_change changes[PPI_MOST_CHANGES];
  bool is_new[PPI_MOST_CHANGES];  // by ppi_changes_mark
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

PPROF_END_C_
