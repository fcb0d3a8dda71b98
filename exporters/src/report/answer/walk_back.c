// SPDX-License-Identifier: Apache-2.0
//
// Walks back over each lane, from border to border of units. Where the ranges
// of one lane alone own time, it is theirs at once; those of several lanes are
// listed, and the latest one that has begun owns the time.
#include "report/answer/walk_back.h"

#include <stdlib.h>

#include "report/answer/walk_state.h"

enum { SLICE_NS = 16, ENOUGH = 2048 };  // ranges of a slice

static inline const ppi_walk_frame *top_of(const ppi_walk_lane *lane) {
  return lane->num_frames ? &lane->frames[lane->num_frames - 1] : NULL;
}

static size_t lane_of(const ppi_walk_state *at, uint32_t id) {
  ppi_answer_lanes *lanes = at->walk->lanes;
  return (size_t)(ppi_answer_lanes_at(lanes, id) - lanes->items);
}

// ---- the owner of time ----

// The time of [from_ns, to_ns) in which no device works.
static uint64_t free_time(ppi_walk_state *at, uint64_t from_ns,
                          uint64_t to_ns) {
  const ppi_device_part *parts = at->parts;
  uint64_t ns = to_ns - from_ns;
  size_t i = at->part;
  while (i && parts[i - 1].end_ns > from_ns) i--;
  while (i < at->num_parts && parts[i].end_ns <= from_ns) i++;
  at->part = i;
  for (; i < at->num_parts && parts[i].start_ns < to_ns; i++)
    ns -= PPI_MIN(parts[i].end_ns, to_ns) - PPI_MAX(parts[i].start_ns, from_ns);
  return ns;
}

static inline void own(ppi_walk_state *at, uint32_t entry, uint64_t from_ns,
                       uint64_t to_ns) {
  uint64_t ns = to_ns - from_ns;
  if (at->num_parts) ns = free_time(at, from_ns, to_ns);
  if (ns) ppi_reported_at(&at->reported, entry)->ns += ns;
}

static inline void pass(ppi_walk_state *at, const ppi_walk_lane *lane,
                        uint64_t from_ns) {
  const ppi_walk_frame *top = top_of(lane);
  if (!at->counts) return;
  if (top && from_ns < at->now_ns) own(at, top->entry, from_ns, at->now_ns);
  at->now_ns = from_ns;
}

// ---- a lane ----

// Outer ones come first. The caller made room.
static inline void list(ppi_walk_state *at, uint64_t start_ns, uint64_t end_ns,
                        uint32_t entry) {
  at->ranges[at->num_ranges++] =
      (ppi_walk_range){start_ns, end_ns, entry, at->listed_lane};
}

static inline bool has_room(ppi_walk_state *at, size_t num) {
  return PPI_ROOM(at->ranges, at->ranges_capacity, at->num_ranges + num);
}

static inline void pop(ppi_walk_state *at, ppi_walk_lane *lane) {
  const ppi_walk_frame *top = &lane->frames[lane->num_frames - 1];
  pass(at, lane, top->start_ns);
  lane->begun = *top;
  lane->num_frames--;
  ppi_walk_count_call(at, top);
}

// The range has the place of the range around it, and no border of a unit lies
// in it.
static inline bool is_below(const ppi_walk_state *at, const ppi_walk_frame *top,
                            const ppi_buffered *range) {
  return top && top->level && top->flags == range->flags &&
         range->start_ns > top->start_ns && range->end_ns <= top->end_ns &&
         range->start_ns < range->end_ns && range->start_ns >= at->from_ns;
}

// Takes ranges that surely lie below the lane's top. It stops at the page's
// first range of more than one word: only one-word ranges have falling ends.
static inline bool take_below(ppi_walk_state *at, ppi_walk_lane *lane) {
  const ppi_walk_frame *top = top_of(lane);
  ppi_hold_place place = lane->place;
  if (!top || !top->level || top->flags) return true;
  if (at->lists && !has_room(at, place.num_words)) return false;
  uint64_t from_ns = PPI_MAX(top->start_ns + 1, at->from_ns);
  while (place.num_words) {
    uint64_t word = place.words[place.num_words - 1];
    uint64_t length_ns = ppi_hold_length(word);
    uint64_t start_ns = place.end_ns - length_ns;
    if (word & PPI_HOLD_WIDE || !length_ns || start_ns < from_ns) break;
    if (at->lists) list(at, start_ns, place.end_ns, top->entry);
    ppi_hold_step(&place);
  }
  lane->place = place;
  return true;
}

