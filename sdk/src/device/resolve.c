// SPDX-License-Identifier: Apache-2.0
//
// Polls events, and passes resolved ranges to the drain.
#include "device/resolve.h"

#include "base/mem.h"
#include "device/device_stream.h"
#include "device/event_pool.h"
#include "device/graph.h"

// Ended ranges with their last event in one stream, in the order of their ends:
// while the first is not ready, none is. Linked by next_waiting.
typedef struct ppi_waiting_queue {
  uint32_t first, last;  // index + 1
} ppi_waiting_queue;

// Slots on their way from the end of a range to the next one's begin.
struct ppi_waiting {
  // Ended ranges without times yet, by the place of the stream they end on; [0]
  // those that follow no stream's order.
  ppi_waiting_queue queues[PPI_STREAMS + 1];
  uint32_t next_waiting[PPI_TABLE_SLOTS];  // index + 1
  uint16_t active[PPI_STREAMS + 1];        // queues that hold something
  uint32_t num_active, num_waiting;
  // Resolved slots in the order of their seqs, until kept.
  uint32_t resolved[PPI_TABLE_SLOTS];
  // Freed slots with events that are still in a stream.
  uint32_t resting[PPI_TABLE_SLOTS];
  uint32_t num_resting;
};

// A session's state of a device: late markers may go on using it.
typedef struct attached {
  ppi_device_session session;  // first: it is freed by this
  ppi_device_clocks clocks;
  ppi_waiting waiting;
  ppi_graphs graphs;
} attached;

static bool define_device(const pprof_device *device, uint32_t lane) {
  ppi_names *names = ppi_recorder_in_force.names;
  pprof_definition own = {PPROF_DEFINITION_DEVICE, device->id,  0, 0,
                          (uint64_t)device->index, device->name};
  pprof_definition row = {PPROF_DEFINITION_LANE, lane, device->id, 0, 0,
                          device->name};
  return ppi_names_define(names, &own) && ppi_names_define(names, &row);
}

// A sixteenth of the spool each, as long as all get no more than a third.
static uint32_t table_chunks(const ppi_spool *spool) {
  uint32_t num_devices = 0;
  for (const pprof_device *d = ppi_device_list(); d; d = d->next)
    num_devices += d->available;
  uint32_t all = spool->header->num_chunks;
  return PPI_MAX(PPI_MIN(all / 16, all / 3 / PPI_MAX(num_devices, 1u)), 1u);
}

// The pools found before; if there are none, pool 0, the only one of most
// backends.
static void add_pools(ppi_device_session *session) {
  uint64_t seen[PPI_EVENT_POOLS];
  uint32_t num = ppi_device_pools(session->device, seen);
  session->num_pools = 1;
  session->pools[0].wanted = num == 0;
  for (uint32_t i = 0; i < num && session->num_pools < PPI_EVENT_POOLS; i++) {
    ppi_event_pool *pool = &session->pools[seen[i] ? session->num_pools++ : 0];
    pool->id = seen[i];
    pool->wanted = 1;
  }
}

static ppi_device_session *new_session(void) {
  attached *all = ppi_alloc_lines(sizeof *all);
  if (!all) return NULL;
  all->session.clocks = &all->clocks;
  all->session.waiting = &all->waiting;
  all->session.graphs = &all->graphs;
  return &all->session;
}

