// SPDX-License-Identifier: Apache-2.0
//
// Implements the record path: stack ranges, marks, counters. Runs on the
// marking threads; no lock, no system call, no allocation once a thread and a
// name are known.
#define PPROF_NO_INLINE
#include "mark/mark.h"

#include "base/masked.h"
#include "mark/attach.h"
#include "mark/emit.h"
#include "mark/frame.h"
#include "mark/mark_name.h"
#include "rules/capture.h"

static inline ppi_spool *spool_in_force(void) {
  return &ppi_recorder_in_force.spool;
}

static __attribute__((noinline)) bool make_room(ppi_spool *spool,
                                                ppi_lane *lane,
                                                uint64_t slots) {
  while (PPI_HEAD(lane->commit) + slots > lane->capacity)
    if (!ppi_lane_extend(spool, lane)) return false;
  return true;
}

static bool deepen(ppi_spool *spool, ppi_lane *lane) {
  ppi_calm before;
  ppi_mask_signals(&before);
  bool is_deeper = ppi_lane_deepen(spool, lane);
  ppi_thread_refresh(ppi_thread_self, lane);
  ppi_unmask_signals(&before);
  return is_deeper;
}

// Beyond the last frame only counts keep the balance.
static void push_balance(ppi_lane *lane, uint32_t site, uint8_t flags) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  bool has_frame = depth < lane->num_frames;
  if (has_frame)
    ppi_lane_put_balance(lane, depth, flags)->site = site & PPI_SITE_NUMBER;
  // Counted before it is balanced: a kill between the two is the one marker in
  // flight.
  if (flags & PPI_FRAME_EXCLUDED)
    ppi_mark_exclude(lane);
  else
    ppi_count(&lane->lost, 1);
  if (depth < PPI_MAX_DEPTH)
    ppi_lane_commit(lane, PPI_HEAD(word), depth + 1);
  else
    lane->too_deep++;
  // Too deep to be reported when it ends.
  if (!has_frame && flags & PPI_FRAME_LAST)
    ppi_recorder_in_force.watched_ended(site & PPI_SITE_NUMBER);
}

static void pop_balance(ppi_lane *lane) {
  uint64_t word = lane->commit;
  if (lane->too_deep)
    lane->too_deep--;
  else
    ppi_lane_commit(lane, PPI_HEAD(word), PPI_DEPTH(word) - 1);
}

void ppi_mark_exclude(ppi_lane *lane) {
  if (!ppi_mark_is_watching(lane)) ppi_count(&lane->excluded, 1);
}

bool ppi_mark_begin_watched(ppi_lane *lane, uint32_t *site, bool *out_last) {
  uint32_t number = *site & PPI_SITE_NUMBER;
  uint32_t answer = ppi_recorder_in_force.watched_begun(number);
  *out_last = (answer & PPI_CAPTURE_LAST) != 0;
  // Another thread may have moved it just before.
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  if (epoch == lane->stack_epoch) return true;
  if (epoch == 0 || !ppi_thread_follow(lane, epoch)) return false;
  // A marker that began without an NVTX tool stays without one.
  *site = ppi_site_decide(number, epoch) & (*site | ~PPI_SITE_EMITS);
  return true;
}

// The first folded name gives the lane room for the numbers of all its frames.
static uint8_t keep_numbers(ppi_spool *spool, ppi_lane *lane, uint32_t depth) {
  if (!ppi_lane_numbers(lane) && !deepen(spool, lane)) {
    ppi_count(&lane->flows_lost, 1);
    return 0;
  }
  ppi_lane_numbers(lane)[depth] = ppi_thread_self->names.numbers;
  return PPI_FRAME_NUMBERS;
}

