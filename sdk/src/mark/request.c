// SPDX-License-Identifier: Apache-2.0
//
// Records requests and their tokens. A request is a cross-thread range. Later
// additions are marks with its number, so nothing grows with the tokens. On the
// marking threads.
#define PPROF_NO_INLINE
#include "mark/attach.h"
#include "mark/frame.h"
#include "mark/pending.h"

static pprof_site token_site = {
    "token", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}};
static pprof_site served_site = {
    "served", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}};

static void count_lost_flow(void) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  ppi_count(&lane->flows_lost, 1);
  ppi_leave(thread);
}

pprof_request pprof_request_begin(uint64_t id, pprof_site *site) {
  pprof_request request = {id, {0}};
  if (id == 0) {
    count_lost_flow();
    return request;
  }
  request.range.id = ppi_range_begin_of(site, id);
  return request;
}

// Never before the edge that began the window: that edge would have cut it.
static void begin_earlier(const ppi_lane *lane, ppi_slot *slot,
                          uint64_t waited_ns) {
  uint64_t rate = ppi_clock_state.ticks_per_second;
  uint64_t first =
      ppi_edge_ticks(ppi_recorder_in_force.spool.header, lane->stack_epoch);
  unsigned __int128 ticks = (unsigned __int128)waited_ns * rate / 1000000000;
  uint64_t most = slot->start > first ? slot->start - first : 0;
  uint64_t start = slot->start - (ticks < most ? (uint64_t)ticks : most);
  __atomic_store_n(&slot->start, start, __ATOMIC_RELAXED);
}

void pprof_request_waited(pprof_request request, uint64_t waited_ns) {
  ppi_thread *thread;
  ppi_slot_ref ref;
  if (!request.range.id) return;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  if (ppi_range_is_open(request.range.id, &ref))
    begin_earlier(lane, ref.slot, waited_ns);
  ppi_leave(thread);
}

void pprof_request_input(pprof_request request, uint64_t num_tokens) {
  const pprof_work_amount work = {sizeof work, (double)num_tokens, 0, 0, 0};
  if (request.range.id) pprof_range_work(request.range, &work);
}

void pprof_request_end(pprof_request request) {
  if (request.range.id) pprof_range_end(request.range);
}

// An addition to a request.
typedef struct point {
  uint64_t flow, num;
  uint8_t kind;
} point;

static void put(ppi_lane *lane, uint32_t site, const point *at) {
  ppi_recorder *recorder = &ppi_recorder_in_force;
  const uint8_t *base = recorder->spool.base;
  if (site & PPI_SITE_APART && site & PPI_SITE_EXCLUDED) {
    ppi_mark_exclude(lane);
    return;
  }
  uint64_t word = lane->commit, depth = PPI_DEPTH(word);
  bool fits = site != 0;
  while (fits && PPI_HEAD(word) + 1 + depth > lane->capacity)
    fits = ppi_lane_extend(&recorder->spool, lane);
  if (!fits) {
    ppi_count(&lane->lost, 1);
    return;
  }
  const ppi_record record = {
      ppi_clock_ticks(), at->num,  at->flow, site & PPI_SITE_NUMBER,
      (uint16_t)depth,   at->kind, 0};
  uint64_t head = PPI_HEAD(word);
  ppi_lane_put(base, lane, &head, &record, NULL, depth);
  ppi_lane_commit(lane, head, (uint32_t)depth);
}

static __attribute__((noinline)) void say_slow(ppi_thread *thread,
                                               ppi_lane *lane, pprof_site *site,
                                               const point *at) {
  put(lane, ppi_site_id(site, lane->stack_epoch), at);
  ppi_stack_refresh(&thread->stacks[0]);
  ppi_leave(thread);
}

static __attribute__((noinline)) void say_retry(pprof_site *site,
                                                const point *at) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_BEGINS);
  if (lane) say_slow(thread, lane, site, at);
}

// As a mark does it (mark.c), with `num` where that has its end.
static inline void say(pprof_site *site, const point *at) {
  ppi_entry entry;
  if (PPI_UNLIKELY(!ppi_enter_usual(&entry))) {
    say_retry(site, at);
    return;
  }
  uint64_t id = ppi_site_usual(site, entry.epoch);
  uint64_t word = entry.lane->commit;
  if (!ppi_frame_fits_usual(entry.stack, word) ||
      PPI_UNLIKELY(!ppi_id_is_usual(id)) ||
      !ppi_record_is_near(entry.stack, word)) {
    say_slow(entry.thread, entry.lane, site, at);
    return;
  }
  ppi_record *record = ppi_record_usual(entry.stack, word);
  record->flow = at->flow;
  record->site = (uint32_t)id;
  record->end = at->num;
  ppi_record_set(record, PPI_DEPTH(word), at->kind);
  record->start = ppi_clock_counter();
  // Head + 1.
  __atomic_store_n(&entry.lane->commit, word + 0x10000, __ATOMIC_RELEASE);
  ppi_leave(entry.thread);
}

void pprof_token(pprof_request request, uint64_t num_tokens) {
  const point at = {request.id, num_tokens, PPI_RECORD_TOKENS};
  if (request.id && num_tokens) say(&token_site, &at);
}

void pprof_serve_since(const pprof_request *requests, size_t num,
                       uint64_t ago_ns) {
  for (size_t i = 0; requests && i < num; i++) {
    const point at = {requests[i].id, ago_ns, PPI_RECORD_SERVED};
    if (requests[i].id) say(&served_site, &at);
  }
}

void pprof_serve(const pprof_request *requests, size_t num) {
  pprof_serve_since(requests, num, 0);
}
