// SPDX-License-Identifier: Apache-2.0
//
// Implements cross-thread ranges and the slots under them. Runs on the marking
// threads; any thread may end a range that another began.
#define PPROF_NO_INLINE
#include "mark/pending.h"

#include "mark/attach.h"
#include "mark/emit.h"
#include "mark/frame.h"
#include "mark/mark_add.h"
#include "mark/range_slots.h"

bool ppi_range_find(uint64_t id, ppi_slot_ref *out) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  uint32_t table = id >> 16 & PPI_NO_TABLE;
  uint32_t index = (uint32_t)(id & 0xffff);
  if (index == 0 || id >> 48 != (recorder->serial & 0xffff)) return false;
  const ppi_spool_header *header = recorder->spool.header;
  if (table >= __atomic_load_n(&header->num_tables, __ATOMIC_ACQUIRE))
    return false;
  out->table = ppi_spool_chunk(&recorder->spool, header->tables[table]);
  out->index = index - 1;
  out->number = table;
  if (out->index >= ppi_table_num_slots(out->table)) return false;
  out->slot = ppi_table_slot(recorder->spool.base, out->table, out->index);
  out->state = &out->table->states[out->index];
  out->gen = id >> 24 & 0xffffff;
  return true;
}

// Work that was added to the slot's previous range, or came too late for it.
static __attribute__((noinline, cold)) void forget_work(ppi_slot *slot) {
  memset(&slot->work, 0, sizeof slot->work);
}

static inline void slot_begin(ppi_slot *slot, const ppi_lane *lane,
                              uint32_t site, uint8_t kind) {
  ppi_inherited inherited = {0};
  if (PPI_UNLIKELY(__atomic_load_n(&slot->has_work, __ATOMIC_RELAXED)))
    forget_work(slot);
  if (lane) inherited = ppi_lane_inherited(lane);
  // `cut` outlives the slot's use: the end of an earlier range that an edge cut
  // may come late. That end may read the kind, too.
  memset(slot, 0, offsetof(ppi_slot, depth));
  __atomic_store_n(&slot->kind, kind, __ATOMIC_RELAXED);
  memset(&slot->flags, 0, offsetof(ppi_slot, work) - offsetof(ppi_slot, flags));
  uint32_t lane_id = lane ? lane->id : 0;
  PPI_COMPUTED(lane_id);  // or gcc makes one vector of the two stores
  slot->site = site;
  slot->lane = lane_id;
  slot->depth = inherited.depth;
  if (inherited.flow) {
    slot->flows[0] = inherited.flow;
    uint32_t more = PPI_MIN(inherited.num_more, PPI_MAX_FLOWS - 1);
    if (more)
      memcpy(slot->flows + 1, inherited.more_flows, more * sizeof(uint64_t));
    slot->num_flows = 1 + more;
  }
  if (slot->num_flows < PPI_MAX_FLOWS) slot->flows[slot->num_flows] = 0;
}

void ppi_slot_begin(ppi_slot *slot, const ppi_lane *lane, uint32_t site,
                    uint8_t kind) {
  slot_begin(slot, lane, site, kind);
}

static inline uint32_t slot_open(ppi_table *table, uint32_t index) {
  // No thread changes the word now, but a late end may try to.
  uint64_t state = __atomic_load_n(&table->states[index], __ATOMIC_RELAXED);
  uint32_t gen = PPI_STATE_GEN(state) + 1;
  // Accepted from here on; pairs with the acquire of collector and ender.
  __atomic_store_n(&table->states[index], PPI_STATE(0, gen, PPI_SLOT_OPEN),
                   __ATOMIC_RELEASE);
  return gen & 0xffffff;
}

uint32_t ppi_slot_open(ppi_table *table, uint32_t index) {
  return slot_open(table, index);
}

