// SPDX-License-Identifier: Apache-2.0
//
// Wandering ranges and the slots under them. Runs on the marking threads; any
// thread may end what another began.
#include "pending.h"

#include <string.h>

ppi_table *ppi_table_create(ppi_spool *spool, uint32_t lane, uint32_t device,
                            uint32_t num_chunks) {
  ppi_spool_header *header = spool->header;
  if (header->num_tables >= PPI_MAX_TABLES) return NULL;
  uint32_t chunk = ppi_chunk_take(spool);
  if (!chunk) return NULL;
  ppi_table *table = ppi_spool_chunk(spool, chunk);
  memset(table, 0, sizeof *table);
  table->lane = lane;
  table->device = device;
  num_chunks = PPI_MIN(num_chunks, PPI_TABLE_CHUNKS);
  while (table->num_chunks < num_chunks) {
    uint32_t slots = ppi_chunk_take(spool);
    if (!slots) break;
    table->chunks[table->num_chunks++] = slots;
  }
  if (table->num_chunks == 0) {
    ppi_chunk_give(spool, chunk);
    return NULL;
  }
  table->num_slots = table->num_chunks * (uint32_t)PPI_SLOTS_PER_TABLE_CHUNK;
  header->tables[header->num_tables] = chunk;
  __atomic_store_n(&header->num_tables, header->num_tables + 1,
                   __ATOMIC_RELEASE);
  return table;
}

