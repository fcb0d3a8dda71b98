// SPDX-License-Identifier: Apache-2.0
//
// A sweep over ranges of one lane that are nothing but calls, all of which is
// settled now, where nobody submits anything: they come one after the other
// until another lane's come in between.
#pragma once

#include "base/base.h"
#include "report/parts/merge.h"
#include "report/run/run.h"

PPROF_BEGIN_C_

typedef struct ppi_plain_sweep {
  ppi_run *run;
  uint64_t from_ns, horizon_ns;  // of the sweep
} ppi_plain_sweep;

// Those that lie within another phase of the thread come after it. An empty one
// does not lie in a phase that ends where it is. What takes no part in nesting
// neither lies within another nor has others within.
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

// ppi_sweep_plain does what a sweep does with any range, with that of `top`
// and those before it that are plain and end after `rest_ns`.
pprof_status ppi_sweep_plain(const ppi_plain_sweep *at, const ppi_merge *merge,
                             ppi_merge_cursor *top, uint64_t rest_ns);

PPROF_END_C_
