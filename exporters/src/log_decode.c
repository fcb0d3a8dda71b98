// SPDX-License-Identifier: Apache-2.0
//
// Columns back to records. The bytes may be anything: each length is checked,
// and nothing is reserved beyond what the bytes can fill.
#include <string.h>

#include "log_encode.h"
#include "mem.h"

struct flow_list {
  size_t first;
};

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
  out->form = ppi_cursor_u32(cursor);
  out->kind = ppi_cursor_u32(cursor);
  out->flags = ppi_cursor_u32(cursor);
  out->site = ppi_cursor_u32(cursor);
  out->depth = ppi_cursor_u32(cursor);
  out->lane = ppi_cursor_u32(cursor);
  out->stream = ppi_cursor_u32(cursor);
  out->window = ppi_cursor_u32(cursor);
  return !cursor->failed && out->form <= PPI_FORM_ALL &&
         (!(out->form & PPI_FORM_NESTED) || out->depth < PPI_LOG_MAX_DEPTH);
}

// The guesses still to take before a token is read; tokens stop being read
// when their column is at its end.
typedef struct tokens {
  uint64_t hits;
  bool missed;  // `hits` ends in a token
} tokens;

static void read_hits(ppi_cursor *column, tokens *state) {
  state->hits = ppi_cursor_varint(column);
  state->missed = ppi_cursor_left(column) > 0;
}

static pprof_status next_token(ppi_log_model *model, columns *in, tokens *state,
                               uint32_t *out) {
  uint16_t *guess = ppi_log_model_guess(model);
  if (state->hits > 0) {
    if (*guess == 0) return PPROF_STATUS_CORRUPT;
    state->hits--;
    *out = *guess - 1u;
  } else {
    if (!state->missed) return PPROF_STATUS_CORRUPT;
    *out = ppi_cursor_u32(&in->at[PPI_COLUMN_TOKENS]);
    if (*out > model->num_shapes) return PPROF_STATUS_CORRUPT;
    if (*out == model->num_shapes) {
      ppi_shape shape;
      if (!read_shape(&in->at[PPI_COLUMN_SHAPES], &shape))
        return PPROF_STATUS_CORRUPT;
      if (ppi_log_model_add_shape(model, &shape) == UINT32_MAX)
        return PPROF_STATUS_NO_MEMORY;
    }
    state->missed = false;
    if (ppi_cursor_left(&in->at[PPI_COLUMN_TOKENS]) > 0)
      read_hits(&in->at[PPI_COLUMN_TOKENS], state);
  }
  ppi_log_model_learn(model, guess, *out);
  return PPROF_STATUS_OK;
}

static uint64_t take(columns *in, ppi_log_column column) {
  return ppi_cursor_varint(&in->at[column]);
}

static uint64_t take_signed(columns *in, ppi_log_column column) {
  return ppi_unzigzag(take(in, column));
}

