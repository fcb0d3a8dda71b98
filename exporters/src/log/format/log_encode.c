// SPDX-License-Identifier: Apache-2.0
//
// Turns records to columns. The encoder decides record by record which ones
// nest. Everything else is coded plainly, so that any input survives.
#include "log/format/log_encode.h"

ppi_run_encoder *ppi_run_encoder_create(void) {
  return ppi_alloc(sizeof(ppi_run_encoder));
}

void ppi_run_encoder_destroy(ppi_run_encoder *encoder) {
  if (!encoder) return;
  ppi_log_model_clear(&encoder->model);
  for (int i = 0; i < PPI_NUM_COLUMNS; i++)
    ppi_buffer_clear(&encoder->columns[i]);
  PPI_FREE_ALL(encoder->looks, encoder->buckets, encoder->flows, encoder);
}

void ppi_run_encoder_start(ppi_run_encoder *encoder, uint32_t lane,
                           uint32_t window, uint64_t first_seq) {
  ppi_log_model_reset(&encoder->model);
  for (int i = 0; i < PPI_NUM_COLUMNS; i++) encoder->columns[i].len = 0;
  if (encoder->buckets)
    memset(encoder->buckets, 0,
           encoder->num_buckets * sizeof *encoder->buckets);
  encoder->run = (ppi_log_run){lane, window, first_seq, first_seq, 0, 0};
  encoder->hits = 0;
  encoder->before[0] = encoder->before[1] = 0;
  encoder->num_flows = 0;
  encoder->len = 0;
}

static void put(ppi_run_encoder *encoder, ppi_log_column column,
                uint64_t value) {
  encoder->len += ppi_buffer_varint(&encoder->columns[column], value);
}

// Word by word: one of the two was just written in words, and longer reads
// would wait for these writes.
static bool same_shape(const ppi_shape *a, const ppi_shape *b) {
#define OTHER(name) | (a->name ^ b->name)
  return !((a->form ^ b->form) PPI_SHAPE_FIELDS(OTHER));
#undef OTHER
}

static uint64_t pair(uint32_t low, uint32_t high) {
  return low | (uint64_t)high << 32;
}

static size_t hash_shape(const ppi_shape *shape) {
  const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t here = pair(shape->site, shape->stream) ^
                  pair(shape->lane, shape->window) * factor;
  uint64_t how = pair(shape->form, shape->flags) ^
                 pair(shape->kind, shape->depth) * factor;
  return (size_t)((here * factor ^ (how >> 29 ^ how)) * factor >> 32);
}

static void insert_shape(ppi_run_encoder *encoder, uint32_t token) {
  size_t mask = encoder->num_buckets - 1;
  size_t at = hash_shape(&encoder->model.shapes[token]) & mask;
  while (encoder->buckets[at]) at = (at + 1) & mask;
  encoder->buckets[at] = token + 1;
}

// Keeps the table at most half full.
static bool grow_buckets(ppi_run_encoder *encoder) {
  size_t need = (encoder->model.num_shapes + 1) * 2;
  if (need <= encoder->num_buckets) return true;
  size_t size = encoder->num_buckets ? encoder->num_buckets * 2 : 64;
  uint32_t *buckets = ppi_alloc(size * sizeof *buckets);
  if (!buckets) return false;
  ppi_free(encoder->buckets);
  encoder->buckets = buckets;
  encoder->num_buckets = size;
  for (uint32_t i = 0; i < encoder->model.num_shapes; i++)
    insert_shape(encoder, i);
  return true;
}

// The shape's token; num_shapes when it is new.
static uint32_t find_shape(const ppi_run_encoder *encoder,
                           const ppi_shape *shape) {
  if (encoder->num_buckets > 0) {
    size_t mask = encoder->num_buckets - 1;
    size_t at = hash_shape(shape) & mask;
    for (; encoder->buckets[at]; at = (at + 1) & mask) {
      uint32_t token = encoder->buckets[at] - 1;
      if (same_shape(&encoder->model.shapes[token], shape)) return token;
    }
  }
  return (uint32_t)encoder->model.num_shapes;
}

