// SPDX-License-Identifier: Apache-2.0
//
// Nests ranges from records in order of time. A range's parent is the innermost
// open range around it. A range that overlaps it partly has no further
// children, as in PyTorch's profiler.

#include "base/base.h"
#include "cli/say.h"
#include "import/sweeper.h"

static void skip(ppi_sweeper *sweeper, ppi_skip why) {
  sweeper->importer->skips[why]++;
}

// ---- flows ----

static void add_flow(ppi_sweeper *sweeper, ppi_open *open, uint64_t flow) {
  size_t num = 0;
  for (uint32_t at = open->flows; at; at = sweeper->flows[at - 1].next, num++)
    if (sweeper->flows[at - 1].flow == flow) return;
  uint32_t at = sweeper->free_flow;
  if (at) {
    sweeper->free_flow = sweeper->flows[at - 1].next;
  } else if (sweeper->num_flows < PPI_SWEEP_MAX_FLOWS) {
    PPI_MUST_ROOM(sweeper->flows, sweeper->flows_capacity,
                  sweeper->num_flows + 1);
    at = (uint32_t)++sweeper->num_flows;
  }
  if (!at || num >= PPI_SWEEP_RANGE_FLOWS) {
    uint32_t lane = ppi_emitter_row_lane(&sweeper->emit, open->record.row);
    ppi_emitter_count(&sweeper->emit, lane, PPI_TOTAL_FLOWS_LOST);
    if (!at) return;
    sweeper->flows[at - 1].next = sweeper->free_flow;
    sweeper->free_flow = at;
    return;
  }
  sweeper->flows[at - 1] = (ppi_open_flow){flow, open->flows};
  open->flows = at;
}

static size_t take_flows(ppi_sweeper *sweeper, ppi_open *open, uint64_t *out) {
  size_t num = 0;
  for (uint32_t at = open->flows; at;) {
    uint32_t next = sweeper->flows[at - 1].next;
    out[num++] = sweeper->flows[at - 1].flow;
    sweeper->flows[at - 1].next = sweeper->free_flow;
    sweeper->free_flow = at;
    at = next;
  }
  open->flows = 0;
  // The list has the last flow first.
  for (size_t i = 0; i < num / 2; i++) {
    uint64_t flow = out[i];
    out[i] = out[num - 1 - i];
    out[num - 1 - i] = flow;
  }
  return num;
}

// ---- events ----

static pprof_event event_of(const ppi_sweeper *sweeper,
                            const ppi_record *record, pprof_work_amount *work) {
  bool is_step = sweeper->importer->classes[record->site].category ==
                 PPROF_CATEGORY_PROFILE_STEP;
  bool has_flops = record->flags & PPI_RECORD_HAS_FLOPS;
  pprof_event event = {.start_ns = ppi_emitter_ns(&sweeper->emit, record->time),
                       .kind = PPROF_KIND_RANGE,
                       .flags = record->marks,
                       .site = record->site,
                       .attributes = record->attributes};
  event.end_ns = event.start_ns;
  if (record->flags & PPI_RECORD_COMMUNICATION)
    event.flags |= PPROF_FLAG_COMMUNICATION;
  if (!has_flops) event.value = record->value;
  if (!has_flops && !(record->flags & PPI_RECORD_HAS_AMOUNT)) return event;
  *work = (pprof_work_amount){.size = sizeof *work};
  if (record->flags & PPI_RECORD_HAS_AMOUNT)
    *(is_step ? &work->items : &work->bytes) = record->amount;
  if (has_flops) work->flops = record->value;
  event.work = work;
  return event;
}

// Our own traces state the depth of a range.
static uint32_t depth_of(const ppi_sweeper *sweeper, const ppi_record *record,
                         uint32_t depth) {
  return sweeper->importer->header.is_own ? record->name : depth;
}

static void put_event(ppi_sweeper *sweeper, const ppi_open *open,
                      pprof_event *event) {
  uint32_t lane = event->lane;
  if (sweeper->importer->header.is_own)
    lane = ppi_own_complete(sweeper, open, event);
  ppi_emitter_event(&sweeper->emit, lane, event);
  ppi_free(open->own);
}

// A range that ends before its begin becomes empty. Behind all other ranges it
// would lie at the run's end, and so outside: it then starts 1 ns before.
static void take_invalid(ppi_sweeper *sweeper, const ppi_record *record,
                         pprof_event *event) {
  if (record->end >= record->time) return;
  if (record->time > sweeper->importer->last_valid && event->start_ns > 0)
    event->start_ns--;
  event->end_ns = event->start_ns;
  ppi_emitter_count(&sweeper->emit, event->lane, PPI_TOTAL_INVALID);
}

