// SPDX-License-Identifier: Apache-2.0
//
// Adds up lanes' counters at a moment.
#include "session/collect/spool_counts.h"

#include "deliver/totals.h"
#include "mark/thread.h"

void ppi_spool_counts(const ppi_spool *spool, uint64_t out[PPI_NUM_TOTALS]) {
  const ppi_spool_header *header = spool->header;
  memcpy(out, header->retired[header->retired_word & 1],
         sizeof header->retired[0]);
  uint32_t num = ppi_spool_num_lanes(spool);
  for (uint32_t i = 0; i < num; i++) {
    const ppi_lane *lane = ppi_spool_lane(spool, i);
    if (ppi_lane_is_used(lane)) ppi_totals_count_lane(lane, out);
  }
  out[PPI_TOTAL_EXCLUDED] = 0;
  out[PPI_TOTAL_LOST] += ppi_counted(&header->lost);
  out[PPI_TOTAL_UNMATCHED] += ppi_totals_unmatched(spool);
  out[PPI_TOTAL_INVALID] += __atomic_load_n(&header->invalid, __ATOMIC_RELAXED);
  out[PPI_TOTAL_CLAMPED] = header->clamped;
  out[PPI_TOTAL_CLOCK_ERROR_NS] = header->clock_error_ns;
  out[PPI_TOTAL_OWN_COST] = header->own_cost_ns_x1000;
  out[PPI_TOTAL_CRASH_SAFE] = header->crash_safe;
  out[PPI_TOTAL_NAMES_OVERFLOWED] = ppi_counted(&header->names_overflowed);
}

bool ppi_spool_counts_now(uint64_t out[PPI_NUM_TOTALS]) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  if (!recorder->serial) return false;
  ppi_spool_counts(&recorder->spool, out);
  return true;
}

bool ppi_spool_now_ns(uint64_t *out) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  if (!recorder->serial) return false;
  const ppi_spool_header *header = recorder->spool.header;
  ppi_scale scale =
      ppi_scale_make(header->start_ticks, header->ticks_per_second);
  *out = ppi_scale_ns(&scale, ppi_clock_ticks());
  return true;
}

static void raise_dropped(uint64_t *dropped, uint32_t lane,
                          const uint64_t *ends, size_t num) {
  if (lane < num && *dropped < ends[lane])
    __atomic_store_n(dropped, ends[lane], __ATOMIC_RELEASE);
}

void ppi_spool_note_dropped(const uint64_t *ends, size_t num) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  if (!recorder->serial) return;
  const ppi_spool *spool = &recorder->spool;
  const ppi_spool_header *header = spool->header;
  uint32_t lanes = ppi_spool_num_lanes(spool);
  for (uint32_t i = 0; i < lanes; i++) {
    ppi_lane *lane = ppi_spool_lane(spool, i);
    if (ppi_lane_is_used(lane))
      raise_dropped(&lane->dropped, lane->id, ends, num);
  }
  for (uint32_t i = 0; i < header->num_tables; i++) {
    ppi_table *table = ppi_spool_chunk(spool, header->tables[i]);
    raise_dropped(&table->dropped, table->lane, ends, num);
  }
}
