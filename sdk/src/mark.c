// SPDX-License-Identifier: Apache-2.0
//
// The record path: stack ranges, marks, counters, flows, work. Runs on the
// marking threads; no lock, no system call, no allocation once a thread and a
// name are known.
#include "mark.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

static inline ppi_spool *spool_in_force(void) {
  return &ppi_recorder_in_force.spool;
}

ppi_work ppi_work_read(const pprof_work_amount *amount) {
  pprof_work_amount known = {0};
  if (amount) memcpy(&known, amount, PPI_MIN(amount->size, sizeof known));
  return (ppi_work){known.items, known.bytes, known.flops, known.params};
}

ppi_inherited ppi_lane_inherited(const ppi_lane *lane) {
  uint32_t depth = PPI_DEPTH(lane->commit);
  ppi_inherited inherited = {0, NULL, 0, (uint16_t)depth};
  if (depth == 0 || depth > PPI_MAX_FRAMES) return inherited;
  const ppi_frame *frame = &lane->frames[depth - 1];
  inherited.flow = frame->flow;
  inherited.more_flows = lane->flow_stack + frame->flow_base;
  inherited.num_more = frame->num_flows > 1 ? frame->num_flows - 1u : 0;
  return inherited;
}

// A push is accepted only if a slot is free beyond one per open frame, so that
// every open range can always end as a record.
static __attribute__((noinline)) bool make_room(ppi_spool *spool,
                                                ppi_lane *lane,
                                                uint64_t slots) {
  while (PPI_HEAD(lane->commit) + slots > lane->capacity)
    if (!ppi_lane_extend(spool, lane)) return false;
  return true;
}

static __attribute__((noinline)) void push_lost(ppi_lane *lane, uint64_t word) {
  uint32_t depth = PPI_DEPTH(word);
  if (depth < PPI_MAX_FRAMES) {
    ppi_frame *frame = &lane->frames[depth];
    *frame = depth ? lane->frames[depth - 1] : (ppi_frame){0};
    frame->flags = PPI_FRAME_LOST;
  }
  // Counted before it is balanced: a kill between the two is the one marker in
  // flight.
  ppi_count(&lane->lost, 1);
  if (depth < PPI_MAX_DEPTH) ppi_lane_commit(lane, PPI_HEAD(word), depth + 1);
}

static inline void push_frame(ppi_spool *spool, ppi_lane *lane, uint32_t site) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (PPI_UNLIKELY(PPI_HEAD(word) + depth + 1 > lane->capacity ||
                   depth >= PPI_MAX_FRAMES || site == 0) &&
      (depth >= PPI_MAX_FRAMES || site == 0 ||
       !make_room(spool, lane, depth + 1u))) {
    push_lost(lane, word);
    return;
  }
  ppi_frame *frame = &lane->frames[depth];
  frame->flow = 0;
  frame->flow_base = 0;
  frame->num_flows = 0;
  if (depth) {
    frame->flow = frame[-1].flow;
    frame->flow_base = frame[-1].flow_base;
    frame->num_flows = frame[-1].num_flows;
  }
  frame->site = site;
  frame->flags = 0;
  frame->start = ppi_clock_ticks();
  // Depth + 1 in the low bits of the same word.
  __atomic_store_n(&lane->commit, word + 1, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) void pop_with_extras(const uint8_t *base,
                                                      ppi_lane *lane,
                                                      uint64_t end) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  ppi_recorder *recorder = &ppi_recorder_in_force;
  // Room for all extensions that one frame can have; without it they are
  // dropped and counted, never the record.
  make_room(&recorder->spool, lane, PPI_MAX_FLOWS / 3 + 4u + depth);
  ppi_lane_close(base, lane, depth - 1, (ppi_closing){end, 0, 0});
}

static __attribute__((noinline)) void pop_nothing(ppi_lane *lane) {
  if (lane->before_left == 0) {
    ppi_count(&lane->unmatched, 1);
    return;
  }
  if (lane->before_left != UINT32_MAX) lane->before_left--;
  ppi_count(&lane->begun_before, 1);
}