// An event's fields for the shape, from site to attributes.
static bool note_look(ppi_run_encoder *encoder, const ppi_shape *shape) {
#define COPY(name) .name = shape->name,
  const pprof_event event = {PPI_SHAPE_FIELDS(COPY)};
#undef COPY
  size_t token = encoder->model.num_shapes;
  if (!PPI_ROOM(encoder->looks, encoder->looks_capacity, token + 1))
    return false;
  memcpy(&encoder->looks[token], &event.site, sizeof *encoder->looks);
  return true;
}

static bool add_shape(ppi_run_encoder *encoder, const ppi_shape *shape) {
  if (!grow_buckets(encoder) || !note_look(encoder, shape)) return false;
  uint32_t token = ppi_log_model_add_shape(&encoder->model, shape);
  if (token == UINT32_MAX) return false;
  insert_shape(encoder, token);
#define PUT(name) put(encoder, PPI_COLUMN_SHAPES, shape->name);
  PUT(form)
  PPI_SHAPE_FIELDS(PUT)
#undef PUT
  return true;
}

// After a wrong guess: writes the number of hits, then the shape's token.
// UINT32_MAX: out of memory.
static uint32_t put_missed(ppi_run_encoder *encoder, const ppi_shape *shape,
                           uint64_t hits) {
  uint32_t token = find_shape(encoder, shape);
  put(encoder, PPI_COLUMN_TOKENS, hits);
  put(encoder, PPI_COLUMN_TOKENS, token);
  if (token == encoder->model.num_shapes && !add_shape(encoder, shape))
    return UINT32_MAX;
  return token;
}

static bool put_token(ppi_run_encoder *encoder, const ppi_shape *shape) {
  ppi_log_model *model = &encoder->model;
  uint16_t *predicted =
      ppi_log_model_predicted(model, encoder->before[0], encoder->before[1]);
  uint32_t token;
  if (*predicted && same_shape(&model->shapes[*predicted - 1], shape)) {
    token = *predicted - 1u;
    encoder->hits++;
  } else {
    token = put_missed(encoder, shape, encoder->hits);
    encoder->hits = 0;
    if (token == UINT32_MAX) return false;
  }
  *predicted = (uint16_t)(token + 1);
  encoder->before[0] = encoder->before[1];
  encoder->before[1] = token + 1;
  return true;
}

static bool nests(const ppi_run_encoder *encoder, const pprof_event *event) {
  if (event->kind != PPROF_KIND_RANGE || event->lane != encoder->run.lane ||
      (event->flags & PPROF_FLAG_ASYNC) || event->depth >= PPI_LOG_MAX_DEPTH ||
      event->end_ns < event->start_ns)
    return false;
  const ppi_level *children =
      ppi_log_model_children(&encoder->model, event->depth);
  if (!children) return event->start_ns >= encoder->model.end;
  return event->start_ns <= children->first_start &&
         event->end_ns >= children->last_end;
}

static bool same_flows(const ppi_run_encoder *encoder,
                       const pprof_event *event) {
  return event->num_flows == encoder->num_flows &&
         memcmp(event->flows, encoder->flows,
                event->num_flows * sizeof *event->flows) == 0;
}

static inline ppi_shape shape_with(uint32_t form, const pprof_event *event) {
#define COPY(name) .name = event->name,
  return (ppi_shape){.form = form, PPI_SHAPE_FIELDS(COPY)};
#undef COPY
}

static ppi_shape shape_of(const ppi_run_encoder *encoder,
                          const pprof_event *event) {
  uint32_t form = nests(encoder, event) ? PPI_FORM_NESTED : PPI_FORM_STREAM;
  if (event->device_start_ns || event->device_end_ns || event->device_error_ns)
    form |= PPI_FORM_DEVICE;
  if (event->num_flows > 0)
    form |=
        same_flows(encoder, event) ? PPI_FORM_SAME_FLOWS : PPI_FORM_NEW_FLOWS;
  if (event->work) form |= PPI_FORM_WORK;
  if (ppi_double_bits(event->value)) form |= PPI_FORM_VALUE;
  if (event->attributes) form |= PPI_FORM_ATTRIBUTES;
  if (event->cpu) form |= PPI_FORM_CPU;
  if (event->numbers) form |= PPI_FORM_NUMBERS;
  return shape_with(form, event);
}

