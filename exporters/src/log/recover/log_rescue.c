// SPDX-License-Identifier: Apache-2.0
//
// Copies blocks, then records. A block is copied unchanged if all of it
// decodes. Numbers show which blocks are in both file and spool.
#include "log/recover/log_rescue.h"

#include "log/format/log_totals.h"
#include "log/format/staged.h"
#include "log/write/log_io.h"
#include "log/write/rotate.h"

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
  return ppi_tally_batch(&((ppi_rescue *)sink)->tally, batch);
}

// ---- windows: each opens and closes once in the result ----

static ppi_rescue_window *find_window(ppi_rescue *rescue, uint32_t index) {
  for (size_t i = 0; i < rescue->num_windows; i++)
    if (rescue->windows[i].index == index) return &rescue->windows[i];
  if (!PPI_ROOM(rescue->windows, rescue->windows_capacity,
                rescue->num_windows + 1))
    return NULL;
  ppi_rescue_window *window = &rescue->windows[rescue->num_windows++];
  *window = (ppi_rescue_window){.index = index};
  return window;
}

// False: it was there before; *failed: out of memory.
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
  PPI_TRY(ppi_tally_batch(&rescue->tally, batch));
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
  rescue->result = result;
  pprof_status status = ppi_log_payload_init(&rescue->payload);
  return status == PPROF_STATUS_OK ? ppi_rescue_begin_segment(rescue, fd, uuid)
                                   : status;
}

// Lanes and windows stay known for the next segment.
pprof_status ppi_rescue_begin_segment(ppi_rescue *rescue, int fd,
                                      const char *uuid) {
  ppi_log_payload_reset(&rescue->payload);
  ppi_tally_clear(&rescue->tally);
  if (rescue->assembling) ppi_log_assembler_clear(&rescue->assembler);
  rescue->assembling = rescue->has_info = rescue->complete = false;
  rescue->next_number = 0;
  rescue->segment = 0;
  rescue->fd = fd;
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, uuid);
  return write_bytes(rescue, header, sizeof header);
}

void ppi_rescue_clear(ppi_rescue *rescue) {
  ppi_log_payload_clear(&rescue->payload);
  if (rescue->assembling) ppi_log_assembler_clear(&rescue->assembler);
  ppi_tally_clear(&rescue->tally);
  ppi_lane_high_water_clear(&rescue->ends);
  ppi_free(rescue->windows);
}

// ---- whole blocks ----

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

static uint32_t segment_of(const ppi_log_payload *payload) {
  pprof_run_info info = {.texts = payload->info.items,
                         .num_texts = payload->info.num};
  return ppi_segment_of(&info);
}

static pprof_status read_block(ppi_rescue *rescue, const ppi_log_block *block) {
  ppi_log_payload *payload = &rescue->payload;
  uint8_t type = block->header.type;
  bool whole = false;
  rescue->complete = false;
  if (type < PPI_LOG_INFO || type > PPI_LOG_TOTALS) return PPROF_STATUS_OK;
  pprof_status status = ppi_log_payload_open(payload, block);
  if (status != PPROF_STATUS_OK) return status;
  if (type == PPI_LOG_INFO) {
    rescue->has_info = true;
    status = ppi_log_payload_piece(payload, block, &whole);
    if (status == PPROF_STATUS_OK && whole)
      rescue->segment = segment_of(payload);
    return status == PPROF_STATUS_NO_MEMORY ? status : PPROF_STATUS_OK;
  }
  if (type == PPI_LOG_WINDOW) return read_window(rescue, block);
  if (type == PPI_LOG_TOTALS) {
    status = ppi_log_payload_piece(payload, block, &whole);
    rescue->complete = whole;
    return status;
  }
  if (type != PPI_LOG_EVENTS) return status;
  status = ppi_log_payload_events(payload, block, &rescue->tally_sink);
  return status == PPROF_STATUS_OK
             ? ppi_lane_high_water_raise_block(&rescue->ends, block->bytes)
             : status;
}

