// SPDX-License-Identifier: Apache-2.0
//
// Turns columns back to records. The bytes may be anything: each length is
// checked, and no memory is reserved beyond what the bytes can fill.
#include "log/format/log_decode.h"

#include <string.h>

#include "base/mem.h"
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

// The number of right guesses before the next token. Once the column of tokens
// ends, no more are read.
typedef struct tokens {
  uint64_t hits;
  uint32_t before[2];  // tokens + 1 of the last two events
  bool missed;         // `hits` ends in a token
} tokens;

static tokens read_hits(ppi_cursor *column, tokens state) {
  if (ppi_cursor_left(column) == 0) return state;
  state.hits = ppi_cursor_varint(column);
  state.missed = ppi_cursor_left(column) > 0;
  return state;
}

// The token after a wrong guess; UINT32_MAX: none.
static pprof_status read_token(ppi_log_model *model, columns *in,
                               uint32_t *out) {
  *out = ppi_cursor_u32(&in->at[PPI_COLUMN_TOKENS]);
  if (*out < model->num_shapes) return PPROF_STATUS_OK;
  ppi_shape shape;
  if (*out > model->num_shapes ||
      !read_shape(&in->at[PPI_COLUMN_SHAPES], &shape))
    return PPROF_STATUS_CORRUPT;
  return ppi_log_model_add_shape(model, &shape) == UINT32_MAX
             ? PPROF_STATUS_NO_MEMORY
             : PPROF_STATUS_OK;
}

static uint64_t take(columns *in, ppi_log_column column) {
  return ppi_cursor_varint(&in->at[column]);
}

static uint64_t take_signed(columns *in, ppi_log_column column) {
  return ppi_unzigzag(take(in, column));
}

static bool read_nested(ppi_log_model *model, columns *in, pprof_event *event) {
  const ppi_level *children = ppi_log_model_children(model, event->depth);
  if (children) {
    event->start_ns = children->first_start - take(in, PPI_COLUMN_LEAD);
    event->end_ns = children->last_end + take(in, PPI_COLUMN_TRAIL);
  } else {
    event->start_ns = model->end + take(in, PPI_COLUMN_GAP);
    event->end_ns = event->start_ns + take(in, PPI_COLUMN_DURATION);
  }
  return ppi_log_model_nest(model, event->depth, event->start_ns,
                            event->end_ns);
}

static void read_plain(ppi_log_model *model, columns *in,
                       const ppi_shape *shape, pprof_event *event) {
  event->start_ns =
      ppi_log_model_follows(model, shape) + take_signed(in, PPI_COLUMN_START);
  event->end_ns = event->start_ns + take_signed(in, PPI_COLUMN_SPAN);
  ppi_log_model_note(model, shape, event);
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
  return PPI_ROOM(decoder->events, decoder->events_capacity, num) &&
         PPI_ROOM(decoder->flows, decoder->flows_capacity, num_flows) &&
         PPI_ROOM(decoder->work, decoder->work_capacity, num_work) &&
         PPI_ROOM(decoder->cpu, decoder->cpu_capacity, num_cpu) &&
         PPI_ROOM(decoder->numbers, decoder->numbers_capacity, num_numbers);
}

// Field by field: clearing the whole event first would cost as much as the
// rest.
static void fill_event(const ppi_shape *shape, pprof_event *event) {
  event->device_start_ns = event->device_end_ns = event->device_error_ns = 0;
  event->flows = NULL;
  event->num_flows = 0;
  event->work = NULL;
  event->value = 0;
#define COPY(name) event->name = shape->name;
  PPI_SHAPE_FIELDS(COPY)
#undef COPY
  event->attributes = 0;
  event->cpu = NULL;
  event->numbers = NULL;
}

static pprof_status read_event(ppi_run_decoder *decoder, columns *in,
                               const ppi_shape *shape, flow_list *flows,
                               pprof_event *event) {
  ppi_log_model *model = &decoder->model;
  fill_event(shape, event);
  if (!(shape->form & PPI_FORM_NESTED))
    read_plain(model, in, shape, event);
  else if (!read_nested(model, in, event))
    return PPROF_STATUS_NO_MEMORY;
  model->start = event->start_ns;
  if ((shape->form & ~(uint32_t)PPI_FORM_NESTED) &&
      !read_rest(decoder, in, shape, flows, event))
    return PPROF_STATUS_CORRUPT;
  return PPROF_STATUS_OK;
}

// The tokens' state is outside the model. Each guess waits for the previous
// one, so it should stay in registers.
static pprof_status read_events(ppi_run_decoder *decoder, columns *in,
                                uint32_t num_events) {
  ppi_log_model *model = &decoder->model;
  flow_list flows = {NULL, 0};
  tokens state = read_hits(&in->at[PPI_COLUMN_TOKENS], (tokens){0});
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t i = 0; i < num_events; i++) {
    uint16_t *predicted =
        ppi_log_model_predicted(model, state.before[0], state.before[1]);
    uint32_t token = *predicted - 1u;  // UINT32_MAX: no guess yet
    if (state.hits > 0) {
      if (token == UINT32_MAX) return PPROF_STATUS_CORRUPT;
      state.hits--;
    } else {
      if (!state.missed) return PPROF_STATUS_CORRUPT;
      status = read_token(model, in, &token);
      if (status != PPROF_STATUS_OK) return status;
      state.missed = false;
      state = read_hits(&in->at[PPI_COLUMN_TOKENS], state);
      *predicted = (uint16_t)(token + 1);
    }
    state.before[0] = state.before[1];
    state.before[1] = token + 1;
    status = read_event(decoder, in, &model->shapes[token], &flows,
                        &decoder->events[i]);
    if (status != PPROF_STATUS_OK) return status;
  }
  for (int i = 0; i < PPI_NUM_COLUMNS; i++)
    if (in->at[i].failed || ppi_cursor_left(&in->at[i]) > 0)
      return PPROF_STATUS_CORRUPT;
  return state.hits == 0 && !state.missed ? PPROF_STATUS_OK
                                          : PPROF_STATUS_CORRUPT;
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

void ppi_run_decoder_clear(ppi_run_decoder *decoder) {
  ppi_log_model_clear(&decoder->model);
  ppi_free(decoder->events);
  ppi_free(decoder->flows);
  ppi_free(decoder->work);
  ppi_free(decoder->cpu);
  ppi_free(decoder->numbers);
  memset(decoder, 0, sizeof *decoder);
}
