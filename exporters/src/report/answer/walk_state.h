// SPDX-License-Identifier: Apache-2.0
//
// The state of a walk back: the open ranges of each lane, and the next borders.
// A border does the same in all walks.
#pragma once

#include "base/base.h"
#include "base/mem.h"
#include "pprof/base.h"
#include "report/answer/account.h"
#include "report/answer/moments.h"
#include "report/answer/walk.h"

PPROF_BEGIN_C_

// ---- a tree over lanes that finds the lane with the last time ----

// Times + 1; 0: none.
typedef struct ppi_time_node {
  uint64_t time;
  uint64_t who;  // lane << 32; of begins | the entry, or PPI_TIME_WAITING
} ppi_time_node;

// The lane's range waits: another lane may own the time.
#define PPI_TIME_WAITING UINT32_MAX

static inline size_t ppi_time_lane(const ppi_time_node *at) {
  return at->who >> 32;
}

static inline unsigned __int128 ppi_time_order(uint64_t time, uint64_t who) {
  return (unsigned __int128)time << 64 | who;
}

// Of equal times the later lane wins: its range counts as the latest one. The
// winner is hard to predict, so no branch depends on it. On the way up, no node
// waits for the node just stored.
static inline void ppi_time_set(ppi_time_node *tree, size_t at, uint64_t time,
                                uint64_t who) {
  tree[at] = (ppi_time_node){time, who};
  for (; at > 1; at /= 2) {
    const ppi_time_node *other = &tree[at ^ 1];
    uint64_t loses = 0 - (uint64_t)(ppi_time_order(time, who) <
                                    ppi_time_order(other->time, other->who));
    time ^= (time ^ other->time) & loses;
    who ^= (who ^ other->who) & loses;
    tree[at / 2] = (ppi_time_node){time, who};
  }
}

// ---- when device work begins and ends, last first ----

// Going back, ends come last among the borders of one time.
typedef enum ppi_device_border_kind {
  PPI_DEVICE_BEGIN,
  PPI_DEVICE_SUBMIT,
  PPI_DEVICE_END
} ppi_device_border_kind;

// `time` is in ns, + 1.
typedef struct ppi_device_border {
  uint64_t time;
  uint32_t item;
  ppi_device_border_kind kind;
} ppi_device_border;

// ppi_device_borders_list writes the borders in [from, to), three an item at
// most, and returns their number. Work that goes on ends at `to`.
size_t ppi_device_borders_list(const ppi_item *items, size_t num_items,
                               uint64_t from_ns, uint64_t to_ns,
                               ppi_device_border *out);

// ---- time and calls by place on the host ----

#define PPI_REPORTED_RECENT 256  // a power of two

typedef struct ppi_reported_place {
  ppi_moment sum;
  bool is_reported;
} ppi_reported_place;

// All zero is the empty one.
typedef struct ppi_reported {
  ppi_map numbers;  // of places
  ppi_reported_place *places;
  uint32_t *list;  // places with a sum
  size_t num, places_capacity, list_capacity;
  uint32_t recent[PPI_REPORTED_RECENT];  // places + 1, by stage and child
} ppi_reported;

// ppi_reported_find returns the number of the place of `moment`; UINT32_MAX:
// out of memory.
uint32_t ppi_reported_find(ppi_reported *reported, const ppi_moment *moment);
// ppi_reported_flush adds all sums to the accounts of `units`, and clears them.
bool ppi_reported_flush(ppi_reported *reported, ppi_account *accounts,
                        const size_t *units, size_t num_units);
void ppi_reported_clear(ppi_reported *reported);

// ppi_reported_at returns the sum to add to.
static inline ppi_moment *ppi_reported_at(ppi_reported *reported,
                                          uint32_t number) {
  ppi_reported_place *place = &reported->places[number];
  if (PPI_UNLIKELY(!place->is_reported)) {
    place->is_reported = true;
    reported->list[reported->num++] = number;
  }
  return &place->sum;
}

// ---- a walk ----

// A range that is open at the time of the walk.
typedef struct ppi_walk_frame {
  uint64_t start_ns, end_ns;
  uint32_t site, depth, flags;
  uint32_t stage, child;  // sites; child 0: none
  uint32_t level;         // levels below its stage
  uint32_t entry;         // its place in `reported`
} ppi_walk_frame;

