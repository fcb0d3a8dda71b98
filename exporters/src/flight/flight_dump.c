// SPDX-License-Identifier: Apache-2.0
//
// Writes one dump. Blocks are copied as they were stored and get new numbers;
// each is decoded once, to count its events.
#include "flight/flight_dump.h"

#include "file/disk.h"
#include "log/format/staged.h"
#include "log/write/log_io.h"

// ---- the past ----
enum {
  MANY_WINDOWS = 64,  // from here on old ones are forgotten
  MANY_REPLACED = 64,
  LATEST_WINDOWS = 16  // these may still get events, such as late device times
};

// Frees replaced definitions that no block in the ring needs.
static void forget_replaced(ppi_flight_past *past, uint64_t oldest) {
  size_t gone = 0;
  while (gone < past->num_replaced && past->replaced[gone].until <= oldest)
    ppi_free((char *)past->replaced[gone++].was.name);
  past->num_replaced -= gone;
  memmove(past->replaced, past->replaced + gone,
          past->num_replaced * sizeof *past->replaced);
}

static bool replace(ppi_flight_past *past, pprof_definition *known,
                    uint64_t next, uint64_t oldest) {
  if (!known->name) return true;
  if (past->num_replaced >= MANY_REPLACED &&
      past->num_replaced == past->replaced_capacity)
    forget_replaced(past, oldest);
  if (!PPI_PUSH(past->replaced, past->num_replaced, past->replaced_capacity,
                (ppi_flight_replaced){*known, next}))
    return false;
  known->name = NULL;
  return true;
}

// flight_past_at makes an array, by id, of the definitions that blocks from
// number `first` on begin with; NULL: no memory, or none of that kind. The
// caller's to free.
static const pprof_definition **flight_past_at(const ppi_flight_past *past,
                                               pprof_definition_kind kind,
                                               uint64_t first) {
  const ppi_flight_definitions *known = &past->kinds[kind];
  const pprof_definition **out = ppi_alloc(known->num * sizeof *out);
  for (size_t i = 0; out && i < known->num; i++) out[i] = &known->items[i];
  for (size_t i = past->num_replaced; out && i-- > 0;) {
    const ppi_flight_replaced *replaced = &past->replaced[i];
    if (replaced->until <= first) break;
    if (replaced->was.kind == kind) out[replaced->was.id] = &replaced->was;
  }
  return out;
}

bool ppi_flight_past_define(ppi_flight_past *past,
                            const pprof_definition *definition, uint64_t next,
                            uint64_t oldest) {
  uint32_t id = definition->id;
  if (!ppi_definition_is_known(definition->kind) || id >= PPI_MAX_ID)
    return true;
  ppi_flight_definitions *known = &past->kinds[definition->kind];
  if (!PPI_REACH(known->items, known->num, known->capacity, (size_t)id + 1))
    return false;
  return replace(past, &known->items[id], next, oldest) &&
         ppi_definition_keep(&known->items[id], definition);
}

// Drops windows that closed before the oldest block, except the latest ones.
static void forget_windows(ppi_flight_past *past, uint64_t tail) {
  size_t kept = 0;
  for (size_t i = 0; i < past->num_windows; i++) {
    const ppi_flight_window *window = &past->windows[i];
    if (window->closed && window->closed_at < tail &&
        past->num_windows - i > LATEST_WINDOWS)
      continue;
    past->windows[kept++] = *window;
  }
  past->num_windows = kept;
}

bool ppi_flight_past_window(ppi_flight_past *past, uint32_t index, bool opens,
                            uint64_t time_ns, uint64_t position,
                            uint64_t tail) {
  if (!opens) {
    for (size_t i = past->num_windows; i-- > 0;)
      if (past->windows[i].index == index && !past->windows[i].closed) {
        past->windows[i].closed = true;
        past->windows[i].close_ns = time_ns;
        past->windows[i].closed_at = position;
      }
    return true;
  }
  if (past->num_windows >= MANY_WINDOWS) forget_windows(past, tail);
  return PPI_PUSH(
      past->windows, past->num_windows, past->windows_capacity,
      (ppi_flight_window){
          .index = index, .open_ns = time_ns, .opened_at = position});
}

