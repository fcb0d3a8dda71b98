// SPDX-License-Identifier: Apache-2.0
//
// Event pools, polling, and handing resolved ranges to the drain.
#include "resolve.h"

#include <stdlib.h>
#include <string.h>

#include "device_clock.h"
#include "mem.h"

#define TABLE_CHUNKS_OF(spool) ((spool)->header->num_chunks / 24)

static ppi_spool *spool_in_force(void) {
  return &ppi_recorder_in_force.spool;
}

// Makes one more batch of event pairs for a pool and puts their slots on its
// list. The record path never does this.
static bool fill_pool(ppi_device_session *session, uint32_t pool) {
  const pprof_backend *backend = session->device->backend;
  void *context = session->device->context;
  uint32_t room = session->table->num_slots - session->next_unused;
  uint32_t num = PPI_MIN(room, PPI_POOL_BATCH);
  void *events[2 * PPI_POOL_BATCH];
  if (num == 0 || ppi_device_has_failed(session)) return false;
  uint64_t id = session->pools[pool].id;
  pprof_status status = backend->event_create(context, id, 2 * num, events);
  ppi_device_heed(session, status);
  if (status != PPROF_STATUS_OK) return false;
  for (uint32_t i = 0; i < num; i++) {
    uint32_t index = session->next_unused++;
    session->pairs[index] = (ppi_pair){
        .begin = events[2 * i], .end = events[2 * i + 1], .pool = pool};
    __atomic_fetch_add(&session->pools[pool].num_free, 1, __ATOMIC_RELAXED);
    ppi_slots_give(session->table, &session->pools[pool].free_list, index);
  }
  return true;
}

static void fill_pools(ppi_device_session *session) {
  uint32_t num = __atomic_load_n(&session->num_pools, __ATOMIC_ACQUIRE);
  for (uint32_t pool = 0; pool < num; pool++) {
    while (__atomic_load_n(&session->pools[pool].num_free, __ATOMIC_RELAXED) <
           2 * PPI_POOL_BATCH)
      if (!fill_pool(session, pool)) break;
    // From here on an empty list is a loss.
    __atomic_store_n(&session->pools[pool].filled, 1, __ATOMIC_RELEASE);
  }
}

static bool define_device(const pprof_device *device, uint32_t lane) {
  ppi_names *names = ppi_recorder_in_force.names;
  pprof_definition own = {PPROF_DEFINITION_DEVICE, device->id,  0, 0,
                          (uint64_t)device->index, device->name};
  pprof_definition row = {PPROF_DEFINITION_LANE, lane, device->id, 0, 0,
                          device->name};
  return ppi_names_define(names, &own) && ppi_names_define(names, &row);
}

// Pool 0 is what most backends have; of the others those seen before.
static void add_pools(ppi_device_session *session) {
  uint64_t seen[PPI_EVENT_POOLS];
  uint32_t num = ppi_device_pools(session->device, seen);
  session->num_pools = 1;
  for (uint32_t i = 0; i < num && session->num_pools < PPI_EVENT_POOLS; i++)
    if (seen[i]) session->pools[session->num_pools++].id = seen[i];
}

pprof_status ppi_resolve_attach(pprof_device *device) {
  ppi_spool *spool = spool_in_force();
  ppi_device_session *session = ppi_alloc(sizeof *session);
  if (!session) return PPROF_STATUS_NO_MEMORY;
  session->device = device;
  uint32_t lane =
      __atomic_add_fetch(&spool->header->num_lanes, 1, __ATOMIC_RELAXED);
  session->table_index = spool->header->num_tables;
  // Definitions first: a table, once there, stays until the spool goes.
  if (define_device(device, lane))
    session->table = ppi_table_create(spool, lane, device->id,
                                      PPI_MAX(TABLE_CHUNKS_OF(spool), 1u));
  if (!session->table) {
    ppi_free(session);
    return PPROF_STATUS_UNAVAILABLE;
  }
  const pprof_backend *backend = device->backend;
  if (PPI_BACKEND_HAS(backend, collector_enter) &&
      backend->collector_enter(device->context) != PPROF_STATUS_OK)
    session->failed = 1;
  add_pools(session);
  fill_pools(session);
  __atomic_store_n(&device->session, session, __ATOMIC_RELEASE);
  return PPROF_STATUS_OK;
}