pprof_status ppi_resolve_attach(pprof_device *device, bool graph_nodes) {
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  ppi_device_session *session = new_session();
  if (!session) return PPROF_STATUS_NO_MEMORY;
  session->device = device;
  session->graph_nodes = graph_nodes;
  uint32_t lane = ppi_lane_reserve(spool);
  session->table_index = spool->header->num_tables;
  uint32_t chunks = table_chunks(spool);
  // Definitions first: a table, once there, stays until the spool goes.
  if (lane && define_device(device, lane))
    session->table = ppi_table_create(spool, lane, device->id, chunks, chunks);
  if (!session->table) {
    ppi_free(session);
    return PPROF_STATUS_UNAVAILABLE;
  }
  const pprof_backend *backend = device->backend;
  if (PPI_BACKEND_HAS(backend, collector_enter) &&
      backend->collector_enter(device->context) != PPROF_STATUS_OK)
    session->failed = 1;
  add_pools(session);
  ppi_pools_reserve(session);
  ppi_pools_fill(session);
  __atomic_store_n(&ppi_device_sessions[session->table_index], session,
                   __ATOMIC_RELEASE);
  __atomic_store_n(&device->session, session, __ATOMIC_RELEASE);
  return PPROF_STATUS_OK;
}

static pprof_status ask(ppi_device_session *session, uint32_t pool,
                        void *event) {
  pprof_device *device = session->device;
  if (ppi_device_has_failed(session)) return PPROF_STATUS_DEVICE;
  if (ppi_pool_is_gone(session, pool)) return PPROF_STATUS_UNAVAILABLE;
  pprof_status status = device->backend->event_query(device->context, event);
  ppi_pool_note_status(session, pool, status);
  return status;
}

// An event must not be recorded again while it is still in a stream.
static bool is_at_rest(ppi_device_session *session, const ppi_pair *pair) {
  if (pair->passed) return true;
  if (pair->has_begin &&
      ask(session, pair->pool, pair->begin) == PPROF_STATUS_BUSY)
    return false;
  return !pair->has_end ||
         ask(session, pair->pool, pair->end) != PPROF_STATUS_BUSY;
}

static void free_slot(ppi_device_session *session, uint32_t index) {
  ppi_table *table = session->table;
  uint32_t gen = PPI_STATE_GEN(table->states[index]);
  __atomic_store_n(&table->states[index], PPI_STATE(0, gen, PPI_SLOT_FREE),
                   __ATOMIC_RELEASE);
  if (is_at_rest(session, &session->pairs[index]))
    ppi_pool_give(session, index);
  else
    session->waiting->resting[session->waiting->num_resting++] = index;
}

static void give_rested(ppi_device_session *session) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < session->waiting->num_resting; i++) {
    uint32_t index = session->waiting->resting[i];
    if (is_at_rest(session, &session->pairs[index]))
      ppi_pool_give(session, index);
    else
      session->waiting->resting[left++] = index;
  }
  session->waiting->num_resting = left;
}

void ppi_resolve_free(ppi_device_session *session, uint64_t kept) {
  ppi_table *table = session->table;
  kept = PPI_MIN(kept, table->next_seq);
  for (; table->kept < kept; table->kept++)
    free_slot(session,
              session->waiting->resolved[table->kept % PPI_TABLE_SLOTS]);
  ppi_pools_flush(session);
}

// A `next` chain is resolved in its order: this range's begin event is another
// range's end, which must be read first.
static bool is_awaited(const ppi_device_session *session, uint32_t index) {
  uint32_t before = session->pairs[index].feeds;
  return before && !session->gives_up &&
         __atomic_load_n(&session->pairs[before - 1].shared_end,
                         __ATOMIC_RELAXED) == index + 1;
}

// OK: times are in the slot, or it has none. BUSY: not yet.
static pprof_status resolve_slot(ppi_device_session *session, uint32_t index,
                                 ppi_slot *slot, ppi_placed *placed) {
  ppi_pair *pair = &session->pairs[index];
  if (is_awaited(session, index)) return PPROF_STATUS_BUSY;
  if (slot->flags & PPROF_FLAG_NO_DEVICE_TIME) return PPROF_STATUS_OK;
  void *end =
      pair->shared_end ? session->pairs[pair->shared_end - 1].begin : pair->end;
  pprof_status status = ask(session, pair->pool, end);
  // On one stream, a passed end implies a passed begin.
  if (status == PPROF_STATUS_OK && slot->flags & PPROF_FLAG_ASYNC)
    status = ask(session, pair->pool, pair->begin);
  if (status == PPROF_STATUS_OK) {
    pair->passed = true;
    status = ppi_device_clock_place(session, index, slot, placed);
  }
  ppi_event_note_status(session, pair->pool, status);
  if (status == PPROF_STATUS_BUSY) return status;
  if (status != PPROF_STATUS_OK) slot->flags |= PPROF_FLAG_NO_DEVICE_TIME;
  return PPROF_STATUS_OK;
}

