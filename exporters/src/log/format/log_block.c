// SPDX-License-Identifier: Apache-2.0
//
// Gathers and closes blocks. Events are encoded as they come, one encoder per
// run, so that the size of the open block is always known.
#include "log/format/log_block.h"

#include <stdlib.h>

enum {
  // Encoders kept from block to block; a block of more runs frees the rest.
  SPARE_ENCODERS = 16,
  // Events encoded at a time; this bounds the room that a column needs.
  MAX_RANGES = 512,
  ZLIB_LEVEL = 1,
  // Bytes; a shorter block is cheap anyway.
  MIN_VARIED = 8 * 1024
};

pprof_status ppi_log_assembler_init(ppi_log_assembler *assembler,
                                    ppi_log_put put, void *user,
                                    size_t block_limit, uint64_t first_number) {
  memset(assembler, 0, sizeof *assembler);
  assembler->put = put;
  assembler->user = user;
  assembler->raw_limit = PPI_LOG_MAX_RAW;
  assembler->max_runs = PPI_LOG_MAX_RUNS;
  if (block_limit > 0 && block_limit < PPI_LOG_MAX_BLOCK) {
    size_t body = block_limit - PPI_LOG_HEADER_SIZE;
    assembler->raw_limit = body * 2 / 3;
    assembler->max_runs = body / 3 / PPI_LOG_RUN_SIZE;
  }
  assembler->next_number = first_number;
  return ppi_codec_create(ZLIB_LEVEL, &assembler->codec);
}

void ppi_log_assembler_clear(ppi_log_assembler *assembler) {
  for (size_t i = 0; i < assembler->num_encoders; i++)
    ppi_run_encoder_destroy(assembler->runs[i]);
  ppi_free(assembler->runs);
  ppi_free(assembler->table);
  ppi_codec_destroy(assembler->codec);
  ppi_buffer_clear(&assembler->out);
  ppi_buffer_clear(&assembler->definitions);
  ppi_buffer_clear(&assembler->payload);
  memset(assembler, 0, sizeof *assembler);
}

size_t ppi_log_assembler_max_block(const ppi_log_assembler *assembler) {
  return PPI_LOG_HEADER_SIZE + assembler->max_runs * PPI_LOG_RUN_SIZE +
         assembler->raw_limit;
}

static pprof_status release(ppi_log_assembler *assembler) {
  if (assembler->out.len == 0) return PPROF_STATUS_OK;
  size_t len = assembler->out.len;
  assembler->out.len = 0;
  assembler->num_out = 0;
  return assembler->put(assembler->user, assembler->out.data, len);
}

// The lowest bytes of host times are noise, and so is the order of ranges where
// no guess is right. Many blocks contain little else: then each column gets its
// own codes, without a search for matches.
static ppi_codec_id deflate_payload(ppi_log_assembler *assembler,
                                    const ppi_buffer *payload,
                                    const ppi_log_parts *parts, uint8_t *out,
                                    size_t *out_len) {
  bool is_varied = parts && payload->len >= MIN_VARIED &&
                   parts->varied >= payload->len / 4 * 3;
  return is_varied
             ? ppi_codec_deflate_parts(assembler->codec, payload->data,
                                       parts->lens, parts->num, out, out_len)
             : ppi_codec_deflate(assembler->codec, payload->data, payload->len,
                                 out, out_len);
}

