// SPDX-License-Identifier: Apache-2.0
//
// Adds up totals. One thread, its own state.
#include "log/format/log_totals.h"

#include "base/base.h"

// Sums over all lanes follow from the lanes' values.
static pprof_status add_lanes(ppi_tally *tally, const pprof_totals *more) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < more->num_items && status == PPROF_STATUS_OK; i++) {
    const ppi_total *item = &more->items[i];
    if (item->lane != PPROF_ALL_LANES && item->key < PPI_NUM_TOTALS)
      status = ppi_tally_add(tally, item->lane, (ppi_total_key)item->key,
                             item->value);
  }
  return status;
}

// The run's totals beyond its lanes.
static void add_run(uint64_t sums[PPI_NUM_TOTALS], const pprof_totals *more) {
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++) {
    uint64_t lanes = 0, run = 0;
    for (size_t i = 0; i < more->num_items; i++) {
      const ppi_total *item = &more->items[i];
      if (item->key != key) continue;
      *(item->lane == PPROF_ALL_LANES ? &run : &lanes) += item->value;
    }
    if (run > lanes) sums[key] += run - lanes;
  }
}

pprof_status ppi_log_totals_join(ppi_tally *tally, const pprof_totals *more,
                                 uint64_t incomplete, ppi_total **out,
                                 size_t *out_num) {
  uint64_t run[PPI_NUM_TOTALS] = {0};
  PPI_TRY(add_lanes(tally, more));
  add_run(run, more);
  run[PPI_TOTAL_INCOMPLETE] = incomplete;
  // Recover knows the cost of a marker, but not the records in the log's
  // blocks.
  uint64_t recorded = ppi_tally_get(tally, PPROF_ALL_LANES, PPI_TOTAL_RECORDED);
  if (incomplete)
    run[PPI_TOTAL_OWN_COST_TOTAL_NS] =
        PPI_MAX(run[PPI_TOTAL_OWN_COST_TOTAL_NS],
                ppi_tally_own_cost_ns(recorded + run[PPI_TOTAL_RECORDED],
                                      run[PPI_TOTAL_OWN_COST]));
  return ppi_tally_items_beside(tally, run, out, out_num);
}