// OK also for a block that is left out because it does not decode.
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

// The segment that a block begins; 0: none, or one that has begun already.
static uint32_t begun_by(ppi_rescue *rescue, const ppi_log_block *block) {
  bool whole;
  if (block->header.type != PPI_LOG_INFO || block->header.number != 0 ||
      !rescue->segment || !block->ok)
    return 0;
  ppi_log_payload_reset(&rescue->payload);
  if (ppi_log_payload_open(&rescue->payload, block) != PPROF_STATUS_OK ||
      ppi_log_payload_piece(&rescue->payload, block, &whole) != PPROF_STATUS_OK)
    return 0;
  // The number is the info's last text, which may span several blocks.
  uint32_t segment = whole ? segment_of(&rescue->payload) : rescue->segment + 1;
  return segment > rescue->segment ? segment : 0;
}

pprof_status ppi_rescue_copy_staged(ppi_rescue *rescue,
                                    const ppi_staging *staging,
                                    uint64_t *cursor, uint32_t *out_next) {
  *out_next = 0;
  pprof_status status = PPROF_STATUS_OK;
  uint64_t at = *cursor;
  ppi_log_block block;
  while (status == PPROF_STATUS_OK &&
         ppi_log_next_staged(staging, &at, rescue->payload.runs, &block)) {
    *out_next = begun_by(rescue, &block);
    if (*out_next) break;
    *cursor = at;
    // Last words take the numbers of blocks that missed the file.
    if (!rescue->complete && block.header.number >= rescue->next_number)
      status = copy_block(rescue, &block, &rescue->result->blocks_staged);
  }
  return status;
}

// ---- records, totals ----

static uint64_t kept(void *user, uint32_t lane) {
  const ppi_rescue *rescue = user;
  return ppi_lane_high_water_of(&rescue->ends, lane);
}

static pprof_status close_windows(ppi_rescue *rescue) {
  for (size_t i = 0; i < rescue->num_windows; i++) {
    ppi_rescue_window *window = &rescue->windows[i];
    if (!window->opened || window->closed) continue;
    PPI_TRY(ppi_log_assembler_window(&rescue->assembler, window->index, false,
                                     rescue->last_time_ns));
    window->closed = true;
  }
  return PPROF_STATUS_OK;
}

static pprof_status write_totals(ppi_rescue *rescue, ppi_salvage *salvage) {
  static const pprof_totals none = {0};
  const pprof_totals *extra = salvage ? ppi_salvage_totals(salvage) : &none;
  const ppi_text note = {
      "recovered", salvage ? "from the log's blocks and the spool"
                           : "from the log's whole blocks, without a spool"};
  pprof_totals totals = *extra;
  ppi_total *items = NULL;
  pprof_status status =
      ppi_log_totals_join(&rescue->tally, extra, 1, &items, &totals.num_items);
  totals.items = items;
  PPI_THEN(status,
           ppi_log_assembler_totals(&rescue->assembler, &totals, &note));
  ppi_free(items);
  return status;
}

pprof_status ppi_rescue_finish(ppi_rescue *rescue, ppi_salvage *salvage,
                               const pprof_run_info *info) {
  if (rescue->complete) return PPROF_STATUS_OK;
  pprof_status status = ppi_log_assembler_init(&rescue->assembler, write_bytes,
                                               rescue, 0, rescue->next_number);
  rescue->assembling = true;
  if (status == PPROF_STATUS_OK && !rescue->has_info)
    status = ppi_log_assembler_info(&rescue->assembler, info, NULL, 0);
  if (status == PPROF_STATUS_OK && salvage) {
    status =
        ppi_salvage_deliver(salvage, kept, rescue, true, &rescue->salvage_sink);
    rescue->last_time_ns =
        PPI_MAX(rescue->last_time_ns, ppi_salvage_last_time_ns(salvage));
  }
  if (status == PPROF_STATUS_OK) status = close_windows(rescue);
  return status == PPROF_STATUS_OK ? write_totals(rescue, salvage) : status;
}