void ppi_flight_past_clear(ppi_flight_past *past) {
  ppi_texts_clear(&past->texts);
  for (int kind = 0; kind <= PPROF_DEFINITION_ATTRIBUTES; kind++) {
    for (size_t i = 0; i < past->kinds[kind].num; i++)
      ppi_free((char *)past->kinds[kind].items[i].name);
    ppi_free(past->kinds[kind].items);
  }
  for (size_t i = 0; i < past->num_replaced; i++)
    ppi_free((char *)past->replaced[i].was.name);
  ppi_free(past->replaced);
  ppi_free(past->windows);
  *past = (ppi_flight_past){0};
}

static void fail(ppi_flight_dump *dump, pprof_status status, const char *why) {
  if (dump->status == PPROF_STATUS_OK && status != PPROF_STATUS_OK)
    dump->status =
        ppi_fail(&dump->error, status, "%s: %s", dump->part.path.text,
                 why ? why : pprof_status_string(status));
  if (status != PPROF_STATUS_OK) dump->over = true;
}

static pprof_status gather(void *user, const uint8_t *blocks, size_t len) {
  ppi_flight_dump *dump = user;
  ppi_buffer_bytes(&dump->out, blocks, len);
  return dump->out.failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

static void write_out(ppi_flight_dump *dump) {
  size_t len = dump->out.len;
  if (len == 0 || dump->status != PPROF_STATUS_OK) return;
  dump->out.len = 0;
  if (!ppi_disk_room(dump->disk, len)) {
    fail(dump, PPROF_STATUS_IO, "the disk limit leaves no room");
    return;
  }
  ppi_disk_add(dump->disk, dump->part.path.text, len, false);
  int error = ppi_part_hold(&dump->part);
  if (!error) error = ppi_write_all(dump->part.fd, dump->out.data, len);
  if (error) fail(dump, PPROF_STATUS_IO, strerror(error));
}

static pprof_status count_batch(pprof_sink *sink, const pprof_batch *batch) {
  ppi_flight_dump *dump = (ppi_flight_dump *)sink;
  for (size_t i = 0; dump->step_site && i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->site == dump->step_site && event->value >= 0)
      dump->last_step = PPI_MAX(dump->last_step, (uint64_t)event->value + 1);
  }
  return ppi_tally_batch(&dump->tally, batch);
}

pprof_status ppi_flight_dump_open(ppi_flight_dump *dump, const char *uuid,
                                  const ppi_flight_span *span, ppi_part *part,
                                  ppi_disk *disk) {
  memset(dump, 0, sizeof *dump);
  dump->tally_sink =
      (pprof_sink){.size = sizeof(pprof_sink), .events = count_batch};
  dump->span = *span;
  dump->part = *part;
  *part = (ppi_part){.fd = -1};
  dump->disk = disk;
  pprof_status status = ppi_log_payload_init(&dump->payload);
  PPI_THEN(status,
           ppi_log_assembler_init(&dump->assembler, gather, dump, 0, 0));
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, uuid);
  ppi_buffer_bytes(&dump->out, header, sizeof header);
  if (dump->out.failed) status = PPROF_STATUS_NO_MEMORY;
  fail(dump, status, NULL);
  return dump->status;
}

void ppi_flight_dump_clear(ppi_flight_dump *dump) {
  if (dump->assembler.codec) ppi_log_assembler_clear(&dump->assembler);
  if (dump->payload.raw) ppi_log_payload_clear(&dump->payload);
  ppi_buffer_clear(&dump->out);
  ppi_tally_clear(&dump->tally);
  ppi_lane_high_water_clear(&dump->ends);
  ppi_free(dump->windows);
  ppi_part_clear(&dump->part, dump->status != PPROF_STATUS_OK);
  *dump = (ppi_flight_dump){.part.fd = -1};
}