// Closes one block. `header` brings type, flags, runs and times; `parts` are
// the payload's, or NULL.
static pprof_status emit(ppi_log_assembler *assembler, ppi_log_header *header,
                         const ppi_log_run *runs, const ppi_buffer *payload,
                         const ppi_log_parts *parts) {
  ppi_buffer *out = &assembler->out;
  size_t runs_end = ppi_log_runs_end(header);
  if (payload->failed || !ppi_buffer_room(out, runs_end + payload->len))
    return PPROF_STATUS_NO_MEMORY;
  uint8_t *block = out->data + out->len;
  size_t stored_len;
  header->codec = (uint8_t)deflate_payload(assembler, payload, parts,
                                           block + runs_end, &stored_len);
  header->raw_len = (uint32_t)payload->len;
  header->stored_len = (uint32_t)stored_len;
  header->payload_crc = ppi_fast_crc32(0, block + runs_end, stored_len);
  header->number = assembler->next_number++;
  ppi_log_header_store(block, header, runs);
  out->len += runs_end + stored_len;
  assembler->num_out++;
  // A longer group is split: a ring must be able to take it.
  bool more = assembler->num_out < PPI_LOG_MAX_GROUP &&
              out->len < 2 * ppi_log_assembler_max_block(assembler);
  bool wait = assembler->hold || assembler->join;
  return wait && more ? PPROF_STATUS_OK : release(assembler);
}

static pprof_status emit_definitions(ppi_log_assembler *assembler) {
  if (assembler->definitions.len == 0) return PPROF_STATUS_OK;
  ppi_log_header header = {.type = PPI_LOG_DEFINITIONS};
  pprof_status status =
      emit(assembler, &header, NULL, &assembler->definitions, NULL);
  assembler->definitions.len = 0;
  return status;
}

// ---- payloads that may need several blocks ----

typedef struct piece_writer {
  ppi_log_assembler *assembler;
  ppi_log_header header;
  const ppi_log_run *runs;
  pprof_status status;
} piece_writer;

static void emit_piece(piece_writer *pieces, bool more) {
  ppi_log_assembler *assembler = pieces->assembler;
  if (pieces->status != PPROF_STATUS_OK) return;
  if (more) pieces->header.flags |= PPI_LOG_MORE;
  pieces->status =
      emit(assembler, &pieces->header, pieces->runs, &assembler->payload, NULL);
  pieces->header.flags = PPI_LOG_CONTINUES;
  assembler->payload.len = 0;
}

// Makes room for an item of up to `need` bytes.
static ppi_buffer *piece_room(piece_writer *pieces, size_t need) {
  ppi_buffer *payload = &pieces->assembler->payload;
  if (payload->len + need > pieces->assembler->raw_limit)
    emit_piece(pieces, true);
  return payload;
}

static piece_writer begin_pieces(ppi_log_assembler *assembler,
                                 ppi_log_type type) {
  assembler->payload.len = 0;
  return (piece_writer){
      assembler, {.type = (uint8_t)type}, NULL, PPROF_STATUS_OK};
}

// The same key again goes on with the value.
static void put_long_text(piece_writer *pieces, const ppi_text *text) {
  size_t limit = pieces->assembler->raw_limit / 4;
  size_t key_len = ppi_text_cut(text->key, limit);
  const char *rest = text->value ? text->value : "";
  do {
    size_t len = ppi_text_cut(rest, limit);
    ppi_buffer *payload = piece_room(pieces, key_len + len + 6);
    ppi_buffer_text(payload, text->key, key_len);
    ppi_buffer_text(payload, rest, len);
    rest += len;
  } while (*rest);
}

static void put_info(piece_writer *pieces, const ppi_text *texts, size_t num) {
  for (size_t i = 0; i < num; i++)
    if (strcmp(texts[i].key, PPI_COMPRESSOR_KEY) != 0)
      put_long_text(pieces, &texts[i]);
}

pprof_status ppi_log_assembler_info(ppi_log_assembler *assembler,
                                    const pprof_run_info *info,
                                    const ppi_text *more, size_t num_more) {
  piece_writer pieces = begin_pieces(assembler, PPI_LOG_INFO);
  ppi_text compressor = {PPI_COMPRESSOR_KEY, ppi_codec_writer()};
  put_info(&pieces, info->texts, info->num_texts);
  put_info(&pieces, more, num_more);
  put_long_text(&pieces, &compressor);
  emit_piece(&pieces, false);
  return pieces.status;
}

static void put_keys(piece_writer *pieces) {
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++) {
    const char *name = ppi_total_name((ppi_total_key)key);
    ppi_buffer *payload = piece_room(pieces, strlen(name) + 8);
    ppi_buffer_varint(payload, PPI_TOTALS_KEY);
    ppi_buffer_text(payload, name, strlen(name));
  }
}