static inline void pop_frame(const uint8_t *base, ppi_lane *lane) {
  uint64_t end = ppi_clock_ticks();
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (PPI_UNLIKELY(depth == 0)) {
    pop_nothing(lane);
    return;
  }
  if (PPI_UNLIKELY(depth > PPI_MAX_FRAMES)) {
    ppi_lane_commit(lane, PPI_HEAD(word), depth - 1);
    return;
  }
  const ppi_frame *frame = &lane->frames[depth - 1];
  if (PPI_UNLIKELY(frame->flags != 0 || frame->num_flows > 1)) {
    pop_with_extras(base, lane, end);
    return;
  }
  uint64_t head = PPI_HEAD(word);
  ppi_record *record = ppi_lane_slot(base, lane, head);
  record->start = frame->start;
  record->end = end;
  record->flow = frame->flow;
  record->site = frame->site;
  record->depth = (uint16_t)(depth - 1);
  record->kind = PPROF_KIND_RANGE;
  record->flags = 0;
  ppi_lane_commit(lane, head + 1, depth - 1);
}

void pprof_push(pprof_site *site) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return;
  push_frame(spool_in_force(), lane, ppi_site_id(site, lane->stack_epoch));
  ppi_leave(thread);
}

void pprof_pop(void) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  pop_frame(spool_in_force()->base, lane);
  ppi_leave(thread);
}

// The address of a name is only a hint (its text may have changed, its library
// may be gone): the content decides.
static uint32_t dynamic_site(ppi_thread *thread, const char *name,
                             uint32_t category) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  uintptr_t bits = (uintptr_t)name;
  ppi_cached_name *cached =
      &thread->cached_names[(bits ^ bits >> 8) % PPI_NAME_CACHE];
  if (PPI_LIKELY(
          cached->pointer == name && cached->serial == recorder->serial &&
          cached->category == category &&
          ppi_names_site_is(recorder->names, cached->id, name, category)))
    return cached->id;
  uint32_t id = ppi_names_site(recorder->names, name, category, 0);
  *cached = (ppi_cached_name){name, recorder->serial, category, id};
  return id;
}

void pprof_push_name(const char *name, uint32_t category) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return;
  uint32_t id = dynamic_site(thread, name ? name : "<null>", category);
  push_frame(spool_in_force(), lane, id);
  ppi_leave(thread);
}

pprof_scope_token pprof_scope_push_(pprof_site *site) {
  pprof_scope_token token = {NULL, 0, 0};
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return token;
  token.lane = lane;
  token.epoch = lane->stack_epoch;
  token.depth = PPI_DEPTH(lane->commit);
  push_frame(spool_in_force(), lane, ppi_site_id(site, lane->stack_epoch));
  ppi_leave(thread);
  return token;
}

static __attribute__((noinline)) void scope_pop_uneven(
    const uint8_t *base, ppi_lane *lane, const pprof_scope_token *token) {
  uint64_t word = lane->commit;
  if (PPI_DEPTH(word) <= token->depth) {
    pop_nothing(lane);  // somebody popped it already
    return;
  }
  // What was left open inside it is abandoned, in the same commit.
  ppi_closing closing = {ppi_clock_ticks(), PPROF_FLAG_ABANDONED, 0};
  ppi_lane_make_room(spool_in_force(), lane, token->depth);
  ppi_lane_close(base, lane, token->depth, closing);
}

// A scope of an older epoch was cut at its edge. No raw pop will come for it:
// the next surplus one is nobody's.
static __attribute__((noinline)) void scope_was_cut(
    ppi_lane *lane, const pprof_scope_token *token) {
  const ppi_spool_header *header = spool_in_force()->header;
  if (token->lane != lane || !ppi_edge_after(header, token->epoch)) return;
  if (lane->before_left != 0 && lane->before_left != UINT32_MAX)
    lane->before_left--;
}

void pprof_scope_pop_(const pprof_scope_token *token) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  const uint8_t *base = spool_in_force()->base;
  if (PPI_LIKELY(token->epoch == lane->stack_epoch)) {
    if (PPI_UNLIKELY(token->lane != lane))
      ppi_count(&lane->unmatched, 1);
    else if (PPI_LIKELY(PPI_DEPTH(lane->commit) == token->depth + 1))
      pop_frame(base, lane);
    else
      scope_pop_uneven(base, lane, token);
  } else {
    scope_was_cut(lane, token);
  }
  ppi_leave(thread);
}