static void emit_range(ppi_sweeper *sweeper, ppi_open *open, uint32_t depth,
                       uint32_t flags) {
  pprof_work_amount work;
  uint64_t flows[PPI_SWEEP_RANGE_FLOWS];
  pprof_event event = event_of(sweeper, &open->record, &work);
  event.end_ns = ppi_emitter_ns(&sweeper->emit, open->record.end);
  event.lane = ppi_emitter_row_lane(&sweeper->emit, open->record.row);
  event.depth = depth_of(sweeper, &open->record, depth);
  event.flags |= flags;
  event.num_flows = take_flows(sweeper, open, flows);
  event.flows = event.num_flows > 0 ? flows : NULL;
  take_invalid(sweeper, &open->record, &event);
  put_event(sweeper, open, &event);
}

static void emit_point(ppi_sweeper *sweeper, const ppi_record *record,
                       pprof_kind kind, uint32_t flags) {
  pprof_work_amount work;
  pprof_event event = event_of(sweeper, record, &work);
  event.kind = kind;
  event.flags |= flags;
  event.depth = depth_of(sweeper, record, 0);
  event.lane = ppi_emitter_row_lane(&sweeper->emit, record->row);
  ppi_open open = {.record = *record, .own = ppi_own_next(sweeper)};
  put_event(sweeper, &open, &event);
}

// ---- the stacks ----

static ppi_open *top_of(ppi_open_row *row) {
  return row->num > 0 ? &row->items[row->num - 1] : NULL;
}

static void pop(ppi_sweeper *sweeper, ppi_open_row *row, uint32_t flags) {
  ppi_open *top = top_of(row);
  row->num--;
  row->num_begun -= top->record.kind == PPI_RECORD_BEGIN;
  sweeper->num_open--;
  ppi_launchers_update(sweeper, (uint32_t)(row - sweeper->rows));
  emit_range(sweeper, top, (uint32_t)row->num, flags);
}

static void push(ppi_sweeper *sweeper, ppi_open_row *row,
                 const ppi_record *record) {
  bool is_open_end = record->kind != PPI_RECORD_RANGE;
  if (sweeper->num_open >= PPI_SWEEP_MAX_OPEN) {
    ppi_open open = {.record = *record};
    skip(sweeper, is_open_end ? PPI_SKIP_TOO_MANY_OPEN : PPI_SKIP_TOO_DEEP);
    if (!is_open_end) emit_range(sweeper, &open, 0, PPROF_FLAG_ASYNC);
    // The end of this range must not end another one.
    if (record->kind == PPI_RECORD_BEGIN) row->num_left_out++;
    return;
  }
  PPI_MUST_PUSH(row->items, row->num, row->capacity,
                (ppi_open){.record = *record});
  if (is_open_end) top_of(row)->record.end = PPI_SWEEP_NEVER;
  row->num_begun += record->kind == PPI_RECORD_BEGIN;
  sweeper->num_open++;
  ppi_launchers_update(sweeper, (uint32_t)(row - sweeper->rows));
}

// Ends the ranges that cannot contain the record.
static void make_way(ppi_sweeper *sweeper, ppi_open_row *row,
                     ppi_record *record) {
  bool overlaps = false;
  uint64_t end = record->kind == PPI_RECORD_RANGE ? record->end : record->time;
  for (ppi_open *top; (top = top_of(row)) != NULL; pop(sweeper, row, 0)) {
    uint64_t top_end = top->record.end;
    // Rounded times may end an inner range after its parent.
    if (record->flags & PPI_RECORD_IS_COARSE && record->time < top_end &&
        end > top_end && end - top_end <= 1000)
      end = record->end = top_end;
    if (record->time < top_end && end <= top_end) break;
    overlaps |= record->time < top_end;
  }
  if (overlaps) skip(sweeper, PPI_SKIP_OVERLAPPING);
}

static bool is_async(const ppi_sweeper *sweeper, const ppi_record *record) {
  return sweeper->importer->places.rows[record->row].is_other ||
         sweeper->importer->classes[record->site].is & PPI_IS_ASYNC;
}

// PyTorch's profiler does not record the thread of its own work. The row is a
// thread with an open range around that work, of several the one with most
// launches.
static uint32_t row_of_overhead(ppi_sweeper *sweeper,
                                const ppi_record *record) {
  uint32_t found = ppi_launchers_find(sweeper, record->end);
  return found == PPI_NO_PLACE ? record->row : found;
}