static pprof_status ask(ppi_device_session *session, void *event) {
  pprof_device *device = session->device;
  if (ppi_device_has_failed(session)) return PPROF_STATUS_DEVICE;
  pprof_status status = device->backend->event_query(device->context, event);
  ppi_device_heed(session, status);
  return status;
}

// An event must not be recorded again while it is still in a stream.
static bool is_at_rest(ppi_device_session *session, const ppi_pair *pair) {
  if (pair->passed) return true;
  if (pair->has_begin && ask(session, pair->begin) == PPROF_STATUS_BUSY)
    return false;
  return !pair->has_end || ask(session, pair->end) != PPROF_STATUS_BUSY;
}

static void give_slot(ppi_device_session *session, uint32_t index) {
  ppi_event_pool *pool = &session->pools[session->pairs[index].pool];
  __atomic_fetch_add(&pool->num_free, 1, __ATOMIC_RELAXED);
  ppi_slots_give(session->table, &pool->free_list, index);
}

static void free_slot(ppi_device_session *session, uint32_t index) {
  ppi_table *table = session->table;
  uint32_t gen = PPI_STATE_GEN(table->states[index]);
  __atomic_store_n(&table->states[index], PPI_STATE(0, gen, PPI_SLOT_FREE),
                   __ATOMIC_RELEASE);
  if (is_at_rest(session, &session->pairs[index]))
    give_slot(session, index);
  else
    session->resting[session->num_resting++] = index;
}

static void give_rested(ppi_device_session *session) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < session->num_resting; i++) {
    uint32_t index = session->resting[i];
    if (is_at_rest(session, &session->pairs[index]))
      give_slot(session, index);
    else
      session->resting[left++] = index;
  }
  session->num_resting = left;
}

void ppi_resolve_free(ppi_device_session *session, uint64_t kept) {
  ppi_table *table = session->table;
  kept = PPI_MIN(kept, table->next_seq);
  for (; table->kept < kept; table->kept++)
    free_slot(session, session->resolved[table->kept % table->num_slots]);
}

// A `next` chain is resolved in its order: this range's begin event is another
// one's end, which is to be read first.
static bool is_awaited(const ppi_device_session *session, uint32_t index) {
  uint32_t before = session->pairs[index].feeds;
  return before && __atomic_load_n(&session->pairs[before - 1].shared_end,
                                   __ATOMIC_RELAXED) == index + 1;
}

// OK: times are in the slot, or it has none. BUSY: not yet.
static pprof_status resolve_slot(ppi_device_session *session, uint32_t index,
                                 ppi_slot *slot, ppi_resolve_stats *stats) {
  ppi_pair *pair = &session->pairs[index];
  if (is_awaited(session, index)) return PPROF_STATUS_BUSY;
  if (slot->flags & PPROF_FLAG_NO_DEVICE_TIME) return PPROF_STATUS_OK;
  void *end =
      pair->shared_end ? session->pairs[pair->shared_end - 1].begin : pair->end;
  pprof_status status = ask(session, end);
  if (status == PPROF_STATUS_OK) status = ask(session, pair->begin);
  if (status == PPROF_STATUS_OK) {
    pair->passed = true;
    status = ppi_device_clock_place(session, index, slot, stats);
    ppi_device_heed(session, status);
  }
  if (status == PPROF_STATUS_BUSY) return status;
  if (status != PPROF_STATUS_OK) slot->flags |= PPROF_FLAG_NO_DEVICE_TIME;
  return PPROF_STATUS_OK;
}

typedef struct waiting {
  uint64_t end;
  uint32_t index;
  uint32_t stream;
} waiting;