static void put_notes(piece_writer *pieces, const ppi_text *notes, size_t num) {
  size_t limit = pieces->assembler->raw_limit / 4;
  for (size_t i = 0; i < num; i++) {
    size_t key_len = ppi_text_cut(notes[i].key, limit);
    size_t len = ppi_text_cut(notes[i].value, limit);
    ppi_buffer *payload = piece_room(pieces, key_len + len + 8);
    ppi_buffer_varint(payload, PPI_TOTALS_NOTE);
    ppi_buffer_text(payload, notes[i].key, key_len);
    ppi_buffer_text(payload, notes[i].value, len);
  }
}

pprof_status ppi_log_assembler_totals(ppi_log_assembler *assembler,
                                      const pprof_totals *totals,
                                      const ppi_text *note) {
  pprof_status status = ppi_log_assembler_flush(assembler);
  if (status != PPROF_STATUS_OK) return status;
  piece_writer pieces = begin_pieces(assembler, PPI_LOG_TOTALS);
  put_keys(&pieces);
  for (size_t i = 0; i < totals->num_items; i++) {
    const ppi_total *item = &totals->items[i];
    if (item->key >= PPI_NUM_TOTALS) continue;
    ppi_buffer *payload = piece_room(&pieces, 4 * PPI_VARINT_MAX);
    ppi_buffer_varint(payload, PPI_TOTALS_ITEM);
    ppi_buffer_varint(payload, (uint32_t)(item->lane + 1));
    ppi_buffer_varint(payload, item->key);
    ppi_buffer_varint(payload, item->value);
  }
  put_notes(&pieces, totals->notes, totals->num_notes);
  put_notes(&pieces, note, note != NULL);
  emit_piece(&pieces, false);
  return pieces.status;
}

pprof_status ppi_log_assembler_contents(ppi_log_assembler *assembler,
                                        const ppi_buffer *payload) {
  ppi_log_header header = {.type = PPI_LOG_CONTENTS};
  return emit(assembler, &header, NULL, payload, NULL);
}

// ---- events ----

PPI_ORDER_OF_POINTERS(compare_runs, ppi_run_encoder,
                      PPI_UP(run.lane) PPI_UP(order))

static void forget_runs(ppi_log_assembler *assembler) {
  for (size_t i = SPARE_ENCODERS; i < assembler->num_encoders; i++)
    ppi_run_encoder_destroy(assembler->runs[i]);
  assembler->num_encoders = PPI_MIN(assembler->num_encoders, SPARE_ENCODERS);
  assembler->num_runs = 0;
  assembler->raw = 0;
  assembler->num_events = 0;
}

static pprof_status close_events(ppi_log_assembler *assembler) {
  if (assembler->num_runs == 0) return PPROF_STATUS_OK;
  if (!PPI_ROOM(assembler->table, assembler->table_capacity,
                assembler->num_runs + 1))
    return PPROF_STATUS_NO_MEMORY;
  pprof_status status = emit_definitions(assembler);
  if (status != PPROF_STATUS_OK) return status;
  qsort(assembler->runs, assembler->num_runs, sizeof *assembler->runs,
        compare_runs);
  assembler->payload.len = 0;
  ppi_log_parts parts = {.num = 0};
  for (size_t i = 0; i < assembler->num_runs; i++) {
    ppi_run_encoder_finish(assembler->runs[i], &assembler->payload);
    ppi_run_encoder_parts(assembler->runs[i], &parts);
    assembler->table[i] = assembler->runs[i]->run;
  }
  bool timed = assembler->num_events > 0;
  ppi_log_header header = {.type = PPI_LOG_EVENTS,
                           .num_runs = (uint32_t)assembler->num_runs,
                           .num_events = assembler->num_events,
                           .min_start_ns = timed ? assembler->min_start_ns : 0,
                           .max_end_ns = timed ? assembler->max_end_ns : 0};
  status =
      emit(assembler, &header, assembler->table, &assembler->payload, &parts);
  forget_runs(assembler);
  return status;
}