static inline bool push(ppi_walk_state *at, ppi_walk_lane *lane) {
  size_t num = lane->num_frames;
  pass(at, lane, lane->end - 1);
  bool done = ppi_walk_push(at, lane, &lane->range);
  if (done && at->lists && lane->num_frames > num)
    list(at, lane->range.start_ns, lane->range.end_ns, lane->frames[num].entry);
  return done;
}

static inline bool take_end(ppi_walk_state *at, ppi_walk_lane *lane) {
  const ppi_buffered *range = &lane->range;
  const ppi_walk_frame *top = top_of(lane);
  bool done = true;
  if (at->lists && !has_room(at, 1)) return false;
  if (!is_below(at, top, range))
    done = ppi_walk_is_empty(range) ? ppi_walk_take_empty(at, lane)
                                    : push(at, lane);
  else if (at->lists)
    list(at, range->start_ns, range->end_ns, top->entry);
  done = done && take_below(at, lane);
  ppi_walk_next(at, lane);
  return done;
}

// An empty range at the begin of its outer range comes before that begin.
static inline bool begins_next(const ppi_walk_lane *lane) {
  const ppi_walk_frame *top = top_of(lane);
  uint64_t begin = top ? ppi_walk_as_time(top->start_ns) : 0;
  if (PPI_LIKELY(begin != lane->end)) return begin > lane->end;
  return begin && !(ppi_walk_is_empty(&lane->range) &&
                    ppi_walk_is_outer(top, &lane->range));
}

// Goes back to begins from `begins_ns` on, and to ends after `ends_ns`.
static bool walk_lane(ppi_walk_state *at, ppi_walk_lane *lane,
                      uint64_t begins_ns, uint64_t ends_ns) {
  bool done = true;
  while (done && !at->is_odd) {
    if (begins_next(lane)) {
      if (top_of(lane)->start_ns < begins_ns) break;
      pop(at, lane);
    } else {
      bool is_empty = ppi_walk_is_empty(&lane->range);
      if (lane->end <= (is_empty ? begins_ns : ppi_walk_as_time(ends_ns)))
        break;
      done = take_end(at, lane);
    }
  }
  return done;
}

static void submit(const ppi_walk_state *at, const ppi_walk_lane *lane,
                   ppi_item *item) {
  const ppi_walk_frame *top = top_of(lane);
  ppi_item_submit(item, top ? top->stage : item->site, top ? top->child : 0,
                  at->walk->names);
}

static bool walk_to(ppi_walk_state *at, ppi_walk_lane *lane, uint64_t from_ns) {
  bool done = true;
  while (lane->submission && done) {
    ppi_item *item = &at->walk->items[lane->submission - 1];
    if (item->start_ns < from_ns) break;
    done = walk_lane(at, lane, item->start_ns + 1, item->start_ns);
    submit(at, lane, item);
    lane->submission = at->submissions[lane->submission - 1];
  }
  return done && walk_lane(at, lane, from_ns, from_ns);
}

static bool count_time(ppi_walk_state *at, ppi_walk_lane *lane,
                       uint64_t from_ns, uint64_t to_ns) {
  bool done = walk_to(at, lane, to_ns);
  at->counts = true;
  at->now_ns = to_ns;
  done = done && walk_to(at, lane, from_ns);
  pass(at, lane, from_ns);
  at->counts = false;
  return done;
}

// ---- several lanes ----

// The latest range that does not wait, of the lanes' innermost ones, or else
// the latest one of all; until a range ends.
static const ppi_walk_range *find_owner(ppi_walk_state *at, size_t num,
                                        uint64_t now_ns, uint64_t *until_ns) {
  const ppi_walk_range *latest = NULL;
  at->look++;
  while (num--) {
    const ppi_walk_range *range = &at->ranges[at->order[num].value];
    ppi_walk_lane *lane = &at->lanes[range->lane];
    if (range->end_ns <= now_ns || lane->look == at->look) continue;
    lane->look = at->look;
    *until_ns = PPI_MIN(*until_ns, range->end_ns);
    if (at->reported.places[range->entry].sum.where != PPI_WHERE_WAITING)
      return range;
    if (!latest) latest = range;
  }
  return latest;
}

