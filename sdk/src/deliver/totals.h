// SPDX-License-Identifier: Apache-2.0
//
// A sink's last input: the counts of recorded and missing events, from the
// tally of events and the counters in the spool. Live and recovered alike.
#pragma once

#include "event/tally.h"
#include "spool/spool.h"

// ppi_totals_count_lane adds a lane's counters, ppi_totals_add_lane puts them
// into the tally; ppi_totals_add_spool, those of no thread's lane.
void ppi_totals_count_lane(const ppi_lane *lane, uint64_t out[PPI_NUM_TOTALS]);
pprof_status ppi_totals_add_lane(ppi_tally *tally, const ppi_lane *lane);
pprof_status ppi_totals_add_spool(ppi_tally *tally, const ppi_spool *spool);
// ppi_totals_unmatched is the count of the tables of ranges.
uint64_t ppi_totals_unmatched(const ppi_spool *spool);
// ppi_totals_build adds the spool's own counters to the tally (so: once) and
// lists everything; `items` is the caller's to free.
pprof_status ppi_totals_build(ppi_tally *tally, const ppi_spool *spool,
                              ppi_total **out, size_t *out_num);