static bool put_nested(ppi_run_encoder *encoder, const pprof_event *event) {
  ppi_log_model *model = &encoder->model;
  if (!ppi_log_model_deepen(model, event->depth)) return false;
  const ppi_level *children = ppi_log_model_children(model, event->depth);
  if (children) {
    put(encoder, PPI_COLUMN_LEAD, children->first_start - event->start_ns);
    put(encoder, PPI_COLUMN_TRAIL, event->end_ns - children->last_end);
  } else {
    put(encoder, PPI_COLUMN_GAP, event->start_ns - model->end);
    put(encoder, PPI_COLUMN_DURATION, event->end_ns - event->start_ns);
  }
  ppi_log_model_nest(model, event->depth, event->start_ns, event->end_ns);
  return true;
}

static void put_plain(ppi_run_encoder *encoder, const ppi_shape *shape,
                      const pprof_event *event) {
  ppi_log_model *model = &encoder->model;
  put(encoder, PPI_COLUMN_START,
      ppi_zigzag(event->start_ns - ppi_log_model_follows(model, shape)));
  put(encoder, PPI_COLUMN_SPAN, ppi_zigzag(event->end_ns - event->start_ns));
  ppi_log_model_note(model, shape, event->end_ns);
}

static void put_device(ppi_run_encoder *encoder, const ppi_shape *shape,
                       const pprof_event *event) {
  ppi_log_model *model = &encoder->model;
  put(encoder, PPI_COLUMN_DEVICE_START,
      ppi_zigzag(event->device_start_ns -
                 ppi_log_model_device_follows(model, shape)));
  put(encoder, PPI_COLUMN_DEVICE_SPAN,
      ppi_zigzag(event->device_end_ns - event->device_start_ns));
  put(encoder, PPI_COLUMN_DEVICE_ERROR,
      ppi_zigzag(event->device_error_ns - model->device_error));
  ppi_log_model_note_device(model, shape, event);
}

static bool put_flows(ppi_run_encoder *encoder, const pprof_event *event) {
  if (!PPI_ROOM(encoder->flows, encoder->flows_capacity, event->num_flows))
    return false;
  encoder->num_flows = event->num_flows;
  memcpy(encoder->flows, event->flows, event->num_flows * sizeof *event->flows);
  put(encoder, PPI_COLUMN_FLOWS, event->num_flows);
  for (size_t i = 0; i < event->num_flows; i++) {
    put(encoder, PPI_COLUMN_FLOWS,
        ppi_zigzag(event->flows[i] - encoder->model.flow));
    encoder->model.flow = event->flows[i];
  }
  return true;
}

static void put_bits(ppi_run_encoder *encoder, ppi_log_column column,
                     uint64_t *before, double value) {
  uint64_t bits = ppi_double_bits(value);
  put(encoder, column, __builtin_bswap64(bits ^ *before));
  *before = bits;
}

static void put_work(ppi_run_encoder *encoder, const pprof_work_amount *from) {
  // An older caller's structure may be shorter: missing fields are zero.
  pprof_work_amount work = {0};
  memcpy(&work, from, from->size < sizeof work ? from->size : sizeof work);
  uint64_t *before = encoder->model.work;
#define PUT(name) put_bits(encoder, PPI_COLUMN_WORK, before++, work.name);
  PPI_LOG_WORK_FIELDS(PUT)
#undef PUT
}

static void put_attributes(ppi_run_encoder *encoder, uint64_t attributes) {
  put(encoder, PPI_COLUMN_ATTRIBUTES,
      ppi_zigzag(attributes - encoder->model.attributes));
  encoder->model.attributes = attributes;
}

