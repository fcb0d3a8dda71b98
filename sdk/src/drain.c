// SPDX-License-Identifier: Apache-2.0
//
// Records and slots become events. Ticks are turned into ns here, once.
#include "drain.h"

#include <string.h>

#include "mem.h"

#define HAS(sink, callback)                                         \
  ((sink)->size >=                                                  \
       offsetof(pprof_sink, callback) + sizeof((sink)->callback) && \
   (sink)->callback)

pprof_status ppi_call_define(pprof_sink *sink,
                             const pprof_definition *definition) {
  return HAS(sink, define) ? sink->define(sink, definition) : PPROF_STATUS_OK;
}

pprof_status ppi_call_window(pprof_sink *sink, uint32_t index, bool opens,
                             uint64_t time_ns) {
  return HAS(sink, window) ? sink->window(sink, index, opens, time_ns)
                           : PPROF_STATUS_OK;
}

pprof_status ppi_call_events(pprof_sink *sink, const pprof_batch *batch) {
  return HAS(sink, events) ? sink->events(sink, batch) : PPROF_STATUS_OK;
}

pprof_status ppi_drain_init(ppi_drain *drain, const ppi_spool *spool,
                            pprof_sink *sink) {
  *drain = (ppi_drain){.spool = spool, .sink = sink};
  drain->scale = ppi_scale_make(spool->header->start_ticks,
                                spool->header->ticks_per_second);
  drain->events = ppi_alloc(PPI_DRAIN_EVENTS * sizeof *drain->events);
  drain->works = ppi_alloc(PPI_DRAIN_EVENTS * sizeof *drain->works);
  drain->flows = ppi_alloc(PPI_DRAIN_FLOWS * sizeof *drain->flows);
  if (drain->events && drain->works && drain->flows) return PPROF_STATUS_OK;
  ppi_drain_clear(drain);
  return PPROF_STATUS_NO_MEMORY;
}

void ppi_drain_clear(ppi_drain *drain) {
  ppi_free(drain->events);
  ppi_free(drain->works);
  ppi_free(drain->flows);
  ppi_free(drain->windows);
  ppi_tally_clear(&drain->tally);
  *drain = (ppi_drain){0};
}

pprof_status ppi_drain_definitions(ppi_drain *drain, uint64_t end) {
  const ppi_definition_record *record;
  pprof_status status = PPROF_STATUS_OK;
  while (status == PPROF_STATUS_OK &&
         (record = ppi_names_next(drain->spool, end, &drain->names_cursor))) {
    if (record->kind >= PPI_DEFINITION_INFO) continue;
    pprof_definition definition = {(pprof_definition_kind)record->kind,
                                   record->id,
                                   record->parent,
                                   record->color,
                                   record->number,
                                   record->name};
    status = ppi_call_define(drain->sink, &definition);
  }
  return status;
}

static pprof_status close_window(ppi_drain *drain, const ppi_edge *edge) {
  if (drain->num_windows == 0) return PPROF_STATUS_OK;
  ppi_window *window = &drain->windows[drain->num_windows - 1];
  window->close_ticks = edge->ticks;
  if (drain->silent_windows) return PPROF_STATUS_OK;
  return ppi_call_window(drain->sink, window->index, false,
                         ppi_drain_ns(drain, edge->ticks));
}

static pprof_status open_window(ppi_drain *drain, const ppi_edge *edge) {
  ppi_window *grown = ppi_grow(drain->windows, &drain->windows_capacity,
                               drain->num_windows + 1, sizeof *drain->windows);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  drain->windows = grown;
  grown[drain->num_windows++] =
      (ppi_window){edge->ticks, UINT64_MAX, edge->window};
  if (drain->silent_windows) return PPROF_STATUS_OK;
  return ppi_call_window(drain->sink, edge->window, true,
                         ppi_drain_ns(drain, edge->ticks));
}

pprof_status ppi_drain_edges(ppi_drain *drain) {
  const ppi_spool_header *header = drain->spool->header;
  uint64_t num = __atomic_load_n(&header->num_edges, __ATOMIC_ACQUIRE);
  pprof_status status = PPROF_STATUS_OK;
  if (num - drain->edges_seen > PPI_MAX_EDGES)
    drain->edges_seen = num - PPI_MAX_EDGES;
  for (; drain->edges_seen < num && status == PPROF_STATUS_OK;
       drain->edges_seen++) {
    const ppi_edge *edge = &header->edges[drain->edges_seen % PPI_MAX_EDGES];
    if (edge->flags & PPI_EDGE_CLOSES) status = close_window(drain, edge);
    if (status == PPROF_STATUS_OK && (edge->flags & PPI_EDGE_OPENS))
      status = open_window(drain, edge);
  }
  return status;
}

