// SPDX-License-Identifier: Apache-2.0
//
// Delivers a run of our own trace to the sink, each event as it was recorded.
// Records come in order of time. Ranges wait in a heap until they end, so the
// sink gets them in their first order: inner ranges before outer ones.
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "import/sweeper.h"

typedef struct own_range {
  pprof_event event;
  pprof_work_amount work;
  pprof_numbers numbers;
  pprof_cpu_use cpu;
  uint64_t flows[PPI_MAX_EVENT_FLOWS];
  uint64_t seq, reported_ns;
} own_range;

// A range that is not emitted yet; `more` has its flows and CPU use.
typedef struct own_open {
  uint64_t end, order, seq;
  uint32_t lane;  // the lane of the batch
  pprof_event event;
  pprof_work_amount work;
  pprof_numbers numbers;
  own_range *more;        // NULL: neither
  struct own_open *next;  // the next free one
} own_open;

// The first lane number for threads that had left (PPI_CHROME_FIRST_LEFT_LANE),
// and the bound of such lanes.
enum { FIRST_LEFT = 1 << 20, MAX_LEFT = 65536 };

typedef struct own_sweep {
  ppi_emitter emit;
  ppi_importer *importer;
  const ppi_own_facts *facts;
  uint32_t *lanes;  // by definition of a lane: the sink's lane
  // By stream, then of the stream that has no definition, then of ranges on
  // none. 0: not defined yet.
  uint32_t *stream_lanes;
  uint32_t *left_lanes;  // of threads that had left; 0: not defined yet
  own_open **heap;       // the first to end at [0]
  size_t num_open, heap_capacity;
  own_open *free;
  own_open **clipped;  // paired device ranges
  size_t num_clipped, clipped_capacity;
  uint32_t *open_windows;  // their numbers
  size_t num_open_windows, windows_capacity;
  pprof_event *listed;
  size_t listed_capacity;
} own_sweep;

static void fail(own_sweep *sweep, pprof_status status) {
  if (sweep->emit.status == PPROF_STATUS_OK) sweep->emit.status = status;
}

// ---- definitions ----

static const char *name_of(const ppi_own_definition *definition) {
  return definition->name ? definition->name : "";
}

static void define_lanes(own_sweep *sweep) {
  const ppi_own_definitions *lanes = &sweep->facts->lanes;
  for (size_t i = 0; i < lanes->num; i++) {
    const ppi_own_definition *lane = &lanes->items[i];
    if (lane->id != 0)  // lane 0, the process, is already defined
      sweep->lanes[i] =
          ppi_emitter_lane(&sweep->emit, lane->number, name_of(lane));
  }
}

// Ids of devices and streams are their places in the list, from 1.
static void define_devices(own_sweep *sweep) {
  const ppi_own_facts *facts = sweep->facts;
  for (size_t i = 0; i < facts->devices.num; i++) {
    const ppi_own_definition *device = &facts->devices.items[i];
    ppi_emitter_define(&sweep->emit,
                       &(pprof_definition){.kind = PPROF_DEFINITION_DEVICE,
                                           .id = (uint32_t)i + 1,
                                           .number = device->number,
                                           .name = name_of(device)});
  }
  for (size_t i = 0; i < facts->streams.num; i++) {
    const ppi_own_definition *stream = &facts->streams.items[i];
    size_t device = ppi_own_find(&facts->devices, stream->of);
    ppi_emitter_define(
        &sweep->emit,
        &(pprof_definition){
            .kind = PPROF_DEFINITION_STREAM,
            .id = (uint32_t)i + 1,
            .parent = device == PPI_OWN_NONE ? 0 : (uint32_t)device + 1,
            .number = stream->number,
            .name = name_of(stream)});
    sweep->stream_lanes[i] = ppi_emitter_lane(&sweep->emit, 0, name_of(stream));
  }
}

// The stream for ranges of a trace without its end, which has no definitions of
// streams.
static uint32_t other_stream(own_sweep *sweep) {
  uint32_t id = (uint32_t)sweep->facts->streams.num + 1;
  uint32_t device = (uint32_t)sweep->facts->devices.num + 1;
  if (sweep->stream_lanes[id - 1]) return id;
  ppi_emitter_define(
      &sweep->emit,
      &(pprof_definition){
          .kind = PPROF_DEFINITION_DEVICE, .id = device, .name = "device"});
  ppi_emitter_define(&sweep->emit,
                     &(pprof_definition){.kind = PPROF_DEFINITION_STREAM,
                                         .id = id,
                                         .parent = device,
                                         .name = "stream"});
  sweep->stream_lanes[id - 1] = ppi_emitter_lane(&sweep->emit, 0, "stream");
  return id;
}