typedef struct ppi_walk_lane {
  const ppi_hold_page **pages;
  size_t pages_left;
  ppi_hold_place place;
  ppi_buffered range;      // the next one, if there is one
  ppi_walk_frame *frames;  // outer ones first
  size_t num_frames, frames_capacity;
  ppi_walk_frame begun;  // the latest frame popped; end 0: none
} ppi_walk_lane;

typedef struct ppi_unit_border {
  uint64_t time;
  size_t unit;
  bool begins;
} ppi_unit_border;

// Device time without a place: its submission, later in the walk, has it.
typedef struct ppi_device_part {
  uint32_t unit, item;
  uint64_t ns;
  uint32_t calls;
} ppi_device_part;

typedef struct ppi_walk_state {
  const ppi_walk_back *walk;
  ppi_walk_lane *lanes;
  size_t num_lanes, width;       // width: a power of two
  ppi_time_node *ends, *begins;  // 1: the root; those from `width` on are lanes
  ppi_unit_border *borders;      // from the last
  size_t num_borders, next_border;
  size_t *active;  // units
  size_t num_active;
  ppi_device_border *steps;  // of devices, from the last
  size_t num_steps, next_step;
  uint32_t *running;  // items on devices; the first to begin is last
  size_t num_running, running_capacity;
  uint64_t running_ns;  // of the last one, not yet in its parts
  ppi_device_part *parts;
  size_t num_parts, parts_capacity;
  size_t num_last_parts;  // of one item, since the last border of a unit
  size_t fold_parts_at;   // num_parts
  size_t next_stretch;    // of the path, + 1
  size_t path_lane;       // the lane that alone counts, + 1; 0: none
  uint64_t since_ns;      // begin of the latest frame unit
  uint64_t now;           // a time + 1
  uint64_t next_other;    // + 1: border of a unit or a device
  uint64_t unit_time;
  ppi_reported reported;
  bool is_odd;
} ppi_walk_state;

static inline uint64_t ppi_walk_as_time(uint64_t ns) {
  return ns == UINT64_MAX ? ns : ns + 1;
}

static inline bool ppi_walk_is_empty(const ppi_buffered *range) {
  return range->start_ns == range->end_ns;
}

// ---- frames ----

// `outer` begins first, or comes first at the same begin.
static inline bool ppi_walk_is_outer(const ppi_walk_frame *outer,
                                     const ppi_buffered *range) {
  if (outer->start_ns != range->start_ns)
    return outer->start_ns < range->start_ns;
  if (outer->depth != range->depth) return outer->depth < range->depth;
  if (outer->site != range->site) return outer->site < range->site;
  if (outer->flags != range->flags) return outer->flags < range->flags;
  return outer->end_ns < range->end_ns;
}

static inline bool ppi_walk_lies_in(const ppi_buffered *range,
                                    const ppi_walk_frame *around) {
  return range->end_ns <= around->end_ns && ppi_walk_is_outer(around, range);
}

// `around` is NULL for an outermost range.
static inline bool ppi_walk_place(ppi_walk_state *at, ppi_walk_frame *self,
                                  const ppi_walk_frame *around) {
  bool is_stage = !around || around->start_ns < at->since_ns;
  ppi_where where =
      self->flags & PPI_ITEM_WAITS ? PPI_WHERE_WAITING : PPI_WHERE_HOST;
  self->level = is_stage ? 0 : around->level + 1;
  self->stage = is_stage ? self->site : around->stage;
  if (self->level < 2)
    self->child = is_stage ? 0 : self->site;
  else
    self->child = around->child;
  if (self->level > 1 && around->flags == self->flags) {
    self->entry = around->entry;
    return true;
  }
  const ppi_moment place = {
      .where = where, .stage = self->stage, .child = self->child};
  self->entry = ppi_reported_find(&at->reported, &place);
  return self->entry != UINT32_MAX;
}

static inline void ppi_walk_count_call(ppi_walk_state *at,
                                       const ppi_walk_frame *self) {
  if (!at->num_active || self->level > 1) return;
  ppi_moment *sum = ppi_reported_at(&at->reported, self->entry);
  sum->stage_calls += self->level == 0;
  sum->child_calls += self->level == 1;
}