static inline bool try_end(const ppi_slot_ref *ref) {
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

// The report comes after the record, and before another range can take the
// slot.
__attribute__((noinline)) void ppi_slot_ended_slow(const ppi_slot_ref *ref,
                                                   uint64_t id) {
  uint32_t site = ref->slot->site;
  if (id & PPI_RANGE_CPU) ppi_cpu_slot_end(&ppi_thread_self->cpu, ref->slot);
  if (id & PPI_RANGE_EMITTED) ppi_emit_end(ref->number, ref->index);
  ppi_slot_ended(ref);
  if (id & PPI_RANGE_LAST) ppi_recorder_in_force.watched_ended(site);
}

uint64_t ppi_range_unrecorded(uint32_t site) {
  return ppi_range_id(PPI_NO_TABLE, site, 0) | PPI_RANGE_LAST;
}

bool ppi_range_end_unrecorded(uint64_t id) {
  if ((id >> 16 & PPI_NO_TABLE) != PPI_NO_TABLE ||
      id >> 48 != (ppi_recorder_in_force.serial & 0xffff))
    return false;
  ppi_recorder_in_force.watched_ended((uint32_t)(id >> 24 & 0xffffff));
  return true;
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

// Reports to an NVTX tool a range that cannot be ended yet. Answers the bits
// for its id: PPI_RANGE_EMITTED, or 0.
static uint64_t notify_tool(const ppi_slot *slot, uint32_t index) {
  uint64_t emitted = ppi_emit_start(slot->site, slot->flows[0]);
  if (!emitted) return 0;
  ppi_emit_keep(0, index, emitted);
  return PPI_RANGE_EMITTED;
}

// Reading the CPU use takes longer than the clock: the range begins after it.
static uint64_t measure(ppi_slot *slot) {
  ppi_cpu_slot_begin(&ppi_thread_self->cpu, slot);
  slot->start = ppi_clock_ticks();
  return PPI_RANGE_CPU;
}

// A request, a number but 0, serves itself alone, wherever it begins.
static inline ppi_slot *fill_slot(ppi_table *table, uint32_t index,
                                  const ppi_lane *lane, uint32_t site,
                                  uint64_t request) {
  ppi_slot *slot =
      ppi_table_slot(ppi_recorder_in_force.spool.base, table, index);
  slot_begin(slot, lane, site, PPROF_KIND_RANGE);
  slot->flags = PPROF_FLAG_ASYNC;
  if (!request) return slot;
  slot->flows[0] = request;
  slot->flows[1] = 0;
  slot->num_flows = slot->is_request = 1;
  return slot;
}

// `apart` has the bits of the site's id that ask for more work.
static uint64_t open_slot(const ppi_lane *lane, uint32_t site, uint64_t start,
                          uint32_t apart, uint64_t request) {
  ppi_table *table = ppi_recorder_in_force.ranges;
  // A step may begin where no marker runs.
  uint32_t taken = PPI_LIKELY(lane != NULL)
                       ? ppi_range_slot_take(table, ppi_thread_self)
                       : ppi_range_slot_refill(table, NULL);
  if (!taken) return 0;
  uint32_t index = taken - 1;
  ppi_slot *slot = fill_slot(table, index, lane, site, request);
  slot->start = start;
  if (apart & PPI_SITE_NUMBERS)
    ppi_slot_set_numbers(slot, &ppi_thread_self->names.numbers);
  uint64_t flag = apart & PPI_SITE_EMITS ? notify_tool(slot, index) : 0;
  if (apart & PPI_SITE_CPU) flag |= measure(slot);
  return ppi_range_id(0, slot_open(table, index), index) | flag;
}

uint64_t ppi_range_open(uint32_t site, uint64_t start) {
  return open_slot(NULL, site, start, 0, 0);
}

// For a site that is lost, or that needs more work.
static __attribute__((noinline)) uint64_t begin_slow(ppi_lane *lane,
                                                     uint32_t site,
                                                     uint64_t request) {
  bool last = false;
  if (ppi_site_is_watched(site) && !ppi_mark_begin_watched(lane, &site, &last))
    return 0;
  uint32_t number = site & PPI_SITE_NUMBER;
  if (site & PPI_SITE_EXCLUDED) {
    ppi_mark_exclude(lane);
    return last ? ppi_range_unrecorded(number) : 0;
  }
  uint64_t id =
      site ? open_slot(lane, number, ppi_clock_ticks(), site, request) : 0;
  if (id) return last ? id | PPI_RANGE_LAST : id;
  ppi_count(&lane->lost, 1);
  if (last) ppi_recorder_in_force.watched_ended(number);
  return 0;
}

static uint64_t begin(ppi_lane *lane, uint32_t site, uint64_t request) {
  if (PPI_UNLIKELY(!ppi_site_is_plain(site)))
    return begin_slow(lane, site, request);
  uint64_t id = open_slot(lane, site, ppi_clock_ticks(), 0, request);
  if (!id) ppi_count(&lane->lost, 1);
  return id;
}

uint64_t ppi_range_begin(ppi_lane *lane, uint32_t site) {
  return begin(lane, site, 0);
}

// A thread that stood in a marker beyond its session's end is no part of the
// next session.
static inline bool is_of_session(const ppi_thread *thread) {
  return thread->stacks[0].serial == ppi_recorder_in_force.serial;
}

static __attribute__((noinline)) uint64_t range_begin_slow(ppi_thread *thread,
                                                           ppi_lane *lane,
                                                           pprof_site *site,
                                                           uint64_t request) {
  uint64_t id = 0;
  uint32_t number = ppi_site_id(site, lane->stack_epoch);
  if (is_of_session(thread) || !ppi_site_is_plain(number))
    id = begin(lane, number, request);
  else
    ppi_count(&lane->lost, 1);
  ppi_leave(thread);
  return id;
}

// An edge finds all of a request, or nothing.
__attribute__((noinline)) uint64_t ppi_range_begin_of(pprof_site *site,
                                                      uint64_t request) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_BEGINS);
  return lane ? range_begin_slow(thread, lane, site, request) : 0;
}