static void take_range(ppi_sweeper *sweeper, const ppi_record *from) {
  ppi_record record = *from;
  if (sweeper->importer->classes[record.site].is & PPI_IS_OVERHEAD &&
      record.kind == PPI_RECORD_RANGE)
    record.row = row_of_overhead(sweeper, &record);
  ppi_open_row *row = &sweeper->rows[record.row];
  bool is_loose = is_async(sweeper, &record);
  if (!is_loose) make_way(sweeper, row, &record);
  uint32_t site = record.site, stack = 0;
  if (sweeper->by_stack) stack = ppi_callers_name(sweeper, &record, is_loose);
  if (!is_loose) {
    size_t num = row->num;
    push(sweeper, row, &record);
    if (row->num == num) return;
    top_of(row)->base_site = site;
    top_of(row)->stack = stack;
  } else if (record.kind == PPI_RECORD_RANGE) {
    ppi_open open = {.record = record};
    emit_range(sweeper, &open, 0, PPROF_FLAG_ASYNC);
  } else {
    skip(sweeper, PPI_SKIP_TOO_MANY_OPEN);
  }
}

// The place of the innermost begun range that `record` fits, + 1; 0: none. The
// search stops after MOST ranges.
static size_t find_begun(const ppi_sweeper *sweeper, const ppi_open_row *row,
                         const ppi_record *record) {
  enum { MOST = 4096 };
  size_t num = 0;
  for (size_t at = row->num; at > 0 && num < MOST; at--) {
    const ppi_record *begun = &row->items[at - 1].record;
    bool is_begun = begun->kind == PPI_RECORD_BEGIN;
    num += num > 0 || is_begun;
    if (is_begun &&
        ppi_import_may_end(sweeper->importer, record->name, begun->name))
      return at;
  }
  return 0;
}

// Ends a range around begun ranges that continue.
static void end_around(ppi_sweeper *sweeper, ppi_open_row *row, size_t at,
                       const ppi_record *record) {
  ppi_open ended = row->items[at];
  memmove(&row->items[at], &row->items[at + 1],
          (--row->num - at) * sizeof *row->items);
  row->num_begun--;
  sweeper->num_open--;
  ppi_import_end(sweeper->importer, &ended.record, record);
  emit_range(sweeper, &ended, (uint32_t)at, 0);
  skip(sweeper, PPI_SKIP_OVERLAPPING);
}

static void count_unmatched(ppi_sweeper *sweeper, const ppi_record *record) {
  uint32_t lane = ppi_emitter_row_lane(&sweeper->emit, record->row);
  ppi_emitter_count(&sweeper->emit, lane, PPI_TOTAL_UNMATCHED);
}

static size_t innermost_begun(const ppi_open_row *row) {
  size_t at = row->num;
  while (row->items[at - 1].record.kind != PPI_RECORD_BEGIN) at--;
  return at;
}

// Ends a begun range, and first the ranges inside it.
static void take_end(ppi_sweeper *sweeper, ppi_open_row *row,
                     const ppi_record *record) {
  if (row->num_left_out > 0) {
    row->num_left_out--;
    return;
  }
  size_t at = find_begun(sweeper, row, record);
  if (at == 0) {
    count_unmatched(sweeper, record);
    return;
  }
  if (at < innermost_begun(row)) {
    end_around(sweeper, row, at - 1, record);
    return;
  }
  while (row->num > at) {
    if (top_of(row)->record.kind == PPI_RECORD_UNENDED)
      top_of(row)->record.end = record->time;
    pop(sweeper, row, 0);
  }
  ppi_import_end(sweeper->importer, &top_of(row)->record, record);
  pop(sweeper, row, 0);
}

static void take_flow(ppi_sweeper *sweeper, ppi_open_row *row,
                      const ppi_record *record) {
  ppi_open *top;
  while ((top = top_of(row)) != NULL && top->record.end < record->time)
    pop(sweeper, row, 0);
  if (top)
    add_flow(sweeper, top, record->end);
  else
    skip(sweeper, PPI_SKIP_FLOWS_UNBOUND);
}

// ---- asynchronous ranges ----

static uint32_t *async_bucket(ppi_sweeper *sweeper, uint64_t key) {
  return &sweeper->async_buckets[key >> PPI_SWEEP_KEY_BITS &
                                 (PPI_SWEEP_BUCKETS - 1)];
}

// The end of a range of our own is in its begin.
static void end_own(ppi_sweeper *sweeper, ppi_open *open) {
  memcpy(&open->record.end, &open->record.amount, sizeof open->record.end);
  emit_range(sweeper, open, 0, 0);
}