const ppi_window *ppi_drain_window_at(const ppi_drain *drain, uint64_t ticks) {
  for (size_t i = drain->num_windows; i-- > 0;) {
    const ppi_window *window = &drain->windows[i];
    if (ticks < window->open_ticks) continue;
    return ticks < window->close_ticks ? window : NULL;
  }
  return NULL;
}

void ppi_drain_begin(ppi_drain *drain, uint32_t lane, uint64_t first_seq) {
  drain->batch_lane = lane;
  drain->batch_first = first_seq;
  drain->batch_end = first_seq;
  drain->num_events = drain->num_works = drain->num_flows = 0;
}

// Events point into arrays that do not move while a batch is filled.
pprof_status ppi_drain_flush(ppi_drain *drain) {
  pprof_status status = PPROF_STATUS_OK;
  if (drain->num_events > 0) {
    pprof_batch batch = {.size = sizeof batch,
                         .stride = sizeof *drain->events,
                         .events = drain->events,
                         .num_events = drain->num_events,
                         .first_seq = drain->batch_first,
                         .end_seq = drain->batch_end,
                         .lane = drain->batch_lane};
    status = ppi_tally_batch(&drain->tally, &batch);
    pprof_status delivered = ppi_call_events(drain->sink, &batch);
    if (status == PPROF_STATUS_OK) status = delivered;
    drain->delivered_end = drain->batch_end;
  }
  ppi_drain_begin(drain, drain->batch_lane, drain->batch_end);
  return status;
}

static bool is_full(const ppi_drain *drain) {
  return drain->num_events == PPI_DRAIN_EVENTS ||
         drain->num_flows + PPI_MAX_FLOWS + 1 > PPI_DRAIN_FLOWS;
}

static void set_work(ppi_drain *drain, pprof_event *event,
                     const ppi_work *work) {
  pprof_work_amount *amount = &drain->works[drain->num_works++];
  *amount = (pprof_work_amount){sizeof *amount, work->items, work->bytes,
                                work->flops, work->params};
  event->work = amount;
}

// Host times, window and clipping; false when the start lies in no window.
static bool place(ppi_drain *drain, pprof_event *event, uint64_t start,
                  uint64_t end) {
  const ppi_window *window = ppi_drain_window_at(drain, start);
  if (!window) return false;
  event->window = window->index;
  event->start_ns = ppi_drain_ns(drain, start);
  event->end_ns = ppi_drain_ns(drain, end);
  if (end > window->close_ticks) {
    event->end_ns = ppi_drain_ns(drain, window->close_ticks);
    event->flags |= PPROF_FLAG_CLIPPED;
  }
  return true;
}

static double value_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// What extension records in front of a record say about it.
typedef struct extensions {
  uint64_t flows[PPI_MAX_FLOWS + 1];  // [0] is left for the record's own
  size_t num_flows;
  ppi_work work;
  bool has_work;
} extensions;

static void take_extension(extensions *found, const ppi_record *record) {
  if (record->kind == PPI_RECORD_EXT_FLOWS) {
    const uint64_t three[3] = {record->start, record->end, record->flow};
    for (uint32_t i = 0; i < record->depth && i < 3; i++)
      if (found->num_flows < PPI_MAX_FLOWS)
        found->flows[1 + found->num_flows++] = three[i];
    return;
  }
  found->has_work = true;
  if (record->kind == PPI_RECORD_EXT_PARAMS) {
    found->work.params = value_of(record->start);
    return;
  }
  found->work.items = value_of(record->start);
  found->work.bytes = value_of(record->end);
  found->work.flops = value_of(record->flow);
}

static void set_flows(ppi_drain *drain, pprof_event *event,
                      const uint64_t *flows, size_t num) {
  uint64_t *copy = drain->flows + drain->num_flows;
  size_t kept = 0;
  for (size_t i = 0; i < num; i++) {
    copy[kept] = __atomic_load_n(&flows[i], __ATOMIC_RELAXED);
    kept += copy[kept] != 0;
  }
  drain->num_flows += kept;
  event->flows = kept ? copy : NULL;
  event->num_flows = kept;
}

