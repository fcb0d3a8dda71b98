// SPDX-License-Identifier: Apache-2.0
//
// How much of a range lies in ranges directly nested in it. Ranges of one lane
// come inner ones first, so those that no outer one has claimed yet wait here.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// So many may wait. Beyond that, neighbours of one depth become one: they have
// the same range around them, if none of that depth was lost.
#define PPI_NEST_MAX 512
#define PPI_NEST_RECENT 128  // that stay apart

typedef struct ppi_nest_item {
  uint64_t start_ns, end_ns, sum_ns;
  uint32_t depth;
} ppi_nest_item;

// All zero is the empty one.
typedef struct ppi_nest {
  ppi_nest_item *items;
  size_t num, capacity;
} ppi_nest;

pprof_status ppi_nest_make_room(ppi_nest *nest);

// ppi_nest_add takes the next range of the lane and answers in `out` how much
// of it is nested ranges' time. Of two that overlap partly neither lies in the
// other; what lies in both belongs to the one that comes first.
static inline pprof_status ppi_nest_add(ppi_nest *nest, uint64_t start_ns,
                                        uint64_t end_ns, uint32_t depth,
                                        uint64_t *out) {
  uint64_t inner_ns = 0, length_ns = end_ns - start_ns;
  while (nest->num) {
    const ppi_nest_item *top = &nest->items[nest->num - 1];
    if (top->start_ns < start_ns || top->end_ns > end_ns) break;
    inner_ns += top->sum_ns;
    nest->num--;
  }
  *out = inner_ns < length_ns ? inner_ns : length_ns;
  if (nest->num == nest->capacity || nest->num == PPI_NEST_MAX) {
    pprof_status status = ppi_nest_make_room(nest);
    if (status != PPROF_STATUS_OK) return status;
  }
  ppi_nest_item *item = &nest->items[nest->num++];
  item->start_ns = start_ns;
  item->end_ns = end_ns;
  item->sum_ns = length_ns;
  item->depth = depth;
  return PPROF_STATUS_OK;
}

void ppi_nest_clear(ppi_nest *nest);

PPROF_END_C_
