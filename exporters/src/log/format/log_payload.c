// SPDX-License-Identifier: Apache-2.0
//
// Turns payloads into sink calls. Nothing in them is trusted: the checksum
// protects against accidents, not against a hostile author.
#include "log/format/log_payload.h"

#include <stdlib.h>

#include "log/format/log_block.h"
#include "names/names.h"

// Bounds the memory that a hostile file can use.
enum { MAX_PIECES = 1024, MAX_OPEN = 1 << 20 };

pprof_status ppi_log_payload_init(ppi_log_payload *payload) {
  memset(payload, 0, sizeof *payload);
  payload->raw = ppi_alloc(PPI_LOG_MAX_RAW);
  payload->runs = ppi_alloc(PPI_LOG_MAX_RUNS * sizeof *payload->runs);
  return payload->raw && payload->runs ? ppi_codec_create(1, &payload->codec)
                                       : PPROF_STATUS_NO_MEMORY;
}

static void clear_totals(ppi_log_payload *payload) {
  ppi_texts_clear(&payload->notes);
  payload->num_items = payload->num_keys = 0;
}

static void clear_open(ppi_log_payload *payload) {
  for (size_t i = 0; i < payload->num_copies; i++) ppi_free(payload->copies[i]);
  payload->num_open = payload->num_copies = 0;
}

void ppi_log_payload_reset(ppi_log_payload *payload) {
  ppi_texts_clear(&payload->info);
  clear_totals(payload);
  clear_open(payload);
  payload->open_type = 0;
}

void ppi_log_payload_clear(ppi_log_payload *payload) {
  ppi_log_payload_reset(payload);
  ppi_codec_destroy(payload->codec);
  ppi_run_decoder_clear(&payload->decoder);
  PPI_FREE_ALL(payload->events, payload->raw, payload->runs, payload->name,
               payload->items, payload->keys, payload->open, payload->copies);
  memset(payload, 0, sizeof *payload);
}

static bool runs_add_up(const ppi_log_block *block) {
  uint64_t len = 0, num_events = 0;
  for (uint32_t i = 0; i < block->header.num_runs; i++) {
    const ppi_log_run *run = &block->runs[i];
    len += run->payload_len;
    num_events += run->num_events;
    if (run->first_seq > run->end_seq) return false;
  }
  return len == block->header.raw_len && num_events == block->header.num_events;
}

pprof_status ppi_log_payload_open(ppi_log_payload *payload,
                                  const ppi_log_block *block) {
  const ppi_log_header *header = &block->header;
  if (!block->ok) return PPROF_STATUS_CORRUPT;
  bool has_runs =
      header->type == PPI_LOG_EVENTS || header->type == PPI_LOG_CHECKPOINT;
  if (has_runs && !runs_add_up(block)) return PPROF_STATUS_CORRUPT;
  return ppi_codec_inflate(payload->codec, header->codec, block->stored,
                           header->stored_len, payload->raw, header->raw_len);
}

// Ids count from 1, and tables are by id. A log that begins in mid-run lacks
// the definitions before, but a session never has more than these.
static bool is_possible(const ppi_log_payload *payload, uint32_t id) {
  enum { SPARE = 1 << 18, TIMES = 4 };
  return id < PPI_MAX_ID && id < SPARE + TIMES * payload->num_defined;
}

// Our writers keep no longer names: with them, every event of a log could be as
// long.
static size_t kept_name(const char *name, size_t len) {
  return len <= PPI_MAX_NAME ? len : ppi_text_cut(name, PPI_MAX_NAME);
}

pprof_status ppi_log_payload_define(ppi_log_payload *payload,
                                    const ppi_log_block *block,
                                    pprof_sink *sink) {
  ppi_cursor cursor = ppi_cursor_of(payload->raw, block->header.raw_len);
  while (ppi_cursor_left(&cursor) > 0) {
    pprof_definition definition = {0};
    size_t len;
    definition.kind = (pprof_definition_kind)ppi_cursor_u32(&cursor);
    definition.id = ppi_cursor_u32(&cursor);
    definition.parent = ppi_cursor_u32(&cursor);
    definition.color = ppi_cursor_u32(&cursor);
    definition.number = ppi_cursor_varint(&cursor);
    const char *name = ppi_cursor_text(&cursor, &len);
    if (cursor.failed || !is_possible(payload, definition.id) ||
        !is_possible(payload, definition.parent))
      return PPROF_STATUS_CORRUPT;
    payload->num_defined++;
    if (!ppi_definition_is_known(definition.kind)) {
      payload->num_unknown++;
      continue;
    }
    if (definition.kind != PPROF_DEFINITION_ATTRIBUTES)
      len = kept_name(name, len);
    if (!PPI_ROOM(payload->name, payload->name_capacity, len + 1))
      return PPROF_STATUS_NO_MEMORY;
    memcpy(payload->name, name, len);
    payload->name[len] = '\0';
    definition.name = payload->name;
    PPI_TRY(PPI_SINK_CALL(sink, define, &definition));
  }
  return PPROF_STATUS_OK;
}