__attribute__((noinline)) uint32_t ppi_mark_push_slow(ppi_spool *spool,
                                                      ppi_lane *lane,
                                                      uint32_t site) {
  bool last = false;
  if (ppi_site_is_watched(site) && !ppi_mark_begin_watched(lane, &site, &last))
    return PPI_NO_FRAME;
  uint64_t word = lane->commit;
  uint32_t depth = ppi_lane_depth(lane);
  uint8_t flags = last ? PPI_FRAME_LAST : 0;
  bool has_frame = depth < lane->num_frames || deepen(spool, lane);
  if (site & PPI_SITE_EXCLUDED) {
    push_balance(lane, site, flags | PPI_FRAME_EXCLUDED);
  } else if (site == 0 || !has_frame || depth >= PPI_MAX_FRAMES ||
             !make_room(spool, lane, depth + 1u)) {
    push_balance(lane, site, flags | PPI_FRAME_LOST);
  } else {
    uint64_t flow = depth ? ppi_lane_frames(lane)[depth - 1].flow : 0;
    if (site & PPI_SITE_EMITS)
      flags |= ppi_emit_push(lane, site & PPI_SITE_NUMBER, flow);
    if (site & PPI_SITE_CPU)
      flags |= ppi_cpu_frame_begin(&ppi_thread_self->cpu, lane, depth);
    if (site & PPI_SITE_NUMBERS) flags |= keep_numbers(spool, lane, depth);
    ppi_frame *frame = ppi_lane_frames(lane) + depth;
    ppi_frame_fill(frame, depth, site & PPI_SITE_NUMBER, flags);
    ppi_frame_begin(lane, word, frame, ppi_clock_ticks());
  }
  return depth;
}

// How many of the frames above `depth` an NVTX tool has.
static uint32_t num_emitted(const ppi_lane *lane, uint32_t depth) {
  uint32_t num = 0;
  uint32_t open = ppi_lane_num_open(lane, lane->commit);
  for (uint32_t i = depth; i < open; i++)
    num += (ppi_lane_frames(lane)[i].flags & PPI_FRAME_EMITTED) != 0;
  return num;
}

static void pop_with_extras(const uint8_t *base, ppi_lane *lane, uint64_t end) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  ppi_recorder *recorder = &ppi_recorder_in_force;
  // A stop that did not wait for this thread has zeroed the lane.
  if (depth == 0) return;
  // Room for all extensions that one frame can have; without it they are
  // dropped and counted, never the record.
  const ppi_cpu_use *cpu = NULL;
  uint8_t flags = ppi_lane_frames(lane)[depth - 1].flags;
  if (flags & PPI_FRAME_CPU)
    cpu = ppi_cpu_frames_end(&ppi_thread_self->cpu, lane, depth - 1);
  if (!(flags & PPI_FRAME_UNRECORDED))
    make_room(&recorder->spool, lane,
              PPI_MAX_FLOWS / 3 + 6u + PPI_NUMBERS_RECORDS + depth);
  uint32_t num = num_emitted(lane, depth - 1);
  ppi_lane_close(base, lane, depth - 1, (ppi_closing){end, 0, 0, cpu});
  ppi_emit_pop(num);
  ppi_thread_notify_last(lane, depth - 1, depth);
}

// Whether it is the pop of a push that a cut has lost. One of an older epoch is
// as a range that an edge has cut.
static bool pop_lost(ppi_lane *lane) {
  if (!lane->lost_left) return false;
  if (lane->lost_epoch == lane->stack_epoch) {
    lane->lost_left--;
    return true;
  }
  if (lane->before_left != UINT32_MAX) lane->before_left += lane->lost_left;
  lane->lost_left = 0;
  return false;
}

static void pop_nothing(ppi_lane *lane) {
  ppi_emit_settle(lane->stack_epoch);
  if (pop_lost(lane)) return;
  if (lane->before_left == 0) {
    ppi_count(&lane->unmatched, 1);
    return;
  }
  if (lane->before_left != UINT32_MAX) lane->before_left--;
  ppi_count_before(lane);
}