// ---- definitions ----

// For a kind with ids in nearly ascending order: whether this id may have had
// another meaning before.
static bool is_again(ppi_log_assembler *assembler,
                     const pprof_definition *definition) {
  if (!ppi_definition_is_known(definition->kind)) return true;
  uint32_t *most = &assembler->most_id[definition->kind];
  if (definition->id < *most) return true;
  *most = definition->id + 1;
  return false;
}

// Whether gathered events may name the id. The block's definitions come before
// these events, for which the id has the old meaning.
static bool is_in_use(const ppi_log_assembler *assembler,
                      const pprof_definition *definition) {
  if (definition->kind != PPROF_DEFINITION_SITE) return true;
  for (size_t i = 0; i < assembler->num_runs; i++) {
    const ppi_log_model *model = &assembler->runs[i]->model;
    for (size_t k = 0; k < model->num_shapes; k++)
      if (model->shapes[k].site == definition->id) return true;
  }
  return false;
}

pprof_status ppi_log_assembler_define(ppi_log_assembler *assembler,
                                      const pprof_definition *definition) {
  ppi_buffer *out = &assembler->definitions;
  if (is_again(assembler, definition) && is_in_use(assembler, definition)) {
    PPI_TRY(close_events(assembler));
  }
  const char *name = definition->name ? definition->name : "";
  size_t len = ppi_text_cut(name, assembler->raw_limit - 64);
  // Half a JSON object is none.
  if (definition->kind == PPROF_DEFINITION_ATTRIBUTES && name[len]) {
    name = "{}";
    len = 2;
  }
  if (out->len + len + 64 > assembler->raw_limit) {
    PPI_TRY(emit_definitions(assembler));
  }
  ppi_buffer_varint(out, definition->kind);
  ppi_buffer_varint(out, definition->id);
  ppi_buffer_varint(out, definition->parent);
  ppi_buffer_varint(out, definition->color);
  ppi_buffer_varint(out, definition->number);
  ppi_buffer_text(out, name, len);
  return out->failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

static ppi_run_encoder *add_encoder(ppi_log_assembler *assembler) {
  if (assembler->num_runs < assembler->num_encoders)
    return assembler->runs[assembler->num_runs];
  if (!PPI_ROOM(assembler->runs, assembler->runs_capacity,
                assembler->num_runs + 1))
    return NULL;
  ppi_run_encoder *encoder = ppi_run_encoder_create();
  if (encoder) assembler->runs[assembler->num_encoders++] = encoder;
  return encoder;
}

// The latest run of the lane in the open block, or NULL.
static ppi_run_encoder *last_run(const ppi_log_assembler *assembler,
                                 uint32_t lane) {
  for (size_t i = assembler->num_runs; i > 0; i--)
    if (assembler->runs[i - 1]->run.lane == lane) return assembler->runs[i - 1];
  return NULL;
}

static pprof_status open_run(ppi_log_assembler *assembler, uint32_t lane,
                             uint32_t window, uint64_t seq,
                             ppi_run_encoder **out) {
  ppi_run_encoder *encoder = add_encoder(assembler);
  if (!encoder) return PPROF_STATUS_NO_MEMORY;
  ppi_run_encoder_start(encoder, lane, window, seq);
  encoder->order = (uint32_t)assembler->num_runs++;
  assembler->raw += PPI_LOG_MAX_RUN;
  *out = encoder;
  return PPROF_STATUS_OK;
}

static void note_times(ppi_log_assembler *assembler, const pprof_event *event) {
  uint64_t end = PPI_MAX(event->end_ns, event->start_ns);
  end = PPI_MAX(end, event->device_end_ns);
  if (assembler->num_events == 0) {
    assembler->min_start_ns = event->start_ns;
    assembler->max_end_ns = end;
  }
  assembler->min_start_ns = PPI_MIN(assembler->min_start_ns, event->start_ns);
  assembler->max_end_ns = PPI_MAX(assembler->max_end_ns, end);
}

// Adds `event`, or NULL, to `run`; *run is then the run that took it.
static pprof_status add_event(ppi_log_assembler *assembler, uint32_t lane,
                              uint64_t seq, const pprof_event *event,
                              ppi_run_encoder **run) {
  pprof_status status = PPROF_STATUS_OK;
  size_t need = PPI_LOG_MAX_EVENT(event->num_flows) + PPI_LOG_MAX_RUN;
  if (event->num_flows > PPI_LOG_MAX_FLOWS) return PPROF_STATUS_INVALID;
  if (assembler->raw + need > assembler->raw_limit ||
      assembler->num_events >= PPI_LOG_MAX_EVENTS ||
      assembler->num_runs >= assembler->max_runs) {
    status = close_events(assembler);
    *run = NULL;
  }
  if (status == PPROF_STATUS_OK &&
      (!*run || (*run)->run.end_seq != seq ||
       ((*run)->run.window != event->window && (*run)->run.num_events > 0)))
    status = open_run(assembler, lane, event->window, seq, run);
  if (status != PPROF_STATUS_OK) return status;
  (*run)->run.window = event->window;
  size_t before = (*run)->len;
  status = ppi_run_encoder_add(*run, event);
  assembler->raw += (*run)->len - before;
  note_times(assembler, event);
  assembler->num_events++;
  return status;
}

// Adds the plain nested ranges from `from` on to their run, as far as block and
// run have room. *out_num is their number.
static pprof_status add_ranges(ppi_log_assembler *assembler,
                               const pprof_batch *batch, size_t from,
                               ppi_run_encoder *run, size_t *out_num) {
  size_t used = assembler->raw + PPI_LOG_MAX_RUN;
  size_t num = used < assembler->raw_limit
                   ? (assembler->raw_limit - used) / PPI_LOG_MAX_RANGE
                   : 0;
  num = PPI_MIN(num, PPI_LOG_MAX_EVENTS - assembler->num_events);
  num = PPI_MIN(num, MAX_RANGES);
  num = PPI_MIN(num, batch->num_events - from);
  ppi_log_times times = {assembler->min_start_ns, assembler->max_end_ns};
  size_t before = run->len;
  pprof_status status =
      ppi_run_encoder_add_ranges(run, batch, from, from + num, &times, out_num);
  assembler->raw += run->len - before;
  assembler->num_events += (uint32_t)*out_num;
  assembler->min_start_ns = times.min_start_ns;
  assembler->max_end_ns = times.max_end_ns;
  return status;
}

// If numbers and events differ in number, only the batch's end shows which
// records are in. Such a batch should not straddle two blocks.
static bool may_overflow(const ppi_log_assembler *assembler,
                         const pprof_batch *batch) {
  if (assembler->num_events == 0) return false;
  size_t each = assembler->raw / assembler->num_events + 4;
  return assembler->raw + each * batch->num_events > assembler->raw_limit ||
         assembler->num_events + batch->num_events > PPI_LOG_MAX_EVENTS;
}

static pprof_status add_batch(ppi_log_assembler *assembler,
                              const pprof_batch *batch) {
  uint64_t seq = batch->first_seq;
  ppi_run_encoder *run = last_run(assembler, batch->lane);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < batch->num_events;) {
    size_t num = 0;
    if (run && run->run.num_events > 0 && run->run.end_seq == seq)
      status = add_ranges(assembler, batch, i, run, &num);
    if (status == PPROF_STATUS_OK && num == 0) {
      status = add_event(assembler, batch->lane, seq, pprof_batch_at(batch, i),
                         &run);
      num = 1;
    }
    if (status != PPROF_STATUS_OK) return status;
    i += num;
    if (seq < batch->end_seq) seq += PPI_MIN(num, batch->end_seq - seq);
    run->run.end_seq = seq;
  }
  if (!run || run->run.end_seq != seq) {
    if (assembler->num_runs >= assembler->max_runs)
      status = close_events(assembler);
    PPI_THEN(status, open_run(assembler, batch->lane, 0, seq, &run));
    if (status != PPROF_STATUS_OK) return status;
  }
  run->run.end_seq = batch->end_seq;
  return PPROF_STATUS_OK;
}

