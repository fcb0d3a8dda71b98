// SPDX-License-Identifier: Apache-2.0
//
// Which batch to try next. That a command survives every batch below one it
// survives is taken for granted; a sequential search takes less for granted.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// Begin with {.from = ..., .to = ..., .sequential = ...}.
typedef struct ppi_batch_search {
  size_t from, to;  // at least 1; both may be tried
  bool sequential;
  size_t survived, failed;  // the largest that did, the smallest that did not;
                            // 0: none yet
} ppi_batch_search;

// ppi_batch_next answers the batch to try, or 0 when the search is over.
size_t ppi_batch_next(const ppi_batch_search *search);
void ppi_batch_tell(ppi_batch_search *search, size_t batch, bool survived);

PPROF_END_C_
