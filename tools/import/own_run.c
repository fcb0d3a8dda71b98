// SPDX-License-Identifier: Apache-2.0
//
// Gives a run of our own trace its lanes, devices, streams and windows, and its
// events what their words say.

#include "base/base.h"
#include "cli/say.h"
#include "import/sweeper.h"

// The first lane number for threads that had left (PPI_CHROME_FIRST_LEFT_LANE),
// and the bound of such lanes.
enum { FIRST_LEFT = 1 << 20, MAX_LEFT = 65536 };

// ---- definitions ----

static const char *name_of(const ppi_own_definition *definition) {
  return definition->name ? definition->name : "";
}

static void define_lanes(ppi_sweeper *sweeper, uint32_t *lanes) {
  const ppi_own_definitions *all = &sweeper->own.facts->lanes;
  for (size_t i = 0; i < all->num; i++)
    if (all->items[i].id != 0)  // lane 0, the process, is already defined
      lanes[i] = ppi_emitter_lane(&sweeper->emit, all->items[i].number,
                                  name_of(&all->items[i]));
}

// The rows of a thread share its lane. Those of a thread that had left before
// the trace's end share a number without a definition, and have the first row's
// name.
static void place_rows(ppi_sweeper *sweeper) {
  const ppi_places *places = &sweeper->importer->places;
  const ppi_own_definitions *all = &sweeper->own.facts->lanes;
  uint32_t *known = sweeper->emit.row_lanes;
  uint32_t *lanes = ppi_tool_must(ppi_alloc((all->num + 1) * sizeof *lanes));
  uint32_t *left = ppi_tool_must(ppi_alloc(MAX_LEFT * sizeof *left));
  define_lanes(sweeper, lanes);
  for (uint32_t i = 0; i < places->num_rows; i++) {
    const ppi_row *row = &places->rows[i];
    if (row->process != sweeper->process || !row->has_lane) continue;
    size_t at = ppi_own_find(all, row->lane), number = row->lane - FIRST_LEFT;
    if (at != PPI_OWN_NONE) {
      known[i] = lanes[at] + 1;
    } else if (number < MAX_LEFT) {
      if (!left[number])
        left[number] = ppi_emitter_row_lane(&sweeper->emit, i) + 1;
      known[i] = left[number];
    }
  }
  ppi_free(lanes);
  ppi_free(left);
}

static void define_device(ppi_sweeper *sweeper, uint32_t id, uint64_t number,
                          const char *name) {
  ppi_emitter_define(&sweeper->emit,
                     &(pprof_definition){.kind = PPROF_DEFINITION_DEVICE,
                                         .id = id,
                                         .number = number,
                                         .name = name});
}

// Also gives the stream a lane.
static void define_stream(ppi_sweeper *sweeper, uint32_t id, uint32_t device,
                          uint64_t number, const char *name) {
  ppi_emitter_define(&sweeper->emit,
                     &(pprof_definition){.kind = PPROF_DEFINITION_STREAM,
                                         .id = id,
                                         .parent = device,
                                         .number = number,
                                         .name = name});
  sweeper->own.stream_lanes[id] = ppi_emitter_lane(&sweeper->emit, 0, name);
}

// Ids of devices and streams are their places in the list, from 1.
static void define_devices(ppi_sweeper *sweeper) {
  const ppi_own_facts *facts = sweeper->own.facts;
  for (uint32_t i = 0; i < facts->devices.num; i++) {
    const ppi_own_definition *device = &facts->devices.items[i];
    define_device(sweeper, i + 1, device->number, name_of(device));
  }
  for (uint32_t i = 0; i < facts->streams.num; i++) {
    const ppi_own_definition *stream = &facts->streams.items[i];
    size_t device = ppi_own_find(&facts->devices, stream->of);
    define_stream(sweeper, i + 1,
                  device == PPI_OWN_NONE ? 0 : (uint32_t)device + 1,
                  stream->number, name_of(stream));
  }
}

// A trace without its end has no definitions of streams.
static uint32_t stream_of(ppi_sweeper *sweeper, uint32_t id) {
  const ppi_own_facts *facts = sweeper->own.facts;
  uint32_t other = (uint32_t)facts->streams.num + 1;
  uint32_t device = (uint32_t)facts->devices.num + 1;
  size_t at = ppi_own_find(&facts->streams, id);
  if (id == 0) return 0;
  if (at != PPI_OWN_NONE) return (uint32_t)at + 1;
  if (!sweeper->own.stream_lanes[other]) {
    define_device(sweeper, device, 0, "device");
    define_stream(sweeper, other, device, 0, "stream");
  }
  return other;
}

// The recorder knew no stream for a range before its device was ready.
static uint32_t lane_of_stream(ppi_sweeper *sweeper, uint32_t stream) {
  uint32_t *lane = &sweeper->own.stream_lanes[stream];
  if (!*lane) *lane = ppi_emitter_lane(&sweeper->emit, 0, "stream");
  return *lane;
}

// ---- words ----

