// SPDX-License-Identifier: Apache-2.0
//
// Chooses the next batch to try. The search assumes that a command survives
// every batch below one that it survives; a sequential search assumes less.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// Begin with {.from = ..., .to = ..., .sequential = ...}.
typedef struct ppi_batch_search {
  size_t from, to;  // at least 1; both may be tried
  bool sequential;
  size_t survived, failed;  // the largest survivor, the smallest failure;
                            // 0: none yet
} ppi_batch_search;

// ppi_batch_next answers the batch to try, or 0 when the search is over.
size_t ppi_batch_next(const ppi_batch_search *search);
void ppi_batch_tell(ppi_batch_search *search, size_t batch, bool survived);

PPROF_END_C_
