// SPDX-License-Identifier: Apache-2.0
//
// The record path: stack ranges, marks, counters, flows, work. Runs on the
// marking threads; no lock, no system call, no allocation once a thread and a
// name are known.
#include "mark.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "emit.h"
#include "mark_frame.h"
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

static __attribute__((noinline)) bool make_room(ppi_spool *spool,
                                                ppi_lane *lane,
                                                uint64_t slots) {
  while (PPI_HEAD(lane->commit) + slots > lane->capacity)
    if (!ppi_lane_extend(spool, lane)) return false;
  return true;
}

// A frame that only keeps the balance; what is pushed above it inherits as from
// the frame below.
static void push_balance(ppi_lane *lane, uint32_t site, uint8_t flags) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (depth < PPI_MAX_FRAMES) {
    ppi_frame *frame = &lane->frames[depth];
    *frame = depth ? lane->frames[depth - 1] : (ppi_frame){0};
    frame->site = site & PPI_SITE_NUMBER;
    frame->flags = flags;
  }
  // Counted before it is balanced: a kill between the two is the one marker in
  // flight.
  if (flags & PPI_FRAME_EXCLUDED)
    ppi_mark_exclude(lane);
  else
    ppi_count(&lane->lost, 1);
  if (depth < PPI_MAX_DEPTH) ppi_lane_commit(lane, PPI_HEAD(word), depth + 1);
  // Too deep to be told when it ends.
  if (depth >= PPI_MAX_FRAMES && flags & PPI_FRAME_LAST)
    ppi_capture_ended(site & PPI_SITE_NUMBER);
}

// While nothing but watched names matters, nothing was wanted.
static bool is_watching(const ppi_lane *lane) {
  return lane->stack_epoch ==
         __atomic_load_n(&ppi_recorder_in_force.watch_epoch, __ATOMIC_RELAXED);
}

void ppi_mark_exclude(ppi_lane *lane) {
  if (!is_watching(lane)) ppi_count(&lane->excluded, 1);
}

bool ppi_mark_begin_watched(ppi_lane *lane, uint32_t *site, bool *out_last) {
  uint32_t number = *site & PPI_SITE_NUMBER;
  uint32_t answer = ppi_capture_begun(number);
  *out_last = (answer & PPI_CAPTURE_LAST) != 0;
  // Another thread may have moved it just before.
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  if (epoch == lane->stack_epoch) return true;
  if (epoch == 0 || !ppi_thread_follow(lane, epoch)) return false;
  // What is not told to an NVTX tool, stays so.
  *site = ppi_site_decide(number, epoch) & (*site | ~PPI_SITE_EMITS);
  return true;
}

__attribute__((noinline)) uint32_t ppi_mark_push_apart(ppi_spool *spool,
                                                       ppi_lane *lane,
                                                       uint32_t site) {
  bool last = false;
  if (ppi_site_is_watched(site) && !ppi_mark_begin_watched(lane, &site, &last))
    return PPI_NO_FRAME;
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  uint8_t flags = last ? PPI_FRAME_LAST : 0;
  if (site & PPI_SITE_EXCLUDED) {
    push_balance(lane, site, flags | PPI_FRAME_EXCLUDED);
  } else if (site == 0 || depth >= PPI_MAX_FRAMES ||
             !make_room(spool, lane, depth + 1u)) {
    push_balance(lane, site, flags | PPI_FRAME_LOST);
  } else {
    uint64_t flow = depth ? lane->frames[depth - 1].flow : 0;
    if (site & PPI_SITE_EMITS)
      flags |= ppi_emit_push(lane, site & PPI_SITE_NUMBER, flow);
    if (site & PPI_SITE_CPU)
      flags |= ppi_cpu_frame_begin(&ppi_thread_self->cpu, lane, depth);
    ppi_frame_open(lane, word, site & PPI_SITE_NUMBER, flags);
  }
  return depth;
}

// How many of the frames above `depth` an NVTX tool was told of.
static uint32_t num_emitted(const ppi_lane *lane, uint32_t depth) {
  uint32_t num = 0;
  uint32_t open = PPI_MIN(PPI_DEPTH(lane->commit), PPI_MAX_FRAMES);
  for (uint32_t i = depth; i < open; i++)
    num += (lane->frames[i].flags & PPI_FRAME_EMITTED) != 0;
  return num;
}

