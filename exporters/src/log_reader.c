// SPDX-License-Identifier: Apache-2.0
//
// Reads a log into a sink, block by block, in file order: the same calls a live
// session makes. Called by whoever has a log; one thread, its own state.
#include <string.h>

#include "base_impl.h"
#include "log_payload.h"
#include "mem.h"
#include "pprof/log.h"
#include "tally.h"

typedef struct log_reader {
  pprof_sink tap;  // what payloads are delivered to: counts, then forwards
  pprof_sink *sink;
  ppi_log_file *file;
  ppi_log_payload payload;
  ppi_tally tally;
  bool begun, complete, sink_failed;
} log_reader;

static log_reader *reader_of(pprof_sink *tap) {
  return (log_reader *)tap;
}

static pprof_status forward(log_reader *reader, pprof_status status) {
  if (status != PPROF_STATUS_OK) reader->sink_failed = true;
  return status;
}

static pprof_status begin(log_reader *reader) {
  ppi_text uuid = {"uuid", ppi_log_file_uuid(reader->file)};
  pprof_run_info info = {reader->payload.texts, reader->payload.num_texts,
                         NULL};
  // Without its run info a log still knows whose it is.
  if (info.num_texts == 0)
    info = (pprof_run_info){&uuid, uuid.value[0] != '\0', NULL};
  reader->begun = true;
  return forward(reader, PPI_SINK_CALL(reader->sink, begin, &info));
}

static pprof_status tap_define(pprof_sink *tap,
                               const pprof_definition *definition) {
  log_reader *reader = reader_of(tap);
  return forward(reader, PPI_SINK_CALL(reader->sink, define, definition));
}

static pprof_status tap_events(pprof_sink *tap, const pprof_batch *batch) {
  log_reader *reader = reader_of(tap);
  pprof_status status = ppi_tally_batch(&reader->tally, batch);
  if (status == PPROF_STATUS_NO_MEMORY) return status;
  return forward(reader, PPI_SINK_CALL(reader->sink, events, batch));
}

static pprof_status read_window(log_reader *reader,
                                const ppi_log_block *block) {
  uint32_t index;
  bool opens;
  uint64_t time_ns;
  pprof_status status =
      ppi_log_payload_window(&reader->payload, block, &index, &opens, &time_ns);
  if (status != PPROF_STATUS_OK) return status;
  return forward(reader,
                 PPI_SINK_CALL(reader->sink, window, index, opens, time_ns));
}

static pprof_status read_pieces(log_reader *reader,
                                const ppi_log_block *block) {
  bool whole;
  pprof_status status = ppi_log_payload_piece(&reader->payload, block, &whole);
  if (status != PPROF_STATUS_OK || !whole) return status;
  if (block->header.type == PPI_LOG_TOTALS) reader->complete = true;
  if (block->header.type != PPI_LOG_CHECKPOINT) return status;
  pprof_checkpoint checkpoint = {block->header.max_end_ns, reader->payload.open,
                                 reader->payload.num_open};
  return forward(reader, PPI_SINK_CALL(reader->sink, checkpoint, &checkpoint));
}

static pprof_status read_block(log_reader *reader, const ppi_log_block *block) {
  uint8_t type = block->header.type;
  if (type < PPI_LOG_INFO || type > PPI_LOG_TOTALS) return PPROF_STATUS_OK;
  // A second run info is of no use to a sink that has begun.
  if (type == PPI_LOG_INFO && reader->begun) return PPROF_STATUS_OK;
  pprof_status status = ppi_log_payload_open(&reader->payload, block);
  if (status == PPROF_STATUS_OK && type != PPI_LOG_INFO && !reader->begun)
    status = begin(reader);
  if (status != PPROF_STATUS_OK) return status;
  switch (type) {
    case PPI_LOG_DEFINITIONS:
      return ppi_log_payload_define(&reader->payload, block, &reader->tap);
    case PPI_LOG_EVENTS:
      return ppi_log_payload_events(&reader->payload, block, &reader->tap);
    case PPI_LOG_WINDOW:
      return read_window(reader, block);
    default:
      return read_pieces(reader, block);
  }
}

static pprof_status read_blocks(log_reader *reader) {
  ppi_log_block block;
  while (ppi_log_file_next(reader->file, &block)) {
    if (!block.ok) continue;
    pprof_status status = read_block(reader, &block);
    if (reader->sink_failed || status == PPROF_STATUS_NO_MEMORY) return status;
    if (status != PPROF_STATUS_OK) ppi_log_file_count_bad(reader->file, &block);
  }
  return reader->begun ? PPROF_STATUS_OK : begin(reader);
}

// Without totals the events speak for themselves.
static pprof_status finish(log_reader *reader) {
  const ppi_log_payload *payload = &reader->payload;
  if (reader->complete) {
    pprof_totals totals = {payload->items, payload->num_items, payload->notes,
                           payload->num_notes};
    return forward(reader, PPI_SINK_CALL(reader->sink, finish, &totals));
  }
  ppi_total *items;
  size_t num_items;
  pprof_status status = ppi_tally_items(&reader->tally, &items, &num_items);
  if (status != PPROF_STATUS_OK) return status;
  // INCOMPLETE is the last key, and ALL_LANES the last lane.
  void *grown = ppi_realloc(items, (num_items + 1) * sizeof *items);
  if (grown) {
    items = grown;
    items[num_items++] = (ppi_total){PPROF_ALL_LANES, PPI_TOTAL_INCOMPLETE, 1};
    pprof_totals totals = {items, num_items, NULL, 0};
    status = forward(reader, PPI_SINK_CALL(reader->sink, finish, &totals));
  } else {
    status = PPROF_STATUS_NO_MEMORY;
  }
  ppi_free(items);
  return status;
}

static pprof_status read_open_log(log_reader *reader, const char *path,
                                  pprof_error *error) {
  reader->tap = (pprof_sink){
      .size = sizeof(pprof_sink), .define = tap_define, .events = tap_events};
  pprof_status status = ppi_log_payload_init(&reader->payload);
  if (status == PPROF_STATUS_OK) status = read_blocks(reader);
  if (status == PPROF_STATUS_OK) status = finish(reader);
  if (status != PPROF_STATUS_OK)
    return ppi_fail(error, status, "%s: %s", path, pprof_status_string(status));
  return ppi_log_damage_report(ppi_log_file_damage(reader->file), path,
                               reader->complete, error);
}

pprof_status pprof_log_read(const char *path, pprof_sink *sink,
                            pprof_error *error) {
  log_reader *reader = ppi_alloc(sizeof *reader);
  if (!reader) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  reader->sink = sink;
  pprof_status status = ppi_log_file_open(path, &reader->file, error);
  if (status == PPROF_STATUS_OK) {
    status = read_open_log(reader, path, error);
    ppi_log_payload_clear(&reader->payload);
    ppi_tally_clear(&reader->tally);
  }
  ppi_log_file_close(reader->file);
  ppi_free(reader);
  return status;
}
