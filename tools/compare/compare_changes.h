// SPDX-License-Identifier: Apache-2.0
//
// Finds where a program's figure changed for good, over commits or days. Pure
// functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

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

PPROF_END_C_
