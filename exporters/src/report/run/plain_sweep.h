// SPDX-License-Identifier: Apache-2.0
//
// A sweep over plain calls of one lane, all settled now, in runs without
// points. It goes on until a range of another lane comes next.
#pragma once

#include "base/base.h"
#include "report/parts/merge.h"
#include "report/run/run.h"

typedef struct ppi_plain_sweep {
  ppi_run *run;
  uint64_t from_ns, horizon_ns;  // of the sweep
} ppi_plain_sweep;

// A phase inside another phase of the thread comes after it. An empty phase
// does not lie in a phase that ends at its time. A loose range neither lies in
// a phase nor has phases inside.
static inline bool ppi_phase_is_outermost(ppi_run_thread *thread,
                                          const ppi_buffered *range) {
  if (range->flags & PPI_BUFFERED_LOOSE) return true;
  if (range->end_ns < thread->level_ns) {
    thread->later_cover_ns = thread->cover_ns;
    thread->level_ns = range->end_ns;
  }
  bool is_empty = range->start_ns == range->end_ns;
  uint64_t cover_ns = is_empty ? thread->later_cover_ns : thread->cover_ns;
  thread->cover_ns = PPI_MIN(thread->cover_ns, range->start_ns);
  return cover_ns > range->start_ns;
}

static inline bool ppi_sweep_is_plain(const ppi_plain_sweep *at,
                                      const ppi_buffered *range) {
  return !range->flags && range->start_ns >= at->from_ns &&
         range->start_ns < at->horizon_ns && range->end_ns <= at->horizon_ns &&
         !(at->run->ids.marks[range->site].traits & PPI_TRAIT_STEP);
}

// ppi_sweep_plain sweeps the range of `top`, and the plain ranges before it
// that end after `rest_ns`.
bool ppi_sweep_plain(const ppi_plain_sweep *at, const ppi_merge *merge,
                     ppi_merge_cursor *top, uint64_t rest_ns);