// Only a recorded marker reads the clock.
__attribute__((noinline)) void ppi_mark_pop_slow(const uint8_t *base,
                                                 ppi_lane *lane) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (depth == 0)
    pop_nothing(lane);
  else if (depth > lane->num_frames)
    pop_balance(lane);
  else if (ppi_lane_frames(lane)[depth - 1].flags & PPI_FRAME_UNRECORDED)
    pop_with_extras(base, lane, 0);
  else
    pop_with_extras(base, lane, ppi_clock_ticks());
}

// Each marker takes its usual way as far as it can. It leaves by a tail call,
// so that the usual way saves no registers.
//
// If the usual way ended with its chunk, it continues in the next chunk.
static void leave_refreshed(ppi_thread *thread) {
  ppi_stack_refresh(&thread->stacks[0]);
  ppi_leave(thread);
}

// The usual way needs room for as many records as frames. A lane with a chunk
// gets the next one for that; a lane's own slots are enough for a thread that
// hardly marks.
static bool push_roomy(ppi_lane *lane, uint32_t site) {
  if (!ppi_frame_push(lane, site)) return false;
  if (lane->capacity > PPI_SLOTS_PER_CHUNK)
    make_room(spool_in_force(), lane, lane->num_frames + 1);
  return true;
}

static __attribute__((noinline)) void push_id_slow(ppi_thread *thread,
                                                   ppi_lane *lane,
                                                   uint32_t id) {
  if (!push_roomy(lane, id)) ppi_mark_push_slow(spool_in_force(), lane, id);
  leave_refreshed(thread);
}

static __attribute__((noinline)) void push_slow(ppi_thread *thread,
                                                ppi_lane *lane,
                                                pprof_site *site) {
  push_id_slow(thread, lane, ppi_site_id(site, lane->stack_epoch));
}

static __attribute__((noinline)) void push_retry(pprof_site *site) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_PUSHES);
  if (lane) push_slow(thread, lane, site);
}

// The inline test finds that nothing records; a caller without it finds that at
// the end of the usual way.
void pprof_push(pprof_site *site) {
  ppi_entry at;
  if (PPI_UNLIKELY(!ppi_enter_usual(&at))) {
    push_retry(site);
    return;
  }
  uint64_t id = ppi_site_usual(site, at.epoch);
  uint64_t word = at.lane->commit, depth = word & 0xffffu;
  if (!ppi_frame_fits_usual(at.stack, word) ||
      PPI_UNLIKELY(!ppi_id_is_usual(id))) {
    push_slow(at.thread, at.lane, site);
    return;
  }
  ppi_frame *frame = ppi_frame_usual(at.stack, depth);
  ppi_frame_fill(frame, depth, (uint32_t)id, 0);
  ppi_frame_begin(at.lane, word, frame, ppi_clock_counter());
  ppi_leave(at.thread);
}

static __attribute__((noinline)) void pop_slow(ppi_thread *thread,
                                               ppi_lane *lane) {
  const uint8_t *base = spool_in_force()->base;
  if (!ppi_frame_pop(base, lane)) ppi_mark_pop_slow(base, lane);
  leave_refreshed(thread);
}

static __attribute__((noinline)) void pop_retry(void) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_POPS);
  if (lane) pop_slow(thread, lane);
}

// Pops the innermost frame of `word`.
static inline void pop(const ppi_entry *at, uint64_t word) {
  if (PPI_LIKELY(ppi_frame_pop_usual(at->stack, at->lane, word)))
    ppi_leave(at->thread);
  else
    pop_slow(at->thread, at->lane);
}

void pprof_pop(void) {
  ppi_entry at;
  if (PPI_LIKELY(ppi_enter_usual(&at)))
    pop(&at, at.lane->commit);
  else
    pop_retry();
}

static inline uint32_t id_of_name(ppi_thread *thread, const ppi_lane *lane,
                                  const char *name, uint32_t category) {
  return ppi_mark_name(thread, lane, name ? name : "<null>", category, NULL);
}