static void put_cpu(ppi_run_encoder *encoder, const pprof_cpu_use *from) {
  pprof_cpu_use cpu = {0};
  memcpy(&cpu, from, from->size < sizeof cpu ? from->size : sizeof cpu);
  uint32_t known = PPI_LOG_KNOWN_CPU(cpu.known);
  put(encoder, PPI_COLUMN_CPU, known);
  if (!known) return;
#define PUT(name) put(encoder, PPI_COLUMN_CPU, cpu.name);
  PPI_LOG_CPU_FIELDS(PUT)
#undef PUT
  if (known & PPROF_CPU_RUN_QUEUE)
    put(encoder, PPI_COLUMN_CPU, cpu.run_queue_ns);
}

static void put_numbers(ppi_run_encoder *encoder, const pprof_numbers *from) {
  uint32_t num = PPI_MIN(from->num, PPROF_MOST_NUMBERS);
  uint32_t full_name = PPI_MIN(from->full_name, PPROF_NAME_TOO_MUCH);
  put(encoder, PPI_COLUMN_NUMBERS, num | full_name << 3);
  for (uint32_t i = 0; i < num; i++) {
    uint64_t *before = &encoder->model.numbers[i];
    put(encoder, PPI_COLUMN_NUMBERS, ppi_zigzag(from->values[i] - *before));
    *before = from->values[i];
  }
}