bool ppi_flight_dump_wants(const ppi_flight_dump *dump,
                           const ppi_log_header *header) {
  const ppi_flight_span *span = &dump->span;
  if (dump->over) return false;
  switch (header->type) {
    case PPI_LOG_EVENTS:
      return header->min_start_ns <= span->to_ns &&
             (dump->begun ||
              (header->num_events > 0 && header->max_end_ns >= span->from_ns));
    case PPI_LOG_WINDOW:
      return dump->begun && header->min_start_ns <= span->to_ns;
    case PPI_LOG_CHECKPOINT:  // the first behind the span ends the dump
      return dump->begun || header->min_start_ns >= span->to_ns;
    default:
      return dump->begun;
  }
}

// ---- what stands before the first block ----

static bool note_window(ppi_flight_dump *dump, uint32_t index, bool opens) {
  size_t at = 0;
  while (at < dump->num_windows && dump->windows[at] != index) at++;
  if (!opens) {
    if (at < dump->num_windows)
      dump->windows[at] = dump->windows[--dump->num_windows];
    return true;
  }
  if (at < dump->num_windows) return true;
  return PPI_PUSH(dump->windows, dump->num_windows, dump->windows_capacity,
                  index);
}

static pprof_status notify_window(ppi_flight_dump *dump, uint32_t index,
                                  bool opens, uint64_t time_ns) {
  return note_window(dump, index, opens)
             ? ppi_log_assembler_window(&dump->assembler, index, opens, time_ns)
             : PPROF_STATUS_NO_MEMORY;
}

// Delivers the windows of the blocks before `position`. One that opened before
// the dump opens at the dump's begin.
static pprof_status notify_windows(ppi_flight_dump *dump,
                                   const ppi_flight_past *past,
                                   uint64_t position) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < past->num_windows && status == PPROF_STATUS_OK; i++) {
    const ppi_flight_window *window = &past->windows[i];
    bool closed = window->closed && window->closed_at < position;
    if (window->opened_at >= position ||
        (closed && window->close_ns <= dump->first_ns))
      continue;
    uint64_t open_ns = PPI_MAX(window->open_ns, dump->first_ns);
    status = notify_window(dump, window->index, true, open_ns);
    if (closed && status == PPROF_STATUS_OK)
      status = notify_window(dump, window->index, false, window->close_ns);
  }
  return status;
}

static pprof_status notify_definitions(ppi_flight_dump *dump,
                                       const ppi_flight_past *past,
                                       uint64_t first_block) {
  // A site comes after its category, a stream after its device.
  static const pprof_definition_kind order[] = {
      PPROF_DEFINITION_CATEGORY, PPROF_DEFINITION_SITE,
      PPROF_DEFINITION_LANE,     PPROF_DEFINITION_DEVICE,
      PPROF_DEFINITION_STREAM,   PPROF_DEFINITION_ATTRIBUTES};
  pprof_status status = PPROF_STATUS_OK;
  for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
    size_t num = past->kinds[order[k]].num;
    const pprof_definition **known =
        num ? flight_past_at(past, order[k], first_block) : NULL;
    if (num && !known) status = PPROF_STATUS_NO_MEMORY;
    for (size_t i = 0; i < num && status == PPROF_STATUS_OK; i++) {
      const pprof_definition *definition = known[i];
      if (definition->kind != order[k]) continue;
      if (order[k] == PPROF_DEFINITION_SITE &&
          definition->parent == PPROF_CATEGORY_PROFILE_STEP)
        dump->step_site = definition->id;
      status = ppi_log_assembler_define(&dump->assembler, definition);
    }
    ppi_free(known);
  }
  return status;
}

