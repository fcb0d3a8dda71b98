// SPDX-License-Identifier: Apache-2.0
//
// What stood in the names of a row that folded, by place: range and sum.
// Adding and merging in any order gives equal results.
#pragma once

#include "pprof/event.h"

PPROF_BEGIN_C_

typedef struct ppi_number_sums {
  uint64_t n;  // names that had a number there
  uint64_t min, max;
  uint64_t sum;  // UINT64_MAX: that or more
} ppi_number_sums;

// All zero is the empty one.
typedef struct ppi_numbers {
  ppi_number_sums at[PPROF_MOST_NUMBERS];
  uint64_t num_too_much;  // PPROF_NAME_TOO_MUCH
} ppi_numbers;

// ppi_numbers_add takes those of a name that came `times` times.
void ppi_numbers_add(ppi_numbers *numbers, const pprof_numbers *name,
                     uint64_t times);
void ppi_numbers_merge(ppi_numbers *into, const ppi_numbers *from);
// ppi_numbers_of_fold turns those that were told of sites called `name` into
// those of `shape`, which the name folds into; `times` it came by itself. What
// does not fit is left out.
void ppi_numbers_of_fold(ppi_numbers *numbers, const char *name,
                         const char *shape, uint64_t times);

PPROF_END_C_