// Its thread has a slot for it.
static inline uint64_t begin_usual(const ppi_entry *at, uint32_t site) {
  ppi_table *table = ppi_recorder_in_force.ranges;
  uint32_t index = at->thread->range_slot - 1;
  at->thread->range_slot =
      __atomic_load_n(&table->next_free[index], __ATOMIC_RELAXED);
  ppi_slot *slot = fill_slot(table, index, at->lane, site, 0);
  ppi_range_slot_fetch(table, at->thread);
  slot->start = ppi_clock_counter();
  return ppi_range_id(0, slot_open(table, index), index);
}

pprof_range pprof_range_begin(pprof_site *site) {
  ppi_entry at;
  if (PPI_UNLIKELY(!ppi_enter_usual(&at)))
    return (pprof_range){ppi_range_begin_of(site, 0)};
  uint64_t id = ppi_site_usual(site, at.epoch);
  uint32_t serial = ppi_recorder_in_force.serial;
  if (PPI_UNLIKELY(!ppi_id_is_usual(id)) ||
      PPI_UNLIKELY(at.thread->stacks[0].serial != serial) ||
      PPI_UNLIKELY(at.thread->ranges_serial != serial) ||
      PPI_UNLIKELY(at.thread->range_slot == 0))
    return (pprof_range){range_begin_slow(at.thread, at.lane, site, 0)};
  pprof_range range = {begin_usual(&at, (uint32_t)id)};
  ppi_leave(at.thread);
  return range;
}

// Whether `start` lies before the edge that began the lane's epoch.
static bool is_before_edge(const ppi_lane *lane, uint64_t start) {
  return start <
         ppi_edge_ticks(ppi_recorder_in_force.spool.header,
                        __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE));
}