static __attribute__((noinline)) void push_name_retry(const char *name,
                                                      uint32_t category) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_PUSHES);
  if (lane)
    push_id_slow(thread, lane, id_of_name(thread, lane, name, category));
}

void pprof_push_name(const char *name, uint32_t category) {
  ppi_entry at;
  if (PPI_UNLIKELY(!ppi_enter_usual(&at))) {
    push_name_retry(name, category);
    return;
  }
  uint32_t id = id_of_name(at.thread, at.lane, name, category);
  if (PPI_LIKELY(ppi_frame_push_usual(at.stack, at.lane, id)))
    ppi_leave(at.thread);
  else
    push_id_slow(at.thread, at.lane, id);
}

// The stack's epoch may change in it.
static __attribute__((noinline)) pprof_scope_token push_scope_slow(
    ppi_thread *thread, ppi_lane *lane, pprof_site *site) {
  pprof_scope_token token = {lane, lane->stack_epoch, ppi_lane_depth(lane)};
  uint32_t id = ppi_site_id(site, token.epoch);
  if (PPI_UNLIKELY(!push_roomy(lane, id))) {
    token.depth = ppi_mark_push_slow(spool_in_force(), lane, id);
    token.epoch = lane->stack_epoch;
    if (token.depth == PPI_NO_FRAME) token = (pprof_scope_token){NULL, 0, 0};
  }
  leave_refreshed(thread);
  return token;
}

static __attribute__((noinline)) pprof_scope_token push_scope_retry(
    pprof_site *site) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_BEGINS);
  if (!lane) return (pprof_scope_token){NULL, 0, 0};
  return push_scope_slow(thread, lane, site);
}

pprof_scope_token pprof_scope_push_(pprof_site *site) {
  ppi_entry at;
  if (ppi_is_off() || PPI_UNLIKELY(!ppi_enter_usual(&at)))
    return push_scope_retry(site);
  uint64_t id = ppi_site_usual(site, at.epoch);
  uint64_t word = at.lane->commit, depth = word & 0xffffu;
  if (!ppi_frame_fits_usual(at.stack, word) ||
      PPI_UNLIKELY(!ppi_id_is_usual(id)))
    return push_scope_slow(at.thread, at.lane, site);
  ppi_frame *frame = ppi_frame_usual(at.stack, depth);
  ppi_frame_fill(frame, depth, (uint32_t)id, 0);
  ppi_frame_begin(at.lane, word, frame, ppi_clock_counter());
  ppi_leave(at.thread);
  return (pprof_scope_token){at.lane, at.epoch, (uint32_t)depth};
}

static void scope_pop_uneven(const uint8_t *base, ppi_lane *lane,
                             const pprof_scope_token *token) {
  uint32_t depth = ppi_lane_depth(lane);
  if (depth <= token->depth) {
    pop_nothing(lane);  // somebody popped it already
    return;
  }
  if (token->depth >= PPI_MAX_DEPTH) {
    lane->too_deep = token->depth - PPI_MAX_DEPTH;
    return;
  }
  // Ranges left open inside it are abandoned, in the same commit.
  ppi_closing closing = {ppi_clock_ticks(), PPROF_FLAG_ABANDONED, 0, NULL};
  closing.cpu = ppi_cpu_frames_end(&ppi_thread_self->cpu, lane, token->depth);
  ppi_lane_make_room(spool_in_force(), lane, token->depth);
  uint32_t num = num_emitted(lane, token->depth);
  ppi_lane_close(base, lane, token->depth, closing);
  ppi_emit_pop(num);
  ppi_thread_notify_last(lane, token->depth, depth);
}

