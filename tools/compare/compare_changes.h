// SPDX-License-Identifier: Apache-2.0
//
// Where the figure of a program changed for good, over commits or days. Pure
// functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

enum { PPI_MOST_CHANGES = 32 };

// One run: the logarithm of its figure, and at which point it was made.
typedef struct ppi_past_run {
  double figure;
  size_t point;
} ppi_past_run;

typedef struct ppi_change {
  size_t point;          // the first one of the new level
  double before, after;  // the levels, in logarithms
  double p;              // corrected for all places and stages
} ppi_change;

// ppi_changes_find looks at the runs of one stage, points in order. With at
// most a chance of 0.05 over `num_stages` stages anything is found where
// nothing changed. Answers how many were found, in order.
size_t ppi_changes_find(const ppi_past_run *runs, size_t num, size_t num_stages,
                        ppi_change out[PPI_MOST_CHANGES]);

PPROF_END_C_