static bool read_times(ppi_log_model *model, columns *in, uint32_t form,
                       pprof_event *event) {
  if (!(form & PPI_FORM_NESTED)) {
    event->start_ns = model->start + take_signed(in, PPI_COLUMN_START);
    event->end_ns = event->start_ns + take_signed(in, PPI_COLUMN_SPAN);
    return true;
  }
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

static void read_device(ppi_log_model *model, columns *in, pprof_event *event) {
  event->device_start_ns =
      model->device_end + take_signed(in, PPI_COLUMN_DEVICE_START);
  event->device_end_ns =
      event->device_start_ns + take_signed(in, PPI_COLUMN_DEVICE_SPAN);
  event->device_error_ns =
      model->device_error + take_signed(in, PPI_COLUMN_DEVICE_ERROR);
  model->device_end = event->device_end_ns;
  model->device_error = event->device_error_ns;
}

// Appends the list to decoder->flows.
static pprof_status read_flows(ppi_run_decoder *decoder, columns *in,
                               size_t *out_num) {
  ppi_cursor *column = &in->at[PPI_COLUMN_FLOWS];
  uint64_t num = ppi_cursor_varint(column);
  if (column->failed || num > ppi_cursor_left(column))
    return PPROF_STATUS_CORRUPT;
  void *grown =
      ppi_grow(decoder->flows, &decoder->flows_capacity,
               decoder->num_flows + (size_t)num, sizeof *decoder->flows);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  decoder->flows = grown;
  for (uint64_t i = 0; i < num; i++) {
    decoder->model.flow += ppi_unzigzag(ppi_cursor_varint(column));
    decoder->flows[decoder->num_flows++] = decoder->model.flow;
  }
  *out_num = (size_t)num;
  return PPROF_STATUS_OK;
}

static double take_bits(columns *in, ppi_log_column column, uint64_t *before) {
  *before ^= __builtin_bswap64(take(in, column));
  return ppi_bits_double(*before);
}

static pprof_status read_work(ppi_run_decoder *decoder, columns *in) {
  // Four bytes at least: what is reserved stays bounded by the payload.
  if (ppi_cursor_left(&in->at[PPI_COLUMN_WORK]) < 4)
    return PPROF_STATUS_CORRUPT;
  void *grown = ppi_grow(decoder->work, &decoder->work_capacity,
                         decoder->num_work + 1, sizeof *decoder->work);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  decoder->work = grown;
  uint64_t *before = decoder->model.work;
  pprof_work_amount *work = &decoder->work[decoder->num_work++];
  work->size = sizeof *work;
  work->items = take_bits(in, PPI_COLUMN_WORK, &before[0]);
  work->bytes = take_bits(in, PPI_COLUMN_WORK, &before[1]);
  work->flops = take_bits(in, PPI_COLUMN_WORK, &before[2]);
  work->params = take_bits(in, PPI_COLUMN_WORK, &before[3]);
  return PPROF_STATUS_OK;
}

// Where the current list of flows is.
typedef struct flow_state {
  size_t first, num;
} flow_state;

static pprof_status read_event(ppi_run_decoder *decoder, columns *in,
                               const ppi_shape *shape, flow_state *flows,
                               pprof_event *event) {
  *event = (pprof_event){.site = shape->site,
                         .lane = shape->lane,
                         .stream = shape->stream,
                         .depth = shape->depth,
                         .kind = shape->kind,
                         .flags = shape->flags,
                         .window = shape->window};
  ppi_log_model *model = &decoder->model;
  pprof_status status = PPROF_STATUS_OK;
  if (!read_times(model, in, shape->form, event)) return PPROF_STATUS_NO_MEMORY;
  model->start = event->start_ns;
  if (shape->form & PPI_FORM_DEVICE) read_device(model, in, event);
  if (shape->form & PPI_FORM_NEW_FLOWS) {
    flows->first = decoder->num_flows;
    status = read_flows(decoder, in, &flows->num);
  }
  if (shape->form & (PPI_FORM_NEW_FLOWS | PPI_FORM_SAME_FLOWS))
    event->num_flows = flows->num;
  if (status == PPROF_STATUS_OK && (shape->form & PPI_FORM_WORK))
    status = read_work(decoder, in);
  if (shape->form & PPI_FORM_VALUE)
    event->value = take_bits(in, PPI_COLUMN_VALUE, &model->value);
  return status;
}

static bool make_room(ppi_run_decoder *decoder, size_t num) {
  void *events = ppi_grow(decoder->events, &decoder->events_capacity, num,
                          sizeof *decoder->events);
  if (!events) return false;
  decoder->events = events;
  void *lists = ppi_grow(decoder->lists, &decoder->lists_capacity, num,
                         sizeof *decoder->lists);
  if (!lists) return false;
  decoder->lists = lists;
  return true;
}

static pprof_status read_events(ppi_run_decoder *decoder, columns *in,
                                uint32_t num_events) {
  tokens state = {0, false};
  flow_state flows = {0, 0};
  if (ppi_cursor_left(&in->at[PPI_COLUMN_TOKENS]) > 0)
    read_hits(&in->at[PPI_COLUMN_TOKENS], &state);
  for (uint32_t i = 0; i < num_events; i++) {
    uint32_t token;
    pprof_status status = next_token(&decoder->model, in, &state, &token);
    if (status != PPROF_STATUS_OK) return status;
    ppi_shape shape = decoder->model.shapes[token];
    status = read_event(decoder, in, &shape, &flows, &decoder->events[i]);
    if (status != PPROF_STATUS_OK) return status;
    decoder->lists[i].first = flows.first;
    // Any non-NULL value: the array may still move.
    if (shape.form & PPI_FORM_WORK)
      decoder->events[i].work = &decoder->work[decoder->num_work - 1];
  }
  for (int i = 0; i < PPI_NUM_COLUMNS; i++)
    if (in->at[i].failed || ppi_cursor_left(&in->at[i]) > 0)
      return PPROF_STATUS_CORRUPT;
  return state.hits == 0 && !state.missed ? PPROF_STATUS_OK
                                          : PPROF_STATUS_CORRUPT;
}

static void resolve_pointers(ppi_run_decoder *decoder, uint32_t num_events) {
  size_t num_work = 0;
  for (uint32_t i = 0; i < num_events; i++) {
    pprof_event *event = &decoder->events[i];
    if (event->num_flows > 0)
      event->flows = decoder->flows + decoder->lists[i].first;
    if (event->work) event->work = &decoder->work[num_work++];
  }
}

pprof_status ppi_run_decode(ppi_run_decoder *decoder, const ppi_log_run *run,
                            const uint8_t *payload) {
  columns in;
  ppi_log_model_reset(&decoder->model);
  decoder->num_flows = decoder->num_work = 0;
  // An event has two times of one byte at least, which bounds what a false
  // count makes us reserve.
  if (run->num_events > run->payload_len / 2 ||
      !split_columns(run, payload, &in))
    return PPROF_STATUS_CORRUPT;
  if (!make_room(decoder, (size_t)run->num_events + 1))
    return PPROF_STATUS_NO_MEMORY;
  pprof_status status = read_events(decoder, &in, run->num_events);
  if (status == PPROF_STATUS_OK) resolve_pointers(decoder, run->num_events);
  return status;
}

void ppi_run_decoder_clear(ppi_run_decoder *decoder) {
  ppi_log_model_clear(&decoder->model);
  ppi_free(decoder->events);
  ppi_free(decoder->flows);
  ppi_free(decoder->work);
  ppi_free(decoder->lists);
  memset(decoder, 0, sizeof *decoder);
}