static inline ppi_walk_frame ppi_walk_frame_of(const ppi_buffered *range) {
  return (ppi_walk_frame){.start_ns = range->start_ns,
                          .end_ns = range->end_ns,
                          .site = range->site,
                          .depth = range->depth,
                          .flags = range->flags};
}

// ppi_walk_push leaves the lane's begin to the walk. A range that does not lie
// in the range around it makes the walk odd.
static inline bool ppi_walk_push(ppi_walk_state *at, ppi_walk_lane *lane,
                                 const ppi_buffered *range) {
  if (lane->num_frames == lane->frames_capacity) {
    if (!PPI_ROOM(lane->frames, lane->frames_capacity, lane->num_frames + 1))
      return false;
  }
  ppi_walk_frame *self = &lane->frames[lane->num_frames];
  const ppi_walk_frame *around = lane->num_frames ? self - 1 : NULL;
  *self = ppi_walk_frame_of(range);
  if (around && !ppi_walk_lies_in(range, around)) {
    at->is_odd = true;
    return true;
  }
  if (!ppi_walk_place(at, self, around)) return false;
  lane->num_frames++;
  return true;
}

static inline void ppi_walk_pop(ppi_walk_state *at, ppi_walk_lane *lane) {
  lane->begun = lane->frames[--lane->num_frames];
  ppi_walk_count_call(at, &lane->begun);
}

// ---- ranges ----

bool ppi_walk_turn_page(const ppi_walk_state *at, ppi_walk_lane *lane);

// ppi_walk_next goes to the range before the lane's, and returns its end; 0:
// there is none.
static inline uint64_t ppi_walk_next(const ppi_walk_state *at,
                                     ppi_walk_lane *lane) {
  const ppi_walk_back *walk = at->walk;
  ppi_buffered *range = &lane->range;
  while (lane->place.num_words || ppi_walk_turn_page(at, lane)) {
    ppi_hold_back(&lane->place, range);
    if (range->end_ns < walk->from_ns) break;
    if (PPI_UNLIKELY(range->flags)) {
      if (range->flags & PPI_BUFFERED_APART) continue;
      range->flags = (uint16_t)ppi_answer_flags(range);
    }
    bool is_passed =
        range->end_ns == walk->from_ns && range->start_ns < range->end_ns;
    if (range->start_ns >= walk->to_ns || is_passed) continue;
    uint64_t end_ns = PPI_MIN(range->end_ns, walk->to_ns);
    return ppi_walk_as_time(end_ns);
  }
  return 0;
}

// ppi_walk_take_empty counts the lane's range, which is empty.
bool ppi_walk_take_empty(ppi_walk_state *at, ppi_walk_lane *lane);

// ---- borders of units and devices ----

static inline uint64_t ppi_walk_step_time(const ppi_walk_state *at) {
  return at->next_step < at->num_steps ? at->steps[at->next_step].time : 0;
}

static inline uint64_t ppi_walk_unit_time(const ppi_walk_state *at) {
  return at->next_border < at->num_borders ? at->borders[at->next_border].time
                                           : 0;
}

// The border of the path: of the open stretch its begin, else an end.
static inline uint64_t ppi_walk_path_time(const ppi_walk_state *at) {
  if (!at->next_stretch) return 0;
  const ppi_lane_stretch *next = &at->walk->path[at->next_stretch - 1];
  return ppi_walk_as_time(at->path_lane ? next->start_ns : next->end_ns);
}

static inline void ppi_walk_find_other(ppi_walk_state *at) {
  uint64_t time = PPI_MAX(ppi_walk_unit_time(at), ppi_walk_step_time(at));
  at->next_other = PPI_MAX(time, ppi_walk_path_time(at));
}

// ppi_walk_list_units lists the units' borders; the caller made room.
void ppi_walk_list_units(ppi_walk_state *at);
// ppi_walk_cross_units crosses all borders of units at the walk's time. It adds
// the sums so far to the open units first. Frames may change their places.
bool ppi_walk_cross_units(ppi_walk_state *at);
bool ppi_walk_flush(ppi_walk_state *at);

PPROF_END_C_