// The lane of a thread that had left before the trace's end. Its rows share a
// number without a definition. The lane has the first row's name.
static uint32_t left_lane_of(own_sweep *sweep, uint32_t row_id) {
  const ppi_row *row = &sweep->importer->places.rows[row_id];
  size_t at = row->lane - FIRST_LEFT;
  if (!row->has_lane || at >= MAX_LEFT)
    return ppi_emitter_row_lane(&sweep->emit, row_id);
  if (!sweep->left_lanes[at])
    sweep->left_lanes[at] = ppi_emitter_row_lane(&sweep->emit, row_id);
  return sweep->left_lanes[at];
}

static uint32_t lane_of(own_sweep *sweep, uint32_t row_id) {
  const ppi_row *row = &sweep->importer->places.rows[row_id];
  size_t at = row->has_lane ? ppi_own_find(&sweep->facts->lanes, row->lane)
                            : PPI_OWN_NONE;
  return at == PPI_OWN_NONE ? left_lane_of(sweep, row_id) : sweep->lanes[at];
}

// ---- events ----

static uint64_t in_run(const own_sweep *sweep, uint64_t ns) {
  return ppi_emitter_ns(&sweep->emit, ns + PPI_RECORD_BIAS);
}

static void take_cpu(pprof_cpu_use *cpu, const ppi_own_record *record) {
  const ppi_own_word *words = record->words;
  cpu->size = sizeof *cpu;
  if (record->part == PPI_OWN_CPU) {
    cpu->known = (uint32_t)words[0].u;
    cpu->user_ns = words[1].u;
    cpu->sys_ns = words[2].u;
    cpu->inner_ns = words[3].u;
  } else if (record->part == PPI_OWN_CPU_2) {
    cpu->run_queue_ns = words[0].u;
    cpu->voluntary_switches = words[1].u;
    cpu->involuntary_switches = words[2].u;
    cpu->minor_faults = words[3].u;
  } else {
    cpu->major_faults = words[0].u;
  }
}

static void take_device(own_sweep *sweep, own_range *range,
                        const ppi_own_record *record) {
  uint32_t id = (uint32_t)record->words[0].u;
  size_t at = ppi_own_find(&sweep->facts->streams, id);
  range->event.stream = id == 0              ? 0
                        : at == PPI_OWN_NONE ? other_stream(sweep)
                                             : (uint32_t)at + 1;
  if (record->num < 4) return;
  range->event.device_start_ns = in_run(sweep, record->words[1].u);
  range->event.device_end_ns = in_run(sweep, record->words[2].u);
  range->event.device_error_ns = record->words[3].u;
}

static void take_part(own_sweep *sweep, own_range *range,
                      const ppi_own_record *record) {
  const ppi_own_word *words = record->words;
  pprof_event *event = &range->event;
  switch ((ppi_own_part)record->part) {
    case PPI_OWN_DEVICE:
      take_device(sweep, range, record);
      return;
    case PPI_OWN_WORK:
      range->work = (pprof_work_amount){sizeof range->work, words[0].d,
                                        words[1].d, words[2].d, words[3].d};
      event->work = &range->work;
      return;
    case PPI_OWN_FLOWS:
      for (size_t i = 0;
           i < record->num && event->num_flows < PPI_MAX_EVENT_FLOWS; i++)
        range->flows[event->num_flows++] = words[i].u;
      event->flows = range->flows;
      return;
    case PPI_OWN_CPU:
    case PPI_OWN_CPU_2:
    case PPI_OWN_CPU_3:
      take_cpu(&range->cpu, record);
      event->cpu = &range->cpu;
      return;
    case PPI_OWN_NUMBERS:
      range->numbers = (pprof_numbers){
          sizeof range->numbers, record->num, PPROF_NAME_FOLDED, {0}};
      for (size_t i = 0; i < record->num; i++)
        range->numbers.values[i] = words[i].u;
      event->numbers = &range->numbers;
      return;
    case PPI_OWN_MAIN:
    case PPI_OWN_WINDOW:
      return;
  }
}