static void pop_with_extras(const uint8_t *base, ppi_lane *lane, uint64_t end) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  ppi_recorder *recorder = &ppi_recorder_in_force;
  // A stop that did not wait for this thread has put zeroes in place of all.
  if (depth == 0) return;
  // Room for all extensions that one frame can have; without it they are
  // dropped and counted, never the record.
  const ppi_cpu_use *cpu = NULL;
  if (lane->frames[depth - 1].flags & PPI_FRAME_CPU)
    cpu = ppi_cpu_frames_end(&ppi_thread_self->cpu, lane, depth - 1);
  if (!(lane->frames[depth - 1].flags & PPI_FRAME_UNRECORDED))
    make_room(&recorder->spool, lane, PPI_MAX_FLOWS / 3 + 6u + depth);
  uint32_t num = num_emitted(lane, depth - 1);
  ppi_lane_close(base, lane, depth - 1, (ppi_closing){end, 0, 0, cpu});
  ppi_emit_pop(num);
  ppi_thread_tell_last(lane, depth - 1, depth);
}

static void pop_nothing(ppi_lane *lane) {
  ppi_emit_settle(lane->stack_epoch);
  if (lane->before_left == 0) {
    ppi_count(&lane->unmatched, 1);
    return;
  }
  if (lane->before_left != UINT32_MAX) lane->before_left--;
  ppi_count(&lane->begun_before, 1);
}

// Only what is recorded has a use for the clock.
__attribute__((noinline)) void ppi_mark_pop_apart(const uint8_t *base,
                                                  ppi_lane *lane) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (depth == 0)
    pop_nothing(lane);
  else if (depth > PPI_MAX_FRAMES)
    ppi_lane_commit(lane, PPI_HEAD(word), depth - 1);
  else if (lane->frames[depth - 1].flags & PPI_FRAME_UNRECORDED)
    pop_with_extras(base, lane, 0);
  else
    pop_with_extras(base, lane, ppi_clock_ticks());
}

// The calls are the last thing, so that the usual way saves no registers for
// them.
static __attribute__((noinline)) void push_apart(ppi_thread *thread,
                                                 ppi_lane *lane,
                                                 uint32_t site) {
  ppi_mark_push_apart(spool_in_force(), lane, site);
  ppi_leave(thread);
}

static inline void push(ppi_thread *thread, ppi_lane *lane, uint32_t site) {
  if (PPI_LIKELY(ppi_frame_push(lane, site)))
    ppi_leave(thread);
  else
    push_apart(thread, lane, site);
}

static __attribute__((noinline)) void pop_apart(ppi_thread *thread,
                                                ppi_lane *lane) {
  ppi_mark_pop_apart(spool_in_force()->base, lane);
  ppi_leave(thread);
}

void pprof_push(pprof_site *site) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return;
  push(thread, lane, ppi_site_id(site, lane->stack_epoch));
}

void pprof_pop(void) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  if (PPI_LIKELY(ppi_frame_pop(spool_in_force()->base, lane)))
    ppi_leave(thread);
  else
    pop_apart(thread, lane);
}

// What is left of a longer name; the rest is not kept.
static uint32_t shortened_site(const char *name, size_t len, uint64_t style) {
  char text[PPI_MAX_NAME + 1];
  len = PPI_MIN(len, PPI_MAX_NAME);
  memcpy(text, name, len);
  text[len] = 0;
  return ppi_names_site(ppi_recorder_in_force.names, text, (uint32_t)style,
                        (uint32_t)(style >> 32));
}

static uint32_t decide(const ppi_lane *lane, uint32_t number) {
  return number ? ppi_site_decide(number, lane->stack_epoch) : 0;
}

static ppi_cached_name *find_place(ppi_thread *thread, const char *name,
                                   uint32_t category, uint32_t epoch) {
  for (unsigned i = 0; i < 2; i++) {
    ppi_cached_name *place = ppi_name_place(thread, name, category, i);
    if (place->pointer == name && place->category == category &&
        place->epoch == epoch)
      return place;
  }
  return NULL;
}

// A name's other place serves, too, and so does the other one of the name that
// is in its way.
static ppi_cached_name *make_place(ppi_thread *thread, const char *name,
                                   uint32_t category, uint32_t epoch) {
  ppi_cached_name *places[2];
  for (unsigned i = 0; i < 2; i++) {
    places[i] = ppi_name_place(thread, name, category, i);
    if (places[i]->epoch != epoch) return places[i];
  }
  for (unsigned i = 0; i < 4; i++) {
    ppi_cached_name *place = places[i / 2];
    ppi_cached_name *other =
        ppi_name_place(thread, place->pointer, place->category, i % 2);
    if (other->epoch == epoch) continue;
    *other = *place;
    return place;
  }
  return places[0];
}