pprof_status ppi_log_assembler_events(ppi_log_assembler *assembler,
                                      const pprof_batch *batch) {
  bool dense = batch->num_events == batch->end_seq - batch->first_seq;
  pprof_status status = PPROF_STATUS_OK;
  if (batch->num_events == 0 && dense) return status;
  if (!dense && may_overflow(assembler, batch))
    status = close_events(assembler);
  if (status != PPROF_STATUS_OK) return status;
  assembler->hold = !dense;
  uint64_t number = assembler->next_number;
  status = add_batch(assembler, batch);
  // If a batch straddles two blocks, its rest closes like its beginning.
  if (status == PPROF_STATUS_OK && !dense && number != assembler->next_number)
    status = close_events(assembler);
  assembler->hold = false;
  pprof_status released =
      assembler->join ? PPROF_STATUS_OK : release(assembler);
  return status != PPROF_STATUS_OK ? status : released;
}

void ppi_log_assembler_join(ppi_log_assembler *assembler) {
  assembler->join = true;
}

pprof_status ppi_log_assembler_release(ppi_log_assembler *assembler) {
  assembler->join = false;
  return release(assembler);
}

pprof_status ppi_log_assembler_flush(ppi_log_assembler *assembler) {
  pprof_status status = close_events(assembler);
  return status == PPROF_STATUS_OK ? emit_definitions(assembler) : status;
}