void ppi_own_word(ppi_sweeper *sweeper, const ppi_record *record) {
  ppi_own_event *to = &sweeper->own.next;
  const ppi_own_member *member = &ppi_own_members[record->attributes];
  char *at = (char *)to + member->at;
  uint64_t word;
  memcpy(&word, &record->value, sizeof word);
  uint32_t small = (uint32_t)word;
  sweeper->own.has_words = true;
  if (member->type == PPI_OWN_FLOW) {
    if (to->event.num_flows < PPI_MAX_EVENT_FLOWS)
      to->flows[to->event.num_flows++] = word;
  } else if (member->type == PPI_OWN_NUMBER) {
    to->numbers.size = sizeof to->numbers;
    if (to->numbers.num < PPROF_MOST_NUMBERS)
      to->numbers.values[to->numbers.num++] = word;
  } else {
    if (member->type == PPI_OWN_TIME)
      word = ppi_emitter_ns(&sweeper->emit, word + PPI_RECORD_BIAS);
    bool is_short = member->type == PPI_OWN_SHORT;
    memcpy(at, is_short ? (void *)&small : &word,
           is_short ? sizeof small : sizeof word);
    if (member->at >= offsetof(ppi_own_event, cpu))
      to->cpu.size = sizeof to->cpu;
    else if (member->at >= offsetof(ppi_own_event, work))
      to->work.size = sizeof to->work;
  }
}

ppi_own_event *ppi_own_next(ppi_sweeper *sweeper) {
  ppi_own_event *next = &sweeper->own.next;
  if (!sweeper->own.has_words) return NULL;
  size_t size = offsetof(ppi_own_event, flows) +
                next->event.num_flows * sizeof *next->flows;
  ppi_own_event *copy = ppi_tool_must(ppi_alloc(size));
  memcpy(copy, next, size);
  memset(next, 0, size);
  sweeper->own.has_words = false;
  return copy;
}

uint32_t ppi_own_complete(ppi_sweeper *sweeper, const ppi_open *open,
                          pprof_event *event) {
  const ppi_own_event *own = open->own;
  if (own) {
    event->value = own->event.value;
    event->window = own->event.window;
    event->stream = stream_of(sweeper, own->event.stream);
    event->device_start_ns = own->event.device_start_ns;
    event->device_end_ns = own->event.device_end_ns;
    event->device_error_ns = own->event.device_error_ns;
    event->num_flows = own->event.num_flows;
    event->flows = own->event.num_flows ? own->flows : NULL;
    event->work = own->work.size ? &own->work : NULL;
    event->cpu = own->cpu.size ? &own->cpu : NULL;
    event->numbers = own->numbers.size ? &own->numbers : NULL;
  }
  if (!(open->record.flags & PPI_RECORD_ON_STREAM)) return event->lane;
  event->kind = PPROF_KIND_DEVICE_RANGE;
  return lane_of_stream(sweeper, event->stream);
}

void ppi_own_list(ppi_sweeper *sweeper, const ppi_open *open,
                  pprof_event *event) {
  ppi_own_complete(sweeper, open, event);
  event->device_start_ns = event->device_end_ns = event->num_flows = 0;
  event->flows = NULL;
  event->work = NULL;
  event->cpu = NULL;
  event->numbers = NULL;
}

// ---- the edges of a run ----

void ppi_own_window(ppi_sweeper *sweeper, const ppi_record *record) {
  ppi_own_run *own = &sweeper->own;
  uint32_t index = record->attributes;
  bool opens = record->name;
  ppi_emitter_window(&sweeper->emit, index, opens,
                     ppi_emitter_ns(&sweeper->emit, record->time));
  size_t at = 0;
  while (at < own->num_open && own->open[at] != index) at++;
  if (!opens && at < own->num_open) own->open[at] = own->open[--own->num_open];
  if (opens) PPI_MUST_PUSH(own->open, own->num_open, own->capacity, index);
}

void ppi_own_begin(ppi_sweeper *sweeper) {
  static const ppi_own_facts none;
  const ppi_own_facts *facts = sweeper->emit.process->facts;
  sweeper->own.facts = facts ? facts : &none;
  sweeper->own.stream_lanes =
      ppi_tool_must(ppi_alloc((sweeper->own.facts->streams.num + 2) *
                              sizeof *sweeper->own.stream_lanes));
  place_rows(sweeper);
  define_devices(sweeper);
}

void ppi_own_finish(ppi_sweeper *sweeper) {
  ppi_emitter *emit = &sweeper->emit;
  ppi_own_run *own = &sweeper->own;
  uint64_t end = (uint64_t)sweeper->importer->max_ns + PPI_RECORD_BIAS;
  ppi_emitter_flush(emit);
  if (own->facts->reported_until_ns > 0) {
    // A run without a stop ends as in its log: windows stay open, and the last
    // checkpoint gives the time.
    ppi_emitter_checkpoint(emit, emit->base + own->facts->reported_until_ns,
                           NULL, 0);
    return;
  }
  for (size_t i = 0; i < own->num_open; i++)
    ppi_emitter_window(emit, own->open[i], false, ppi_emitter_ns(emit, end));
}

void ppi_own_clear(ppi_sweeper *sweeper) {
  ppi_free(sweeper->own.stream_lanes);
  ppi_free(sweeper->own.open);
}