static void begin_async(ppi_sweeper *sweeper, const ppi_record *record) {
  uint32_t at = sweeper->free_async;
  ppi_open open = {.record = *record, .own = ppi_own_next(sweeper)};
  bool is_own = sweeper->importer->header.is_own;
  if (sweeper->num_open >= PPI_SWEEP_MAX_OPEN) {
    if (is_own)
      end_own(sweeper, &open);
    else
      skip(sweeper, PPI_SKIP_TOO_MANY_OPEN);
    return;
  }
  if (at) {
    sweeper->free_async = sweeper->async[at - 1].next;
  } else {
    PPI_MUST_ROOM(sweeper->async, sweeper->async_capacity,
                  sweeper->num_async + 1);
    at = (uint32_t)++sweeper->num_async;
  }
  uint32_t *bucket = async_bucket(sweeper, record->end);
  open.next = *bucket;
  sweeper->async[at - 1] = open;
  *bucket = at;
  sweeper->num_open++;
}

static bool ends_async(const ppi_sweeper *sweeper, const ppi_open *open,
                       const ppi_record *record) {
  return open->record.end == record->end &&
         ppi_import_may_end(sweeper->importer, record->name, open->record.name);
}

static void end_async(ppi_sweeper *sweeper, const ppi_record *record) {
  uint32_t *link = async_bucket(sweeper, record->end);
  while (*link && !ends_async(sweeper, &sweeper->async[*link - 1], record))
    link = &sweeper->async[*link - 1].next;
  bool is_own = sweeper->importer->header.is_own;
  if (!*link) {
    if (!is_own) count_unmatched(sweeper, record);
    return;
  }
  uint32_t at = *link;
  ppi_open *open = &sweeper->async[at - 1];
  *link = open->next;
  if (is_own) {
    end_own(sweeper, open);
  } else {
    ppi_import_end(sweeper->importer, &open->record, record);
    emit_range(sweeper, open, 0, PPROF_FLAG_ASYNC);
  }
  open->record.kind = PPI_RECORD_FLOW;  // free
  open->next = sweeper->free_async;
  sweeper->free_async = at;
  sweeper->num_open--;
}

// ---- records ----

// A reserved level is emitted when it changes, with the change; the first level
// has none.
static void take_counter(ppi_sweeper *sweeper, const ppi_record *from) {
  ppi_record record = *from;
  if (!(record.flags & PPI_RECORD_RESERVED)) {
    emit_point(sweeper, &record, PPROF_KIND_COUNTER, 0);
    return;
  }
  double *last = &sweeper->reserved[record.site];
  bool is_stated = record.flags & PPI_RECORD_HAS_AMOUNT;
  if (!is_stated) {
    if (*last == record.value + 1 || (*last == 0 && record.value == 0)) {
      *last = record.value + 1;
      return;
    }
    if (*last != 0) {
      record.amount = record.value + 1 - *last;
      record.flags |= PPI_RECORD_HAS_AMOUNT;
    }
  }
  *last = record.value + 1;
  emit_point(sweeper, &record, PPROF_KIND_COUNTER, PPROF_FLAG_RESERVED);
}

void ppi_nest_take(ppi_sweeper *sweeper, const ppi_record *record) {
  ppi_open_row *row = &sweeper->rows[record->row];
  switch ((ppi_record_kind)record->kind) {
    case PPI_RECORD_RANGE:
    case PPI_RECORD_UNENDED:
    case PPI_RECORD_BEGIN:
      take_range(sweeper, record);
      return;
    case PPI_RECORD_END:
      take_end(sweeper, row, record);
      return;
    case PPI_RECORD_ASYNC_BEGIN:
      begin_async(sweeper, record);
      return;
    case PPI_RECORD_ASYNC_END:
      end_async(sweeper, record);
      return;
    case PPI_RECORD_MARK:
      emit_point(sweeper, record, PPROF_KIND_MARK, 0);
      return;
    case PPI_RECORD_COUNTER:
      take_counter(sweeper, record);
      return;
    case PPI_RECORD_FLOW:
      take_flow(sweeper, row, record);
      return;
    case PPI_RECORD_WINDOW:
      ppi_own_window(sweeper, record);
      return;
    case PPI_RECORD_CHECKPOINT:  // taken before
      return;
    case PPI_RECORD_WORD:
    case PPI_RECORD_POINT_WORD:
      ppi_own_word(sweeper, record);
  }
}