// Gives time until `until_ns` to the first `num` ranges of the order, which
// have begun. Drops the last ones that have ended; answers how many are left.
static inline size_t pass_ranges(ppi_walk_state *at, size_t num,
                                 uint64_t until_ns) {
  while (num && at->now_ns < until_ns) {
    const ppi_walk_range *last = &at->ranges[at->order[num - 1].value];
    uint64_t now_ns = at->now_ns;
    if (last->end_ns <= now_ns) {
      num--;
      continue;
    }
    at->now_ns = PPI_MIN(until_ns, last->end_ns);
    if (at->reported.places[last->entry].sum.where == PPI_WHERE_WAITING)
      last = find_owner(at, num, now_ns, &at->now_ns);
    own(at, last->entry, now_ns, at->now_ns);
  }
  at->now_ns = PPI_MAX(at->now_ns, until_ns);
  return num;
}

static bool share_time(ppi_walk_state *at) {
  size_t num = at->num_ranges, num_begun = 0;
  if (!PPI_ROOM(at->order, at->order_capacity, num + 1)) return false;
  for (size_t i = 0; i < num; i++)
    at->order[i] = (ppi_keyed){at->ranges[i].start_ns, i};
  ppi_sort_keyed(at->order, num);
  at->now_ns = at->from_ns;
  at->order[num].key = UINT64_MAX;
  for (size_t i = 0; at->now_ns < at->to_ns; i++) {
    uint64_t until_ns = PPI_MIN(at->order[i].key, at->to_ns);
    num_begun = pass_ranges(at, num_begun, until_ns);
    at->order[num_begun++] = at->order[i];
  }
  return true;
}

// A stretch is cut into slices, so that lists are short.
static void fit_slice(ppi_walk_state *at, size_t num_open) {
  size_t enough = ENOUGH + num_open, num = at->num_ranges - num_open;
  if (num < enough / 2 && at->slice_ns < INT64_MAX)
    at->slice_ns *= 2;
  else if (num > 2 * enough)
    at->slice_ns = at->slice_ns / 2 + 2;
}

static bool walk_slice(ppi_walk_state *at) {
  bool done = true;
  size_t num_open = 0;
  at->num_ranges = 0;
  at->lists = true;
  for (size_t i = 0; i < at->num_lanes && done; i++) {
    ppi_walk_lane *lane = &at->lanes[i];
    at->listed_lane = (uint32_t)i;
    done = has_room(at, lane->num_frames);
    for (size_t k = 0; k < lane->num_frames && done; k++)
      list(at, lane->frames[k].start_ns, lane->frames[k].end_ns,
           lane->frames[k].entry);
    num_open += lane->num_frames;
    done = done && walk_to(at, lane, at->from_ns);
  }
  at->lists = false;
  if (done && !at->is_odd) done = share_time(at);
  fit_slice(at, num_open);
  return done;
}

// ---- hosts ----

// Stretches of the path cover all of the time between two borders, or none.
static bool walk_path(ppi_walk_state *at) {
  const ppi_lane_stretch *path = at->walk->path;
  bool done = true;
  for (size_t i = 0; i < at->num_lanes && done; i++) {
    uint32_t id = at->walk->lanes->items[i].id;
    for (size_t k = at->next_stretch;
         k && path[k - 1].end_ns > at->from_ns && done; k--)
      if (path[k - 1].lane == id)
        done = count_time(at, &at->lanes[i],
                          PPI_MAX(path[k - 1].start_ns, at->from_ns),
                          PPI_MIN(path[k - 1].end_ns, at->to_ns));
    done = done && walk_to(at, &at->lanes[i], at->from_ns);
  }
  return done;
}

// The last border in the stretch, and how many lanes have one.
static uint64_t last_border(const ppi_walk_state *at, size_t *out_lanes) {
  uint64_t last = 0;
  *out_lanes = 0;
  for (size_t i = 0; i < at->num_lanes; i++) {
    const ppi_walk_lane *lane = &at->lanes[i];
    const ppi_walk_frame *top = top_of(lane);
    last = PPI_MAX(last, top ? ppi_walk_as_time(top->start_ns) : 0);
    last = PPI_MAX(last, lane->end);
    *out_lanes += top || lane->end > at->from_ns;
  }
  return last;
}