uint32_t ppi_slots_take(ppi_table *table, uint64_t *list) {
  uint64_t head = __atomic_load_n(list, __ATOMIC_ACQUIRE);
  while ((uint32_t)head != 0) {
    uint32_t next = __atomic_load_n(&table->next_free[(uint32_t)head - 1],
                                    __ATOMIC_RELAXED);
    uint64_t wanted = ppi_list_word(head, next);
    if (__atomic_compare_exchange_n(list, &head, wanted, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return (uint32_t)head;
  }
  return 0;
}

void ppi_slots_give(ppi_table *table, uint64_t *list, uint32_t index) {
  uint64_t head = __atomic_load_n(list, __ATOMIC_RELAXED);
  uint64_t wanted;
  do {
    __atomic_store_n(&table->next_free[index], (uint16_t)head,
                     __ATOMIC_RELAXED);
    wanted = ppi_list_word(head, index + 1);
  } while (!__atomic_compare_exchange_n(list, &head, wanted, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

uint64_t ppi_range_id(uint32_t table, uint32_t gen, uint32_t index) {
  uint64_t serial = ppi_recorder_in_force.serial & 0xffff;
  return serial << 48 | (uint64_t)(gen & 0xffffff) << 24 |
         (uint64_t)table << 16 | (index + 1);
}

bool ppi_range_find(uint64_t id, ppi_slot_ref *out) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  uint32_t table = id >> 16 & 0xff;
  uint32_t index = (uint32_t)(id & 0xffff);
  if (index == 0 || id >> 48 != (recorder->serial & 0xffff)) return false;
  const ppi_spool_header *header = recorder->spool.header;
  if (table >= __atomic_load_n(&header->num_tables, __ATOMIC_ACQUIRE))
    return false;
  out->table = ppi_spool_chunk(&recorder->spool, header->tables[table]);
  out->index = index - 1;
  out->number = table;
  if (out->index >= out->table->num_slots) return false;
  out->slot = ppi_table_slot(recorder->spool.base, out->table, out->index);
  out->state = &out->table->states[out->index];
  out->gen = id >> 24 & 0xffffff;
  return true;
}

void ppi_slot_begin(ppi_slot *slot, const ppi_lane *lane, uint32_t site,
                    uint8_t kind) {
  ppi_inherited inherited = {0};
  if (lane) inherited = ppi_lane_inherited(lane);
  // `cut` outlives the slot's use: the end of an earlier range that an edge
  // has cut may come late.
  memset(slot, 0, offsetof(ppi_slot, cut));
  slot->site = site;
  slot->lane = lane ? lane->id : 0;
  slot->depth = inherited.depth;
  slot->kind = kind;
  if (inherited.flow) {
    slot->flows[0] = inherited.flow;
    uint32_t more = PPI_MIN(inherited.num_more, PPI_MAX_FLOWS - 1);
    if (more)
      memcpy(slot->flows + 1, inherited.more_flows, more * sizeof(uint64_t));
    slot->num_flows = 1 + more;
  }
  if (slot->num_flows < PPI_MAX_FLOWS) slot->flows[slot->num_flows] = 0;
}

uint32_t ppi_slot_open(ppi_table *table, uint32_t index) {
  uint32_t gen = PPI_STATE_GEN(table->states[index]) + 1;
  // Accepted from here on; pairs with the acquire of collector and ender.
  __atomic_store_n(&table->states[index], PPI_STATE(0, gen, PPI_SLOT_OPEN),
                   __ATOMIC_RELEASE);
  return gen & 0xffffff;
}

static bool try_end(const ppi_slot_ref *ref) {
  uint64_t open = PPI_STATE(0, ref->gen, PPI_SLOT_OPEN);
  uint64_t ending = PPI_STATE(0, ref->gen, PPI_SLOT_ENDING);
  return __atomic_compare_exchange_n(ref->state, &open, ending, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

bool ppi_slot_end(const ppi_slot_ref *ref) {
  if (try_end(ref)) return true;
  __atomic_fetch_add(&ref->table->unmatched, 1, __ATOMIC_RELAXED);
  return false;
}

void ppi_slot_ended(const ppi_slot_ref *ref) {
  __atomic_store_n(ref->state, PPI_STATE(0, ref->gen, PPI_SLOT_ENDED),
                   __ATOMIC_RELEASE);
}

static void add_atomically(double *sum, double amount) {
  if (amount == 0) return;
  double before;
  __atomic_load(sum, &before, __ATOMIC_RELAXED);
  double after;
  do {
    after = before + amount;
  } while (!__atomic_compare_exchange(sum, &before, &after, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void ppi_slot_add_work(ppi_slot *slot, const ppi_work *amount) {
  add_atomically(&slot->work.items, amount->items);
  add_atomically(&slot->work.bytes, amount->bytes);
  add_atomically(&slot->work.flops, amount->flops);
  add_atomically(&slot->work.params, amount->params);
  __atomic_store_n(&slot->has_work, 1, __ATOMIC_RELEASE);
}

uint64_t ppi_range_open(const ppi_lane *lane, uint32_t lane_id, uint32_t site,
                        uint64_t start) {
  ppi_recorder *recorder = &ppi_recorder_in_force;
  ppi_table *table = recorder->ranges;
  uint32_t taken = ppi_slots_take(table, &table->free_list);
  if (!taken) return 0;
  uint32_t index = taken - 1;
  ppi_slot *slot = ppi_table_slot(recorder->spool.base, table, index);
  ppi_slot_begin(slot, lane, site, PPROF_KIND_RANGE);
  slot->lane = lane_id;
  slot->flags = PPROF_FLAG_ASYNC;
  slot->start = start;
  return ppi_range_id(0, ppi_slot_open(table, index), index);
}

pprof_range pprof_range_begin(pprof_site *site) {
  pprof_range none = {0};
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return none;
  uint32_t id = ppi_site_id(site, lane->stack_epoch);
  pprof_range range = {0};
  uint64_t now = ppi_clock_ticks();
  // A thread held in here beyond its session's end is no part of the next one.
  if (id && thread->serial == ppi_recorder_in_force.serial)
    range.id = ppi_range_open(lane, lane->id, id, now);
  if (!range.id) ppi_count(&lane->lost, 1);
  ppi_leave(thread);
  return range;
}

// Whether `start` lies before the edge that began the lane's epoch.
static bool is_before_edge(const ppi_lane *lane, uint64_t start) {
  const ppi_edge *edge =
      ppi_edge_into(ppi_recorder_in_force.spool.header, lane->stack_epoch);
  return edge && start < edge->ticks;
}

// A range that does not end here any more: the collector cut it at an edge
// (then whoever clears that was its end), or it was ended before.
static void end_nothing(ppi_lane *lane, const ppi_slot_ref *ref) {
  uint32_t cut = PPI_SLOT_CUT(ref->gen);
  if (__atomic_compare_exchange_n(&ref->slot->cut, &cut, 0, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    ppi_count(&lane->begun_before, 1);
  else
    __atomic_fetch_add(&ref->table->unmatched, 1, __ATOMIC_RELAXED);
}

bool ppi_slot_end_or_count(ppi_lane *lane, const ppi_slot_ref *ref) {
  if (!try_end(ref)) {
    end_nothing(lane, ref);
    return false;
  }
  // Counts as it would, had the collector been here first.
  if (is_before_edge(lane, ref->slot->start)) ppi_count(&lane->begun_before, 1);
  return true;
}

void pprof_range_end(pprof_range range) {
  ppi_thread *thread;
  if (range.id == 0) return;  // begun while off, or counted lost
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  ppi_slot_ref ref;
  uint64_t now = ppi_clock_ticks();
  if (!ppi_range_find(range.id, &ref) || ref.slot->kind != PPROF_KIND_RANGE) {
    ppi_count(&lane->unmatched, 1);
  } else if (ppi_slot_end_or_count(lane, &ref)) {
    ref.slot->end = now;
    ref.slot->end_lane = lane->id;
    ppi_slot_ended(&ref);
  }
  ppi_leave(thread);
}

bool ppi_range_is_open(uint64_t id, ppi_slot_ref *out) {
  return ppi_range_find(id, out) &&
         __atomic_load_n(out->state, __ATOMIC_ACQUIRE) ==
             PPI_STATE(0, out->gen, PPI_SLOT_OPEN);
}

// Several threads may add. A place is claimed by the count, then filled; until
// then it holds 0, which readers leave out, because whoever claims a place
// clears the next one first.
static void add_slot_flow(ppi_lane *lane, ppi_slot *slot, uint64_t flow) {
  uint32_t at = __atomic_load_n(&slot->num_flows, __ATOMIC_ACQUIRE);
  do {
    if (at >= PPI_MAX_FLOWS) {
      ppi_count(&lane->flows_lost, 1);
      return;
    }
    if (at + 1 < PPI_MAX_FLOWS)
      __atomic_store_n(&slot->flows[at + 1], 0, __ATOMIC_RELAXED);
  } while (!__atomic_compare_exchange_n(&slot->num_flows, &at, at + 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  __atomic_store_n(&slot->flows[at], flow, __ATOMIC_RELEASE);
}

void pprof_range_flow(pprof_range range, uint64_t flow) {
  ppi_thread *thread;
  if (range.id == 0) return;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  ppi_slot_ref ref;
  if (flow == 0 || !ppi_range_is_open(range.id, &ref)) {
    ppi_count(&lane->flows_lost, 1);
  } else {
    add_slot_flow(lane, ref.slot, flow);
  }
  ppi_leave(thread);
}

void pprof_range_work(pprof_range range, const pprof_work_amount *work) {
  ppi_thread *thread;
  if (range.id == 0) return;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  ppi_slot_ref ref;
  ppi_work amount = ppi_work_read(work);
  if (ppi_range_is_open(range.id, &ref))
    ppi_slot_add_work(ref.slot, &amount);
  else
    ppi_count(&lane->flows_lost, 1);
  ppi_leave(thread);
}