// ---- checkpoints and windows ----

static void emit_open(piece_writer *pieces, ppi_run_encoder *encoder,
                      bool more) {
  ppi_run_encoder_finish(encoder, &pieces->assembler->payload);
  pieces->header.num_events = encoder->run.num_events;
  pieces->header.num_runs = 1;
  pieces->runs = &encoder->run;
  emit_piece(pieces, more);
  ppi_run_encoder_start(encoder, PPROF_ALL_LANES, 0, 0);
}

pprof_status ppi_log_assembler_checkpoint(ppi_log_assembler *assembler,
                                          const pprof_checkpoint *checkpoint) {
  pprof_status status = ppi_log_assembler_flush(assembler);
  ppi_run_encoder *encoder =
      status == PPROF_STATUS_OK ? add_encoder(assembler) : NULL;
  if (!encoder) return status ? status : PPROF_STATUS_NO_MEMORY;
  piece_writer pieces = begin_pieces(assembler, PPI_LOG_CHECKPOINT);
  pieces.header.min_start_ns = pieces.header.max_end_ns = checkpoint->time_ns;
  ppi_run_encoder_start(encoder, PPROF_ALL_LANES, 0, 0);
  for (size_t i = 0; i < checkpoint->num_open; i++) {
    const pprof_event *event = &checkpoint->open[i];
    size_t need = PPI_LOG_MAX_EVENT(event->num_flows) + PPI_LOG_MAX_RUN;
    if (event->num_flows > PPI_LOG_MAX_FLOWS) return PPROF_STATUS_INVALID;
    if (encoder->len + need > assembler->raw_limit)
      emit_open(&pieces, encoder, true);
    status = ppi_run_encoder_add(encoder, event);
    if (status != PPROF_STATUS_OK) return status;
  }
  emit_open(&pieces, encoder, false);
  return pieces.status;
}

pprof_status ppi_log_assembler_window(ppi_log_assembler *assembler,
                                      uint32_t index, bool opens,
                                      uint64_t time_ns) {
  pprof_status status = ppi_log_assembler_flush(assembler);
  if (status != PPROF_STATUS_OK) return status;
  piece_writer pieces = begin_pieces(assembler, PPI_LOG_WINDOW);
  pieces.header.min_start_ns = pieces.header.max_end_ns = time_ns;
  ppi_buffer_varint(&assembler->payload, index);
  ppi_buffer_varint(&assembler->payload, opens);
  ppi_buffer_varint(&assembler->payload, time_ns);
  emit_piece(&pieces, false);
  return pieces.status;
}
