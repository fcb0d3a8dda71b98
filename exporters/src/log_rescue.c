// SPDX-License-Identifier: Apache-2.0
//
// Block by block, then record by record. A block is copied as it stands when
// all of it decodes; numbers say which blocks are in both file and spool.
#include "log_rescue.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "log_io.h"
#include "mem.h"

static ppi_rescue *of_tally(pprof_sink *sink) {
  return (ppi_rescue *)sink;
}

static ppi_rescue *of_salvage(pprof_sink *sink) {
  return (ppi_rescue *)(void *)((char *)sink -
                                offsetof(ppi_rescue, salvage_sink));
}

static pprof_status write_bytes(void *user, const uint8_t *bytes, size_t len) {
  ppi_rescue *rescue = user;
  rescue->io_error = ppi_write_all(rescue->fd, bytes, len);
  return rescue->io_error ? PPROF_STATUS_IO : PPROF_STATUS_OK;
}

static pprof_status count_batch(pprof_sink *sink, const pprof_batch *batch) {
  return ppi_tally_batch(&of_tally(sink)->tally, batch);
}

// ---- windows: each opens and closes once in the result ----

static ppi_rescue_window *find_window(ppi_rescue *rescue, uint32_t index) {
  for (size_t i = 0; i < rescue->num_windows; i++)
    if (rescue->windows[i].index == index) return &rescue->windows[i];
  void *grown = ppi_grow(rescue->windows, &rescue->windows_capacity,
                         rescue->num_windows + 1, sizeof *rescue->windows);
  if (!grown) return NULL;
  rescue->windows = grown;
  ppi_rescue_window *window = &rescue->windows[rescue->num_windows++];
  *window = (ppi_rescue_window){.index = index};
  return window;
}

// False when it was there before; *failed when out of memory.
static bool note_window(ppi_rescue *rescue, uint32_t index, bool opens,
                        bool *failed) {
  ppi_rescue_window *window = find_window(rescue, index);
  *failed = !window;
  if (!window) return false;
  bool *edge = opens ? &window->opened : &window->closed;
  bool first = !*edge;
  *edge = true;
  return first;
}

static pprof_status salvage_window(pprof_sink *sink, uint32_t index, bool opens,
                                   uint64_t time_ns) {
  ppi_rescue *rescue = of_salvage(sink);
  bool failed;
  if (!note_window(rescue, index, opens, &failed))
    return failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
  return ppi_log_assembler_window(&rescue->assembler, index, opens, time_ns);
}

static pprof_status salvage_define(pprof_sink *sink,
                                   const pprof_definition *definition) {
  return ppi_log_assembler_define(&of_salvage(sink)->assembler, definition);
}

static pprof_status salvage_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_rescue *rescue = of_salvage(sink);
  pprof_status status = ppi_tally_batch(&rescue->tally, batch);
  if (status != PPROF_STATUS_OK) return status;
  rescue->result->records_recovered += batch->num_events;
  return ppi_log_assembler_events(&rescue->assembler, batch);
}

pprof_status ppi_rescue_begin(ppi_rescue *rescue, int fd, const char *uuid,
                              ppi_recover_result *result) {
  memset(rescue, 0, sizeof *rescue);
  rescue->tally_sink =
      (pprof_sink){.size = sizeof(pprof_sink), .events = count_batch};
  rescue->salvage_sink = (pprof_sink){.size = sizeof(pprof_sink),
                                      .define = salvage_define,
                                      .events = salvage_events,
                                      .window = salvage_window};
  rescue->fd = fd;
  rescue->result = result;
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, uuid);
  pprof_status status = ppi_log_payload_init(&rescue->payload);
  return status == PPROF_STATUS_OK ? write_bytes(rescue, header, sizeof header)
                                   : status;
}

void ppi_rescue_clear(ppi_rescue *rescue) {
  ppi_log_payload_clear(&rescue->payload);
  if (rescue->assembling) ppi_log_assembler_clear(&rescue->assembler);
  ppi_tally_clear(&rescue->tally);
  ppi_free(rescue->ends);
  ppi_free(rescue->windows);
}

// ---- whole blocks ----

static pprof_status note_ends(ppi_rescue *rescue, const ppi_log_block *block) {
  for (uint32_t i = 0; i < block->header.num_runs; i++) {
    const ppi_log_run *run = &block->runs[i];
    if (run->lane >= rescue->num_ends) {
      // Lanes are numbered from zero; a session has at most 65 536 of them.
      if (run->lane >= 1u << 22) return PPROF_STATUS_CORRUPT;
      void *grown = ppi_grow(rescue->ends, &rescue->ends_capacity,
                             (size_t)run->lane + 1, sizeof *rescue->ends);
      if (!grown) return PPROF_STATUS_NO_MEMORY;
      rescue->ends = grown;
      memset(rescue->ends + rescue->num_ends, 0,
             (run->lane + 1 - rescue->num_ends) * sizeof *rescue->ends);
      rescue->num_ends = (size_t)run->lane + 1;
    }
    rescue->ends[run->lane] = PPI_MAX(rescue->ends[run->lane], run->end_seq);
  }
  return PPROF_STATUS_OK;
}