pprof_status ppi_run_encoder_add(ppi_run_encoder *encoder,
                                 const pprof_event *event) {
  if (event->num_flows > PPI_LOG_MAX_FLOWS) return PPROF_STATUS_INVALID;
  ppi_shape shape = shape_of(encoder, event);
  bool done = put_token(encoder, &shape);
  if (shape.form & PPI_FORM_NESTED)
    done = done && put_nested(encoder, event);
  else
    put_plain(encoder, &shape, event);
  encoder->model.start = event->start_ns;
  if (shape.form & PPI_FORM_DEVICE) put_device(encoder, &shape, event);
  if (shape.form & PPI_FORM_NEW_FLOWS) done = done && put_flows(encoder, event);
  if (shape.form & PPI_FORM_WORK) put_work(encoder, event->work);
  if (shape.form & PPI_FORM_VALUE)
    put_bits(encoder, PPI_COLUMN_VALUE, &encoder->model.value, event->value);
  if (shape.form & PPI_FORM_ATTRIBUTES)
    put_attributes(encoder, event->attributes);
  if (shape.form & PPI_FORM_CPU) put_cpu(encoder, event->cpu);
  if (shape.form & PPI_FORM_NUMBERS) put_numbers(encoder, event->numbers);
  encoder->run.num_events++;
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

// ---- many at a time ----

// The part of an encoder's state that ranges need, kept away from the stored
// bytes, which may alias anything for the compiler.
typedef struct range_state {
  uint8_t *gap, *duration, *lead, *trail;
  uint64_t end, start, hits;
  uint32_t before[2];
} range_state;

static bool begin_ranges(ppi_run_encoder *encoder, size_t num,
                         range_state *out) {
  ppi_buffer *columns = encoder->columns;
  size_t room = num * PPI_VARINT_MAX;
  for (int i = PPI_COLUMN_GAP; i <= PPI_COLUMN_TRAIL; i++)
    if (!ppi_buffer_room(&columns[i], room)) return false;
  *out = (range_state){
      .gap = columns[PPI_COLUMN_GAP].data + columns[PPI_COLUMN_GAP].len,
      .duration =
          columns[PPI_COLUMN_DURATION].data + columns[PPI_COLUMN_DURATION].len,
      .lead = columns[PPI_COLUMN_LEAD].data + columns[PPI_COLUMN_LEAD].len,
      .trail = columns[PPI_COLUMN_TRAIL].data + columns[PPI_COLUMN_TRAIL].len,
      .end = encoder->model.end,
      .start = encoder->model.start,
      .hits = encoder->hits,
      .before = {encoder->before[0], encoder->before[1]}};
  return true;
}

static void end_column(ppi_run_encoder *encoder, ppi_log_column column,
                       const uint8_t *end) {
  ppi_buffer *bytes = &encoder->columns[column];
  size_t len = (size_t)(end - bytes->data);
  encoder->len += len - bytes->len;
  bytes->len = len;
}

static void end_ranges(ppi_run_encoder *encoder, const range_state *state,
                       size_t num) {
  end_column(encoder, PPI_COLUMN_GAP, state->gap);
  end_column(encoder, PPI_COLUMN_DURATION, state->duration);
  end_column(encoder, PPI_COLUMN_LEAD, state->lead);
  end_column(encoder, PPI_COLUMN_TRAIL, state->trail);
  encoder->model.end = state->end;
  encoder->model.start = state->start;
  encoder->hits = state->hits;
  encoder->before[0] = state->before[0];
  encoder->before[1] = state->before[1];
  encoder->run.num_events += (uint32_t)num;
}

static inline uint8_t *store_varint(uint8_t *at, uint64_t value) {
  return at + (value >> 28 ? ppi_varint_store(at, value)
                           : ppi_varint_store_short(at, (uint32_t)value));
}

// Whether the event has only its times and the fields of a shape.
static inline bool says_no_more(const pprof_event *event) {
  return !(event->device_start_ns | event->device_end_ns |
           event->device_error_ns | event->num_flows |
           ppi_double_bits(event->value) | (uintptr_t)event->work |
           (uintptr_t)event->cpu | (uintptr_t)event->numbers);
}

static bool may_nest(const ppi_run_encoder *encoder, const pprof_event *event) {
  return event->kind == PPROF_KIND_RANGE &&
         !(event->flags & PPROF_FLAG_ASYNC) &&
         event->lane == encoder->run.lane &&
         event->window == encoder->run.window && !event->attributes &&
         event->depth < PPI_LOG_MAX_DEPTH;
}

// The guess for the event's shape; NULL: it is wrong. A right guess has been
// found to nest; only its times are unchecked.
static inline uint16_t *right_predicted(ppi_run_encoder *encoder,
                                        const range_state *state,
                                        const pprof_event *event) {
  uint16_t *predicted = ppi_log_model_predicted(
      &encoder->model, state->before[0], state->before[1]);
  if (!*predicted) return NULL;
  const uint8_t *guessed = (const uint8_t *)&encoder->looks[*predicted - 1];
  const uint8_t *fields = (const uint8_t *)&event->site;
  uint64_t other = event->window ^ encoder->run.window;
  for (size_t i = 0; i < sizeof(ppi_look); i += sizeof other) {
    uint64_t a, b;
    memcpy(&a, guessed + i, sizeof a);
    memcpy(&b, fields + i, sizeof b);
    other |= a ^ b;
  }
  return other || encoder->model.shapes[*predicted - 1].form != PPI_FORM_NESTED
             ? NULL
             : predicted;
}

// The range's position among earlier ones; false: it does not nest.
static inline bool put_times(const ppi_log_model *model, range_state *state,
                             const pprof_event *event) {
  uint64_t start = event->start_ns, end = event->end_ns;
  const ppi_level *children = ppi_log_model_children(model, event->depth);
  if (end < start) return false;
  if (children) {
    if (start > children->first_start || end < children->last_end) return false;
    state->lead = store_varint(state->lead, children->first_start - start);
    state->trail = store_varint(state->trail, end - children->last_end);
  } else {
    if (start < state->end) return false;
    state->gap = store_varint(state->gap, start - state->end);
    state->duration = store_varint(state->duration, end - start);
  }
  state->end = end;
  state->start = start;
  return true;
}

// Answers the token plus one, 0 when out of memory.
static uint32_t put_range_token(ppi_run_encoder *encoder, range_state *state,
                                const pprof_event *event) {
  const ppi_shape shape = shape_with(PPI_FORM_NESTED, event);
  uint32_t token = put_missed(encoder, &shape, state->hits);
  uint16_t *predicted = ppi_log_model_predicted(
      &encoder->model, state->before[0], state->before[1]);
  *predicted = (uint16_t)(token + 1);
  state->hits = 0;
  return token + 1;
}

// False: the event is something else, or *failed.
static inline bool put_range(ppi_run_encoder *encoder, range_state *state,
                             const pprof_event *event, bool *failed) {
  ppi_log_model *model = &encoder->model;
  if (!says_no_more(event)) return false;
  const uint16_t *predicted = right_predicted(encoder, state, event);
  if ((!predicted && !may_nest(encoder, event)) ||
      !put_times(model, state, event))
    return false;
  uint32_t last =
      predicted ? *predicted : put_range_token(encoder, state, event);
  state->hits += predicted != NULL;
  state->before[0] = state->before[1];
  state->before[1] = last;
  *failed = !last || !ppi_log_model_deepen(model, event->depth);
  if (*failed) return false;
  ppi_log_model_nest(model, event->depth, event->start_ns, event->end_ns);
  return true;
}

pprof_status ppi_run_encoder_add_ranges(ppi_run_encoder *encoder,
                                        const pprof_batch *batch, size_t from,
                                        size_t to, ppi_log_times *times,
                                        size_t *out_num) {
  range_state state;
  ppi_log_times seen = *times;
  bool failed = false;
  *out_num = 0;
  if (from == to || !says_no_more(pprof_batch_at(batch, from)))
    return PPROF_STATUS_OK;
  if (!begin_ranges(encoder, to - from, &state)) return PPROF_STATUS_NO_MEMORY;
  size_t i = from;
  for (; i < to; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (!put_range(encoder, &state, event, &failed)) break;
    seen.min_start_ns = PPI_MIN(seen.min_start_ns, event->start_ns);
    seen.max_end_ns = PPI_MAX(seen.max_end_ns, event->end_ns);
  }
  end_ranges(encoder, &state, i - from);
  *out_num = i - from;
  *times = seen;
  return failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

// ---- the end of a run ----

void ppi_run_encoder_finish(ppi_run_encoder *encoder, ppi_buffer *payload) {
  if (encoder->hits > 0) put(encoder, PPI_COLUMN_TOKENS, encoder->hits);
  encoder->hits = 0;
  size_t before = payload->len;
  uint64_t mask = 0;
  for (int i = 0; i < PPI_NUM_COLUMNS; i++)
    if (encoder->columns[i].len > 0) mask |= UINT64_C(1) << i;
  ppi_buffer_varint(payload, mask);
  for (int i = 0; i < PPI_NUM_COLUMNS; i++)
    if (encoder->columns[i].len > 0)
      ppi_buffer_varint(payload, encoder->columns[i].len);
  for (int i = 0; i < PPI_NUM_COLUMNS; i++) {
    const ppi_buffer *column = &encoder->columns[i];
    ppi_buffer_bytes(payload, column->data, column->len);
    if (column->failed) payload->failed = true;
  }
  encoder->run.payload_len = (uint32_t)(payload->len - before);
}

static void add_part(ppi_log_parts *parts, size_t len) {
  size_t *last = &parts->lens[parts->num ? parts->num - 1 : 0];
  if (parts->num == 0 || *last >= PPI_LOG_MIN_PART) {
    if (parts->num > 0) last++;
    *last = 0;
    parts->num++;
  }
  *last += len;
}

void ppi_run_encoder_parts(const ppi_run_encoder *encoder,
                           ppi_log_parts *parts) {
  size_t head = encoder->run.payload_len;
  for (int i = 0; i < PPI_NUM_COLUMNS; i++) head -= encoder->columns[i].len;
  add_part(parts, head);
  for (int i = 0; i < PPI_NUM_COLUMNS; i++) {
    size_t len = encoder->columns[i].len;
    add_part(parts, len);
    if (i <= PPI_COLUMN_SPAN && i != PPI_COLUMN_SHAPES) parts->varied += len;
  }
}
