// SPDX-License-Identifier: Apache-2.0
//
// Walks back over one lane, without a tree: its innermost range owns the
// moment. Ranges below a child of a stage have the child's place, so most
// ranges change nothing.
#include "report/answer/walk_one.h"

static inline const ppi_walk_frame *top_of(const ppi_walk_lane *lane) {
  return lane->num_frames ? &lane->frames[lane->num_frames - 1] : NULL;
}

static inline void pass_time(ppi_walk_state *at, const ppi_walk_frame *top,
                             uint64_t time) {
  uint64_t passed_ns = at->now - time;
  at->now = time;
  if (top && passed_ns && at->num_active)
    ppi_reported_at(&at->reported, top->entry)->ns += passed_ns;
}

// Crosses all borders at `until` and later, begins before units. An empty range
// at `until` comes before units, and before the begin of its outer range.
static pprof_status cross(ppi_walk_state *at, ppi_walk_lane *lane,
                          uint64_t until, const ppi_buffered *empty) {
  pprof_status status = PPROF_STATUS_OK;
  while (status == PPROF_STATUS_OK) {
    const ppi_walk_frame *top = top_of(lane);
    uint64_t begin = top ? ppi_walk_as_time(top->start_ns) : 0;
    uint64_t next = PPI_MAX(begin, at->next_other);
    if (next < until) break;
    bool is_unit = at->next_other > begin;
    if (PPI_UNLIKELY(empty && next == until) &&
        (is_unit || ppi_walk_is_outer(top, empty)))
      break;
    pass_time(at, top, next);
    if (PPI_UNLIKELY(is_unit))
      status = ppi_walk_cross_units(at);
    else
      ppi_walk_pop(at, lane);
  }
  return status;
}

// The range has the place of the range around it, and no border of a unit lies
// in it.
static inline bool is_below(const ppi_walk_state *at, const ppi_walk_lane *lane,
                            const ppi_buffered *range) {
  const ppi_walk_frame *top = top_of(lane);
  return top && top->level && top->flags == range->flags &&
         range->start_ns > top->start_ns && range->end_ns <= top->end_ns &&
         range->start_ns < range->end_ns &&
         ppi_walk_as_time(range->start_ns) > at->next_other;
}

// Skips ranges that surely lie below the lane's top. It stops at the page's
// first range of more than one word: only one-word ranges have falling ends.
static inline void skip_below(const ppi_walk_state *at, ppi_walk_lane *lane) {
  const ppi_walk_frame *top = top_of(lane);
  ppi_hold_place place = lane->place;
  if (!top || !top->level || top->flags) return;
  uint64_t from_ns = PPI_MAX(top->start_ns + 1, at->next_other);
  while (place.num_words) {
    uint64_t word = place.words[place.num_words - 1];
    uint64_t length_ns = ppi_hold_length(word);
    if (word & PPI_HOLD_WIDE || !length_ns ||
        place.end_ns - length_ns < from_ns)
      break;
    ppi_hold_step(&place);
  }
  lane->place = place;
}

pprof_status ppi_walk_one_lane(ppi_walk_state *at) {
  ppi_walk_lane *lane = &at->lanes[0];
  const ppi_buffered *range = &lane->range;
  pprof_status status = PPROF_STATUS_OK;
  uint64_t end = at->ends[1].time;
  for (; end && !at->is_odd && !status; end = ppi_walk_next(at, lane)) {
    if (is_below(at, lane, range)) {
      skip_below(at, lane);
      continue;
    }
    bool is_empty = ppi_walk_is_empty(range);
    status = cross(at, lane, end, is_empty ? range : NULL);
    if (status != PPROF_STATUS_OK) break;
    pass_time(at, top_of(lane), end);
    status = is_empty ? ppi_walk_take_empty(at, lane)
                      : ppi_walk_push(at, lane, range);
    skip_below(at, lane);
  }
  if (status != PPROF_STATUS_OK || at->is_odd) return status;
  uint64_t from = ppi_walk_as_time(at->walk->from_ns);
  status = cross(at, lane, from, NULL);
  pass_time(at, top_of(lane), from);
  return status;
}