static pprof_status notify_info(ppi_flight_dump *dump,
                                const ppi_flight_past *past,
                                const char *reason) {
  const pprof_run_info info = {.texts = past->texts.items,
                               .num_texts = past->texts.num};
  const ppi_text own = {"flight", reason};
  return ppi_log_assembler_info(&dump->assembler, &info, &own, 1);
}

void ppi_flight_dump_begin(ppi_flight_dump *dump, const ppi_flight_past *past,
                           uint64_t position, uint64_t first_block,
                           uint64_t first_ns, const char *reason) {
  dump->begun = true;
  dump->first_ns = PPI_MIN(first_ns, dump->span.from_ns);
  if (dump->status != PPROF_STATUS_OK) return;
  pprof_status status = notify_info(dump, past, reason);
  PPI_THEN(status, notify_definitions(dump, past, first_block));
  if (status == PPROF_STATUS_OK) status = notify_windows(dump, past, position);
  PPI_THEN(status, ppi_log_assembler_flush(&dump->assembler));
  fail(dump, status, NULL);
}

// ---- blocks ----

// The open step has the number after the latest one. Without a latest one it is
// unknown.
static bool clip(const ppi_flight_dump *dump, const pprof_event *open,
                 uint64_t time_ns, pprof_event *out) {
  *out = *open;
  if (open->start_ns > dump->span.to_ns || open->end_ns < dump->span.from_ns)
    return false;
  if (dump->step_site && open->site == dump->step_site) {
    if (dump->last_step == 0) return false;
    out->value = (double)dump->last_step;
  }
  out->start_ns = PPI_MAX(open->start_ns, dump->first_ns);
  if (open->kind == PPROF_KIND_DEVICE_RANGE)
    out->flags |= PPROF_FLAG_NO_DEVICE_TIME;
  if (open->kind != PPROF_KIND_DEVICE_RANGE || open->end_ns >= time_ns)
    out->flags |= PPROF_FLAG_CLIPPED;
  return true;
}

// Open ranges become events that end here, inner ones first.
static pprof_status notify_open(ppi_flight_dump *dump, uint64_t time_ns) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = dump->payload.num_open; i-- > 0;) {
    pprof_event event;
    if (!clip(dump, &dump->payload.open[i], time_ns, &event)) continue;
    uint64_t seq = ppi_lane_high_water_of(&dump->ends, event.lane);
    pprof_batch batch = {.size = sizeof batch,
                         .stride = sizeof event,
                         .events = &event,
                         .num_events = 1,
                         .first_seq = seq,
                         .end_seq = seq + 1,
                         .lane = event.lane};
    status = ppi_lane_high_water_raise(&dump->ends, event.lane, seq + 1);
    PPI_THEN(status, ppi_tally_batch(&dump->tally, &batch));
    PPI_THEN(status, ppi_log_assembler_events(&dump->assembler, &batch));
    if (status != PPROF_STATUS_OK) return status;
    dump->last_ns = PPI_MAX(dump->last_ns, event.end_ns);
  }
  return status;
}

static pprof_status end_at(ppi_flight_dump *dump, const ppi_log_block *block) {
  bool whole = false;
  pprof_status status = ppi_log_payload_open(&dump->payload, block);
  PPI_THEN(status, ppi_log_payload_piece(&dump->payload, block, &whole));
  if (status != PPROF_STATUS_OK || !whole) return status;
  dump->over = true;
  return dump->begun ? notify_open(dump, block->header.min_start_ns) : status;
}

