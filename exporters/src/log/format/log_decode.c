// SPDX-License-Identifier: Apache-2.0
//
// Turns columns back to records. The bytes may be anything: each length is
// checked, and no memory is reserved beyond what the bytes can fill.
#include "log/format/log_decode.h"

#include <string.h>

#include "base/base.h"
#include "file/buffer.h"

// At least one byte each: amounts of work, and known CPU use.
enum { MIN_WORK = PPI_LOG_NUM_WORK, MIN_CPU = 1 + PPI_LOG_NUM_CPU };

typedef struct columns {
  ppi_cursor at[PPI_NUM_COLUMNS];
} columns;

static bool split_columns(const ppi_log_run *run, const uint8_t *payload,
                          columns *out) {
  ppi_cursor cursor = ppi_cursor_of(payload, run->payload_len);
  size_t lens[PPI_NUM_COLUMNS] = {0};
  uint64_t mask = ppi_cursor_varint(&cursor);
  if (mask >> PPI_NUM_COLUMNS) return false;
  for (int i = 0; i < PPI_NUM_COLUMNS; i++)
    if (mask >> i & 1) lens[i] = ppi_cursor_u32(&cursor);
  for (int i = 0; i < PPI_NUM_COLUMNS; i++) {
    const uint8_t *bytes = ppi_cursor_bytes(&cursor, lens[i]);
    if (!bytes) return false;
    out->at[i] = ppi_cursor_of(bytes, lens[i]);
  }
  return ppi_cursor_left(&cursor) == 0;
}

static bool read_shape(ppi_cursor *cursor, ppi_shape *out) {
#define READ(name) out->name = ppi_cursor_u32(cursor);
  READ(form)
  PPI_SHAPE_FIELDS(READ)
#undef READ
  return !cursor->failed && out->form <= PPI_FORM_ALL &&
         (!(out->form & PPI_FORM_NESTED) ||
          (!(out->form & PPI_FORM_STREAM) && out->depth < PPI_LOG_MAX_DEPTH));
}

static bool add_shape(ppi_run_decoder *decoder, const ppi_shape *shape) {
  ppi_log_model *model = &decoder->model;
  uint32_t token = ppi_log_model_add_shape(model, shape);
  if (token == UINT32_MAX || ((shape->form & PPI_FORM_NESTED) &&
                              !ppi_log_model_deepen(model, shape->depth)))
    return false;
#define COPY(name) .name = shape->name,
  decoder->shapes[token] =
      (ppi_column_shape){.event = {PPI_SHAPE_FIELDS(COPY)}};
#undef COPY
  return true;
}