// The text itself where there is no room for a copy.
static const char *copy_name(ppi_thread *thread, const char *text,
                             uint32_t epoch) {
  if (thread->copies_epoch != epoch) {
    thread->copies_epoch = epoch;
    thread->copies_used = 0;
  }
  size_t size = strlen(text) + 1;
  if (size > PPI_NAME_COPIES - thread->copies_used) return text;
  char *copy = thread->name_copies + thread->copies_used;
  thread->copies_used += (uint32_t)size;
  return memcpy(copy, text, size);
}

// What a name is compared with the next time that it comes from this address.
// Text of an earlier epoch is not even looked at: it may be another session's.
// An address whose text changes gets no copies.
static uint32_t remember_name(const ppi_lane *lane, const char *name,
                              uint64_t style, uint32_t number) {
  ppi_thread *thread = ppi_thread_self;
  uint32_t epoch = lane->stack_epoch;
  uint32_t category = (uint32_t)style;
  const char *text = ppi_names_text_of(ppi_recorder_in_force.names, number);
  uint32_t id = decide(lane, number);
  if (!text) return id;
  ppi_cached_name *place = find_place(thread, name, category, epoch);
  if (!place) {
    place = make_place(thread, name, category, epoch);
    text = copy_name(thread, text, epoch);
  }
  *place = (ppi_cached_name){name, text, epoch, category, id};
  return id;
}

__attribute__((noinline)) uint32_t ppi_mark_look_up(const ppi_lane *lane,
                                                    const char *name,
                                                    uint64_t style,
                                                    ppi_shorten shorten) {
  ppi_names *names = ppi_recorder_in_force.names;
  size_t len = strnlen(name, PPI_MAX_NAME + 1);
  uint32_t number = len <= PPI_MAX_NAME
                        ? ppi_names_find(names, name, len, (uint32_t)style)
                        : 0;
  if (!number) {
    size_t kept = shorten ? shorten(name) : 0;
    if (kept && name[kept])
      return decide(lane, shortened_site(name, kept, style));
    number =
        ppi_names_site(names, name, (uint32_t)style, (uint32_t)(style >> 32));
  }
  return remember_name(lane, name, style, number);
}

void pprof_push_name(const char *name, uint32_t category) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return;
  push(thread, lane,
       ppi_mark_name(thread, lane, name ? name : "<null>", category, NULL));
}

// The stack's epoch may change in it.
static __attribute__((noinline)) pprof_scope_token push_scope_apart(
    ppi_thread *thread, ppi_lane *lane, uint32_t site) {
  uint32_t depth = ppi_mark_push_apart(spool_in_force(), lane, site);
  uint32_t epoch = lane->stack_epoch;
  ppi_leave(thread);
  if (depth == PPI_NO_FRAME) return (pprof_scope_token){NULL, 0, 0};
  return (pprof_scope_token){lane, epoch, depth};
}

pprof_scope_token pprof_scope_push_(pprof_site *site) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return (pprof_scope_token){NULL, 0, 0};
  pprof_scope_token token = {lane, lane->stack_epoch, PPI_DEPTH(lane->commit)};
  uint32_t id = ppi_site_id(site, token.epoch);
  if (PPI_UNLIKELY(!ppi_frame_push(lane, id)))
    return push_scope_apart(thread, lane, id);
  ppi_leave(thread);
  return token;
}

static void scope_pop_uneven(const uint8_t *base, ppi_lane *lane,
                             const pprof_scope_token *token) {
  uint64_t word = lane->commit;
  if (PPI_DEPTH(word) <= token->depth) {
    pop_nothing(lane);  // somebody popped it already
    return;
  }
  // What was left open inside it is abandoned, in the same commit.
  ppi_closing closing = {ppi_clock_ticks(), PPROF_FLAG_ABANDONED, 0, NULL};
  closing.cpu = ppi_cpu_frames_end(&ppi_thread_self->cpu, lane, token->depth);
  ppi_lane_make_room(spool_in_force(), lane, token->depth);
  uint32_t num = num_emitted(lane, token->depth);
  ppi_lane_close(base, lane, token->depth, closing);
  ppi_emit_pop(num);
  ppi_thread_tell_last(lane, token->depth, PPI_DEPTH(word));
}

// A scope of an older epoch was cut at its edge. No raw pop will come for it:
// the next surplus one is nobody's.
static void scope_was_cut(ppi_lane *lane, const pprof_scope_token *token) {
  const ppi_spool_header *header = spool_in_force()->header;
  ppi_emit_settle(lane->stack_epoch);
  if (token->lane != lane || !ppi_edge_after(header, token->epoch)) return;
  if (lane->before_left != 0 && lane->before_left != UINT32_MAX)
    lane->before_left--;
}

// A scope that ends while nothing records. In a signal handler the tool itself
// may have been interrupted.
static __attribute__((noinline)) void scope_pop_while_off(void) {
  const ppi_thread *thread = ppi_thread_self;
  if (thread && !thread->busy) ppi_emit_settle(0);
}

