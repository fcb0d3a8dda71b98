// SPDX-License-Identifier: Apache-2.0
//
// Turns records and slots into events. Ticks become ns here, once.
#include "deliver/drain.h"

#include "base/mem.h"
#include "event/call.h"
#include "spool/cpu_record.h"

pprof_status ppi_drain_init(ppi_drain *drain, const ppi_spool *spool,
                            pprof_sink *sink) {
  *drain = (ppi_drain){.spool = spool, .sink = sink};
  drain->scale = ppi_scale_make(spool->header->start_ticks,
                                spool->header->ticks_per_second);
  drain->events = ppi_alloc(PPI_DRAIN_EVENTS * sizeof *drain->events);
  drain->works = ppi_alloc(PPI_DRAIN_EVENTS * sizeof *drain->works);
  drain->cpus = ppi_alloc(PPI_DRAIN_EVENTS * sizeof *drain->cpus);
  drain->numbers = ppi_alloc(PPI_DRAIN_EVENTS * sizeof *drain->numbers);
  drain->flows = ppi_alloc(PPI_DRAIN_FLOWS * sizeof *drain->flows);
  drain->named = ppi_alloc(PPI_MAX_LANES * sizeof *drain->named);
  if (drain->events && drain->works && drain->cpus && drain->numbers &&
      drain->flows && drain->named)
    return PPROF_STATUS_OK;
  ppi_drain_clear(drain);
  return PPROF_STATUS_NO_MEMORY;
}

void ppi_drain_clear(ppi_drain *drain) {
  PPI_FREE_ALL(drain->events, drain->works, drain->cpus, drain->numbers,
               drain->flows, drain->windows, drain->named);
  ppi_tally_clear(&drain->tally);
  *drain = (ppi_drain){0};
}

// A name that is being written is delivered later. If an earlier name of the
// lane is undelivered, records may be next: the lane is delivered without a
// name.
static pprof_status define_lane(ppi_drain *drain, const ppi_lane *lane,
                                uint64_t *named) {
  char name[PPI_LANE_NAME] = "";
  uint64_t naming = __atomic_load_n(&lane->naming, __ATOMIC_ACQUIRE);
  if (naming == *named) return PPROF_STATUS_OK;
  uint64_t copied = ppi_lane_get_name(lane, name);
  if (copied)
    *named = copied;
  else if (naming == *named + 1)
    return PPROF_STATUS_OK;
  pprof_definition definition = {
      PPROF_DEFINITION_LANE, lane->id, 0, 0, lane->tid, name};
  return ppi_call_define(drain->sink, &definition);
}

// A lane's next thread names it before its first record, and after all records
// of the previous thread were delivered.
static pprof_status define_lanes(ppi_drain *drain) {
  const ppi_spool_header *header = drain->spool->header;
  uint64_t num = __atomic_load_n(&header->num_namings, __ATOMIC_ACQUIRE);
  pprof_status status = PPROF_STATUS_OK;
  if (num == drain->num_namings) return status;
  uint32_t num_lanes = ppi_spool_num_lanes(drain->spool);
  for (uint32_t i = 0; i < num_lanes && status == PPROF_STATUS_OK; i++) {
    const ppi_lane *lane = ppi_spool_lane(drain->spool, i);
    if (ppi_lane_is_used(lane))
      status = define_lane(drain, lane, &drain->named[i]);
  }
  if (status == PPROF_STATUS_OK) drain->num_namings = num;
  return status;
}

static pprof_status define(ppi_drain *drain,
                           const ppi_definition_record *record) {
  bool is_site = record->kind == PPROF_DEFINITION_SITE;
  uint32_t fold = __atomic_load_n(&record->fold, __ATOMIC_RELAXED);
  pprof_definition definition = {(pprof_definition_kind)record->kind,
                                 record->id,
                                 record->parent,
                                 record->color,
                                 is_site ? fold : record->number,
                                 record->name};
  return ppi_call_define(drain->sink, &definition);
}

static void keep_first(pprof_status *status, pprof_status next) {
  if (*status == PPROF_STATUS_OK) *status = next;
}

