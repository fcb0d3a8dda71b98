// SPDX-License-Identifier: Apache-2.0
//
// The state of a walk back: the open ranges of each lane, and the borders of
// units.
#pragma once

#include "base/mem.h"
#include "report/answer/walk.h"

// ---- time and calls by place ----

#define PPI_REPORTED_RECENT 256  // a power of two

typedef struct ppi_reported_place {
  ppi_moment sum;
  bool is_reported;
} ppi_reported_place;

typedef struct ppi_reported_recent {
  ppi_map_key place;
  uint32_t number;  // + 1; 0: none
} ppi_reported_recent;

// All zero is the empty one.
typedef struct ppi_reported {
  ppi_map numbers;  // of places
  ppi_reported_place *places;
  uint32_t *list;  // places with a sum
  size_t num, places_capacity, list_capacity;
  ppi_reported_recent recent[PPI_REPORTED_RECENT];  // by stage and child
} ppi_reported;

static inline ppi_map_key ppi_reported_key(ppi_where where, uint32_t device,
                                           uint32_t stage, uint32_t child) {
  ppi_map_key key = {(uint64_t)where << 32 | device,
                     (uint64_t)stage << 32 | child};
  return key;
}

// ppi_reported_find returns the number of a place; UINT32_MAX: out of memory.
uint32_t ppi_reported_find_slow(ppi_reported *reported,
                                const ppi_map_key *place,
                                ppi_reported_recent *recent);
static inline uint32_t ppi_reported_find(ppi_reported *reported,
                                         ppi_map_key place) {
  uint64_t hash = place.high + place.low * 7 + (place.low >> 32) * 31;
  ppi_reported_recent *recent = &reported->recent[hash % PPI_REPORTED_RECENT];
  if (recent->number && recent->place.low == place.low &&
      recent->place.high == place.high)
    return recent->number - 1;
  return ppi_reported_find_slow(reported, &place, recent);
}

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
  ppi_buffered range;      // the next one
  uint64_t end;            // its end in the walk, + 1; 0: there is none
  ppi_walk_frame *frames;  // outer ones first
  size_t num_frames, frames_capacity;
  ppi_walk_frame begun;  // the latest frame popped; end 0: none
  uint32_t submission;   // the next item submitted here, + 1
  uint64_t look;         // the latest one that met the lane
} ppi_walk_lane;

typedef struct ppi_unit_border {
  uint64_t time;  // + 1
  size_t unit;
  bool begins;
} ppi_unit_border;

// A range of several lanes' that may own time.
typedef struct ppi_walk_range {
  uint64_t start_ns, end_ns;
  uint32_t entry, lane;
} ppi_walk_range;

// The time in which an item owns its device.
typedef struct ppi_device_part {
  uint64_t start_ns, end_ns;
  uint32_t item;
} ppi_device_part;

typedef struct ppi_walk_state {
  const ppi_walk_back *walk;
  uint64_t from_ns, to_ns;  // of the stretch between two borders
  ppi_walk_lane *lanes;
  size_t num_lanes;
  ppi_unit_border *borders;  // from the last
  size_t num_borders, next_border;
  size_t *active;  // units
  size_t num_active;
  uint64_t since_ns;    // begin of the latest frame unit
  uint64_t unit_time;   // of the last border of units, + 1
  size_t next_stretch;  // of the path, + 1
  bool counts;          // the lane's ranges own the time from `now_ns` back
  uint64_t now_ns;
  bool lists;  // ranges go to `ranges`
  uint32_t listed_lane;
  ppi_walk_range *ranges;
  ppi_keyed *order;  // by begin
  size_t num_ranges, ranges_capacity, order_capacity;
  uint64_t slice_ns;      // of stretches with a list
  uint64_t look;          // the number of looks for an owner
  ppi_keyed *calls;       // begins of device work and its item, in order
  uint32_t *submissions;  // by item, the one submitted before on its lane, + 1
  ppi_device_part *parts;
  size_t num_calls, num_parts, next_call, next_part;
  size_t part;  // near the last time
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
  self->entry = ppi_reported_find(
      &at->reported, ppi_reported_key(where, 0, self->stage, self->child));
  return self->entry != UINT32_MAX;
}

static inline void ppi_walk_count_call(ppi_walk_state *at,
                                       const ppi_walk_frame *self) {
  if (!at->num_active || self->level > 1) return;
  ppi_moment *sum = ppi_reported_at(&at->reported, self->entry);
  sum->stage_calls += self->level == 0;
  sum->child_calls += self->level == 1;
}

static inline void ppi_walk_set(ppi_walk_frame *frame,
                                const ppi_buffered *range) {
  frame->start_ns = range->start_ns;
  frame->end_ns = range->end_ns;
  frame->site = range->site;
  frame->depth = range->depth;
  frame->flags = range->flags;
}

// A range that does not lie
// in the range around it makes the walk odd.
static inline bool ppi_walk_push(ppi_walk_state *at, ppi_walk_lane *lane,
                                 const ppi_buffered *range) {
  if (lane->num_frames == lane->frames_capacity) {
    if (!PPI_ROOM(lane->frames, lane->frames_capacity, lane->num_frames + 1))
      return false;
  }
  ppi_walk_frame *self = &lane->frames[lane->num_frames];
  const ppi_walk_frame *around = lane->num_frames ? self - 1 : NULL;
  ppi_walk_set(self, range);
  if (around && !ppi_walk_lies_in(range, around)) {
    at->is_odd = true;
    return true;
  }
  if (!ppi_walk_place(at, self, around)) return false;
  lane->num_frames++;
  return true;
}

// ---- ranges ----

bool ppi_walk_turn_page(const ppi_walk_state *at, ppi_walk_lane *lane);

// ppi_walk_next goes to the range before the lane's.
static inline void ppi_walk_next(const ppi_walk_state *at,
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
    lane->end = ppi_walk_as_time(PPI_MIN(range->end_ns, walk->to_ns));
    return;
  }
  lane->end = 0;
}

// ppi_walk_take_empty counts the lane's range, which is empty.
bool ppi_walk_take_empty(ppi_walk_state *at, ppi_walk_lane *lane);

// ---- borders of units ----

// ppi_walk_list_units lists the units' borders; the caller made room.
void ppi_walk_list_units(ppi_walk_state *at);
// ppi_walk_cross_units crosses all borders of units at `to_ns`. It adds the
// sums so far to the open units first. Frames may change their places.
bool ppi_walk_cross_units(ppi_walk_state *at);
