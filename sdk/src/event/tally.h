// SPDX-License-Identifier: Apache-2.0
//
// Counts events per lane (event.lane): recorded, clipped, abandoned, late,
// invalid, without device time. The collector and recover use the same code, so
// their totals agree.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

typedef struct ppi_tally {
  uint64_t (*lanes)[PPI_NUM_TOTALS];  // indexed by lane
  size_t num_lanes, capacity;
  uint64_t more_cost_ns;  // of the run, beside that of markers
} ppi_tally;

pprof_status ppi_tally_batch(ppi_tally *tally, const pprof_batch *batch);
pprof_status ppi_tally_add(ppi_tally *tally, uint32_t lane, ppi_total_key key,
                           uint64_t value);
// Adds a value of each key, or all of another tally.
pprof_status ppi_tally_add_row(ppi_tally *tally, uint32_t lane,
                               const uint64_t row[PPI_NUM_TOTALS]);
pprof_status ppi_tally_join(ppi_tally *to, const ppi_tally *from);
// The value of a lane; PPROF_ALL_LANES: the sum.
uint64_t ppi_tally_get(const ppi_tally *tally, uint32_t lane, uint32_t key);
// ppi_tally_items_beside lists the non-zero values, sums under PPROF_ALL_LANES
// included, sorted as pprof_totals wants them. `beside` (by key; NULL: nothing)
// is added to the sums. The array is the caller's to free (ppi_free).
pprof_status ppi_tally_items_beside(const ppi_tally *tally,
                                    const uint64_t *beside, ppi_total **out,
                                    size_t *out_num);
// ppi_tally_append lists one row behind `n` items, for which there is room.
size_t ppi_tally_append(ppi_total *items, size_t n, uint32_t lane,
                        const uint64_t *row);
// The cost of the markers of that many records, from the cost of one. A range
// has two markers.
static inline uint64_t ppi_tally_own_cost_ns(uint64_t num_records,
                                             uint64_t cost_ns_x1000) {
  return num_records * 2 * cost_ns_x1000 / 1000;
}

// The run's totals of a sink that did not get the records in `missed`: these
// are lost.
pprof_status ppi_tally_less(const pprof_totals *totals, const ppi_tally *missed,
                            ppi_total **out, size_t *out_num);
void ppi_tally_clear(ppi_tally *tally);

PPROF_END_C_