// The ranges that have ended since the last look, and by `last`, after the
// first `num`. For the others, only the words of state are read.
static size_t see_ended(ppi_device_session *session, ppi_slot_order *list,
                        size_t num, uint64_t last, bool *out_has_open) {
  const ppi_table *table = session->table;
  for (uint32_t i = 0; i < session->next_unused; i++) {
    uint64_t state = __atomic_load_n(&table->states[i], __ATOMIC_ACQUIRE);
    if (PPI_STATE_OF(state) == PPI_SLOT_OPEN) *out_has_open = true;
    if (PPI_STATE_OF(state) != PPI_SLOT_ENDED || session->pairs[i].queued)
      continue;
    uint64_t end = ppi_device_slot(session, i)->end;
    if (end > last) continue;
    session->pairs[i].queued = true;
    list[num++] = (ppi_slot_order){end, i};
  }
  return num;
}

// In order. An inner range may end behind the first look, and the one around it
// before that: what ended before it is there for the second.
static size_t list_ended(ppi_device_session *session, ppi_slot_order *list,
                         bool *out_has_open) {
  size_t num = see_ended(session, list, 0, UINT64_MAX, out_has_open);
  uint64_t last = 0;
  for (size_t i = 0; i < num; i++) last = PPI_MAX(last, list[i].order);
  if (num > 0) num = see_ended(session, list, num, last, out_has_open);
  ppi_slots_sort(list, num);
  return num;
}

// Most come in order; threads that share a stream may be a little late.
static void queue_range(ppi_device_session *session,
                        const ppi_slot_order *range) {
  uint32_t place = session->pairs[range->index].end_at;
  ppi_waiting_queue *queue = &session->waiting->queues[place];
  uint32_t *link = &queue->first;
  if (!queue->first)
    session->waiting->active[session->waiting->num_active++] = (uint16_t)place;
  else if (ppi_device_slot(session, queue->last - 1)->end <= range->order)
    link = &session->waiting->next_waiting[queue->last - 1];
  while (*link && ppi_device_slot(session, *link - 1)->end <= range->order)
    link = &session->waiting->next_waiting[*link - 1];
  session->waiting->next_waiting[range->index] = *link;
  if (!*link) queue->last = range->index + 1;
  *link = range->index + 1;
  session->waiting->num_waiting++;
}

static uint32_t unlink_range(ppi_device_session *session,
                             ppi_waiting_queue *queue, uint32_t *link) {
  uint32_t index = *link - 1;
  *link = session->waiting->next_waiting[index];
  if (!*link)
    queue->last = link == &queue->first
                      ? 0
                      : (uint32_t)(link - session->waiting->next_waiting) + 1;
  session->waiting->num_waiting--;
  return index;
}

// Takes what is ready out of one queue. A stream with an oldest ended range
// that is not ready needs no further question: what was put into it later is
// not ready either. One that waits for another stream, too, delays nobody.
static size_t take_ready(ppi_device_session *session, uint32_t place,
                         ppi_slot_order *list, ppi_placed *placed) {
  ppi_waiting_queue *queue = &session->waiting->queues[place];
  uint32_t *link = &queue->first;
  size_t num = 0;
  while (*link) {
    uint32_t index = *link - 1;
    ppi_slot *slot = ppi_device_slot(session, index);
    bool in_order = place && !(slot->flags & PPROF_FLAG_ASYNC);
    if (resolve_slot(session, index, slot, placed) == PPROF_STATUS_BUSY) {
      if (in_order && !is_awaited(session, index)) break;
      link = &session->waiting->next_waiting[index];
    } else {
      session->pairs[index].shared_end = 0;
      list[num++] = (ppi_slot_order){slot->end, index};
      unlink_range(session, queue, link);
    }
  }
  return num;
}