// Marks and counters take a slot beyond the one that each open frame needs.
static void put_single(ppi_lane *lane, uint32_t site, uint8_t kind,
                       double value) {
  // Read before the clock: a thread held there beyond its session's end goes
  // on in that session's memory, not in the next one's.
  const uint8_t *base = spool_in_force()->base;
  ppi_inherited inherited = ppi_lane_inherited(lane);
  uint64_t depth = PPI_DEPTH(lane->commit);
  uint64_t more = inherited.num_more ? (inherited.num_more + 2) / 3 : 0;
  if (site == 0 || !make_room(spool_in_force(), lane, 1 + more + depth)) {
    ppi_count(&lane->lost, 1);
    return;
  }
  uint64_t now = ppi_clock_ticks();
  ppi_record record = {now,  now, inherited.flow, site, inherited.depth,
                       kind, 0};
  if (kind == PPROF_KIND_COUNTER)
    memcpy(&record.end, &value, sizeof record.end);
  ppi_extras extras = {inherited.more_flows, inherited.num_more, NULL};
  uint64_t head = PPI_HEAD(lane->commit);
  ppi_lane_put(base, lane, &head, &record, &extras, depth);
  ppi_lane_commit(lane, head, (uint32_t)depth);
}

void pprof_mark(pprof_site *site) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return;
  put_single(lane, ppi_site_id(site, lane->stack_epoch), PPROF_KIND_MARK, 0);
  ppi_leave(thread);
}

void pprof_count(pprof_site *site, double value) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return;
  put_single(lane, ppi_site_id(site, lane->stack_epoch), PPROF_KIND_COUNTER,
             value);
  ppi_leave(thread);
}

static ppi_frame *innermost(ppi_lane *lane) {
  uint32_t depth = PPI_DEPTH(lane->commit);
  if (depth == 0 || depth > PPI_MAX_FRAMES) return NULL;
  return &lane->frames[depth - 1];
}

static void add_flow(ppi_lane *lane, uint64_t flow) {
  ppi_frame *frame = innermost(lane);
  if (!frame || flow == 0) {
    ppi_count(&lane->flows_lost, 1);
    return;
  }
  if (frame->num_flows == 0) {
    frame->flow = flow;
    frame->num_flows = 1;
    return;
  }
  uint32_t at = frame->flow_base + frame->num_flows - 1u;
  if (frame->num_flows >= PPI_MAX_FLOWS || at >= PPI_FLOW_STACK) {
    ppi_count(&lane->flows_lost, 1);
    return;
  }
  lane->flow_stack[at] = flow;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  frame->num_flows++;
}

void pprof_flow(uint64_t flow) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  add_flow(lane, flow);
  ppi_leave(thread);
}

static void add_work(ppi_lane *lane, ppi_work amount) {
  ppi_frame *frame = innermost(lane);
  if (!frame) {
    ppi_count(&lane->flows_lost, 1);
    return;
  }
  ppi_work *work = &lane->work[PPI_DEPTH(lane->commit) - 1];
  if (!(frame->flags & PPI_FRAME_WORK)) *work = (ppi_work){0};
  work->items += amount.items;
  work->bytes += amount.bytes;
  work->flops += amount.flops;
  work->params += amount.params;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  frame->flags |= PPI_FRAME_WORK;
}

void pprof_work(const pprof_work_amount *work) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  add_work(lane, ppi_work_read(work));
  ppi_leave(thread);
}

#define COST_PAIRS 512
#define COST_RUNS 15

static int compare_costs(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a;
  uint64_t y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t measure_cost_x1000(ppi_lane *lane, uint8_t *memory) {
  uint64_t ticks[COST_RUNS];
  for (int run = 0; run < COST_RUNS; run++) {
    lane->commit = 0;
    uint64_t start = ppi_clock_ticks();
    for (int i = 0; i < COST_PAIRS; i++) {
      push_frame(NULL, lane, 1);
      pop_frame(memory, lane);
    }
    ticks[run] = ppi_clock_ticks() - start;
  }
  qsort(ticks, COST_RUNS, sizeof *ticks, compare_costs);
  ppi_scale scale = ppi_scale_make(0, ppi_clock_state.ticks_per_second);
  return ppi_scale_ns(&scale, ticks[COST_RUNS / 2]) * 1000 / (2 * COST_PAIRS);
}

uint64_t ppi_mark_cost_x1000(void) {
  uint8_t *memory = ppi_alloc(2 * PPI_CHUNK_SIZE);
  if (!memory) return 0;
  ppi_lane *lane = (ppi_lane *)(void *)memory;
  lane->directory[0] = 1;
  lane->capacity = PPI_SLOTS_PER_CHUNK;
  uint64_t cost = measure_cost_x1000(lane, memory);
  ppi_free(memory);
  return cost;
}