static __attribute__((noinline)) void scope_pop_apart(
    ppi_thread *thread, ppi_lane *lane, const pprof_scope_token *token) {
  const uint8_t *base = spool_in_force()->base;
  if (token->epoch != lane->stack_epoch)
    scope_was_cut(lane, token);
  else if (token->lane != lane)
    ppi_count(&lane->unmatched, 1);
  else if (PPI_DEPTH(lane->commit) == token->depth + 1)
    ppi_mark_pop_apart(base, lane);
  else
    scope_pop_uneven(base, lane, token);
  ppi_leave(thread);
}

void pprof_scope_pop_(const pprof_scope_token *token) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) {
    scope_pop_while_off();
    return;
  }
  if (PPI_LIKELY(token->epoch == lane->stack_epoch) &&
      PPI_LIKELY(token->lane == lane) &&
      PPI_LIKELY(PPI_DEPTH(lane->commit) == token->depth + 1) &&
      PPI_LIKELY(ppi_frame_pop(spool_in_force()->base, lane)))
    ppi_leave(thread);
  else
    scope_pop_apart(thread, lane, token);
}

static bool put_apart(ppi_lane *lane, uint32_t site, uint8_t kind,
                      double value);

// Marks and counters take a slot beyond the one that each open frame needs.
// False: it is lost, and counted.
static bool put_single(ppi_lane *lane, uint32_t site, uint8_t kind,
                       double value) {
  // Read before the clock: a thread held there beyond its session's end goes
  // on in that session's memory, not in the next one's.
  const uint8_t *base = spool_in_force()->base;
  ppi_inherited inherited = ppi_lane_inherited(lane);
  uint64_t depth = PPI_DEPTH(lane->commit);
  uint64_t more = inherited.num_more ? (inherited.num_more + 2) / 3 : 0;
  if (!ppi_site_is_plain(site) ||
      !make_room(spool_in_force(), lane, 1 + more + depth))
    return put_apart(lane, site, kind, value);
  uint64_t now = ppi_clock_ticks();
  ppi_record record = {now,  now, inherited.flow, site, inherited.depth,
                       kind, 0};
  if (kind == PPROF_KIND_COUNTER)
    memcpy(&record.end, &value, sizeof record.end);
  ppi_extras extras = {inherited.more_flows, inherited.num_more, NULL, NULL};
  uint64_t head = PPI_HEAD(lane->commit);
  ppi_lane_put(base, lane, &head, &record, &extras, depth);
  ppi_lane_commit(lane, head, (uint32_t)depth);
  return true;
}

// Counters are no occurrences of a name.
static __attribute__((noinline)) bool put_apart(ppi_lane *lane, uint32_t site,
                                                uint8_t kind, double value) {
  bool last = false, put = false;
  if (!(site & PPI_SITE_APART)) {
    ppi_count(&lane->lost, 1);
    return false;
  }
  if (kind == PPROF_KIND_MARK && ppi_site_is_watched(site) &&
      !ppi_mark_begin_watched(lane, &site, &last))
    return false;
  uint32_t number = site & PPI_SITE_NUMBER;
  if (site & PPI_SITE_EXCLUDED)
    ppi_mark_exclude(lane);
  else
    put = put_single(lane, number, kind, value);
  if (put && site & PPI_SITE_EMITS)
    ppi_emit_point(number, ppi_lane_inherited(lane).flow,
                   kind == PPROF_KIND_COUNTER ? &value : NULL);
  if (last) ppi_capture_ended(number);
  return put;
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

// Said of no range: lost, unless that range was cut at an edge, or may be a
// scope that is not wanted.
static __attribute__((noinline)) void lose_addition(ppi_lane *lane) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  if (PPI_DEPTH(lane->commit) == 0 &&
      (lane->before_left || ppi_names_excludes(recorder->names) ||
       is_watching(lane)))
    return;
  ppi_count(&lane->flows_lost, 1);
}

static void add_flow(ppi_lane *lane, uint64_t flow) {
  ppi_frame *frame = innermost(lane);
  if (!frame) {
    lose_addition(lane);
    return;
  }
  if (flow == 0) {
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
    lose_addition(lane);
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

void ppi_mark_single(ppi_lane *lane, uint32_t site, uint8_t kind,
                     double value) {
  put_single(lane, site, kind, value);
}

void ppi_mark_flow(ppi_lane *lane, uint64_t flow) {
  add_flow(lane, flow);
}

void ppi_mark_work(ppi_lane *lane, ppi_work amount) {
  add_work(lane, amount);
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
      ppi_frame_push(lane, 1);
      ppi_frame_pop(memory, lane);
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