static pprof_status read_window(ppi_rescue *rescue,
                                const ppi_log_block *block) {
  uint32_t index;
  bool opens, failed;
  uint64_t time_ns;
  pprof_status status =
      ppi_log_payload_window(&rescue->payload, block, &index, &opens, &time_ns);
  if (status != PPROF_STATUS_OK) return status;
  note_window(rescue, index, opens, &failed);
  return failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

static pprof_status read_block(ppi_rescue *rescue, const ppi_log_block *block) {
  ppi_log_payload *payload = &rescue->payload;
  uint8_t type = block->header.type;
  bool whole = false;
  rescue->complete = false;
  if (type < PPI_LOG_INFO || type > PPI_LOG_TOTALS) return PPROF_STATUS_OK;
  pprof_status status = ppi_log_payload_open(payload, block);
  if (status != PPROF_STATUS_OK) return status;
  if (type == PPI_LOG_INFO) rescue->has_info = true;
  if (type == PPI_LOG_WINDOW) return read_window(rescue, block);
  if (type == PPI_LOG_TOTALS) {
    status = ppi_log_payload_piece(payload, block, &whole);
    rescue->complete = whole;
    return status;
  }
  if (type != PPI_LOG_EVENTS) return status;
  status = ppi_log_payload_events(payload, block, &rescue->tally_sink);
  return status == PPROF_STATUS_OK ? note_ends(rescue, block) : status;
}

// OK, also for one that is left out because it does not decode.
static pprof_status copy_block(ppi_rescue *rescue, const ppi_log_block *block,
                               uint64_t *count) {
  pprof_status status =
      block->ok ? read_block(rescue, block) : PPROF_STATUS_CORRUPT;
  if (status == PPROF_STATUS_NO_MEMORY) return status;
  if (status != PPROF_STATUS_OK) {
    rescue->result->bytes_unreadable += block->size;
    return PPROF_STATUS_OK;
  }
  rescue->next_number = block->header.number + 1;
  rescue->last_time_ns =
      PPI_MAX(rescue->last_time_ns, block->header.max_end_ns);
  ++*count;
  return write_bytes(rescue, block->bytes, (size_t)block->size);
}

pprof_status ppi_rescue_copy_file(ppi_rescue *rescue, const char *path,
                                  pprof_error *error) {
  ppi_log_file *file;
  pprof_status status = ppi_log_file_open(path, &file, error);
  if (status != PPROF_STATUS_OK) return status;
  ppi_log_block block;
  while (status == PPROF_STATUS_OK && ppi_log_file_next(file, &block))
    status = copy_block(rescue, &block, &rescue->result->blocks_copied);
  rescue->result->bytes_unreadable = PPI_MAX(
      rescue->result->bytes_unreadable, ppi_log_file_damage(file)->num_bytes);
  ppi_log_file_close(file);
  return status;
}

// The staged bytes as a block, when they are one.
static bool parse_staged(const uint8_t *bytes, uint32_t len, ppi_log_run *runs,
                         ppi_log_block *out) {
  memset(out, 0, sizeof *out);
  if (len < PPI_LOG_HEADER_SIZE || !ppi_log_header_load(bytes, &out->header) ||
      len != ppi_log_block_size(&out->header))
    return false;
  size_t runs_end = ppi_log_runs_end(&out->header);
  if (!ppi_log_header_is_whole(bytes, runs_end)) return false;
  for (uint32_t i = 0; i < out->header.num_runs; i++)
    ppi_log_run_load(bytes + PPI_LOG_HEADER_SIZE + i * PPI_LOG_RUN_SIZE,
                     &runs[i]);
  out->size = len;
  out->runs = runs;
  out->bytes = bytes;
  out->stored = bytes + runs_end;
  out->ok = (uint32_t)crc32(0, out->stored, out->header.stored_len) ==
            out->header.payload_crc;
  return true;
}

pprof_status ppi_rescue_copy_staged(ppi_rescue *rescue,
                                    const ppi_staging *staging) {
  ppi_log_run *runs = ppi_alloc(PPI_LOG_MAX_RUNS * sizeof *runs);
  if (!runs) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = PPROF_STATUS_OK;
  uint64_t cursor = 0, number;
  uint32_t len;
  const void *bytes;
  while (status == PPROF_STATUS_OK &&
         ppi_staging_walk(staging, &cursor, &bytes, &len, &number)) {
    ppi_log_block block;
    if (!parse_staged(bytes, len, runs, &block) ||
        block.header.number < rescue->next_number)
      continue;
    status = copy_block(rescue, &block, &rescue->result->blocks_staged);
  }
  ppi_free(runs);
  return status;
}

// ---- records, totals ----

static uint64_t kept(void *user, uint32_t lane) {
  const ppi_rescue *rescue = user;
  return lane < rescue->num_ends ? rescue->ends[lane] : 0;
}

static pprof_status close_windows(ppi_rescue *rescue) {
  for (size_t i = 0; i < rescue->num_windows; i++) {
    ppi_rescue_window *window = &rescue->windows[i];
    if (!window->opened || window->closed) continue;
    pprof_status status = ppi_log_assembler_window(
        &rescue->assembler, window->index, false, rescue->last_time_ns);
    if (status != PPROF_STATUS_OK) return status;
    window->closed = true;
  }
  return PPROF_STATUS_OK;
}

// The spool's per-lane counts join the tally; sums over all lanes follow from
// them.
static pprof_status add_lane_counts(ppi_rescue *rescue,
                                    const pprof_totals *extra) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < extra->num_items && status == PPROF_STATUS_OK; i++) {
    const ppi_total *item = &extra->items[i];
    if (item->lane != PPROF_ALL_LANES)
      status = ppi_tally_add(&rescue->tally, item->lane,
                             (ppi_total_key)item->key, item->value);
  }
  return status;
}