// A scope of an older epoch was cut at its edge. No raw pop will come for it:
// the next surplus pop matches no range.
static void scope_was_cut(ppi_lane *lane, const pprof_scope_token *token) {
  const ppi_spool_header *header = spool_in_force()->header;
  ppi_emit_settle(lane->stack_epoch);
  if (token->lane != lane || !ppi_edge_after(header, token->epoch)) return;
  ppi_count_before(lane);
  if (lane->before_left != 0 && lane->before_left != UINT32_MAX)
    lane->before_left--;
}

// A scope that ends while nothing records. In a signal handler the tool itself
// may have been interrupted.
static __attribute__((noinline)) void scope_pop_while_off(void) {
  const ppi_thread *thread = ppi_thread_self;
  if (thread && !thread->busy) ppi_emit_settle(0);
}

static __attribute__((noinline)) void scope_pop_slow(
    ppi_thread *thread, ppi_lane *lane, const pprof_scope_token *token) {
  const uint8_t *base = spool_in_force()->base;
  if (token->epoch != lane->stack_epoch)
    scope_was_cut(lane, token);
  else if (token->lane != lane)
    ppi_count(&lane->unmatched, 1);
  else if (ppi_lane_depth(lane) != token->depth + 1)
    scope_pop_uneven(base, lane, token);
  else if (!ppi_frame_pop(base, lane))
    ppi_mark_pop_slow(base, lane);
  leave_refreshed(thread);
}

static __attribute__((noinline)) void scope_pop_retry(
    const pprof_scope_token *token) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (lane)
    scope_pop_slow(thread, lane, token);
  else
    scope_pop_while_off();
}

void pprof_scope_pop_(const pprof_scope_token *token) {
  ppi_entry at;
  if (ppi_is_off() || PPI_UNLIKELY(!ppi_enter_usual(&at))) {
    scope_pop_retry(token);
    return;
  }
  uint64_t word = at.lane->commit;
  if (PPI_LIKELY(token->epoch == at.epoch) &&
      PPI_LIKELY(token->lane == at.lane) &&
      PPI_LIKELY(PPI_DEPTH(word) == token->depth + 1))
    pop(&at, word);
  else
    scope_pop_slow(at.thread, at.lane, token);
}

// Marks and counters take a slot beyond those that open frames need. False:
// there is none.
static bool put_plain(ppi_lane *lane, uint32_t site, uint8_t kind, double value,
                      const pprof_numbers *numbers) {
  // Read before the clock: a thread stopped there beyond its session's end goes
  // on in that session's memory, not in the next one's.
  const uint8_t *base = spool_in_force()->base;
  ppi_inherited inherited = ppi_lane_inherited(lane);
  uint64_t depth = PPI_DEPTH(lane->commit);
  uint64_t more = inherited.num_more ? (inherited.num_more + 2) / 3 : 0;
  if (numbers) more += PPI_NUMBERS_RECORDS;
  if (!make_room(spool_in_force(), lane, 1 + more + depth)) return false;
  uint64_t now = ppi_clock_ticks();
  ppi_record record = {now,  now, inherited.flow, site, inherited.depth,
                       kind, 0};
  if (kind == PPROF_KIND_COUNTER)
    memcpy(&record.end, &value, sizeof record.end);
  ppi_extras extras = {inherited.more_flows, inherited.num_more, NULL, NULL,
                       numbers};
  uint64_t head = PPI_HEAD(lane->commit);
  ppi_lane_put(base, lane, &head, &record, &extras, depth);
  ppi_lane_commit(lane, head, (uint32_t)depth);
  return true;
}

static bool lose_single(ppi_lane *lane) {
  ppi_count(&lane->lost, 1);
  return false;
}