static pprof_status read_block(ppi_flight_dump *dump,
                               const ppi_log_block *block) {
  uint8_t type = block->header.type;
  if (type != PPI_LOG_EVENTS && type != PPI_LOG_WINDOW) return PPROF_STATUS_OK;
  pprof_status status = ppi_log_payload_open(&dump->payload, block);
  if (status != PPROF_STATUS_OK) return status;
  if (type == PPI_LOG_WINDOW) {
    uint32_t index;
    bool opens;
    uint64_t time_ns;
    status =
        ppi_log_payload_window(&dump->payload, block, &index, &opens, &time_ns);
    if (status != PPROF_STATUS_OK) return status;
    return note_window(dump, index, opens) ? status : PPROF_STATUS_NO_MEMORY;
  }
  dump->last_ns = PPI_MAX(dump->last_ns, block->header.max_end_ns);
  status = ppi_log_payload_events(&dump->payload, block, &dump->tally_sink);
  return status == PPROF_STATUS_OK
             ? ppi_lane_high_water_raise_block(&dump->ends, block->bytes)
             : status;
}

static bool is_end(const ppi_flight_dump *dump, const ppi_log_block *block) {
  return block->header.type == PPI_LOG_CHECKPOINT &&
         block->header.min_start_ns >= dump->span.to_ns;
}

static pprof_status copy_block(ppi_flight_dump *dump, ppi_log_block *block,
                               uint8_t *bytes, uint32_t len) {
  PPI_TRY(read_block(dump, block));
  block->header.number = dump->assembler.next_number++;
  ppi_log_header_store(bytes, &block->header, dump->payload.runs);
  return gather(dump, bytes, len);
}

void ppi_flight_dump_block(ppi_flight_dump *dump, uint8_t *bytes,
                           uint32_t len) {
  ppi_log_block block;
  pprof_status status = PPROF_STATUS_CORRUPT;
  if (dump->over) return;
  if (ppi_log_parse_staged(bytes, len, dump->payload.runs, &block))
    status = is_end(dump, &block) ? end_at(dump, &block)
                                  : copy_block(dump, &block, bytes, len);
  fail(dump, status, NULL);
  write_out(dump);
}

// ---- the end ----

static pprof_status close_windows(ppi_flight_dump *dump) {
  pprof_status status = PPROF_STATUS_OK;
  while (dump->num_windows > 0 && status == PPROF_STATUS_OK)
    status = notify_window(dump, dump->windows[0], false, dump->last_ns);
  return status;
}

static pprof_status notify_totals(ppi_flight_dump *dump, const uint64_t *counts,
                                  const char *reason) {
  ppi_text note = {"flight recorder", reason};
  pprof_totals totals = {.notes = &note, .num_notes = 1};
  ppi_total *items = NULL;
  uint64_t sums[PPI_NUM_TOTALS];
  memcpy(sums, counts, sizeof sums);
  sums[PPI_TOTAL_OWN_COST_TOTAL_NS] = ppi_tally_own_cost_ns(
      ppi_tally_get(&dump->tally, PPROF_ALL_LANES, PPI_TOTAL_RECORDED),
      counts[PPI_TOTAL_OWN_COST]);
  pprof_status status =
      ppi_tally_items_beside(&dump->tally, sums, &items, &totals.num_items);
  totals.items = items;
  PPI_THEN(status, ppi_log_assembler_totals(&dump->assembler, &totals, NULL));
  ppi_free(items);
  return status;
}

pprof_status ppi_flight_dump_finish(ppi_flight_dump *dump,
                                    const uint64_t counts[PPI_NUM_TOTALS],
                                    const char *reason) {
  dump->last_ns = PPI_MAX(dump->last_ns, dump->span.moment_ns);
  if (dump->status == PPROF_STATUS_OK) {
    pprof_status status = close_windows(dump);
    if (status == PPROF_STATUS_OK) status = notify_totals(dump, counts, reason);
    fail(dump, status, NULL);
  }
  write_out(dump);
  int error =
      dump->status == PPROF_STATUS_OK ? ppi_part_commit(&dump->part) : 0;
  if (error) fail(dump, PPROF_STATUS_IO, strerror(error));
  if (dump->status != PPROF_STATUS_OK)
    ppi_disk_forget(dump->disk, dump->part.path.text);
  dump->over = true;
  return dump->status;
}