// The token after a wrong guess.
static pprof_status read_token(ppi_run_decoder *decoder, columns *in,
                               uint32_t *out) {
  size_t num_shapes = decoder->model.num_shapes;
  uint64_t token = ppi_cursor_varint(&in->at[PPI_COLUMN_TOKENS]);
  *out = (uint32_t)token;
  if (token < num_shapes) return PPROF_STATUS_OK;
  ppi_shape shape;
  if (token > num_shapes || !read_shape(&in->at[PPI_COLUMN_SHAPES], &shape))
    return PPROF_STATUS_CORRUPT;
  return add_shape(decoder, &shape) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static uint64_t take(columns *in, ppi_log_column column) {
  return ppi_cursor_varint(&in->at[column]);
}

static uint64_t take_signed(columns *in, ppi_log_column column) {
  return ppi_unzigzag(take(in, column));
}

// The model has had room since it got the shape.
static inline void read_nested(ppi_log_model *model, columns *in,
                               uint32_t depth, ppi_column_row *row) {
  const ppi_level *children = &model->levels[depth + 1];
  uint64_t start_ns, end_ns;
  if (children->used) {
    start_ns = children->first_start - take(in, PPI_COLUMN_LEAD);
    end_ns = children->last_end + take(in, PPI_COLUMN_TRAIL);
  } else {
    start_ns = model->end + take(in, PPI_COLUMN_GAP);
    end_ns = start_ns + take(in, PPI_COLUMN_DURATION);
  }
  row->start_ns = start_ns;
  row->end_ns = end_ns;
  ppi_log_model_nest(model, depth, start_ns, end_ns);
}

static void read_plain(ppi_log_model *model, columns *in,
                       const ppi_shape *shape, ppi_column_row *row) {
  row->start_ns =
      ppi_log_model_follows(model, shape) + take_signed(in, PPI_COLUMN_START);
  row->end_ns = row->start_ns + take_signed(in, PPI_COLUMN_SPAN);
  ppi_log_model_note(model, shape, row->end_ns);
}

static void read_device(ppi_log_model *model, columns *in,
                        const ppi_shape *shape, pprof_event *event) {
  event->device_start_ns = ppi_log_model_device_follows(model, shape) +
                           take_signed(in, PPI_COLUMN_DEVICE_START);
  event->device_end_ns =
      event->device_start_ns + take_signed(in, PPI_COLUMN_DEVICE_SPAN);
  event->device_error_ns =
      model->device_error + take_signed(in, PPI_COLUMN_DEVICE_ERROR);
  ppi_log_model_note_device(model, shape, event);
}

typedef struct flow_list {
  const uint64_t *first;
  size_t num;
} flow_list;

// Appends to decoder->flows, which has room for all of the column.
static bool read_flows(ppi_run_decoder *decoder, columns *in, flow_list *out) {
  ppi_cursor *column = &in->at[PPI_COLUMN_FLOWS];
  uint64_t num = ppi_cursor_varint(column);
  if (column->failed || num > ppi_cursor_left(column)) return false;
  *out = (flow_list){num ? decoder->flows + decoder->num_flows : NULL,
                     (size_t)num};
  for (uint64_t i = 0; i < num; i++) {
    decoder->model.flow += ppi_unzigzag(ppi_cursor_varint(column));
    decoder->flows[decoder->num_flows++] = decoder->model.flow;
  }
  return true;
}

static double take_bits(columns *in, ppi_log_column column, uint64_t *before) {
  *before ^= __builtin_bswap64(take(in, column));
  return ppi_bits_double(*before);
}

// Appends to decoder->work, which has room for all of the column.
static const pprof_work_amount *read_work(ppi_run_decoder *decoder,
                                          columns *in) {
  if (ppi_cursor_left(&in->at[PPI_COLUMN_WORK]) < MIN_WORK) return NULL;
  uint64_t *before = decoder->model.work;
  pprof_work_amount *work = &decoder->work[decoder->num_work++];
  work->size = sizeof *work;
#define READ(name) work->name = take_bits(in, PPI_COLUMN_WORK, before++);
  PPI_LOG_WORK_FIELDS(READ)
#undef READ
  return work;
}

// Appends to decoder->cpu, which has room for all of the column.
static const pprof_cpu_use *read_cpu(ppi_run_decoder *decoder, columns *in) {
  static const pprof_cpu_use unknown = {.size = sizeof unknown};
  ppi_cursor *column = &in->at[PPI_COLUMN_CPU];
  size_t left = ppi_cursor_left(column);
  uint64_t known = ppi_cursor_varint(column);
  if (left == 0 || known != PPI_LOG_KNOWN_CPU(known)) return NULL;
  if (!known) return &unknown;
  if (left < MIN_CPU) return NULL;
  pprof_cpu_use *cpu = &decoder->cpu[decoder->num_cpu++];
  *cpu = (pprof_cpu_use){.size = sizeof *cpu, .known = (uint32_t)known};
#define READ(name) cpu->name = ppi_cursor_varint(column);
  PPI_LOG_CPU_FIELDS(READ)
#undef READ
  if (known & PPROF_CPU_RUN_QUEUE)
    cpu->run_queue_ns = ppi_cursor_varint(column);
  return cpu;
}

// Appends to decoder->numbers, which has room for all of the column.
static const pprof_numbers *read_numbers(ppi_run_decoder *decoder,
                                         columns *in) {
  ppi_cursor *column = &in->at[PPI_COLUMN_NUMBERS];
  if (ppi_cursor_left(column) == 0) return NULL;
  uint64_t head = ppi_cursor_varint(column);
  uint32_t num = head & 7u;
  if (num > PPROF_MOST_NUMBERS || head >> 3 > PPROF_NAME_TOO_MUCH) return NULL;
  pprof_numbers *numbers = &decoder->numbers[decoder->num_numbers++];
  *numbers = (pprof_numbers){sizeof *numbers, num, (uint32_t)(head >> 3), {0}};
  for (uint32_t i = 0; i < num; i++) {
    uint64_t *before = &decoder->model.numbers[i];
    *before += ppi_unzigzag(ppi_cursor_varint(column));
    numbers->values[i] = *before;
  }
  return numbers;
}

static bool read_attributes(ppi_log_model *model, columns *in,
                            pprof_event *event) {
  model->attributes += take_signed(in, PPI_COLUMN_ATTRIBUTES);
  event->attributes = (uint32_t)model->attributes;
  return model->attributes <= UINT32_MAX;
}

// The fields that few events have.
static bool read_rest(ppi_run_decoder *decoder, columns *in,
                      const ppi_shape *shape, flow_list *flows,
                      pprof_event *event) {
  uint32_t form = shape->form;
  if (form & PPI_FORM_DEVICE) read_device(&decoder->model, in, shape, event);
  if ((form & PPI_FORM_NEW_FLOWS) && !read_flows(decoder, in, flows))
    return false;
  if (form & (PPI_FORM_NEW_FLOWS | PPI_FORM_SAME_FLOWS)) {
    event->flows = flows->first;
    event->num_flows = flows->num;
  }
  if ((form & PPI_FORM_WORK) && !(event->work = read_work(decoder, in)))
    return false;
  if (form & PPI_FORM_VALUE)
    event->value = take_bits(in, PPI_COLUMN_VALUE, &decoder->model.value);
  if ((form & PPI_FORM_CPU) && !(event->cpu = read_cpu(decoder, in)))
    return false;
  if ((form & PPI_FORM_NUMBERS) &&
      !(event->numbers = read_numbers(decoder, in)))
    return false;
  return !(form & PPI_FORM_ATTRIBUTES) ||
         read_attributes(&decoder->model, in, event);
}

// Reserves as much as the columns can fill, so that pointers from events stay
// valid.
static bool make_room(ppi_run_decoder *decoder, const columns *in, size_t num) {
  size_t num_flows = ppi_cursor_left(&in->at[PPI_COLUMN_FLOWS]);
  size_t num_work = ppi_cursor_left(&in->at[PPI_COLUMN_WORK]) / MIN_WORK;
  size_t num_cpu = ppi_cursor_left(&in->at[PPI_COLUMN_CPU]) / MIN_CPU;
  size_t num_numbers = ppi_cursor_left(&in->at[PPI_COLUMN_NUMBERS]);
  decoder->num_flows = decoder->num_work = decoder->num_cpu = 0;
  decoder->num_numbers = 0;
  decoder->num_events = 0;
  return PPI_ROOM(decoder->rows, decoder->rows_capacity, num) &&
         PPI_ROOM(decoder->shapes, decoder->shapes_capacity, num) &&
         PPI_ROOM(decoder->events, decoder->events_capacity, num) &&
         PPI_ROOM(decoder->flows, decoder->flows_capacity, num_flows) &&
         PPI_ROOM(decoder->work, decoder->work_capacity, num_work) &&
         PPI_ROOM(decoder->cpu, decoder->cpu_capacity, num_cpu) &&
         PPI_ROOM(decoder->numbers, decoder->numbers_capacity, num_numbers);
}

// An event that is more than its shape and times.
static bool read_whole(ppi_run_decoder *decoder, columns *in,
                       const ppi_shape *shape, flow_list *flows,
                       ppi_column_row *row) {
  pprof_event *event = &decoder->events[decoder->num_events];
  *event = decoder->shapes[row->at].event;
  event->start_ns = row->start_ns;
  event->end_ns = row->end_ns;
  row->at = (uint32_t)decoder->num_events++;
  row->is_whole = true;
  return read_rest(decoder, in, shape, flows, event);
}

static inline bool read_event(ppi_run_decoder *decoder, columns *in,
                              uint32_t token, flow_list *flows,
                              ppi_column_row *row) {
  ppi_log_model *model = &decoder->model;
  const ppi_shape *shape = &model->shapes[token];
  row->at = token;
  row->is_whole = false;
  decoder->shapes[token].count++;
  if (PPI_LIKELY(shape->form & PPI_FORM_NESTED))
    read_nested(model, in, shape->depth, row);
  else
    read_plain(model, in, shape, row);
  model->start = row->start_ns;
  bool has_rest = shape->form & ~(uint32_t)PPI_FORM_NESTED;
  if (PPI_UNLIKELY(has_rest || row->end_ns + 1 <= row->start_ns))
    return read_whole(decoder, in, shape, flows, row);
  return true;
}

static pprof_status check_end(const columns *in, uint64_t hits) {
  for (int i = 0; i < PPI_NUM_COLUMNS; i++)
    if (in->at[i].failed || ppi_cursor_left(&in->at[i]) > 0)
      return PPROF_STATUS_CORRUPT;
  return hits == 0 ? PPROF_STATUS_OK : PPROF_STATUS_CORRUPT;
}

// The column of tokens has the number of right guesses, then the token after a
// wrong one, and so on. Each guess waits for the previous one, so all of its
// state should stay in registers.
static pprof_status read_events(ppi_run_decoder *decoder, columns *in,
                                uint32_t num_events) {
  ppi_log_model *model = &decoder->model;
  ppi_cursor *tokens = &in->at[PPI_COLUMN_TOKENS];
  flow_list flows = {NULL, 0};
  uint32_t before_last = 0, last = 0;  // tokens + 1
  uint64_t hits = tokens->at < tokens->end ? ppi_cursor_varint(tokens) : 0;
  ppi_column_row *row = decoder->rows, *end = row + num_events;
  for (; row < end; row++) {
    uint16_t *predicted = ppi_log_model_predicted(model, before_last, last);
    before_last = last;
    last = *predicted;  // 0: no guess yet
    if (hits > 0) {
      if (!last) return PPROF_STATUS_CORRUPT;
      hits--;
    } else {
      uint32_t token;
      PPI_TRY(read_token(decoder, in, &token));
      if (tokens->at < tokens->end) hits = ppi_cursor_varint(tokens);
      last = token + 1;
      *predicted = (uint16_t)last;
    }
    if (!read_event(decoder, in, last - 1, &flows, row))
      return PPROF_STATUS_CORRUPT;
  }
  return check_end(in, hits);
}

pprof_status ppi_run_decode(ppi_run_decoder *decoder, const ppi_log_run *run,
                            const uint8_t *payload) {
  columns in;
  ppi_log_model_reset(&decoder->model);
  // An event has two times of at least one byte. That bounds the memory for a
  // false count.
  if (run->num_events > run->payload_len / 2 ||
      !split_columns(run, payload, &in))
    return PPROF_STATUS_CORRUPT;
  if (!make_room(decoder, &in, (size_t)run->num_events + 1))
    return PPROF_STATUS_NO_MEMORY;
  return read_events(decoder, &in, run->num_events);
}

ppi_columns ppi_run_decoder_columns(const ppi_run_decoder *decoder,
                                    const ppi_log_run *run) {
  return (ppi_columns){.batch = {.size = sizeof(ppi_columns) | PPI_IN_COLUMNS,
                                 .num_events = run->num_events,
                                 .first_seq = run->first_seq,
                                 .end_seq = run->end_seq,
                                 .lane = run->lane},
                       .rows = decoder->rows,
                       .shapes = decoder->shapes,
                       .events = decoder->events,
                       .num_shapes = decoder->model.num_shapes,
                       .num_events = decoder->num_events};
}

void ppi_run_decoder_clear(ppi_run_decoder *decoder) {
  ppi_log_model_clear(&decoder->model);
  PPI_FREE_ALL(decoder->rows, decoder->shapes, decoder->events, decoder->flows,
               decoder->work, decoder->cpu, decoder->numbers);
  memset(decoder, 0, sizeof *decoder);
}