static void begin_range(own_sweep *sweep, own_range *range,
                        const ppi_own_record *record) {
  range->cpu = (pprof_cpu_use){.size = 0};
  range->seq = record->words[2].u;
  range->reported_ns =
      record->words[3].u ? in_run(sweep, record->words[3].u) : 0;
  range->event =
      (pprof_event){.start_ns = ppi_emitter_ns(&sweep->emit, record->time),
                    .end_ns = ppi_emitter_ns(&sweep->emit, record->words[0].u),
                    .value = record->words[1].d,
                    .site = record->site,
                    .lane = lane_of(sweep, record->row),
                    .depth = record->depth,
                    .kind = record->kind,
                    .flags = record->flags,
                    .window = record->window};
}

// ---- ranges that wait ----

static bool ends_before(const own_open *a, const own_open *b) {
  return a->end != b->end ? a->end < b->end : a->order < b->order;
}

static void sift_up(own_open **heap, size_t at) {
  own_open *moved = heap[at];
  while (at > 0 && ends_before(moved, heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = moved;
}

static void sift_down(own_open **heap, size_t num) {
  own_open *moved = heap[0];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < num; at = child) {
    if (child + 1 < num && ends_before(heap[child + 1], heap[child])) child++;
    if (!ends_before(heap[child], moved)) break;
    heap[at] = heap[child];
  }
  heap[at] = moved;
}

static own_open *take_free(own_sweep *sweep) {
  own_open *open = sweep->free;
  if (!open) return ppi_alloc(sizeof *open);
  sweep->free = open->next;
  return open;
}

static void emit_closed(own_sweep *sweep, own_open *first);

// An edge cuts the host side of a paired device range. The device side
// continues on its stream, and ranges inside it come first.
static bool goes_on(const pprof_event *event) {
  return event->kind == PPROF_KIND_DEVICE_RANGE &&
         event->flags & PPROF_FLAG_PAIRED && event->flags & PPROF_FLAG_CLIPPED;
}

static void keep_clipped(own_sweep *sweep, own_open *open) {
  own_open **clipped = ppi_grow(sweep->clipped, &sweep->clipped_capacity,
                                sweep->num_clipped + 1, sizeof *clipped);
  if (!clipped) {
    fail(sweep, PPROF_STATUS_NO_MEMORY);
    emit_closed(sweep, open);
    return;
  }
  sweep->clipped = clipped;
  size_t at = sweep->num_clipped++;
  for (; at > 0 && clipped[at - 1]->seq > open->seq; at--)
    clipped[at] = clipped[at - 1];
  clipped[at] = open;
}

// Emits the clipped ranges that come before `next`; NULL: all.
static void emit_clipped(own_sweep *sweep, const own_open *next) {
  size_t kept = 0, num = sweep->num_clipped;
  sweep->num_clipped = 0;
  for (size_t i = 0; i < num; i++) {
    own_open *open = sweep->clipped[i];
    if (next &&
        (open->event.lane != next->event.lane ||
         open->event.stream != next->event.stream || open->seq > next->seq))
      sweep->clipped[kept++] = open;
    else
      emit_closed(sweep, open);
  }
  sweep->num_clipped = kept;
}

static void emit_closed(own_sweep *sweep, own_open *first) {
  if (sweep->num_clipped > 0 && first->event.flags & PPROF_FLAG_PAIRED)
    emit_clipped(sweep, first);
  if (first->event.work) first->event.work = &first->work;
  if (first->event.numbers) first->event.numbers = &first->numbers;
  if (first->more) {
    first->event.flows = first->more->flows;
    if (first->event.cpu) first->event.cpu = &first->more->cpu;
  }
  ppi_emitter_event(&sweep->emit, first->lane, &first->event);
  ppi_free(first->more);
  first->next = sweep->free;
  sweep->free = first;
}

static void pop(own_sweep *sweep) {
  own_open *first = sweep->heap[0];
  sweep->heap[0] = sweep->heap[--sweep->num_open];
  if (sweep->num_open > 1) sift_down(sweep->heap, sweep->num_open);
  emit_closed(sweep, first);
}

static void push(own_sweep *sweep, const own_range *range, uint32_t lane,
                 uint64_t order) {
  own_open **heap = ppi_grow(sweep->heap, &sweep->heap_capacity,
                             sweep->num_open + 1, sizeof *heap);
  if (heap) sweep->heap = heap;
  own_open *open = heap ? take_free(sweep) : NULL;
  bool has_more = range->event.num_flows > 0 || range->event.cpu;
  own_range *more = has_more ? ppi_alloc(sizeof *more) : NULL;
  if (!open || (has_more && !more)) {
    ppi_free(more);
    ppi_free(open);
    fail(sweep, PPROF_STATUS_NO_MEMORY);
    return;
  }
  if (more) *more = *range;
  uint64_t end = PPI_MAX(range->event.start_ns, range->event.end_ns);
  *open = (own_open){.end = PPI_MAX(end, range->reported_ns),
                     .order = order,
                     .seq = range->seq,
                     .lane = lane,
                     .event = range->event,
                     .work = range->work,
                     .numbers = range->numbers,
                     .more = more};
  if (goes_on(&open->event)) {
    keep_clipped(sweep, open);
    return;
  }
  heap[sweep->num_open] = open;
  sift_up(heap, sweep->num_open++);
}

// The recorder knew no stream for a range before its device was ready.
static uint32_t stream_lane(own_sweep *sweep, uint32_t stream) {
  if (stream) return sweep->stream_lanes[stream - 1];
  uint32_t *lane = &sweep->stream_lanes[sweep->facts->streams.num + 1];
  if (!*lane) *lane = ppi_emitter_lane(&sweep->emit, 0, "stream");
  return *lane;
}

static void take_event(own_sweep *sweep, const own_range *range,
                       uint64_t order) {
  const pprof_event *event = &range->event;
  bool is_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  uint32_t lane = is_device ? stream_lane(sweep, event->stream) : event->lane;
  bool waits = is_device || event->kind == PPROF_KIND_RANGE;
  if (waits && sweep->num_open + sweep->num_clipped < PPI_SWEEP_MAX_OPEN) {
    push(sweep, range, lane, order);
    return;
  }
  sweep->importer->skips[PPI_SKIP_TOO_DEEP] += waits;
  ppi_emitter_event(&sweep->emit, lane, event);
}

// ---- windows ----

static void take_window(own_sweep *sweep, const ppi_own_record *record) {
  uint32_t index = (uint32_t)record->words[0].u;
  bool opens = record->words[1].u;
  ppi_emitter_window(&sweep->emit, index, opens,
                     ppi_emitter_ns(&sweep->emit, record->time));
  size_t at = 0;
  while (at < sweep->num_open_windows && sweep->open_windows[at] != index) at++;
  if (!opens && at < sweep->num_open_windows)
    sweep->open_windows[at] = sweep->open_windows[--sweep->num_open_windows];
  if (!opens) return;
  uint32_t *open = ppi_grow(sweep->open_windows, &sweep->windows_capacity,
                            sweep->num_open_windows + 1, sizeof *open);
  if (!open) {
    fail(sweep, PPROF_STATUS_NO_MEMORY);
    return;
  }
  sweep->open_windows = open;
  open[sweep->num_open_windows++] = index;
}

// ---- checkpoints and the end ----

static pprof_event as_listed(const own_open *open, uint64_t time_ns) {
  pprof_event event = open->event;
  event.end_ns = PPI_MIN(event.end_ns, time_ns);
  event.device_start_ns = event.device_end_ns = 0;
  event.flows = NULL;
  event.num_flows = 0;
  event.work = NULL;
  event.cpu = NULL;
  event.numbers = NULL;
  return event;
}

static void checkpoint(own_sweep *sweep, uint64_t time) {
  uint64_t time_ns = ppi_emitter_ns(&sweep->emit, time);
  size_t num = sweep->num_open + sweep->num_clipped;
  pprof_event *listed =
      ppi_grow(sweep->listed, &sweep->listed_capacity, num + 1, sizeof *listed);
  if (!listed) {
    fail(sweep, PPROF_STATUS_NO_MEMORY);
    return;
  }
  sweep->listed = listed;
  for (size_t i = 0; i < sweep->num_open; i++)
    listed[i] = as_listed(sweep->heap[i], time_ns);
  for (size_t i = 0; i < sweep->num_clipped; i++)
    listed[sweep->num_open + i] = as_listed(sweep->clipped[i], time_ns);
  ppi_emitter_checkpoint(&sweep->emit, time, listed, num);
}

static void keep_up(own_sweep *sweep, uint64_t time) {
  ppi_emitter *emit = &sweep->emit;
  uint64_t pace =
      PPI_SWEEP_CHECKPOINT + 4 * (sweep->num_open + sweep->num_clipped);
  if (emit->num_reported >= pace && time > emit->last_checkpoint &&
      time > emit->base)
    checkpoint(sweep, time);
}

// Emits ranges that ended before a time. A range that ends at that time waits:
// later records may end there, too.
static void pop_ended(own_sweep *sweep, uint64_t time) {
  uint64_t time_ns = ppi_emitter_ns(&sweep->emit, time);
  while (sweep->num_open > 0 && sweep->heap[0]->end < time_ns) pop(sweep);
}

// Parts of an event follow each other.
static void sweep_records(own_sweep *sweep, ppi_sort_merge *merge) {
  const ppi_own_record *record = ppi_sort_merge_next(merge);
  while (record && sweep->emit.status == PPROF_STATUS_OK) {
    own_range range;
    uint64_t order = record->order;
    pop_ended(sweep, record->time);
    if (record->part == PPI_OWN_WINDOW) {
      take_window(sweep, record);
      record = ppi_sort_merge_next(merge);
      continue;
    }
    keep_up(sweep, record->time);
    begin_range(sweep, &range, record);
    while ((record = ppi_sort_merge_next(merge)) != NULL &&
           record->order == order)
      take_part(sweep, &range, record);
    take_event(sweep, &range, order);
  }
  if (sweep->emit.status == PPROF_STATUS_OK) sweep->emit.status = merge->status;
}

static void finish(own_sweep *sweep, const uint64_t *skips, bool is_main) {
  while (sweep->num_open > 0) pop(sweep);
  emit_clipped(sweep, NULL);
  ppi_emitter_flush(&sweep->emit);
  uint64_t end = (uint64_t)sweep->importer->max_ns + PPI_RECORD_BIAS;
  if (sweep->facts->reported_until_ns > 0) {
    // A run without a stop ends as in its log: windows stay open, and the last
    // checkpoint gives the time.
    uint64_t until = sweep->emit.base + sweep->facts->reported_until_ns;
    ppi_emitter_checkpoint(&sweep->emit, until, NULL, 0);
    sweep->num_open_windows = 0;
  }
  for (size_t i = 0; i < sweep->num_open_windows; i++)
    ppi_emitter_window(&sweep->emit, sweep->open_windows[i], false,
                       ppi_emitter_ns(&sweep->emit, end));
  ppi_emitter_finish(&sweep->emit, skips, is_main);
}

static bool is_of_process(const void *context, uint32_t group) {
  return group == *(const uint32_t *)context;
}

static pprof_status init(own_sweep *sweep, ppi_importer *importer,
                         const ppi_own_facts *facts) {
  *sweep = (own_sweep){.importer = importer, .facts = facts};
  pprof_status status = ppi_emitter_init(&sweep->emit, importer);
  sweep->lanes = ppi_alloc((facts->lanes.num + 1) * sizeof *sweep->lanes);
  sweep->stream_lanes =
      ppi_alloc((facts->streams.num + 2) * sizeof *sweep->stream_lanes);
  sweep->left_lanes = ppi_alloc(MAX_LEFT * sizeof *sweep->left_lanes);
  return sweep->lanes && sweep->stream_lanes && sweep->left_lanes
             ? status
             : PPROF_STATUS_NO_MEMORY;
}

static void clear(own_sweep *sweep) {
  for (size_t i = 0; i < sweep->num_open; i++) {
    ppi_free(sweep->heap[i]->more);
    ppi_free(sweep->heap[i]);
  }
  for (size_t i = 0; i < sweep->num_clipped; i++) {
    ppi_free(sweep->clipped[i]->more);
    ppi_free(sweep->clipped[i]);
  }
  for (own_open *open; (open = sweep->free) != NULL; ppi_free(open))
    sweep->free = open->next;
  ppi_emitter_clear(&sweep->emit);
  ppi_free(sweep->heap);
  ppi_free(sweep->clipped);
  ppi_free(sweep->lanes);
  ppi_free(sweep->stream_lanes);
  ppi_free(sweep->left_lanes);
  ppi_free(sweep->open_windows);
  ppi_free(sweep->listed);
}

pprof_status ppi_own_sweep(ppi_importer *importer, uint32_t process_id,
                           const uint64_t *skips, bool is_main) {
  static const ppi_own_facts none;
  const ppi_process *process = &importer->places.processes[process_id];
  own_sweep sweep;
  ppi_sort_merge merge = {.sorter = NULL};
  pprof_status status =
      init(&sweep, importer, process->facts ? process->facts : &none);
  if (status == PPROF_STATUS_OK)
    status =
        ppi_sort_merge_open(&merge, &importer->own, is_of_process, &process_id);
  if (status == PPROF_STATUS_OK) {
    ppi_emitter_begin(&sweep.emit, process);
    define_lanes(&sweep);
    define_devices(&sweep);
    sweep_records(&sweep, &merge);
    finish(&sweep, skips, is_main);
    status = sweep.emit.status;
  }
  ppi_sort_merge_close(&merge);
  clear(&sweep);
  return status;
}