static void copy_events(const pprof_batch *batch, pprof_event *out) {
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = ppi_batch_at(batch, i, &out[i]);
    if (event != &out[i]) out[i] = *event;
  }
}

pprof_status ppi_log_payload_give(ppi_log_payload *payload,
                                  const ppi_columns *columns,
                                  pprof_sink *sink) {
  pprof_batch batch = columns->batch;
  if (!PPI_SINK_HAS(sink, events)) return PPROF_STATUS_OK;
  if (sink->size & PPI_IN_COLUMNS) return sink->events(sink, &columns->batch);
  if (!PPI_ROOM(payload->events, payload->events_capacity,
                batch.num_events + 1))
    return PPROF_STATUS_NO_MEMORY;
  copy_events(&columns->batch, payload->events);
  batch.size = sizeof batch;
  batch.stride = sizeof *payload->events;
  batch.events = payload->events;
  return sink->events(sink, &batch);
}

pprof_status ppi_log_payload_events(ppi_log_payload *payload,
                                    const ppi_log_block *block,
                                    pprof_sink *sink) {
  const uint8_t *at = payload->raw;
  for (uint32_t i = 0; i < block->header.num_runs; i++) {
    const ppi_log_run *run = &block->runs[i];
    PPI_TRY(ppi_run_decode(&payload->decoder, run, at));
    at += run->payload_len;
    const ppi_columns columns = ppi_run_decoder_columns(&payload->decoder, run);
    PPI_TRY(ppi_log_payload_give(payload, &columns, sink));
  }
  return PPROF_STATUS_OK;
}

pprof_status ppi_log_payload_window(ppi_log_payload *payload,
                                    const ppi_log_block *block,
                                    uint32_t *out_index, bool *out_opens,
                                    uint64_t *out_time_ns) {
  ppi_cursor cursor = ppi_cursor_of(payload->raw, block->header.raw_len);
  *out_index = ppi_cursor_u32(&cursor);
  uint32_t opens = ppi_cursor_u32(&cursor);
  *out_opens = opens != 0;
  *out_time_ns = ppi_cursor_varint(&cursor);
  return cursor.failed || opens > 1 || ppi_cursor_left(&cursor) > 0
             ? PPROF_STATUS_CORRUPT
             : PPROF_STATUS_OK;
}

static char *copy_text(const char *text, size_t len) {
  char *copy = ppi_alloc(len + 1);
  if (copy && len > 0) memcpy(copy, text, len);
  return copy;
}

