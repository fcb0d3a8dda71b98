// SPDX-License-Identifier: Apache-2.0
//
// Finished host ranges that lie in one another on their lanes, in a few bytes
// each, until a walk has passed them. One thread at a time.
#ifndef PPI_ANSWER_LANES_H_
#define PPI_ANSWER_LANES_H_

#include "report/answer/moments.h"
#include "report/spans/hold.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_answer_lane {
  uint32_t id;
  ppi_hold hold;  // flags: PPI_ITEM_WAITS
} ppi_answer_lane;

// All zero is the empty one.
typedef struct ppi_answer_lanes {
  ppi_answer_lane *items;  // by id
  size_t num, capacity;
  size_t last;  // that took the latest range
  ppi_hold_pool pool;
} ppi_answer_lanes;

// ppi_answer_lanes_at adds the lane if it is new; NULL: out of memory.
ppi_answer_lane *ppi_answer_lanes_at(ppi_answer_lanes *lanes, uint32_t id);
// ppi_answer_lanes_add wants a range with an end, before UINT64_MAX.
pprof_status ppi_answer_lanes_add(ppi_answer_lanes *lanes,
                                  const ppi_item *item);
pprof_status ppi_answer_lanes_sort(ppi_answer_lanes *lanes);
// ppi_answer_lanes_drop forgets what ends by `horizon_ns`; lanes are sorted.
pprof_status ppi_answer_lanes_drop(ppi_answer_lanes *lanes,
                                   uint64_t horizon_ns);
size_t ppi_answer_lanes_count(const ppi_answer_lanes *lanes);
// ppi_answer_lanes_list writes all ranges, as many as there are, to `out`.
void ppi_answer_lanes_list(const ppi_answer_lanes *lanes, ppi_item *out);
void ppi_answer_lanes_clear(ppi_answer_lanes *lanes);

#ifdef __cplusplus
}
#endif

#endif  // PPI_ANSWER_LANES_H_
