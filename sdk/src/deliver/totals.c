// SPDX-License-Identifier: Apache-2.0
//
// Adds up totals from a tally and the spool's counters.
#include "deliver/totals.h"

#include <stdlib.h>

#include "base/mem.h"

pprof_status ppi_totals_add_lane(ppi_tally *tally, const ppi_lane *lane) {
  uint64_t interrupted = __atomic_load_n(&lane->interrupted, __ATOMIC_RELAXED);
  const struct {
    ppi_total_key key;
    uint64_t value;
  } counters[] = {{PPI_TOTAL_LOST, ppi_counted(&lane->lost) + interrupted},
                  {PPI_TOTAL_EXCLUDED, ppi_counted(&lane->excluded)},
                  {PPI_TOTAL_UNMATCHED, ppi_counted(&lane->unmatched)},
                  {PPI_TOTAL_BEGUN_BEFORE, ppi_counted(&lane->begun_before)},
                  {PPI_TOTAL_DEVICE_LOST, ppi_counted(&lane->device_lost)},
                  {PPI_TOTAL_FLOWS_LOST, ppi_counted(&lane->flows_lost)}};
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
    pprof_status status =
        ppi_tally_add(tally, lane->id, counters[i].key, counters[i].value);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

static int compare(const void *a, const void *b) {
  const ppi_total *x = a;
  const ppi_total *y = b;
  if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
  return (x->key > y->key) - (x->key < y->key);
}

static void add_total(ppi_total *items, size_t *num, ppi_total_key key,
                      uint64_t value) {
  for (size_t i = 0; i < *num; i++) {
    if (items[i].lane != PPROF_ALL_LANES || items[i].key != key) continue;
    items[i].value += value;
    return;
  }
  if (value) items[(*num)++] = (ppi_total){PPROF_ALL_LANES, key, value};
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

pprof_status ppi_totals_build(ppi_tally *tally, const ppi_spool *spool,
                              ppi_total **out, size_t *out_num) {
  ppi_total *items;
  size_t num;
  // Counts that belong to no thread's lane go to the process's lane 0.
  pprof_status status =
      ppi_tally_add(tally, 0, PPI_TOTAL_LOST, spool->header->lost);
  if (status == PPROF_STATUS_OK)
    status = ppi_tally_add(tally, 0, PPI_TOTAL_UNMATCHED,
                           ppi_totals_unmatched(spool));
  if (status == PPROF_STATUS_OK)
    status = ppi_tally_add(tally, 0, PPI_TOTAL_INVALID, spool->header->invalid);
  if (status == PPROF_STATUS_OK) status = ppi_tally_items(tally, &items, &num);
  if (status != PPROF_STATUS_OK) return status;
  ppi_total *grown = ppi_realloc(items, (num + PPI_NUM_TOTALS) * sizeof *items);
  if (!grown) {
    ppi_free(items);
    return PPROF_STATUS_NO_MEMORY;
  }
  items = grown;
  const ppi_spool_header *header = spool->header;
  uint64_t recorded = 0;
  for (size_t i = 0; i < num; i++)
    if (items[i].lane == PPROF_ALL_LANES && items[i].key == PPI_TOTAL_RECORDED)
      recorded = items[i].value;
  add_total(items, &num, PPI_TOTAL_NAMES_OVERFLOWED, header->names_overflowed);
  add_total(items, &num, PPI_TOTAL_CLAMPED, header->clamped);
  add_total(items, &num, PPI_TOTAL_CLOCK_ERROR_NS, header->clock_error_ns);
  add_total(items, &num, PPI_TOTAL_OWN_COST, header->own_cost_ns_x1000);
  add_total(items, &num, PPI_TOTAL_OWN_COST_TOTAL_NS,
            ppi_tally_own_cost_ns(recorded, header->own_cost_ns_x1000) +
                tally->more_cost_ns);
  add_total(items, &num, PPI_TOTAL_CRASH_SAFE, header->crash_safe);
  for (uint32_t i = 0; i < 4; i++)
    add_total(items, &num, (ppi_total_key)(PPI_TOTAL_CPU_PROCESS_NS + i),
              header->cpu[i]);
  qsort(items, num, sizeof *items, compare);
  *out = items;
  *out_num = num;
  return PPROF_STATUS_OK;
}