static void add_record(ppi_drain *drain, const ppi_lane *lane,
                       const ppi_record *record, extensions *found) {
  pprof_event *event = &drain->events[drain->num_events];
  *event = (pprof_event){.site = record->site,
                         .lane = lane->id,
                         .depth = record->depth,
                         .kind = record->kind,
                         .flags = record->flags};
  uint64_t end = record->end;
  if (record->kind == PPROF_KIND_COUNTER) {
    event->value = value_of(record->end);
    end = record->start;
  }
  if (!place(drain, event, record->start, end)) {
    ppi_tally_add(&drain->tally, lane->id, PPI_TOTAL_EXCLUDED, 1);
    return;
  }
  if (record->flow) {
    found->flows[0] = record->flow;
    set_flows(drain, event, found->flows, 1 + found->num_flows);
  }
  if (found->has_work) set_work(drain, event, &found->work);
  drain->num_events++;
}

pprof_status ppi_drain_lane(ppi_drain *drain, const ppi_lane *lane,
                            uint64_t from, uint64_t to) {
  const uint8_t *base = drain->spool->base;
  extensions found;
  found.num_flows = 0;
  found.has_work = false;
  pprof_status status = PPROF_STATUS_OK;
  ppi_drain_begin(drain, lane->id, from);
  for (uint64_t slot = from; slot < to; slot++) {
    const ppi_record *record = ppi_lane_slot(base, lane, slot);
    if (record->kind >= PPI_RECORD_EXT_FLOWS) {
      if (record->kind != PPI_RECORD_EXT_FLOWS && !found.has_work)
        found.work = (ppi_work){0};
      take_extension(&found, record);
      continue;
    }
    add_record(drain, lane, record, &found);
    drain->batch_end = slot + 1;
    found.num_flows = 0;
    found.has_work = false;
    if (!is_full(drain)) continue;
    // Out of memory for counting is no reason to lose what was recorded.
    pprof_status flushed = ppi_drain_flush(drain);
    if (status == PPROF_STATUS_OK) status = flushed;
  }
  pprof_status flushed = ppi_drain_flush(drain);
  return status == PPROF_STATUS_OK ? flushed : status;
}

uint64_t ppi_drain_excluded(const ppi_drain *drain, const ppi_lane *lane,
                            uint64_t from, uint64_t to) {
  uint64_t num = 0;
  for (uint64_t slot = from; slot < to; slot++) {
    const ppi_record *record = ppi_lane_slot(drain->spool->base, lane, slot);
    num += record->kind < PPI_RECORD_EXT_FLOWS &&
           !ppi_drain_window_at(drain, record->start);
  }
  return num;
}

// Somebody may add to a range that an edge has just cut.
static ppi_work work_of(const ppi_slot *slot) {
  ppi_work work;
  __atomic_load(&slot->work.items, &work.items, __ATOMIC_RELAXED);
  __atomic_load(&slot->work.bytes, &work.bytes, __ATOMIC_RELAXED);
  __atomic_load(&slot->work.flops, &work.flops, __ATOMIC_RELAXED);
  __atomic_load(&slot->work.params, &work.params, __ATOMIC_RELAXED);
  return work;
}

bool ppi_drain_slot(ppi_drain *drain, const ppi_slot *slot,
                    pprof_status *status) {
  if (is_full(drain)) *status = ppi_drain_flush(drain);
  pprof_event *event = &drain->events[drain->num_events];
  *event = (pprof_event){.site = slot->site,
                         .lane = slot->lane,
                         .stream = slot->stream,
                         .depth = slot->depth,
                         .kind = slot->kind,
                         .flags = slot->flags,
                         .value = slot->value};
  if (!place(drain, event, slot->start, slot->end)) {
    ppi_tally_add(&drain->tally, slot->lane, PPI_TOTAL_EXCLUDED, 1);
    if (drain->excluded_slots) ++*drain->excluded_slots;
    return false;
  }
  if (slot->kind == PPROF_KIND_DEVICE_RANGE &&
      !(slot->flags & PPROF_FLAG_NO_DEVICE_TIME)) {
    event->device_start_ns = slot->device_start_ns;
    event->device_end_ns = slot->device_end_ns;
    event->device_error_ns = slot->device_error_ns;
  }
  uint32_t num_flows = __atomic_load_n(&slot->num_flows, __ATOMIC_ACQUIRE);
  num_flows = PPI_MIN(num_flows, PPI_MAX_FLOWS);
  if (num_flows) set_flows(drain, event, slot->flows, num_flows);
  if (__atomic_load_n(&slot->has_work, __ATOMIC_ACQUIRE)) {
    ppi_work work = work_of(slot);
    set_work(drain, event, &work);
  }
  drain->num_events++;
  drain->batch_end++;
  return true;
}