static pprof_status add_text(ppi_texts *texts, ppi_cursor *cursor) {
  size_t key_len, value_len;
  const char *key = ppi_cursor_text(cursor, &key_len);
  const char *value = ppi_cursor_text(cursor, &value_len);
  if (cursor->failed) return PPROF_STATUS_CORRUPT;
  char *own_key = copy_text(key, key_len);
  char *own_value = copy_text(value, value_len);
  bool added = own_key && own_value && ppi_texts_add(texts, own_key, own_value);
  ppi_free(own_key);
  ppi_free(own_value);
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

// The same key again goes on with the value.
static pprof_status join_last_text(ppi_texts *texts) {
  if (texts->num < 2) return PPROF_STATUS_OK;
  ppi_text *before = &texts->items[texts->num - 2], *last = before + 1;
  if (strcmp(before->key, last->key) != 0) return PPROF_STATUS_OK;
  size_t len = strlen(before->value), more = strlen(last->value);
  char *joined = ppi_realloc((void *)(uintptr_t)before->value, len + more + 1);
  if (!joined) return PPROF_STATUS_NO_MEMORY;
  memcpy(joined + len, last->value, more + 1);
  before->value = joined;
  ppi_free((void *)(uintptr_t)last->key);
  ppi_free((void *)(uintptr_t)last->value);
  texts->num--;
  return PPROF_STATUS_OK;
}

static pprof_status read_info(ppi_log_payload *payload, ppi_cursor cursor) {
  pprof_status status = PPROF_STATUS_OK;
  while (status == PPROF_STATUS_OK && ppi_cursor_left(&cursor) > 0) {
    status = add_text(&payload->info, &cursor);
    if (status == PPROF_STATUS_OK) status = join_last_text(&payload->info);
  }
  return status;
}

static uint32_t find_key(const char *name, size_t len) {
  uint32_t key = 0;
  for (; key < PPI_NUM_TOTALS; key++) {
    const char *known = ppi_total_name((ppi_total_key)key);
    if (strlen(known) == len && memcmp(known, name, len) == 0) break;
  }
  return key;
}

static pprof_status read_key(ppi_log_payload *payload, ppi_cursor *cursor) {
  size_t len;
  const char *name = ppi_cursor_text(cursor, &len);
  if (cursor->failed) return PPROF_STATUS_CORRUPT;
  return PPI_PUSH(payload->keys, payload->num_keys, payload->keys_capacity,
                  find_key(name, len))
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

static pprof_status read_item(ppi_log_payload *payload, ppi_cursor *cursor) {
  uint32_t lane = ppi_cursor_u32(cursor) - 1;
  uint32_t key = ppi_cursor_u32(cursor);
  uint64_t value = ppi_cursor_varint(cursor);
  if (cursor->failed || key >= payload->num_keys) return PPROF_STATUS_CORRUPT;
  if (payload->keys[key] == PPI_NUM_TOTALS) return PPROF_STATUS_OK;
  return PPI_PUSH(payload->items, payload->num_items, payload->items_capacity,
                  (ppi_total){lane, payload->keys[key], value})
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

static pprof_status read_totals(ppi_log_payload *payload, ppi_cursor cursor) {
  pprof_status status = PPROF_STATUS_OK;
  while (status == PPROF_STATUS_OK && ppi_cursor_left(&cursor) > 0) {
    switch (ppi_cursor_varint(&cursor)) {
      case PPI_TOTALS_KEY:
        status = read_key(payload, &cursor);
        break;
      case PPI_TOTALS_ITEM:
        status = read_item(payload, &cursor);
        break;
      case PPI_TOTALS_NOTE:
        status = add_text(&payload->notes, &cursor);
        break;
      default:
        return PPROF_STATUS_CORRUPT;
    }
  }
  return status;
}

// Takes over the decoder's arrays: the next block would overwrite them.
static bool keep_copy(ppi_log_payload *payload, void **array,
                      size_t *capacity) {
  if (!*array) return true;
  if (!PPI_PUSH(payload->copies, payload->num_copies, payload->copies_capacity,
                *array))
    return false;
  *array = NULL;
  *capacity = 0;
  return true;
}

static pprof_status read_open(ppi_log_payload *payload,
                              const ppi_log_block *block) {
  const uint8_t *at = payload->raw;
  ppi_run_decoder *decoder = &payload->decoder;
  for (uint32_t i = 0; i < block->header.num_runs; i++) {
    const ppi_log_run *run = &block->runs[i];
    PPI_TRY(ppi_run_decode(decoder, run, at));
    at += run->payload_len;
    size_t num = payload->num_open + run->num_events;
    if (num > MAX_OPEN) return PPROF_STATUS_CORRUPT;
    if (!PPI_ROOM(payload->open, payload->open_capacity, num))
      return PPROF_STATUS_NO_MEMORY;
    const ppi_columns columns = ppi_run_decoder_columns(decoder, run);
    copy_events(&columns.batch, payload->open + payload->num_open);
    payload->num_open = num;
    if (!keep_copy(payload, (void **)&decoder->flows,
                   &decoder->flows_capacity) ||
        !keep_copy(payload, (void **)&decoder->work, &decoder->work_capacity) ||
        !keep_copy(payload, (void **)&decoder->cpu, &decoder->cpu_capacity) ||
        !keep_copy(payload, (void **)&decoder->numbers,
                   &decoder->numbers_capacity))
      return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

static void begin_pieces(ppi_log_payload *payload, uint8_t type) {
  payload->num_pieces = 0;
  if (type == PPI_LOG_INFO) ppi_texts_clear(&payload->info);
  if (type == PPI_LOG_TOTALS) clear_totals(payload);
  if (type == PPI_LOG_CHECKPOINT) clear_open(payload);
}

PPI_ORDER(compare_items, ppi_total, PPI_UP(lane) PPI_UP(key))

static pprof_status read_piece(ppi_log_payload *payload,
                               const ppi_log_block *block) {
  ppi_cursor cursor = ppi_cursor_of(payload->raw, block->header.raw_len);
  if (block->header.type == PPI_LOG_INFO) return read_info(payload, cursor);
  if (block->header.type == PPI_LOG_TOTALS) return read_totals(payload, cursor);
  return read_open(payload, block);
}

pprof_status ppi_log_payload_piece(ppi_log_payload *payload,
                                   const ppi_log_block *block,
                                   bool *out_whole) {
  const ppi_log_header *header = &block->header;
  *out_whole = false;
  bool goes_on = payload->open_type == header->type &&
                 payload->next_number == header->number &&
                 payload->num_pieces < MAX_PIECES;
  payload->open_type = 0;
  if (!(header->flags & PPI_LOG_CONTINUES))
    begin_pieces(payload, header->type);
  else if (!goes_on)
    return PPROF_STATUS_OK;  // its beginning is lost
  PPI_TRY(read_piece(payload, block));
  payload->num_pieces++;
  if (header->flags & PPI_LOG_MORE) {
    payload->open_type = header->type;
    payload->next_number = header->number + 1;
    return PPROF_STATUS_OK;
  }
  if (header->type == PPI_LOG_TOTALS && payload->num_items > 1)
    qsort(payload->items, payload->num_items, sizeof *payload->items,
          compare_items);
  *out_whole = true;
  return PPROF_STATUS_OK;
}
