// SPDX-License-Identifier: Apache-2.0
//
// Applies the disk's limit to a log writer.
#include "log/write/log_budget.h"

#include "log/format/log_payload.h"
#include "log/format/staged.h"

enum { MAX_RESERVE = 64 * 1024, MIN_RESERVE = 4 * 1024 };

static void put_by(ppi_log_budget *budget) {
  for (uint64_t bytes = MAX_RESERVE; bytes >= MIN_RESERVE; bytes /= 2)
    if (ppi_disk_take(budget->disk, budget->reserve, bytes)) return;
  budget->full = true;
}

void ppi_log_budget_open(ppi_log_budget *budget, ppi_disk *disk,
                         const char *reserve) {
  budget->disk = disk;
  budget->reserve = reserve;
  if (disk) put_by(budget);
}

void ppi_log_budget_close(ppi_log_budget *budget) {
  if (budget->reserve) ppi_disk_forget(budget->disk, budget->reserve);
  ppi_tally_clear(&budget->dropped);
  memset(budget, 0, sizeof *budget);
}

void ppi_log_budget_begin_essential(ppi_log_budget *budget) {
  budget->essential = true;
  if (budget->disk) ppi_disk_forget(budget->disk, budget->reserve);
}

void ppi_log_budget_end_essential(ppi_log_budget *budget) {
  budget->essential = false;
  if (budget->disk) put_by(budget);
}

bool ppi_log_budget_take(ppi_log_budget *budget, const char *path, size_t len) {
  if (!budget->disk) return true;
  if (budget->essential)
    return ppi_disk_take(budget->disk, path, len) ||
           ppi_disk_add(budget->disk, path, len, false);
  if (!budget->full) budget->full = !ppi_disk_take(budget->disk, path, len);
  return !budget->full;
}

// ---- blocks that are refused ----

typedef struct counting_sink {
  pprof_sink base;
  ppi_tally *tally;
} counting_sink;

static pprof_status count_batch(pprof_sink *sink, const pprof_batch *batch) {
  return ppi_tally_batch(((counting_sink *)sink)->tally, batch);
}

pprof_status ppi_log_budget_drop(ppi_log_budget *budget,
                                 const pprof_batch *batch) {
  return ppi_tally_batch(&budget->dropped, batch);
}

static pprof_status count_blocks(ppi_log_payload *payload, pprof_sink *sink,
                                 const uint8_t *blocks, size_t len,
                                 uint64_t *num_blocks) {
  pprof_status status = PPROF_STATUS_OK;
  ppi_log_header header;
  while (len >= PPI_LOG_HEADER_SIZE && status == PPROF_STATUS_OK &&
         ppi_log_header_load(blocks, &header)) {
    ppi_log_block block;
    size_t size = ppi_log_block_size(&header);
    ++*num_blocks;
    if (header.type == PPI_LOG_EVENTS &&
        ppi_log_parse_staged(blocks, (uint32_t)size, payload->runs, &block)) {
      status = ppi_log_payload_open(payload, &block);
      PPI_THEN(status, ppi_log_payload_events(payload, &block, sink));
    }
    blocks += size;
    len -= size;
  }
  return status;
}

pprof_status ppi_log_budget_refuse(ppi_log_budget *budget,
                                   const uint8_t *blocks, size_t len,
                                   uint64_t *out_num_blocks) {
  counting_sink sink = {.base = {.size = sizeof(pprof_sink)},
                        .tally = &budget->dropped};
  sink.base.events = count_batch;
  ppi_log_payload payload;
  *out_num_blocks = 0;
  pprof_status status = ppi_log_payload_init(&payload);
  PPI_THEN(status,
           count_blocks(&payload, &sink.base, blocks, len, out_num_blocks));
  ppi_log_payload_clear(&payload);
  return status;
}

uint64_t ppi_log_budget_num_dropped(const ppi_log_budget *budget) {
  return ppi_tally_get(&budget->dropped, PPROF_ALL_LANES, PPI_TOTAL_RECORDED);
}

pprof_status ppi_log_budget_totals(const ppi_log_budget *budget,
                                   ppi_rotate *rotate,
                                   const pprof_totals *totals,
                                   ppi_log_assembler *assembler) {
  char text[128];
  uint64_t dropped = ppi_log_budget_num_dropped(budget);
  if (budget->error)
    snprintf(text, sizeof text, "%.60s: %llu records are not in the log",
             strerror(budget->error), (unsigned long long)dropped);
  else
    snprintf(text, sizeof text, "left no room for %llu records",
             (unsigned long long)dropped);
  pprof_totals mine = *totals;
  ppi_total *items = NULL;
  pprof_status status = ppi_rotate_totals(rotate, &budget->dropped, totals,
                                          &items, &mine.num_items);
  mine.items = items;
  PPI_THEN(status, ppi_rotate_notify_lanes(rotate, &mine, assembler));
  const ppi_text note = {budget->error ? "disk" : "disk_limit", text};
  PPI_THEN(status,
           ppi_log_assembler_totals(assembler, &mine,
                                    budget->error || dropped ? &note : NULL));
  ppi_free(items);
  return status;
}