static void set_finished(ppi_finished *place, const ppi_slot *slot,
                         uint32_t device) {
  uint64_t version = place->version;
  __atomic_store_n(&place->version, version + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  place->start_ns = slot->device_start_ns;
  place->end_ns = slot->device_end_ns;
  place->stream = slot->stream;
  place->device = device;
  place->site = slot->site;
  __atomic_store_n(&place->version, version + 2, __ATOMIC_RELEASE);
}

// NULL: its thread has gone. The lane is no other's while a slot names it.
static ppi_lane *find_lane(const ppi_spool *spool, uint32_t id) {
  ppi_lane *lane =
      id && id <= PPI_MAX_LANES ? ppi_spool_lane(spool, id - 1) : NULL;
  return lane && __atomic_load_n(&lane->state, __ATOMIC_ACQUIRE) ==
                     PPI_LANE_LIVE
             ? lane
             : NULL;
}

static void note_finished(const ppi_spool *spool, const ppi_slot *slot,
                          uint32_t device) {
  if (slot->flags & PPROF_FLAG_NO_DEVICE_TIME) return;
  ppi_finished *place =
      &spool->header->finished[slot->stream % PPI_FINISHED_STREAMS];
  if (place->stream != slot->stream || place->end_ns <= slot->device_end_ns)
    set_finished(place, slot, device);
  ppi_lane *lane = find_lane(spool, slot->lane);
  if (lane && lane->finished.end_ns <= slot->device_end_ns)
    set_finished(&lane->finished, slot, device);
}

static void deliver_slot(ppi_device_session *session, ppi_drain *drain,
                         uint32_t index) {
  ppi_table *table = session->table;
  pprof_status status = PPROF_STATUS_OK;
  session->pairs[index].queued = false;
  if (session->pairs[index].in_graph) ppi_graph_pin(session, index);
  note_finished(drain->spool, ppi_device_slot(session, index), table->device);
  if (!ppi_drain_slot(drain, ppi_device_slot(session, index), &status)) {
    ppi_slot_exclude(table, index);
    free_slot(session, index);
    return;
  }
  uint64_t seq = table->next_seq;
  uint32_t gen = PPI_STATE_GEN(table->states[index]);
  session->waiting->resolved[seq % PPI_TABLE_SLOTS] = index;
  // Times and seq become one with this store; recover reads both or neither.
  __atomic_store_n(&table->states[index],
                   PPI_STATE(seq, gen, PPI_SLOT_RESOLVED), __ATOMIC_RELEASE);
  table->next_seq = seq + 1;
}

// Resolves what is ready and delivers it, over all streams in the order of the
// ends.
static void deliver_ready(ppi_device_session *session, ppi_drain *drain,
                          ppi_slot_order *list, ppi_placed *placed) {
  size_t num = 0, sources = 0;
  uint32_t left = 0;
  for (uint32_t i = 0; i < session->waiting->num_active; i++) {
    uint16_t place = session->waiting->active[i];
    size_t ready = take_ready(session, place, list + num, placed);
    num += ready;
    sources += ready != 0;
    if (session->waiting->queues[place].first)
      session->waiting->active[left++] = place;
  }
  session->waiting->num_active = left;
  if (sources > 1) ppi_slots_sort(list, num);
  for (size_t i = 0; i < num; i++) deliver_slot(session, drain, list[i].index);
}

static void deliver_launches(ppi_device_session *session, ppi_drain *drain,
                             ppi_placed *placed) {
  ppi_graph_prepare(session);
  for (uint32_t i = 0; i < session->graphs->num_ranges; i++) {
    uint32_t seen = ppi_graph_see(session, i, placed);
    if (seen) deliver_slot(session, drain, seen - 1);
  }
}

static void check_pools(ppi_device_session *session) {
  uint32_t over = ppi_pools_check(session);
  for (uint32_t pool = 0; pool < PPI_EVENT_POOLS; pool++) {
    if (!(over >> pool & 1u)) continue;
    ppi_graph_forget_pool(session, pool);
    ppi_device_clock_forget_pool(session, pool);
    ppi_pool_vacate(session, pool);
  }
}

size_t ppi_resolve_poll(ppi_device_session *session, ppi_drain *drain,
                        ppi_placed *placed) {
  static ppi_slot_order list[PPI_TABLE_SLOTS];  // one collector per process
  bool has_open = false;
  give_rested(session);
  check_pools(session);
  ppi_pools_fill(session);
  size_t num = list_ended(session, list, &has_open);
  for (size_t i = 0; i < num; i++) queue_range(session, &list[i]);
  ppi_streams_look(session);
  bool in_use =
      session->waiting->num_waiting || has_open || session->graphs->num_ranges;
  ppi_device_clock_renew(session, in_use);
  // After the states, so that every window, site and stream of the slots is
  // known.
  ppi_drain_edges(drain);
  if (num)
    ppi_drain_definitions(
        drain,
        __atomic_load_n(&drain->spool->header->names_end, __ATOMIC_ACQUIRE));
  ppi_drain_begin(drain, session->table->lane, session->table->next_seq);
  deliver_ready(session, drain, list, placed);
  deliver_launches(session, drain, placed);
  ppi_drain_flush(drain);
  ppi_pools_flush(session);
  return session->waiting->num_waiting;
}

static void end_open_slot(ppi_device_session *session, uint32_t index,
                          uint64_t now) {
  ppi_table *table = session->table;
  uint64_t state = __atomic_load_n(&table->states[index], __ATOMIC_ACQUIRE);
  uint32_t kind = PPI_STATE_OF(state);
  if (kind != PPI_SLOT_OPEN && kind != PPI_SLOT_ENDING) return;
  ppi_slot *slot = ppi_device_slot(session, index);
  slot->end = now;
  slot->flags |= PPROF_FLAG_CLIPPED | PPROF_FLAG_NO_DEVICE_TIME;
  __atomic_store_n(&table->states[index],
                   PPI_STATE(0, PPI_STATE_GEN(state), PPI_SLOT_ENDED),
                   __ATOMIC_RELEASE);
}

void ppi_resolve_rest(ppi_device_session *session, ppi_drain *drain,
                      ppi_placed *placed, uint64_t now) {
  session->last_chance = true;
  ppi_resolve_poll(session, drain, placed);
  ppi_table *table = session->table;
  for (uint32_t i = 0; i < session->next_unused; i++)
    end_open_slot(session, i, now);
  for (uint32_t i = 0; i < session->next_unused; i++) {
    if (PPI_STATE_OF(table->states[i]) != PPI_SLOT_ENDED) continue;
    ppi_slot *slot = ppi_device_slot(session, i);
    if (!(slot->flags & PPROF_FLAG_NO_DEVICE_TIME))
      slot->flags |= PPROF_FLAG_LATE | PPROF_FLAG_NO_DEVICE_TIME;
  }
  // Nothing is recorded any more: no chain needs its order.
  session->gives_up = true;
  ppi_resolve_poll(session, drain, placed);
}

void ppi_resolve_release(ppi_device_session *session) {
  ppi_graph_clear(session);
  ppi_pools_release(session);
  ppi_device_clock_clear(session);
}

void ppi_resolve_detach(ppi_device_session *session, bool leak) {
  __atomic_store_n(&session->device->session, NULL, __ATOMIC_RELEASE);
  __atomic_store_n(&ppi_device_sessions[session->table_index], NULL,
                   __ATOMIC_RELEASE);
  if (!leak) ppi_free(session);
}