static bool walk_hosts(ppi_walk_state *at) {
  const ppi_lane_stretch *path = at->walk->path;
  size_t num;
  while (at->next_stretch && path[at->next_stretch - 1].start_ns >= at->to_ns)
    at->next_stretch--;
  if (at->num_active && at->next_stretch &&
      path[at->next_stretch - 1].end_ns > at->from_ns)
    return walk_path(at);
  uint64_t last = last_border(at, &num);
  if (at->num_active && num > 1) {
    if (last > at->slice_ns)
      at->from_ns = PPI_MAX(at->from_ns, last - at->slice_ns);
    return walk_slice(at);
  }
  bool done = true;
  for (size_t i = 0; i < at->num_lanes && done; i++) {
    bool is_in = top_of(&at->lanes[i]) || at->lanes[i].end > at->from_ns;
    if (at->num_active && is_in)
      done = count_time(at, &at->lanes[i], at->from_ns, at->to_ns);
    done = done && walk_to(at, &at->lanes[i], at->from_ns);
  }
  return done;
}

// ---- devices ----

// Of work that goes on, the one that began first owns its device.
static void list_parts(ppi_walk_state *at) {
  const ppi_walk_back *walk = at->walk;
  uint64_t passed_ns = walk->from_ns;
  ppi_sort_keyed(at->calls, at->num_calls);
  for (size_t i = 0; i < at->num_calls; i++) {
    uint32_t item = (uint32_t)at->calls[i].value;
    uint64_t end_ns = PPI_MIN(walk->items[item].device_end_ns, walk->to_ns);
    if (end_ns <= passed_ns || end_ns <= at->calls[i].key) continue;
    at->parts[at->num_parts++] =
        (ppi_device_part){PPI_MAX(at->calls[i].key, passed_ns), end_ns, item};
    passed_ns = end_ns;
  }
}

static bool list_devices(ppi_walk_state *at) {
  const ppi_walk_back *walk = at->walk;
  // Not cleared: items that begin later have no page in memory.
  size_t most = walk->num_items + 1;
  at->calls = ppi_realloc(NULL, most * sizeof *at->calls);
  at->parts = ppi_realloc(NULL, most * sizeof *at->parts);
  at->submissions = ppi_realloc(NULL, most * sizeof *at->submissions);
  if (!at->calls || !at->parts || !at->submissions) return false;
  for (size_t i = 0; i < walk->num_items; i++) {
    const ppi_item *item = &walk->items[i];
    if (!item->device_end_ns) continue;
    if (item->device_start_ns < walk->to_ns)
      at->calls[at->num_calls++] = (ppi_keyed){item->device_start_ns, i};
    if (!(item->flags & PPI_ITEM_BORROWS)) continue;
    at->is_odd |= item->start_ns > item->device_start_ns;
    if (item->start_ns < walk->from_ns || item->start_ns >= walk->to_ns)
      continue;
    ppi_walk_lane *lane = &at->lanes[lane_of(at, item->lane)];
    at->submissions[i] = lane->submission;
    lane->submission = (uint32_t)i + 1;
  }
  list_parts(at);
  return true;
}

static ppi_moment *device_sum(ppi_walk_state *at, size_t item) {
  const ppi_moment place = ppi_moment_on_device(&at->walk->items[item]);
  uint32_t entry = ppi_reported_find(
      &at->reported,
      ppi_reported_key(place.where, place.device, place.stage, place.child));
  return entry == UINT32_MAX ? NULL : ppi_reported_at(&at->reported, entry);
}

