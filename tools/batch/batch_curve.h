// SPDX-License-Identifier: Apache-2.0
//
// What the tries of a search say together: which did all of their work, which
// batch is the largest, the fastest, and from where on more brings little.
#pragma once

#include "batch/batch_run.h"
#include "pprof/base.h"

PPROF_BEGIN_C_

// What a try must do beside ending well; 0: nothing is asked for.
typedef struct ppi_batch_demand {
  uint64_t latency_ns;     // the p99 of a batch, at most
  uint64_t least_batches;  // at least
} ppi_batch_demand;

// ppi_batch_judge takes it back that `now` has survived where it stopped early
// or is too slow, and says so in its result. Commands make either as many
// batches whatever their size, or as many as a number of items needs: a try
// stopped early where it made fewer than those `before`, which ended well,
// agree on, one batch apart for what is rounded.
void ppi_batch_judge(const ppi_batch_try *before, size_t num,
                     const ppi_batch_demand *demand, ppi_batch_try *now);

// Of the tries that ended well; NULL: none.
typedef struct ppi_batch_curve {
  const ppi_batch_try *largest;
  const ppi_batch_try *fastest;  // most items a second
  // The smallest with PPI_BATCH_KNEE_PERCENT of the fastest's items a second.
  const ppi_batch_try *knee;
} ppi_batch_curve;
#define PPI_BATCH_KNEE_PERCENT 90
void ppi_batch_curve_of(const ppi_batch_try *tries, size_t num,
                        ppi_batch_curve *out);

// ppi_batch_limit_of is how long a try of `batch` may take where nobody said:
// ten times what the first one took, as many times longer as its batch is
// larger, and a minute at least.
uint64_t ppi_batch_limit_of(const ppi_batch_try *first, size_t batch);

PPROF_END_C_
