// SPDX-License-Identifier: Apache-2.0
//
// Adds up totals from a tally and the spool's counters.
#include "deliver/totals.h"

void ppi_totals_count_lane(const ppi_lane *lane, uint64_t out[PPI_NUM_TOTALS]) {
  out[PPI_TOTAL_LOST] +=
      ppi_counted(&lane->lost) + ppi_counted(&lane->interrupted);
  out[PPI_TOTAL_EXCLUDED] += ppi_counted(&lane->excluded);
  out[PPI_TOTAL_UNMATCHED] += ppi_counted(&lane->unmatched);
  out[PPI_TOTAL_BEGUN_BEFORE] += ppi_counted(&lane->begun_before);
  out[PPI_TOTAL_DEVICE_LOST] += ppi_counted(&lane->device_lost);
  out[PPI_TOTAL_FLOWS_LOST] += ppi_counted(&lane->flows_lost);
}

pprof_status ppi_totals_add_lane(ppi_tally *tally, const ppi_lane *lane) {
  uint64_t counts[PPI_NUM_TOTALS] = {0};
  ppi_totals_count_lane(lane, counts);
  return ppi_tally_add_row(tally, lane->id, counts);
}

uint64_t ppi_totals_unmatched(const ppi_spool *spool) {
  uint64_t sum = 0;
  uint32_t num = PPI_MIN(spool->header->num_tables, PPI_MAX_TABLES);
  for (uint32_t i = 0; i < num; i++) {
    uint32_t chunk = spool->header->tables[i];
    if (chunk == 0 || chunk >= spool->header->num_chunks) continue;
    const ppi_table *table = ppi_spool_chunk(spool, chunk);
    sum += __atomic_load_n(&table->unmatched, __ATOMIC_RELAXED);
  }
  return sum;
}

// Counts that belong to no thread's lane go to the process's lane 0.
pprof_status ppi_totals_add_spool(ppi_tally *tally, const ppi_spool *spool) {
  const ppi_spool_header *header = spool->header;
  const uint64_t counts[PPI_NUM_TOTALS] = {
      [PPI_TOTAL_LOST] = ppi_counted(&header->lost),
      [PPI_TOTAL_UNMATCHED] = ppi_totals_unmatched(spool),
      [PPI_TOTAL_INVALID] =
          __atomic_load_n(&header->invalid, __ATOMIC_RELAXED)};
  return ppi_tally_add_row(tally, 0, counts);
}

pprof_status ppi_totals_build(ppi_tally *tally, const ppi_spool *spool,
                              ppi_total **out, size_t *out_num) {
  const ppi_spool_header *header = spool->header;
  PPI_TRY(ppi_totals_add_spool(tally, spool));
  uint64_t recorded = ppi_tally_get(tally, PPROF_ALL_LANES, PPI_TOTAL_RECORDED);
  uint64_t run[PPI_NUM_TOTALS] = {
      [PPI_TOTAL_NAMES_OVERFLOWED] = header->names_overflowed,
      [PPI_TOTAL_CLAMPED] = header->clamped,
      [PPI_TOTAL_CLOCK_ERROR_NS] = header->clock_error_ns,
      [PPI_TOTAL_OWN_COST] = header->own_cost_ns_x1000,
      [PPI_TOTAL_OWN_COST_TOTAL_NS] =
          ppi_tally_own_cost_ns(recorded, header->own_cost_ns_x1000) +
          tally->more_cost_ns,
      [PPI_TOTAL_CRASH_SAFE] = header->crash_safe};
  memcpy(&run[PPI_TOTAL_CPU_PROCESS_NS], header->cpu, sizeof header->cpu);
  return ppi_tally_items_beside(tally, run, out, out_num);
}