// All submissions have places.
static bool walk_devices(ppi_walk_state *at) {
  for (; at->next_call && at->calls[at->next_call - 1].key >= at->from_ns;
       at->next_call--) {
    if (!at->num_active) continue;
    ppi_moment *sum = device_sum(at, at->calls[at->next_call - 1].value);
    if (!sum) return false;
    sum->stage_calls++;
    sum->child_calls += sum->child != 0;
  }
  while (at->next_part && at->parts[at->next_part - 1].end_ns > at->from_ns) {
    const ppi_device_part *part = &at->parts[at->next_part - 1];
    uint64_t start_ns = PPI_MAX(part->start_ns, at->from_ns);
    if (at->num_active) {
      ppi_moment *sum = device_sum(at, part->item);
      if (!sum) return false;
      sum->ns += PPI_MIN(part->end_ns, at->to_ns) - start_ns;
    }
    if (part->start_ns < at->from_ns) break;
    at->next_part--;
  }
  return true;
}

// ---- the walk ----

// Goes back from border to border of units; `walk_stretch` may end earlier.
static bool walk_units(ppi_walk_state *at,
                       bool (*walk_stretch)(ppi_walk_state *)) {
  at->to_ns = at->walk->to_ns;
  at->next_border = at->num_active = 0;
  bool done = ppi_walk_cross_units(at);
  while (done && !at->is_odd && at->to_ns > at->walk->from_ns) {
    bool is_last = at->next_border == at->num_borders;
    uint64_t from_ns =
        is_last ? at->walk->from_ns : at->borders[at->next_border].time - 1;
    at->from_ns = from_ns;
    done = walk_stretch(at);
    at->to_ns = at->from_ns;
    if (done && !at->is_odd && at->to_ns == from_ns)
      done = ppi_walk_cross_units(at);
  }
  return done;
}

PPI_ORDER_OF_POINTERS(compare_open, ppi_item, PPI_BY(ppi_item_compare(a, b)))

static bool push_open(ppi_walk_state *at) {
  const ppi_walk_back *walk = at->walk;
  const ppi_item **open = ppi_alloc((walk->num_open + 1) * sizeof *open);
  bool done = open;
  size_t num = 0;
  for (size_t i = 0; i < walk->num_open && open; i++)
    if (walk->open[i].start_ns < walk->to_ns) open[num++] = &walk->open[i];
  if (num > 1) qsort(open, num, sizeof *open, compare_open);
  for (size_t i = 0; i < num && done; i++) {
    const ppi_buffered range = {open[i]->start_ns, open[i]->end_ns,
                                open[i]->site, (uint16_t)open[i]->depth,
                                (uint16_t)open[i]->flags};
    done = ppi_walk_push(at, &at->lanes[lane_of(at, open[i]->lane)], &range);
  }
  ppi_free(open);
  return done;
}

static bool start(ppi_walk_state *at) {
  const ppi_walk_back *walk = at->walk;
  at->num_lanes = walk->lanes->num;
  at->slice_ns = SLICE_NS;
  at->next_stretch = walk->num_path;
  at->lanes = ppi_alloc((at->num_lanes + 1) * sizeof *at->lanes);
  at->borders = ppi_alloc((2 * walk->num_units + 1) * sizeof *at->borders);
  at->active = ppi_alloc((walk->num_units + 1) * sizeof *at->active);
  if (!at->lanes || !at->borders || !at->active || !list_devices(at))
    return false;
  at->next_call = at->num_calls;
  at->next_part = at->num_parts;
  ppi_walk_list_units(at);
  for (size_t i = 0; i < at->num_lanes; i++) {
    at->lanes[i].pages = walk->lanes->items[i].pages;
    at->lanes[i].pages_left = walk->lanes->items[i].num_pages;
    ppi_walk_next(at, &at->lanes[i]);
  }
  return at->is_odd || push_open(at);
}

static void clear(ppi_walk_state *at) {
  for (size_t i = 0; at->lanes && i < at->num_lanes; i++)
    ppi_free(at->lanes[i].frames);
  PPI_FREE_ALL(at->lanes, at->borders, at->active, at->ranges, at->order,
               at->calls, at->parts, at->submissions);
  ppi_reported_clear(&at->reported);
}

bool ppi_walk_back_run(const ppi_walk_back *walk, bool *out_whole) {
  ppi_walk_state at = {.walk = walk};
  bool done = start(&at);
  if (done && !at.is_odd) done = walk_units(&at, walk_hosts);
  if (done && !at.is_odd && at.num_calls) done = walk_units(&at, walk_devices);
  *out_whole = !at.is_odd;
  clear(&at);
  return done;
}
