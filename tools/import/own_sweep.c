// SPDX-License-Identifier: Apache-2.0
//
// Delivers a run of our own trace to the sink, each event as it was recorded.
// The trace has them in an order that a sink accepts. A second sort, by begins,
// finds the ranges that are open at a checkpoint.
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "import/sweeper.h"

// A range that is open at a checkpoint.
typedef struct own_open {
  uint64_t order;
  pprof_event event;
} own_open;

// The first lane number for threads that had left (PPI_CHROME_FIRST_LEFT_LANE),
// and the bound of such lanes.
enum { FIRST_LEFT = 1 << 20, MAX_LEFT = 65536 };

typedef struct own_sweep {
  ppi_emitter emit;
  ppi_importer *importer;
  const ppi_own_facts *facts;
  uint32_t *lanes;  // the sink's lane, by definition of a lane
  // By stream, then of the stream that has no definition, then of ranges on
  // none. 0: not defined yet.
  uint32_t *stream_lanes;
  uint32_t *left_lanes;  // of threads that had left; 0: not defined yet
  own_open *open;
  size_t num_open, open_capacity;
  uint32_t *open_windows;  // their numbers
  size_t num_open_windows, windows_capacity;
  pprof_event *listed;
  size_t listed_capacity;
} own_sweep;

// A sort's records as events: `next` is the first record of the next one.
typedef struct own_reader {
  ppi_sort_merge merge;
  const ppi_own_record *next;
} own_reader;

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

static uint32_t stream_of(own_sweep *sweep, uint32_t id) {
  size_t at = ppi_own_find(&sweep->facts->streams, id);
  if (id == 0) return 0;
  return at == PPI_OWN_NONE ? other_stream(sweep) : (uint32_t)at + 1;
}

static void take_word(const own_sweep *sweep, ppi_own_event *to, uint8_t key,
                      uint64_t word) {
  const ppi_own_member *member = &ppi_own_members[key];
  void *at = (char *)to + member->at;
  pprof_event *event = &to->event;
  switch (member->type) {
    case PPI_OWN_SHORT:
      *(uint32_t *)at = (uint32_t)word;
      break;
    case PPI_OWN_TIME:
      word = in_run(sweep, word);
      memcpy(at, &word, sizeof word);
      break;
    case PPI_OWN_FLOW:
      if (event->num_flows < PPI_MAX_EVENT_FLOWS)
        to->flows[event->num_flows++] = word;
      event->flows = to->flows;
      return;
    case PPI_OWN_NUMBER:
      if (to->numbers.num < PPROF_MOST_NUMBERS)
        to->numbers.values[to->numbers.num++] = word;
      event->numbers = &to->numbers;
      return;
    default:
      memcpy(at, &word, sizeof word);
  }
  if (at >= (void *)&to->work && at < (void *)(&to->work + 1))
    event->work = &to->work;
  if (at >= (void *)&to->cpu && at < (void *)(&to->cpu + 1))
    event->cpu = &to->cpu;
}

static void take_words(const own_sweep *sweep, ppi_own_event *to,
                       const ppi_own_record *record) {
  for (size_t i = 0; i < record->num; i++)
    take_word(sweep, to, record->keys[i], record->words[i]);
}

// Takes the next event with all its words.
static void read_event(own_sweep *sweep, own_reader *reader,
                       ppi_own_event *to) {
  const ppi_own_record *record = reader->next;
  to->work = (pprof_work_amount){.size = sizeof to->work};
  to->cpu = (pprof_cpu_use){.size = sizeof to->cpu};
  to->numbers = (pprof_numbers){.size = sizeof to->numbers};
  to->event =
      (pprof_event){.start_ns = ppi_emitter_ns(&sweep->emit, record->time),
                    .end_ns = ppi_emitter_ns(&sweep->emit, record->end),
                    .site = record->site,
                    .lane = lane_of(sweep, record->row),
                    .kind = record->kind,
                    .flags = record->flags};
  do take_words(sweep, to, record);
  while ((record = ppi_sort_merge_next(&reader->merge)) != NULL &&
         record->kind == PPI_OWN_MORE);
  reader->next = record;
  to->event.stream = stream_of(sweep, to->event.stream);
}

// The recorder knew no stream for a range before its device was ready.
static uint32_t stream_lane(own_sweep *sweep, uint32_t stream) {
  if (stream) return sweep->stream_lanes[stream - 1];
  uint32_t *lane = &sweep->stream_lanes[sweep->facts->streams.num + 1];
  if (!*lane) *lane = ppi_emitter_lane(&sweep->emit, 0, "stream");
  return *lane;
}

static void emit_event(own_sweep *sweep, const pprof_event *event) {
  bool is_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  ppi_emitter_event(&sweep->emit,
                    is_device ? stream_lane(sweep, event->stream) : event->lane,
                    event);
}

// ---- windows ----

static void take_window(own_sweep *sweep, const ppi_own_record *record) {
  uint32_t index = (uint32_t)record->words[0];
  bool opens = record->words[1];
  ppi_emitter_window(&sweep->emit, index, opens,
                     ppi_emitter_ns(&sweep->emit, record->time));
  size_t at = 0;
  while (at < sweep->num_open_windows && sweep->open_windows[at] != index) at++;
  if (!opens && at < sweep->num_open_windows)
    sweep->open_windows[at] = sweep->open_windows[--sweep->num_open_windows];
  if (!opens) return;
  PPI_MUST_PUSH(sweep->open_windows, sweep->num_open_windows,
                sweep->windows_capacity, index);
}