void ppi_nest_device(ppi_sweeper *sweeper, const ppi_device_record *record) {
  ppi_emitter *emit = &sweeper->emit;
  const ppi_stream *stream = &sweeper->importer->places.streams[record->stream];
  const uint32_t has_work = PPI_RECORD_HAS_AMOUNT | PPI_RECORD_HAS_FLOPS;
  pprof_work_amount work = {
      .size = sizeof work, .bytes = record->amount, .flops = record->flops};
  pprof_event event = {.kind = PPROF_KIND_DEVICE_RANGE,
                       .start_ns = ppi_emitter_ns(emit, record->submit),
                       .end_ns = ppi_emitter_ns(emit, record->submit),
                       .device_start_ns = ppi_emitter_ns(emit, record->start),
                       .device_end_ns = ppi_emitter_ns(emit, record->end),
                       .work = record->flags & has_work ? &work : NULL,
                       .site = record->site,
                       .stream = record->stream + 1,
                       .attributes = record->attributes,
                       .flags = record->flags & PPI_RECORD_COMMUNICATION
                                    ? PPROF_FLAG_COMMUNICATION
                                    : 0};
  if (sweeper->importer->classes[record->site].is & PPI_IS_PROJECTED)
    event.flags |= PPROF_FLAG_PROJECTED;
  // Two times of 0 would mean no device time.
  if (record->flags & PPI_RECORD_UNTIMED) {
    event.device_start_ns = event.device_end_ns = 0;
    event.flags |= PPROF_FLAG_NO_DEVICE_TIME;
  } else if (event.device_end_ns == 0) {
    event.device_start_ns = event.device_end_ns = 1;
  }
  event.lane = ppi_emitter_row_lane(emit, record->row);
  ppi_emitter_event(emit, ppi_emitter_device_lane(emit, stream->device),
                    &event);
}

// ---- checkpoints and the end ----

static void list(ppi_sweeper *sweeper, size_t *num, const ppi_open *open,
                 uint32_t depth, uint64_t time) {
  bool is_async = open->record.kind == PPI_RECORD_ASYNC_BEGIN;
  bool is_own = sweeper->importer->header.is_own;
  pprof_work_amount work;
  pprof_event event = event_of(sweeper, &open->record, &work);
  event.work = NULL;
  event.end_ns = ppi_emitter_ns(&sweeper->emit, time);
  event.lane = ppi_emitter_row_lane(&sweeper->emit, open->record.row);
  event.depth = depth_of(sweeper, &open->record, depth);
  if (is_own)
    ppi_own_list(sweeper, open, &event);
  else if (is_async)
    event.flags |= PPROF_FLAG_ASYNC;
  sweeper->listed[(*num)++] = event;
}

void ppi_nest_checkpoint(ppi_sweeper *sweeper, uint64_t time) {
  size_t num_rows = sweeper->importer->places.num_rows, num = 0;
  for (size_t i = 0; i < num_rows; i++) {
    ppi_open_row *row = &sweeper->rows[i];
    while (row->num > 0 && top_of(row)->record.end <= time)
      pop(sweeper, row, 0);
  }
  PPI_MUST_ROOM(sweeper->listed, sweeper->listed_capacity,
                sweeper->num_open + 1);
  for (size_t i = 0; i < num_rows; i++)
    for (size_t at = 0; at < sweeper->rows[i].num; at++)
      list(sweeper, &num, &sweeper->rows[i].items[at], (uint32_t)at, time);
  for (size_t i = 0; i < sweeper->num_async; i++)
    if (sweeper->async[i].record.kind == PPI_RECORD_ASYNC_BEGIN &&
        sweeper->async[i].record.time <= time)
      list(sweeper, &num, &sweeper->async[i], 0, time);
  ppi_emitter_checkpoint(&sweeper->emit, time, sweeper->listed, num);
}

void ppi_nest_finish(ppi_sweeper *sweeper) {
  uint64_t end = (uint64_t)sweeper->importer->max_ns + PPI_RECORD_BIAS;
  for (size_t i = 0; i < sweeper->importer->places.num_rows; i++) {
    ppi_open_row *row = &sweeper->rows[i];
    while (row->num > 0) {
      bool is_cut = top_of(row)->record.end == PPI_SWEEP_NEVER;
      if (is_cut) {
        top_of(row)->record.end = end;
        skip(sweeper, PPI_SKIP_UNENDED);
      }
      pop(sweeper, row, is_cut ? PPROF_FLAG_CLIPPED : 0);
    }
  }
  for (size_t i = 0; i < sweeper->num_async; i++) {
    ppi_open *open = &sweeper->async[i];
    if (open->record.kind != PPI_RECORD_ASYNC_BEGIN) continue;
    open->record.end = end;
    skip(sweeper, PPI_SKIP_UNENDED);
    emit_range(sweeper, open, 0, PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED);
  }
}