// A counter is no occurrence of a name.
static __attribute__((noinline)) bool put_apart(ppi_lane *lane, uint32_t site,
                                                uint8_t kind, double value) {
  bool last = false, put = false;
  bool has_numbers = kind == PPROF_KIND_MARK && site & PPI_SITE_NUMBERS;
  if (kind == PPROF_KIND_MARK && ppi_site_is_watched(site) &&
      !ppi_mark_begin_watched(lane, &site, &last))
    return false;
  uint32_t number = site & PPI_SITE_NUMBER;
  if (site & PPI_SITE_EXCLUDED)
    ppi_mark_exclude(lane);
  else
    put = put_plain(lane, number, kind, value,
                    has_numbers ? &ppi_thread_self->names.numbers : NULL) ||
          lose_single(lane);
  if (put && site & PPI_SITE_EMITS)
    ppi_emit_point(number, ppi_lane_inherited(lane).flow,
                   kind == PPROF_KIND_COUNTER ? &value : NULL);
  if (last) ppi_recorder_in_force.watched_ended(number);
  return put;
}

// False: it is lost, and counted.
static bool put_single(ppi_lane *lane, uint32_t site, uint8_t kind,
                       double value) {
  if (site & PPI_SITE_APART) return put_apart(lane, site, kind, value);
  return (site && put_plain(lane, site, kind, value, NULL)) ||
         lose_single(lane);
}

static __attribute__((noinline)) void single_slow(ppi_thread *thread,
                                                  ppi_lane *lane,
                                                  pprof_site *site,
                                                  uint8_t kind, double value) {
  uint32_t epoch = lane->stack_epoch;
  uint32_t id = kind == PPROF_KIND_COUNTER ? ppi_site_of_counter(site, epoch)
                                           : ppi_site_id(site, epoch);
  put_single(lane, id, kind, value);
  leave_refreshed(thread);
}

static __attribute__((noinline)) void single_retry(pprof_site *site,
                                                   uint8_t kind, double value) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_BEGINS);
  if (lane) single_slow(thread, lane, site, kind, value);
}

// The flow that the next record on the stack inherits; false: more than one.
static inline bool inherit_one(const ppi_stack *stack, uint64_t word,
                               uint64_t *flow) {
  uint64_t depth = word & 0xffffu;
  *flow = 0;
  if (depth) {
    const ppi_frame *around = ppi_frame_usual(stack, depth) - 1;
    if (PPI_UNLIKELY(around->num_flows > 1)) return false;
    *flow = around->flow;
  }
  return true;
}

// put_single of a site that is plain, with one flow at most.
static inline __attribute__((always_inline)) void single(pprof_site *site,
                                                         uint8_t kind,
                                                         double value) {
  ppi_entry at;
  if (PPI_UNLIKELY(!ppi_enter_usual(&at))) {
    single_retry(site, kind, value);
    return;
  }
  uint64_t id = ppi_site_usual(site, at.epoch);
  uint64_t word = at.lane->commit, flow;
  if (!ppi_frame_fits_usual(at.stack, word) ||
      PPI_UNLIKELY(!ppi_id_is_usual(id)) ||
      !ppi_record_is_near(at.stack, word) ||
      !inherit_one(at.stack, word, &flow)) {
    single_slow(at.thread, at.lane, site, kind, value);
    return;
  }
  ppi_record *record = ppi_record_usual(at.stack, word);
  record->flow = flow;
  record->site = (uint32_t)id;
  ppi_record_set(record, PPI_DEPTH(word), kind);
  if (kind == PPROF_KIND_COUNTER)
    memcpy(&record->end, &value, sizeof record->end);
  record->start = ppi_clock_counter();
  if (kind != PPROF_KIND_COUNTER) record->end = record->start;
  // Head + 1.
  __atomic_store_n(&at.lane->commit, word + 0x10000, __ATOMIC_RELEASE);
  ppi_leave(at.thread);
}

void pprof_mark(pprof_site *site) {
  single(site, PPROF_KIND_MARK, 0);
}

void pprof_count(pprof_site *site, double value) {
  single(site, PPROF_KIND_COUNTER, value);
}

void ppi_mark_single(ppi_lane *lane, uint32_t site, uint8_t kind,
                     double value) {
  put_single(lane, site, kind, value);
}
