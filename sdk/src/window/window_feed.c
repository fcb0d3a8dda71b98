// SPDX-License-Identifier: Apache-2.0
//
// Computes one window's totals: from its events where these have counts.
// Otherwise it takes the difference of the counts between open and close, so
// that adjacent windows add up.
#include "window/window_feed.h"

#include "base/mem.h"

static const ppi_total_key growing[] = {
    PPI_TOTAL_NAMES_OVERFLOWED, PPI_TOTAL_CPU_PROCESS_NS,
    PPI_TOTAL_CPU_ELAPSED_NS, PPI_TOTAL_CPU_SYSTEM_BUSY_TICKS,
    PPI_TOTAL_CPU_SYSTEM_IDLE_TICKS};

void ppi_counts_clear(ppi_counts *counts) {
  ppi_tally_clear(&counts->lanes);
  *counts = (ppi_counts){0};
}

void ppi_window_feed_destroy(ppi_window_feed *feed) {
  ppi_tee_destroy_sinks(&feed->tee);
  ppi_tally_clear(&feed->tally);
  ppi_counts_clear(&feed->before);
  ppi_texts_clear(&feed->notes);
  ppi_free(feed->given);
  ppi_free(feed->items);
  ppi_free(feed);
}

static uint64_t grown_by(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

static pprof_status add_lane(ppi_window_feed *feed, uint32_t lane,
                             const uint64_t *after) {
  const ppi_tally *before = &feed->before.lanes;
  pprof_status status = PPROF_STATUS_OK;
  for (int key = 0; key < PPI_NUM_TOTALS && status == PPROF_STATUS_OK; key++) {
    uint64_t old = ppi_tally_get(before, lane, (uint32_t)key);
    status = ppi_tally_add(&feed->tally, lane, (ppi_total_key)key,
                           grown_by(old, after[key]));
  }
  return status;
}

pprof_status ppi_window_feed_count(ppi_window_feed *feed,
                                   const ppi_counts *after) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < after->lanes.num_lanes && status == PPROF_STATUS_OK;
       i++)
    status = add_lane(feed, (uint32_t)i, after->lanes.lanes[i]);
  for (size_t i = 0; i < sizeof growing / sizeof *growing; i++)
    feed->run[growing[i]] =
        grown_by(feed->before.run[growing[i]], after->run[growing[i]]);
  feed->clamped_before = feed->before.run[PPI_TOTAL_CLAMPED];
  ppi_counts_clear(&feed->before);
  return status;
}

pprof_status ppi_window_feed_total(ppi_window_feed *feed,
                                   const ppi_counts *now) {
  // Device times are placed after the window has closed, too.
  feed->run[PPI_TOTAL_CLAMPED] =
      grown_by(feed->clamped_before, now->run[PPI_TOTAL_CLAMPED]);
  feed->run[PPI_TOTAL_CLOCK_ERROR_NS] = feed->clock_error_ns;
  feed->run[PPI_TOTAL_OWN_COST] = now->run[PPI_TOTAL_OWN_COST];
  feed->run[PPI_TOTAL_CRASH_SAFE] = now->run[PPI_TOTAL_CRASH_SAFE];
  feed->run[PPI_TOTAL_OWN_COST_TOTAL_NS] = ppi_tally_own_cost_ns(
      ppi_tally_get(&feed->tally, PPROF_ALL_LANES, PPI_TOTAL_RECORDED),
      feed->run[PPI_TOTAL_OWN_COST]);
  return ppi_tally_items_beside(&feed->tally, feed->run, &feed->items,
                                &feed->num_items);
}
