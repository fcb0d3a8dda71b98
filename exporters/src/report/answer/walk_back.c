// SPDX-License-Identifier: Apache-2.0
//
// Walks back over all lanes. Two trees find the next border: one has the lanes'
// next ends, one the begins of their innermost open ranges. The root of the
// second one names the owner of the moment.
#include "report/answer/walk_back.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/answer/walk_state.h"

// ---- a single lane, without devices and without ranges that wait ----

static inline const ppi_walk_frame *top_of(const ppi_walk_lane *lane) {
  return lane->num_frames ? &lane->frames[lane->num_frames - 1] : NULL;
}

static inline void pass_frame(ppi_walk_state *at, const ppi_walk_frame *top,
                              uint64_t time) {
  uint64_t passed_ns = at->now - time;
  at->now = time;
  if (top && passed_ns && at->num_active)
    ppi_reported_at(&at->reported, top->entry)->ns += passed_ns;
}

// Crosses all borders at `until` and later, begins before units. An empty range
// at `until` comes before units, and before the begin of its outer range.
static bool cross(ppi_walk_state *at, ppi_walk_lane *lane, uint64_t until,
                  const ppi_buffered *empty) {
  bool done = true;
  while (done) {
    const ppi_walk_frame *top = top_of(lane);
    uint64_t begin = top ? ppi_walk_as_time(top->start_ns) : 0;
    uint64_t next = PPI_MAX(begin, at->next_other);
    if (next < until) break;
    bool is_unit = at->next_other > begin;
    if (PPI_UNLIKELY(empty && next == until) &&
        (is_unit || ppi_walk_is_outer(top, empty)))
      break;
    pass_frame(at, top, next);
    if (PPI_UNLIKELY(is_unit))
      done = ppi_walk_cross_units(at);
    else
      ppi_walk_pop(at, lane);
  }
  return done;
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

static bool walk_one_lane(ppi_walk_state *at) {
  ppi_walk_lane *lane = &at->lanes[0];
  const ppi_buffered *range = &lane->range;
  bool done = true;
  uint64_t end = at->ends[1].time;
  for (; end && !at->is_odd && done; end = ppi_walk_next(at, lane)) {
    if (is_below(at, lane, range)) {
      skip_below(at, lane);
      continue;
    }
    bool is_empty = ppi_walk_is_empty(range);
    done = cross(at, lane, end, is_empty ? range : NULL);
    if (!done) break;
    pass_frame(at, top_of(lane), end);
    done = is_empty ? ppi_walk_take_empty(at, lane)
                    : ppi_walk_push(at, lane, range);
    skip_below(at, lane);
  }
  if (!done || at->is_odd) return done;
  uint64_t from = ppi_walk_as_time(at->walk->from_ns);
  done = cross(at, lane, from, NULL);
  pass_frame(at, top_of(lane), from);
  return done;
}

// ---- several lanes ----

enum {
  NUM_SUMS = 256,  // a power of two
  LEAST_PARTS = 512
};

// Sets the begin of the lane's innermost open range.
static inline void set_begin(ppi_walk_state *at, size_t number) {
  const ppi_walk_lane *lane = &at->lanes[number];
  uint64_t time = 0;
  uint32_t entry = 0;
  if (lane->num_frames) {
    const ppi_walk_frame *top = &lane->frames[lane->num_frames - 1];
    time = ppi_walk_as_time(top->start_ns);
    entry = top->flags & PPI_ITEM_WAITS ? PPI_TIME_WAITING : top->entry;
  }
  ppi_time_set(at->begins, at->width + number, time,
               (uint64_t)number << 32 | entry);
}

static inline void set_end(ppi_walk_state *at, size_t number, uint64_t time) {
  ppi_time_set(at->ends, at->width + number, time, (uint64_t)number << 32);
}

static inline bool push(ppi_walk_state *at, size_t number,
                        const ppi_buffered *range) {
  bool done = ppi_walk_push(at, &at->lanes[number], range);
  if (done) set_begin(at, number);
  return done;
}

static inline void pop(ppi_walk_state *at, size_t number) {
  ppi_walk_pop(at, &at->lanes[number]);
  set_begin(at, number);
}

static inline void next_range(ppi_walk_state *at, size_t number) {
  set_end(at, number, ppi_walk_next(at, &at->lanes[number]));
}

static inline bool take_end(ppi_walk_state *at, size_t number) {
  ppi_walk_lane *lane = &at->lanes[number];
  bool done = ppi_walk_is_empty(&lane->range) ? ppi_walk_take_empty(at, lane)
                                              : push(at, number, &lane->range);
  if (done) next_range(at, number);
  return done;
}

// An empty range at the begin of its outer range comes before that begin.
static inline bool holds_empty(const ppi_walk_state *at, size_t number) {
  const ppi_walk_lane *lane = &at->lanes[number];
  return at->ends[at->width + number].time ==
             at->begins[at->width + number].time &&
         ppi_walk_is_empty(&lane->range) &&
         ppi_walk_is_outer(&lane->frames[lane->num_frames - 1], &lane->range);
}

// ---- devices ----

static bool list_devices(ppi_walk_state *at) {
  const ppi_walk_back *walk = at->walk;
  at->steps = ppi_alloc((3 * walk->num_items + 1) * sizeof *at->steps);
  if (!at->steps) return false;
  at->num_steps = ppi_device_borders_list(
      walk->items, walk->num_items, walk->from_ns, walk->to_ns, at->steps);
  for (size_t i = 0; i < walk->num_items; i++) {
    const ppi_item *item = &walk->items[i];
    at->is_odd |= item->device_end_ns && item->flags & PPI_ITEM_BORROWS &&
                  item->start_ns > item->device_start_ns;
  }
  return true;
}

static bool is_same_place(const ppi_moment *a, const ppi_moment *b) {
  return a->unit == b->unit && a->where == b->where && a->device == b->device &&
         a->stage == b->stage && a->child == b->child;
}

static bool add_sum(const ppi_walk_state *at, const ppi_moment *sum) {
  bool is_none = sum->unit == SIZE_MAX;
  return is_none || ppi_account_add(&at->walk->accounts[sum->unit], sum);
}

// The walk has passed the item's submission, or never will.
static bool is_placed(const ppi_walk_state *at, const ppi_item *item) {
  return !(item->flags & PPI_ITEM_BORROWS) ||
         item->start_ns < at->walk->from_ns ||
         ppi_walk_as_time(item->start_ns) > at->now;
}

static bool fold_part(ppi_walk_state *at, const ppi_device_part *part,
                      ppi_moment sums[NUM_SUMS]) {
  ppi_moment moment = ppi_moment_on_device(&at->walk->items[part->item]);
  moment.unit = part->unit;
  size_t hash = moment.unit * 61 + moment.device * 31 + moment.stage * 7;
  ppi_moment *sum = &sums[(hash + moment.child) % NUM_SUMS];
  bool done = true;
  if (!is_same_place(sum, &moment)) {
    done = add_sum(at, sum);
    *sum = moment;
  }
  sum->ns += part->ns;
  sum->stage_calls += part->calls;
  sum->child_calls += moment.child ? part->calls : 0;
  return done;
}

// Folds parts with a known place. Many have the place of a part shortly before:
// one sum has both.
static bool fold_devices(ppi_walk_state *at, bool is_last) {
  ppi_moment sums[NUM_SUMS];
  bool done = true;
  size_t kept = 0;
  for (size_t i = 0; i < NUM_SUMS; i++)
    sums[i] = (ppi_moment){.unit = SIZE_MAX};
  for (size_t i = 0; i < at->num_parts && done; i++) {
    const ppi_device_part part = at->parts[i];
    if (is_last || is_placed(at, &at->walk->items[part.item]))
      done = fold_part(at, &part, sums);
    else
      at->parts[kept++] = part;
  }
  for (size_t i = 0; i < NUM_SUMS && done; i++) done = add_sum(at, &sums[i]);
  at->num_parts = kept;
  at->num_last_parts = 0;
  at->fold_parts_at = PPI_MAX(2 * kept, (size_t)LEAST_PARTS);
  return done;
}

// Most time follows on other time of the same item: it gets no new part.
static bool tell_device(ppi_walk_state *at, uint32_t item, uint64_t ns,
                        uint32_t calls) {
  size_t last = at->num_parts - at->num_last_parts;
  if (at->num_last_parts && at->parts[last].item == item) {
    for (; last < at->num_parts; last++) {
      at->parts[last].ns += ns;
      at->parts[last].calls += calls;
    }
    return true;
  }
  if (at->num_active == 0) return true;
  if (at->num_parts >= PPI_MAX(at->fold_parts_at, (size_t)LEAST_PARTS) &&
      !fold_devices(at, false))
    return false;
  if (!PPI_ROOM(at->parts, at->parts_capacity, at->num_parts + at->num_active))
    return false;
  for (size_t i = 0; i < at->num_active; i++)
    at->parts[at->num_parts++] =
        (ppi_device_part){(uint32_t)at->active[i], item, ns, calls};
  at->num_last_parts = at->num_active;
  return true;
}

// Call this before the running item or the units change.
static bool tell_running(ppi_walk_state *at) {
  uint64_t ns = at->running_ns;
  at->running_ns = 0;
  return !ns || tell_device(at, at->running[at->num_running - 1], ns, 0);
}

// Items are in order: of those that begin together, the first one counts.
static bool run_device(ppi_walk_state *at, uint32_t item) {
  const ppi_item *items = at->walk->items;
  if (!PPI_ROOM(at->running, at->running_capacity, at->num_running + 1))
    return false;
  size_t place = at->num_running++;
  for (; place; place--) {
    uint32_t before = at->running[place - 1];
    uint64_t began_ns = items[before].device_start_ns;
    uint64_t begins_ns = items[item].device_start_ns;
    if (began_ns > begins_ns || (began_ns == begins_ns && before > item)) break;
    at->running[place] = before;
  }
  at->running[place] = item;
  return true;
}

static void stop_device(ppi_walk_state *at, uint32_t item) {
  size_t kept = 0;
  for (size_t i = 0; i < at->num_running; i++)
    if (at->running[i] != item) at->running[kept++] = at->running[i];
  at->num_running = kept;
}

static void submit(const ppi_walk_state *at, ppi_item *item) {
  const ppi_answer_lane *lane =
      ppi_answer_lanes_at(at->walk->lanes, item->lane);
  size_t number = (size_t)(lane - at->walk->lanes->items);
  const ppi_walk_lane *of = &at->lanes[number];
  const ppi_walk_frame *top =
      of->num_frames ? &of->frames[of->num_frames - 1] : NULL;
  ppi_item_submit(item, top ? top->stage : item->site, top ? top->child : 0,
                  at->walk->names);
}

static bool take_step(ppi_walk_state *at) {
  const ppi_device_border *met = &at->steps[at->next_step++];
  bool done = tell_running(at);
  ppi_walk_find_other(at);
  if (!done) return false;
  if (met->kind == PPI_DEVICE_END)
    done = run_device(at, met->item);
  else if (met->kind == PPI_DEVICE_SUBMIT)
    submit(at, &at->walk->items[met->item]);
  else
    done = tell_device(at, met->item, 0, 1);
  if (met->kind == PPI_DEVICE_BEGIN) stop_device(at, met->item);
  return done;
}

// ---- the walk ----

static bool cross_units(ppi_walk_state *at) {
  if (!tell_running(at)) return false;
  bool done = ppi_walk_cross_units(at);
  for (size_t i = 0; i < at->num_lanes; i++)
    if (at->lanes[i].num_frames) set_begin(at, i);
  return done;
}

// The latest range that does not wait, or else the latest one of all.
static uint32_t find_owner(const ppi_walk_state *at) {
  const ppi_walk_frame *found = NULL;
  for (size_t i = 0; i < at->num_lanes; i++) {
    const ppi_walk_lane *lane = &at->lanes[i];
    const ppi_walk_frame *other = &lane->frames[lane->num_frames];
    if (!lane->num_frames || (--other)->flags & PPI_ITEM_WAITS) continue;
    if (!found || other->start_ns >= found->start_ns) found = other;
  }
  const ppi_walk_lane *last = &at->lanes[ppi_time_lane(&at->begins[1])];
  return (found ? found : &last->frames[last->num_frames - 1])->entry;
}

static inline void pass_time(ppi_walk_state *at, uint64_t time) {
  uint64_t passed_ns = at->now - time;
  at->now = time;
  if (!passed_ns || !at->num_active) return;
  if (at->num_running) {
    at->running_ns += passed_ns;
    return;
  }
  size_t only = at->path_lane;
  const ppi_time_node *last = &at->begins[only ? at->width + only - 1 : 1];
  if (!last->time) return;
  uint32_t entry = (uint32_t)last->who;
  if (PPI_UNLIKELY(entry == PPI_TIME_WAITING))
    entry = only ? top_of(&at->lanes[only - 1])->entry : find_owner(at);
  ppi_reported_at(&at->reported, entry)->ns += passed_ns;
}

static size_t lane_of(const ppi_walk_state *at, uint32_t id) {
  size_t i = 0;
  while (at->walk->lanes->items[i].id != id) i++;
  return i;
}

static bool cross_path(ppi_walk_state *at) {
  const ppi_lane_stretch *next = &at->walk->path[at->next_stretch - 1];
  if (at->path_lane) {
    at->path_lane = 0;
    at->next_stretch--;
  } else {
    at->path_lane = lane_of(at, next->lane) + 1;
  }
  ppi_walk_find_other(at);
  return true;
}

// At one time, begins come first, then units, then ends.
static bool take_other(ppi_walk_state *at, uint64_t next) {
  if (ppi_walk_path_time(at) == next) return cross_path(at);
  const ppi_time_node *begin = &at->begins[1], *end = &at->ends[1];
  bool is_device = ppi_walk_step_time(at) == next;
  if (is_device && at->steps[at->next_step].kind != PPI_DEVICE_END)
    return take_step(at);
  if (begin->time == next) {
    if (holds_empty(at, ppi_time_lane(begin)))
      return take_end(at, ppi_time_lane(begin));
    pop(at, ppi_time_lane(begin));
    return true;
  }
  bool is_end = end->time == next;
  if (ppi_walk_unit_time(at) == next &&
      !(is_end && ppi_walk_is_empty(&at->lanes[ppi_time_lane(end)].range)))
    return cross_units(at);
  return is_device ? take_step(at) : take_end(at, ppi_time_lane(end));
}

static inline bool take_next(ppi_walk_state *at, uint64_t next) {
  const ppi_time_node *begin = &at->begins[1];
  if (PPI_UNLIKELY(next == at->next_other)) return take_other(at, next);
  if (begin->time != next) return take_end(at, ppi_time_lane(&at->ends[1]));
  if (PPI_UNLIKELY(holds_empty(at, ppi_time_lane(begin))))
    return take_end(at, ppi_time_lane(begin));
  pop(at, ppi_time_lane(begin));
  return true;
}

static bool walk_lanes(ppi_walk_state *at) {
  bool done = true;
  while (done && !at->is_odd) {
    uint64_t next = PPI_MAX(at->begins[1].time, at->ends[1].time);
    next = PPI_MAX(next, at->next_other);
    if (next <= at->walk->from_ns) break;
    pass_time(at, next);
    done = take_next(at, next);
  }
  if (!done || at->is_odd) return done;
  pass_time(at, ppi_walk_as_time(at->walk->from_ns));
  return tell_running(at);
}

static bool walk_all(ppi_walk_state *at) {
  at->now = ppi_walk_as_time(at->walk->to_ns);
  const ppi_walk_back *walk = at->walk;
  bool is_one =
      at->num_lanes == 1 && !walk->num_items && !walk->lanes->any_waits;
  bool done = is_one ? walk_one_lane(at) : walk_lanes(at);
  if (!done || at->is_odd) return done;
  return ppi_walk_flush(at) && fold_devices(at, true);
}

static int compare_open(const void *left, const void *right) {
  const ppi_item *a = *(const ppi_item *const *)left;
  const ppi_item *b = *(const ppi_item *const *)right;
  return ppi_item_compare(a, b);
}

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
    done = push(at, lane_of(at, open[i]->lane), &range);
  }
  ppi_free(open);
  return done;
}

