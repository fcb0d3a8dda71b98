// SPDX-License-Identifier: Apache-2.0
//
// Finished nested host ranges of all lanes, in a few bytes each, until a walk
// has passed them. A sweep hands them over; a walk also reads ranges that the
// sweep still has. One thread at a time.
#pragma once

#include "report/answer/moments.h"
#include "report/spans/hold.h"

PPROF_BEGIN_C_

typedef struct ppi_answer_lane {
  uint32_t id;
  ppi_hold passed;
  // Of a walk: pages of `passed`, then of other holds.
  const ppi_hold_page **pages;
  size_t num_pages, pages_capacity;
  const ppi_hold *last;  // the latest one shown
} ppi_answer_lane;

// All zero is the empty one.
typedef struct ppi_answer_lanes {
  ppi_answer_lane *items;  // by id
  size_t num, capacity;
  bool is_mixed;        // of a walk: the pages of a lane are not in order
  bool any_waits;       // of a walk: ranges of PPI_BUFFERED_WAITS
  ppi_hold_pool *pool;  // the caller's, like the holds shown
} ppi_answer_lanes;

// ppi_answer_lanes_at adds the lane if it is new; NULL: out of memory.
ppi_answer_lane *ppi_answer_lanes_at(ppi_answer_lanes *lanes, uint32_t id);
// ppi_answer_lanes_begin comes before a walk. ppi_answer_lanes_show then adds
// each sorted hold with more ranges of a lane, earlier ones first.
bool ppi_answer_lanes_begin(ppi_answer_lanes *lanes);
bool ppi_answer_lanes_show(ppi_answer_lanes *lanes, uint32_t id,
                           const ppi_hold *buffered);
// ppi_answer_lanes_drop ends the walk, and forgets handed-over ranges that end
// by `horizon_ns`.
bool ppi_answer_lanes_drop(ppi_answer_lanes *lanes, uint64_t horizon_ns);
// ppi_answer_lanes_count counts all ranges. ppi_answer_lanes_list writes the
// ranges without PPI_BUFFERED_APART to `out` and returns their number.
size_t ppi_answer_lanes_count(const ppi_answer_lanes *lanes);
size_t ppi_answer_lanes_list(const ppi_answer_lanes *lanes, ppi_item *out);
void ppi_answer_lanes_clear(ppi_answer_lanes *lanes);

static inline uint32_t ppi_answer_flags(const ppi_buffered *range) {
  return range->flags & PPI_BUFFERED_WAITS ? PPI_ITEM_WAITS : 0;
}

PPROF_END_C_