// What the spool counts for the whole run beyond its lanes.
static void add_run_counts(uint64_t sums[PPI_NUM_TOTALS],
                           const pprof_totals *extra) {
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++) {
    uint64_t lanes = 0, run = 0;
    for (size_t i = 0; i < extra->num_items; i++) {
      const ppi_total *item = &extra->items[i];
      if (item->key != key) continue;
      *(item->lane == PPROF_ALL_LANES ? &run : &lanes) += item->value;
    }
    if (run > lanes) sums[key] += run - lanes;
  }
}

static pprof_status make_items(ppi_rescue *rescue, const pprof_totals *extra,
                               ppi_total **out, size_t *out_num) {
  pprof_status status = add_lane_counts(rescue, extra);
  ppi_total *items;
  size_t num = 0, num_lanes = 0;
  if (status == PPROF_STATUS_OK)
    status = ppi_tally_items(&rescue->tally, &items, &num);
  if (status != PPROF_STATUS_OK) return status;
  uint64_t sums[PPI_NUM_TOTALS] = {0};
  while (num_lanes < num && items[num_lanes].lane != PPROF_ALL_LANES)
    num_lanes++;
  for (size_t i = num_lanes; i < num; i++) sums[items[i].key] = items[i].value;
  add_run_counts(sums, extra);
  sums[PPI_TOTAL_INCOMPLETE] = 1;
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

static pprof_status write_totals(ppi_rescue *rescue, ppi_salvage *salvage) {
  static const pprof_totals none = {0};
  const pprof_totals *extra = salvage ? ppi_salvage_totals(salvage) : &none;
  ppi_text *notes = ppi_alloc((extra->num_notes + 1) * sizeof *notes);
  if (!notes) return PPROF_STATUS_NO_MEMORY;
  if (extra->num_notes > 0)
    memcpy(notes, extra->notes, extra->num_notes * sizeof *notes);
  notes[extra->num_notes] = (ppi_text){
      "recovered", salvage ? "from the log's blocks and the spool"
                           : "from the log's whole blocks, without a spool"};
  pprof_totals totals = {.notes = notes, .num_notes = extra->num_notes + 1};
  ppi_total *items = NULL;
  pprof_status status = make_items(rescue, extra, &items, &totals.num_items);
  totals.items = items;
  if (status == PPROF_STATUS_OK)
    status = ppi_log_assembler_totals(&rescue->assembler, &totals);
  ppi_free(items);
  ppi_free(notes);
  return status;
}

pprof_status ppi_rescue_finish(ppi_rescue *rescue, ppi_salvage *salvage,
                               const pprof_run_info *info) {
  if (rescue->complete) return PPROF_STATUS_OK;
  pprof_status status = ppi_log_assembler_init(&rescue->assembler, write_bytes,
                                               rescue, 0, rescue->next_number);
  rescue->assembling = true;
  if (status == PPROF_STATUS_OK && !rescue->has_info)
    status = ppi_log_assembler_info(&rescue->assembler, info);
  if (status == PPROF_STATUS_OK && salvage) {
    status =
        ppi_salvage_deliver(salvage, kept, rescue, true, &rescue->salvage_sink);
    rescue->last_time_ns =
        PPI_MAX(rescue->last_time_ns, ppi_salvage_last_time_ns(salvage));
  }
  if (status == PPROF_STATUS_OK) status = close_windows(rescue);
  return status == PPROF_STATUS_OK ? write_totals(rescue, salvage) : status;
}
