// SPDX-License-Identifier: Apache-2.0
//
// Net memory allocated while each range ran, by any thread of the run, as
// torch.profiler counts. One thread at a time.
#pragma once

#include "report/figures/figures.h"
#include "report/spans/hold.h"
#include "report/spans/scope.h"

PPROF_BEGIN_C_

// All zero is the empty one.
typedef struct ppi_allocations {
  ppi_scopes scopes;  // changes, as points of two classes
  ppi_report_outside outside;
  // Of a sweep: points that may still have a range around them, and the lowest
  // start of the ranges taken.
  size_t num_left;
  uint64_t low_ns;
} ppi_allocations;

// ppi_allocations_add takes a change of the memory of `place`; reserved memory
// does not count.
pprof_status ppi_allocations_add(ppi_allocations *allocations,
                                 const char *place, uint64_t time_ns,
                                 int64_t bytes);

// ppi_allocations_prepare promises that all changes before `horizon_ns` are
// known, for the calls up to ppi_allocations_carry.
pprof_status ppi_allocations_prepare(ppi_allocations *allocations,
                                     uint64_t horizon_ns);
static inline bool ppi_allocations_any(const ppi_allocations *allocations) {
  return allocations->scopes.num_before > 0;
}

// ppi_allocations_meet takes the ranges that begin before the horizon, from the
// last end backwards. If `is_whole`, the range has ended: `out` is the change
// in it, its two ends included.
pprof_status ppi_allocations_meet(ppi_allocations *allocations,
                                  const ppi_buffered *range, bool is_whole,
                                  ppi_net_bytes *out);

// ppi_allocations_carry forgets the changes before the horizon, but keeps sums.
pprof_status ppi_allocations_carry(ppi_allocations *allocations);
void ppi_allocations_clear(ppi_allocations *allocations);

PPROF_END_C_