// The id has another name by now, or its name folds and may have left since.
static pprof_status define_again(ppi_drain *drain, uint64_t num_again) {
  pprof_status status = PPROF_STATUS_OK;
  while (drain->again_cursor < num_again) {
    const ppi_definition_record *record =
        ppi_names_again(drain->names, &drain->again_cursor);
    if (record) keep_first(&status, define(drain, record));
  }
  return status;
}

// No kind has more ids than sites have. A larger id is damage: nobody would
// read a log with it.
static bool is_possible(const ppi_definition_record *record) {
  return ppi_definition_is_known(record->kind) && record->id <= PPI_MAX_SITES &&
         record->parent <= PPI_MAX_SITES && record->fold <= PPI_MAX_SITES;
}

// As a process left them: a site may lie in front of its category, and of the
// site that it folds into.
enum { CATEGORIES, SITES, FOLDS, NUM_PASSES };

static bool is_of_pass(const ppi_definition_record *record, int pass) {
  bool is_site = record->kind == PPROF_DEFINITION_SITE;
  if (pass == CATEGORIES) return !is_site;
  return is_site && (pass == SITES || record->fold);
}

static pprof_status define_left(ppi_drain *drain, uint64_t end) {
  const ppi_definition_record *record;
  pprof_status status = PPROF_STATUS_OK;
  for (int pass = 0; pass < NUM_PASSES; pass++) {
    drain->names_cursor = 0;
    while (status == PPROF_STATUS_OK &&
           (record = ppi_names_next(drain->spool, end, &drain->names_cursor)))
      if (is_possible(record) && is_of_pass(record, pass))
        status = define(drain, record);
  }
  return status;
}