static bool make_room(ppi_walk_state *at) {
  const ppi_walk_back *walk = at->walk;
  at->num_lanes = walk->lanes->num;
  for (at->width = 1; at->width < at->num_lanes; at->width *= 2) {
  }
  at->lanes = ppi_alloc(at->width * sizeof *at->lanes);
  at->ends = ppi_alloc(2 * at->width * sizeof *at->ends);
  at->begins = ppi_alloc(2 * at->width * sizeof *at->begins);
  at->borders = ppi_alloc((2 * walk->num_units + 1) * sizeof *at->borders);
  at->active = ppi_alloc((walk->num_units + 1) * sizeof *at->active);
  return at->lanes && at->ends && at->begins && at->borders && at->active &&
         list_devices(at);
}

static void start(ppi_walk_state *at) {
  for (size_t i = 0; i < at->width; i++)
    at->ends[at->width + i].who = at->begins[at->width + i].who = (uint64_t)i
                                                                  << 32;
  ppi_walk_list_units(at);
  at->next_stretch = at->walk->num_path;
  for (size_t i = 0; i < at->num_lanes; i++) {
    at->lanes[i].pages = at->walk->lanes->items[i].pages;
    at->lanes[i].pages_left = at->walk->lanes->items[i].num_pages;
    next_range(at, i);
  }
  ppi_walk_find_other(at);
}

static void clear(ppi_walk_state *at) {
  for (size_t i = 0; at->lanes && i < at->width; i++)
    ppi_free(at->lanes[i].frames);
  ppi_free(at->lanes);
  ppi_free(at->ends);
  ppi_free(at->begins);
  ppi_free(at->borders);
  ppi_free(at->active);
  ppi_free(at->steps);
  ppi_free(at->running);
  ppi_free(at->parts);
  ppi_reported_clear(&at->reported);
}

bool ppi_walk_back_run(const ppi_walk_back *walk, bool *out_whole) {
  ppi_walk_state at = {.walk = walk};
  bool done = false;
  if (make_room(&at)) {
    start(&at);
    done = at.is_odd || push_open(&at);
  }
  if (done && !at.is_odd) done = walk_all(&at);
  *out_whole = !at.is_odd;
  clear(&at);
  return done;
}