static int compare_waiting(const void *a, const void *b) {
  const waiting *x = a;
  const waiting *y = b;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static size_t list_ended(const ppi_device_session *session, waiting *list) {
  const ppi_table *table = session->table;
  size_t num = 0;
  for (uint32_t i = 0; i < session->next_unused; i++) {
    uint64_t state = __atomic_load_n(&table->states[i], __ATOMIC_ACQUIRE);
    if (PPI_STATE_OF(state) != PPI_SLOT_ENDED) continue;
    const ppi_slot *slot = ppi_table_slot(spool_in_force()->base, table, i);
    list[num++] = (waiting){slot->end, i, slot->stream};
  }
  qsort(list, num, sizeof *list, compare_waiting);
  return num;
}

static void deliver_slot(ppi_device_session *session, ppi_drain *drain,
                         uint32_t index) {
  ppi_table *table = session->table;
  ppi_slot *slot = ppi_table_slot(spool_in_force()->base, table, index);
  pprof_status status = PPROF_STATUS_OK;
  session->pairs[index].shared_end = 0;
  if (!ppi_drain_slot(drain, slot, &status)) {
    free_slot(session, index);
    return;
  }
  uint64_t seq = table->next_seq;
  uint32_t gen = PPI_STATE_GEN(table->states[index]);
  session->resolved[seq % table->num_slots] = index;
  // Times and seq become one with this store; recover reads both or neither.
  __atomic_store_n(&table->states[index],
                   PPI_STATE(seq, gen, PPI_SLOT_RESOLVED), __ATOMIC_RELEASE);
  table->next_seq = seq + 1;
}

// Streams whose oldest ended range is not ready need no further question: what
// was put into them later is not ready either.
static bool is_behind(const uint32_t *behind, size_t num, uint32_t stream) {
  for (size_t i = 0; i < num; i++)
    if (behind[i] == stream) return true;
  return false;
}

// Delivers what is ready, in the order of the list; answers how many are not.
static size_t deliver_ready(ppi_device_session *session, ppi_drain *drain,
                            const waiting *list, size_t num,
                            ppi_resolve_stats *stats) {
  uint32_t behind[64];
  size_t num_behind = 0, left = 0;
  for (size_t i = 0; i < num; i++) {
    ppi_slot *slot =
        ppi_table_slot(spool_in_force()->base, session->table, list[i].index);
    // A range that ends on another stream follows the order of neither.
    bool in_order = !(slot->flags & PPROF_FLAG_ASYNC);
    if (in_order && is_behind(behind, num_behind, list[i].stream)) {
      left++;
    } else if (resolve_slot(session, list[i].index, slot, stats) ==
               PPROF_STATUS_BUSY) {
      if (in_order && num_behind < 64) behind[num_behind++] = list[i].stream;
      left++;
    } else {
      deliver_slot(session, drain, list[i].index);
    }
  }
  return left;
}

static bool has_open(const ppi_device_session *session) {
  for (uint32_t i = 0; i < session->next_unused; i++)
    if (PPI_STATE_OF(__atomic_load_n(&session->table->states[i],
                                     __ATOMIC_RELAXED)) == PPI_SLOT_OPEN)
      return true;
  return false;
}

size_t ppi_resolve_poll(ppi_device_session *session, ppi_drain *drain,
                        ppi_resolve_stats *stats) {
  static waiting list[PPI_TABLE_SLOTS];  // one collector per process
  give_rested(session);
  fill_pools(session);
  size_t num = list_ended(session, list);
  ppi_device_clock_renew(session, num != 0 || has_open(session));
  // After the states, so that every window, site and stream of the slots is
  // known.
  ppi_drain_edges(drain);
  if (num)
    ppi_drain_definitions(
        drain,
        __atomic_load_n(&drain->spool->header->names_end, __ATOMIC_ACQUIRE));
  ppi_drain_begin(drain, session->table->lane, session->table->next_seq);
  size_t left = deliver_ready(session, drain, list, num, stats);
  ppi_drain_flush(drain);
  return left;
}

static void end_open_slot(ppi_device_session *session, uint32_t index,
                          uint64_t now) {
  ppi_table *table = session->table;
  uint64_t state = __atomic_load_n(&table->states[index], __ATOMIC_ACQUIRE);
  uint32_t kind = PPI_STATE_OF(state);
  if (kind != PPI_SLOT_OPEN && kind != PPI_SLOT_ENDING) return;
  ppi_slot *slot = ppi_table_slot(spool_in_force()->base, table, index);
  slot->end = now;
  slot->flags |= PPROF_FLAG_CLIPPED | PPROF_FLAG_NO_DEVICE_TIME;
  __atomic_store_n(&table->states[index],
                   PPI_STATE(0, PPI_STATE_GEN(state), PPI_SLOT_ENDED),
                   __ATOMIC_RELEASE);
}

void ppi_resolve_rest(ppi_device_session *session, ppi_drain *drain,
                      ppi_resolve_stats *stats, uint64_t now) {
  session->last_chance = true;
  ppi_resolve_poll(session, drain, stats);
  ppi_table *table = session->table;
  for (uint32_t i = 0; i < session->next_unused; i++)
    end_open_slot(session, i, now);
  for (uint32_t i = 0; i < session->next_unused; i++) {
    if (PPI_STATE_OF(table->states[i]) != PPI_SLOT_ENDED) continue;
    ppi_slot *slot = ppi_table_slot(spool_in_force()->base, table, i);
    if (!(slot->flags & PPROF_FLAG_NO_DEVICE_TIME))
      slot->flags |= PPROF_FLAG_LATE | PPROF_FLAG_NO_DEVICE_TIME;
  }
  ppi_resolve_poll(session, drain, stats);
}

void ppi_resolve_release(ppi_device_session *session) {
  const pprof_device *device = session->device;
  for (uint32_t i = 0; i < session->next_unused; i++) {
    void *both[2] = {session->pairs[i].begin, session->pairs[i].end};
    device->backend->event_destroy(
        device->context, session->pools[session->pairs[i].pool].id, 2, both);
  }
  ppi_device_clock_clear(session);
}

void ppi_resolve_detach(ppi_device_session *session, bool leak) {
  __atomic_store_n(&session->device->session, NULL, __ATOMIC_RELEASE);
  if (!leak) ppi_free(session);
}

static const char *refusal(const pprof_device *device) {
  if (!device->available) return device->why_not.text;
  if (device->refused_serial == ppi_recorder_in_force.serial)
    return "no room for its ranges (memory, or too many devices)";
  return NULL;
}

const char *ppi_device_note(const pprof_device *device, uint32_t i) {
  const char *refused = refusal(device);
  if (refused) return i == 0 ? refused : NULL;
  const ppi_device_session *session = device->session;
  if (!session) return NULL;
  const char *hint = PPI_BACKEND_HAS(device->backend, untimed_hint)
                         ? device->backend->untimed_hint
                         : "a stream gives no times";
  uint32_t notes = __atomic_load_n(&session->notes, __ATOMIC_RELAXED);
  const struct {
    bool applies;
    const char *text;
  } all[] = {
      {session->failed, "it reported an error; no device times after it"},
      {notes & PPI_DEVICE_NOTE_UNTIMED, hint},
      {notes & PPI_DEVICE_NOTE_NOT_STREAM,
       "ranges on something that is no stream of it: host time only"},
      {notes & PPI_DEVICE_NOTE_NEW_POOL,
       "the first ranges of a context: host time only, its events were not "
       "made yet (pprof_stream_name before the start has them made)"},
      {notes & PPI_DEVICE_NOTE_MANY_POOLS,
       "more than 8 contexts: host time only on the others"},
      {notes & PPI_DEVICE_NOTE_MANY_STREAMS,
       "more than 256 streams: host time only on the others"}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (all[k].applies && i-- == 0) return all[k].text;
  return NULL;
}