pprof_status ppi_drain_definitions(ppi_drain *drain, uint64_t end) {
  const ppi_definition_record *record;
  pprof_status status = define_lanes(drain);
  if (!drain->names)
    return status == PPROF_STATUS_OK ? define_left(drain, end) : status;
  uint64_t num_again = ppi_names_num_again(drain->names);
  end = __atomic_load_n(&drain->spool->header->names_end, __ATOMIC_ACQUIRE);
  while ((record = ppi_names_next(drain->spool, end, &drain->names_cursor)))
    if (record->kind < PPI_DEFINITION_INFO)
      keep_first(&status, define(drain, record));
  keep_first(&status, define_again(drain, num_again));
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

// A closing edge cuts all open host ranges, so only device ranges can be late.
// A range later than this many windows counts as excluded.
static void forget_old_windows(ppi_drain *drain) {
  if (drain->num_windows < PPI_DRAIN_WINDOWS) return;
  size_t gone = PPI_DRAIN_WINDOWS / 2;
  drain->num_windows -= gone;
  memmove(drain->windows, drain->windows + gone,
          drain->num_windows * sizeof *drain->windows);
}

static pprof_status open_window(ppi_drain *drain, const ppi_edge *edge) {
  forget_old_windows(drain);
  if (!PPI_PUSH(drain->windows, drain->num_windows, drain->windows_capacity,
                (ppi_window){edge->ticks, UINT64_MAX, edge->window}))
    return PPROF_STATUS_NO_MEMORY;
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
  drain->num_cpus = drain->num_numbers = 0;
  drain->is_plain = true;
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
    status = drain->is_plain
                 ? ppi_tally_add(&drain->tally, drain->batch_lane,
                                 PPI_TOTAL_RECORDED, drain->num_events)
                 : ppi_tally_batch(&drain->tally, &batch);
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

static void set_cpu(ppi_drain *drain, pprof_event *event,
                    const ppi_cpu_use *use) {
  pprof_cpu_use *cpu = &drain->cpus[drain->num_cpus++];
  ppi_cpu_use_export(use, cpu);
  // A range that an edge has cut has no use: its thread was asked later.
  if (event->flags & PPROF_FLAG_CLIPPED)
    *cpu = (pprof_cpu_use){.size = sizeof *cpu};
  event->cpu = cpu;
}

static void set_numbers(ppi_drain *drain, pprof_event *event,
                        const pprof_numbers *from) {
  pprof_numbers *numbers = &drain->numbers[drain->num_numbers++];
  *numbers = *from;
  event->numbers = numbers;
}

// Host times, window and clipping; false when the start lies in no window.
static inline bool place(ppi_drain *drain, pprof_event *event, uint64_t start,
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

// The content of a record's extension records, which come before it.
typedef struct extensions {
  uint64_t flows[PPI_MAX_FLOWS + 1];  // [0] is left for the record's own
  size_t num_flows;
  ppi_work work;
  ppi_cpu_use cpu;
  pprof_numbers numbers;
  bool has_work, has_cpu, has_numbers;
} extensions;

static void take_numbers(extensions *found, const ppi_record *record) {
  const uint64_t three[3] = {record->start, record->end, record->flow};
  pprof_numbers *numbers = &found->numbers;
  if (!found->has_numbers)
    *numbers = (pprof_numbers){sizeof *numbers, 0, record->flags, {0}};
  found->has_numbers = true;
  for (uint32_t i = 0; i < record->depth && i < 3; i++)
    if (numbers->num < PPROF_MOST_NUMBERS)
      numbers->values[numbers->num++] = three[i];
}

static inline void forget(extensions *found) {
  found->num_flows = 0;
  found->has_work = found->has_cpu = found->has_numbers = false;
}

static void take_extension(extensions *found, const ppi_record *record) {
  if (record->kind == PPI_RECORD_EXT_FLOWS) {
    const uint64_t three[3] = {record->start, record->end, record->flow};
    for (uint32_t i = 0; i < record->depth && i < 3; i++)
      if (found->num_flows < PPI_MAX_FLOWS)
        found->flows[1 + found->num_flows++] = three[i];
    return;
  }
  if (record->kind >= PPI_RECORD_EXT_NUMBERS) {
    take_numbers(found, record);
    return;
  }
  if (record->kind >= PPI_RECORD_EXT_CPU) {
    if (!found->has_cpu) found->cpu = (ppi_cpu_use){0};
    found->has_cpu = true;
    ppi_cpu_unpack(record, &found->cpu);
    return;
  }
  if (!found->has_work) found->work = (ppi_work){0};
  found->has_work = true;
  if (record->kind == PPI_RECORD_EXT_PARAMS) {
    found->work.params = value_of(record->start);
    return;
  }
  found->work.items = value_of(record->start);
  found->work.bytes = value_of(record->end);
  found->work.flops = value_of(record->flow);
}

// Requests that are kept; the others leave no trace, also in a batch. False:
// the event serves only others.
static bool set_flows(ppi_drain *drain, pprof_event *event,
                      const uint64_t *flows, size_t num) {
  uint64_t every = drain->spool->header->requests_every;
  uint64_t *copy = drain->flows + drain->num_flows;
  size_t given = 0, kept = 0;
  for (size_t i = 0; i < num; i++) {
    copy[kept] = __atomic_load_n(&flows[i], __ATOMIC_RELAXED);
    if (copy[kept] == 0) continue;
    given++;
    kept += ppi_request_is_kept(copy[kept], every);
  }
  drain->num_flows += kept;
  event->flows = kept ? copy : NULL;
  event->num_flows = kept;
  return kept || !given;
}

// A checkpoint that lists a range as open promises its event: the event comes,
// without its request. The answer is the same at each call.
static bool was_reported_open(const ppi_drain *drain, uint64_t start,
                              uint64_t end) {
  uint64_t reported = drain->spool->header->checked_ticks;
  return start <= reported && reported <= end;
}

static bool is_kind_wanted(const ppi_drain *drain, uint8_t kind) {
  return !drain->spool->header->timer_only || kind == PPROF_KIND_RANGE ||
         kind == PPROF_KIND_DEVICE_RANGE;
}

static bool keeps_request(ppi_drain *drain, pprof_event *event,
                          ppi_record *record, extensions *found) {
  if (!record->flow) return true;
  found->flows[0] = record->flow;
  if (set_flows(drain, event, found->flows, 1 + found->num_flows)) return true;
  if (event->kind != PPROF_KIND_RANGE ||
      !was_reported_open(drain, record->start, record->end))
    return false;
  __atomic_store_n(&record->flow, 0, __ATOMIC_RELAXED);
  return true;
}

static void add_record(ppi_drain *drain, const ppi_lane *lane,
                       ppi_record *record, extensions *found) {
  pprof_event *event = &drain->events[drain->num_events];
  drain->is_plain = false;
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
  if (record->kind == PPI_RECORD_TOKENS || record->kind == PPI_RECORD_SERVED) {
    event->kind = PPROF_KIND_MARK;
    event->flags = PPROF_FLAG_REQUEST;
    found->has_work = record->kind == PPI_RECORD_TOKENS;
    found->work = (ppi_work){(double)record->end, 0, 0, 0};
    if (!found->has_work) event->value = (double)record->end;
    end = record->start;
  }
  if (!is_kind_wanted(drain, record->kind) ||
      !place(drain, event, record->start, end) ||
      !keeps_request(drain, event, record, found)) {
    ppi_tally_add(&drain->tally, lane->id, PPI_TOTAL_EXCLUDED, 1);
    return;
  }
  if (found->has_work) set_work(drain, event, &found->work);
  if (found->has_cpu) set_cpu(drain, event, &found->cpu);
  if (found->has_numbers) set_numbers(drain, event, &found->numbers);
  drain->num_events++;
}

static inline void note_use(const ppi_drain *drain, uint32_t site) {
  if (drain->names) ppi_names_used(drain->names, site);
}

// The usual record: a range with times only.
static bool is_plain(const ppi_record *record, const extensions *found) {
  return record->kind == PPROF_KIND_RANGE && !record->flow &&
         !found->has_work && !found->has_cpu && !found->has_numbers;
}

// Sets each field: for clearing the whole the compiler uses an instruction that
// starts slowly, and takes longer than all else here.
static inline void add_plain(ppi_drain *drain, uint32_t lane,
                             const ppi_record *record) {
  pprof_event *event = &drain->events[drain->num_events];
  PPI_STATIC_ASSERT(sizeof *event == 120, "each field is set");
  event->device_start_ns = event->device_end_ns = event->device_error_ns = 0;
  event->flows = NULL;
  event->num_flows = 0;
  event->work = NULL;
  event->value = 0;
  event->site = record->site;
  event->lane = lane;
  event->stream = 0;
  event->depth = record->depth;
  event->kind = PPROF_KIND_RANGE;
  event->flags = record->flags;
  event->attributes = 0;
  event->cpu = NULL;
  event->numbers = NULL;
  if (!place(drain, event, record->start, record->end)) {
    ppi_tally_add(&drain->tally, lane, PPI_TOTAL_EXCLUDED, 1);
    return;
  }
  if (event->flags || event->end_ns < event->start_ns) drain->is_plain = false;
  drain->num_events++;
}

pprof_status ppi_drain_lane(ppi_drain *drain, const ppi_lane *lane,
                            uint64_t from, uint64_t to) {
  const uint8_t *base = drain->spool->base;
  const uint32_t lane_id = lane->id;
  ppi_record *record = NULL;
  extensions found;
  forget(&found);
  pprof_status status = PPROF_STATUS_OK;
  ppi_drain_begin(drain, lane->id, ppi_lane_number(lane, from));
  for (uint64_t slot = from; slot < to; slot++, record++) {
    if (!record || slot % PPI_SLOTS_PER_CHUNK == 0)
      record = ppi_lane_slot(base, lane, slot);
    if (record->kind >= PPI_RECORD_EXT_FLOWS) {
      take_extension(&found, record);
      continue;
    }
    note_use(drain, record->site);
    if (PPI_LIKELY(is_plain(record, &found)))
      add_plain(drain, lane_id, record);
    else
      add_record(drain, lane, record, &found);
    drain->batch_end = ppi_lane_number(lane, slot + 1);
    forget(&found);
    if (!is_full(drain)) continue;
    // Without memory for counting, records are still delivered.
    pprof_status flushed = ppi_drain_flush(drain);
    if (status == PPROF_STATUS_OK) status = flushed;
  }
  pprof_status flushed = ppi_drain_flush(drain);
  return status == PPROF_STATUS_OK ? flushed : status;
}

static bool has_kept_request(const ppi_record *extension, uint64_t every) {
  extensions found = {.num_flows = 0};
  if (extension->kind != PPI_RECORD_EXT_FLOWS) return false;
  take_extension(&found, extension);
  for (size_t i = 1; i <= found.num_flows; i++)
    if (found.flows[i] && ppi_request_is_kept(found.flows[i], every))
      return true;
  return false;
}

uint64_t ppi_drain_excluded(const ppi_drain *drain, const ppi_lane *lane,
                            uint64_t from, uint64_t to) {
  uint64_t every = drain->spool->header->requests_every;
  uint64_t num = 0;
  bool further_kept = false;
  for (uint64_t slot = from; slot < to; slot++) {
    const ppi_record *record = ppi_lane_slot(drain->spool->base, lane, slot);
    if (record->kind >= PPI_RECORD_EXT_FLOWS) {
      further_kept = further_kept || has_kept_request(record, every);
      continue;
    }
    num += !is_kind_wanted(drain, record->kind) ||
           !ppi_drain_window_at(drain, record->start) ||
           (record->flow && !further_kept &&
            !ppi_request_is_kept(record->flow, every));
    further_kept = false;
  }
  return num;
}

// A thread may add to a range that an edge has just cut.
static ppi_work work_of(const ppi_slot *slot) {
  ppi_work work;
  __atomic_load(&slot->work.items, &work.items, __ATOMIC_RELAXED);
  __atomic_load(&slot->work.bytes, &work.bytes, __ATOMIC_RELAXED);
  __atomic_load(&slot->work.flops, &work.flops, __ATOMIC_RELAXED);
  __atomic_load(&slot->work.params, &work.params, __ATOMIC_RELAXED);
  return work;
}

static bool keeps_slot_requests(ppi_drain *drain, pprof_event *event,
                                ppi_slot *slot) {
  uint32_t num = __atomic_load_n(&slot->num_flows, __ATOMIC_ACQUIRE);
  num = PPI_MIN(num, PPI_MAX_FLOWS);
  if (!num || set_flows(drain, event, slot->flows, num)) return true;
  if (!was_reported_open(drain, slot->start, UINT64_MAX)) return false;
  __atomic_store_n(&slot->num_flows, 0, __ATOMIC_RELAXED);
  return true;
}

bool ppi_drain_slot(ppi_drain *drain, ppi_slot *slot, pprof_status *status) {
  if (is_full(drain)) *status = ppi_drain_flush(drain);
  note_use(drain, slot->site);
  pprof_event *event = &drain->events[drain->num_events];
  drain->is_plain = false;
  *event = (pprof_event){.site = slot->site,
                         .lane = slot->lane,
                         .stream = ppi_slot_stream(slot),
                         .depth = slot->depth,
                         .kind = slot->kind,
                         .flags = ppi_slot_flags(slot),
                         .value = slot->is_step ? slot->value : 0};
  if (!place(drain, event, slot->start, slot->end) ||
      !keeps_slot_requests(drain, event, slot)) {
    ppi_tally_add(&drain->tally, slot->lane, PPI_TOTAL_EXCLUDED, 1);
    return false;
  }
  if (slot->kind == PPROF_KIND_DEVICE_RANGE &&
      !(slot->flags & PPROF_FLAG_NO_DEVICE_TIME)) {
    event->device_start_ns = slot->device_start_ns;
    event->device_end_ns = slot->device_end_ns;
    event->device_error_ns = slot->device_error_ns;
  }
  if (__atomic_load_n(&slot->has_work, __ATOMIC_ACQUIRE)) {
    ppi_work work = work_of(slot);
    set_work(drain, event, &work);
  }
  if (slot->cpu_state != PPI_CPU_SLOT_NONE) {
    static const ppi_cpu_use unknown;
    bool is_known = slot->cpu_state == PPI_CPU_SLOT_KNOWN;
    set_cpu(drain, event, is_known ? &slot->cpu : &unknown);
  }
  pprof_numbers numbers;
  if (ppi_slot_numbers(slot, &numbers)) set_numbers(drain, event, &numbers);
  drain->num_events++;
  drain->batch_end++;
  return true;
}
