// SPDX-License-Identifier: Apache-2.0
//
// Adds up totals. One thread, its own state.
#include "log/format/log_totals.h"

#include "base/base.h"
#include "base/mem.h"

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
  pprof_status status = add_lanes(tally, more);
  ppi_total *items;
  size_t num = 0, num_lanes = 0;
  if (status == PPROF_STATUS_OK) status = ppi_tally_items(tally, &items, &num);
  if (status != PPROF_STATUS_OK) return status;
  uint64_t sums[PPI_NUM_TOTALS] = {0};
  while (num_lanes < num && items[num_lanes].lane != PPROF_ALL_LANES)
    num_lanes++;
  for (size_t i = num_lanes; i < num; i++) sums[items[i].key] = items[i].value;
  add_run(sums, more);
  sums[PPI_TOTAL_INCOMPLETE] = incomplete;
  // Recover knows the cost of a marker, but not the records in the log's
  // blocks.
  if (incomplete)
    sums[PPI_TOTAL_OWN_COST_TOTAL_NS] =
        PPI_MAX(sums[PPI_TOTAL_OWN_COST_TOTAL_NS],
                ppi_tally_own_cost_ns(sums[PPI_TOTAL_RECORDED],
                                      sums[PPI_TOTAL_OWN_COST]));
  ppi_total *grown =
      ppi_realloc(items, (num_lanes + PPI_NUM_TOTALS) * sizeof *items);
  if (!grown) {
    ppi_free(items);
    return PPROF_STATUS_NO_MEMORY;
  }
  num = num_lanes;
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
    if (sums[key]) grown[num++] = (ppi_total){PPROF_ALL_LANES, key, sums[key]};
  *out = grown;
  *out_num = num;
  return PPROF_STATUS_OK;
}

pprof_status ppi_log_totals_add(ppi_tally *to, const ppi_tally *from) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t lane = 0; lane < from->num_lanes; lane++)
    for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
      if (status == PPROF_STATUS_OK)
        status = ppi_tally_add(to, (uint32_t)lane, (ppi_total_key)key,
                               from->lanes[lane][key]);
  return status;
}
