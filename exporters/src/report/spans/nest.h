// SPDX-License-Identifier: Apache-2.0
//
// How much of a range lies in ranges directly nested in it. A lane's inner
// ranges come first, and wait here for the range around them.
#pragma once

#include "base/base.h"

PPROF_BEGIN_C_

// The most ranges that wait. Beyond that, neighbours of one depth become one.
// The same range is around them, if none of that depth was lost.
#define PPI_NEST_MAX 512
#define PPI_NEST_RECENT 128  // the last ones, never fused

typedef struct ppi_nest_item {
  uint64_t start_ns, end_ns, sum_ns;
  uint32_t depth;
} ppi_nest_item;

// All zero is the empty one.
typedef struct ppi_nest {
  ppi_nest_item *items, *top, *end;  // up to `top`; room until `end`
} ppi_nest;

bool ppi_nest_make_room(ppi_nest *nest);

// ppi_nest_add takes the next range of the lane and writes the time of its
// nested ranges to `out`. Of two ranges that overlap partly, neither is nested;
// the shared time belongs to the first one.
static inline bool ppi_nest_add(ppi_nest *nest, uint64_t start_ns,
                                uint64_t end_ns, uint32_t depth,
                                uint64_t *out) {
  uint64_t inner_ns = 0, length_ns = end_ns - start_ns;
  ppi_nest_item *top = nest->top;
  while (top != nest->items && top[-1].start_ns >= start_ns &&
         top[-1].end_ns <= end_ns)
    inner_ns += (--top)->sum_ns;
  *out = inner_ns < length_ns ? inner_ns : length_ns;
  if (PPI_UNLIKELY(top == nest->end)) {
    if (!ppi_nest_make_room(nest)) return false;
    top = nest->top;
  }
  top->start_ns = start_ns;
  top->end_ns = end_ns;
  top->sum_ns = length_ns;
  top->depth = depth;
  nest->top = top + 1;
  return true;
}

void ppi_nest_clear(ppi_nest *nest);

PPROF_END_C_