// ---- checkpoints and the end ----

static pprof_event as_listed(const pprof_event *open, uint64_t time_ns) {
  pprof_event event = *open;
  event.end_ns = PPI_MIN(event.end_ns, time_ns);
  event.device_start_ns = event.device_end_ns = 0;
  event.flows = NULL;
  event.num_flows = 0;
  event.work = NULL;
  event.cpu = NULL;
  event.numbers = NULL;
  return event;
}

// Knows the ranges that began before `time` and come after `order`.
static void find_open(own_sweep *sweep, own_reader *begun, uint64_t order,
                      uint64_t time) {
  ppi_own_event event;
  size_t num = 0;
  while (begun->next && begun->next->time < time) {
    uint64_t its_order = begun->next->order;
    read_event(sweep, begun, &event);
    if (its_order < order || sweep->num_open == PPI_SWEEP_MAX_OPEN) continue;
    PPI_MUST_ROOM(sweep->open, sweep->open_capacity, sweep->num_open + 1);
    PPI_MUST_ROOM(sweep->listed, sweep->listed_capacity, sweep->num_open + 1);
    sweep->open[sweep->num_open++] = (own_open){its_order, event.event};
  }
  for (size_t i = 0; i < sweep->num_open; i++)
    if (sweep->open[i].order > order) sweep->open[num++] = sweep->open[i];
  sweep->num_open = num;
}

static void take_checkpoint(own_sweep *sweep, own_reader *begun,
                            const ppi_own_record *record) {
  ppi_emitter *emit = &sweep->emit;
  uint64_t pace = PPI_SWEEP_CHECKPOINT + 4 * sweep->num_open;
  if (emit->num_reported < pace || record->time <= emit->last_checkpoint ||
      record->time <= emit->base)
    return;
  find_open(sweep, begun, record->order, record->time);
  uint64_t time_ns = ppi_emitter_ns(emit, record->time);
  for (size_t i = 0; i < sweep->num_open; i++)
    sweep->listed[i] = as_listed(&sweep->open[i].event, time_ns);
  ppi_emitter_checkpoint(emit, record->time, sweep->listed, sweep->num_open);
}

static void sweep_records(own_sweep *sweep, own_reader *all,
                          own_reader *begun) {
  ppi_own_event event;
  all->next = ppi_sort_merge_next(&all->merge);
  begun->next = ppi_sort_merge_next(&begun->merge);
  while (all->next && sweep->emit.status == PPROF_STATUS_OK) {
    // Spans come by their begins, so none is open anywhere.
    if (sweep->importer->header.spans) take_checkpoint(sweep, begun, all->next);
    if (all->next->kind < PPI_OWN_WINDOW) {
      read_event(sweep, all, &event);
      emit_event(sweep, &event.event);
      continue;
    }
    if (all->next->kind == PPI_OWN_WINDOW)
      take_window(sweep, all->next);
    else
      take_checkpoint(sweep, begun, all->next);
    all->next = ppi_sort_merge_next(&all->merge);
  }
}

static void finish(own_sweep *sweep, const uint64_t *skips, bool is_main) {
  if (sweep->importer->spill.error_number) return;
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

static void init(own_sweep *sweep, ppi_importer *importer,
                 const ppi_own_facts *facts) {
  *sweep = (own_sweep){.importer = importer, .facts = facts};
  ppi_emitter_init(&sweep->emit, importer);
  sweep->lanes =
      ppi_tool_must(ppi_alloc((facts->lanes.num + 1) * sizeof *sweep->lanes));
  sweep->stream_lanes = ppi_tool_must(
      ppi_alloc((facts->streams.num + 2) * sizeof *sweep->stream_lanes));
  sweep->left_lanes =
      ppi_tool_must(ppi_alloc(MAX_LEFT * sizeof *sweep->left_lanes));
}

static void clear(own_sweep *sweep) {
  ppi_emitter_clear(&sweep->emit);
  ppi_free(sweep->lanes);
  ppi_free(sweep->stream_lanes);
  ppi_free(sweep->left_lanes);
  ppi_free(sweep->open);
  ppi_free(sweep->open_windows);
  ppi_free(sweep->listed);
}

pprof_status ppi_own_sweep(ppi_importer *importer, uint32_t process_id,
                           const uint64_t *skips, bool is_main) {
  static const ppi_own_facts none;
  const ppi_process *process = &importer->places.processes[process_id];
  own_sweep sweep;
  own_reader all, begun;
  init(&sweep, importer, process->facts ? process->facts : &none);
  ppi_sort_merge_open(&all.merge, &importer->own, is_of_process, &process_id);
  ppi_sort_merge_open(&begun.merge, &importer->own_open, is_of_process,
                      &process_id);
  ppi_emitter_begin(&sweep.emit, process);
  define_lanes(&sweep);
  define_devices(&sweep);
  sweep_records(&sweep, &all, &begun);
  finish(&sweep, skips, is_main);
  pprof_status status = sweep.emit.status;
  ppi_sort_merge_close(&all.merge);
  ppi_sort_merge_close(&begun.merge);
  clear(&sweep);
  return status;
}