bool ppi_slot_take_cut(ppi_slot *slot) {
  uint32_t cut = __atomic_load_n(&slot->cut, __ATOMIC_RELAXED);
  while (cut &&
         !__atomic_compare_exchange_n(&slot->cut, &cut, cut - 1, false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return cut != 0;
}

// Counts an end without an open range: the collector cut it at an edge, the
// slot has another range, or it has ended before.
static void end_nothing(ppi_lane *lane, const ppi_slot_ref *ref) {
  if (ppi_slot_take_cut(ref->slot))
    ppi_count_before(lane);
  else
    __atomic_fetch_add(&ref->table->unmatched, 1, __ATOMIC_RELAXED);
}

bool ppi_slot_end_or_count(ppi_lane *lane, const ppi_slot_ref *ref) {
  if (!try_end(ref)) {
    end_nothing(lane, ref);
    return false;
  }
  // Counts as if the collector had cut the range already.
  if (is_before_edge(lane, ref->slot->start)) ppi_count_before(lane);
  return true;
}

static __attribute__((noinline)) void end_unknown(ppi_lane *lane, uint64_t id) {
  if (!ppi_range_end_unrecorded(id)) ppi_count(&lane->unmatched, 1);
}

// A processor may read its counter early, before it has the range from another
// thread.
static inline void set_end(ppi_slot *slot, const ppi_lane *lane, uint64_t now) {
  slot->end = PPI_MAX(now, slot->start);
  slot->end_lane = lane->id;
}

static __attribute__((noinline)) void range_end_slow(ppi_thread *thread,
                                                     ppi_lane *lane,
                                                     uint64_t id) {
  ppi_slot_ref ref;
  uint64_t now = ppi_clock_ticks();
  if (PPI_UNLIKELY(!ppi_range_find(id, &ref) ||
                   !ppi_slot_is_of(&ref, PPROF_KIND_RANGE))) {
    end_unknown(lane, id);
  } else if (ppi_slot_end_or_count(lane, &ref)) {
    set_end(ref.slot, lane, now);
    if (id & PPI_RANGE_APART)
      ppi_slot_ended_slow(&ref, id);
    else
      ppi_slot_ended(&ref);
  }
  ppi_leave(thread);
}

static __attribute__((noinline)) void range_end_retry(uint64_t id) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (lane) range_end_slow(thread, lane, id);
}

// Ends a plain range of the process's table; false: it has not ended.
static inline bool end_usual(const ppi_entry *at, uint64_t id) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  ppi_table *table = recorder->ranges;
  uint32_t index = (uint32_t)(id & 0xffff) - 1;
  if (PPI_UNLIKELY(id & (PPI_RANGE_APART | PPI_NO_TABLE << 16)) ||
      PPI_UNLIKELY(id >> 48 != (recorder->serial & 0xffff)) ||
      PPI_UNLIKELY(index >= ppi_table_num_slots(table)))
    return false;
  const ppi_slot_ref ref = {table,
                            ppi_table_slot(recorder->spool.base, table, index),
                            &table->states[index],
                            id >> 24 & 0xffffff,
                            index,
                            0};
  uint64_t now = ppi_clock_counter();
  if (PPI_UNLIKELY(!ppi_slot_is_of(&ref, PPROF_KIND_RANGE)) ||
      PPI_UNLIKELY(!try_end(&ref)))
    return false;
  if (PPI_UNLIKELY(ref.slot->start < at->thread->epoch_ticks))
    ppi_count(&at->lane->begun_before, 1);
  set_end(ref.slot, at->lane, now);
  ppi_slot_ended(&ref);
  return true;
}

void pprof_range_end(pprof_range range) {
  ppi_entry at;
  if (range.id == 0) return;  // begun while off, or counted lost
  if (PPI_UNLIKELY(!ppi_enter_usual(&at)))
    range_end_retry(range.id);
  else if (PPI_LIKELY(end_usual(&at, range.id)))
    ppi_leave(at.thread);
  else
    range_end_slow(at.thread, at.lane, range.id);
}

bool ppi_range_is_open(uint64_t id, ppi_slot_ref *out) {
  return ppi_range_find(id, out) &&
         __atomic_load_n(out->state, __ATOMIC_ACQUIRE) ==
             PPI_STATE(0, out->gen, PPI_SLOT_OPEN);
}

// Several threads may add. A place is claimed by the count, then filled. Until
// then it has 0, which readers leave out: each claim first clears the next
// place.
static void add_slot_flow(ppi_lane *lane, ppi_slot *slot, uint64_t flow) {
  uint32_t at = __atomic_load_n(&slot->num_flows, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < at; i++)
    if (__atomic_load_n(&slot->flows[i], __ATOMIC_RELAXED) == flow) return;
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

// Additions to a range that is not recorded, or that an edge has cut, are not
// lost.
static void lose_addition(ppi_lane *lane, uint64_t id) {
  ppi_slot_ref ref;
  if ((id >> 16 & PPI_NO_TABLE) == PPI_NO_TABLE) return;
  if (ppi_range_find(id, &ref) &&
      __atomic_load_n(&ref.slot->cut, __ATOMIC_RELAXED) != 0)
    return;
  ppi_count(&lane->flows_lost, 1);
}

void pprof_range_flow(pprof_range range, uint64_t flow) {
  ppi_thread *thread;
  if (range.id == 0) return;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  ppi_slot_ref ref;
  if (flow == 0) {
    ppi_count(&lane->flows_lost, 1);
  } else if (!ppi_range_is_open(range.id, &ref)) {
    lose_addition(lane, range.id);
  } else {
    add_slot_flow(lane, ref.slot, flow);
  }
  ppi_leave(thread);
}

void pprof_range_work(pprof_range range, const pprof_work_amount *work) {
  ppi_thread *thread;
  if (range.id == 0) return;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  ppi_slot_ref ref;
  ppi_work amount = ppi_work_read(work);
  if (ppi_range_is_open(range.id, &ref))
    ppi_slot_add_work(ref.slot, &amount);
  else
    lose_addition(lane, range.id);
  ppi_leave(thread);
}
