// SPDX-License-Identifier: Apache-2.0
//
// Two trees find what comes next in time, going back: one of the lanes' next
// ends, one of the begins of their innermost open ranges. Whose moment it is
// stands at the root of the second.
#include "report/answer/walk_back.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/answer/device_borders.h"
#include "report/answer/time_tree.h"
#include "report/answer/told.h"

// A range that is open at the time of the walk.
typedef struct frame {
  uint64_t start_ns, end_ns;
  uint32_t site, depth, flags;
  uint32_t stage, child;  // sites; child 0: none
  uint32_t level;         // how many ranges down from its stage
  uint32_t entry;         // of what is told
} frame;

typedef struct walk_lane {
  const ppi_hold_page **pages;
  size_t pages_left;
  ppi_hold_place place;
  ppi_held range;  // comes next, if any does
  frame *frames;   // outer ones first
  size_t num_frames, frames_capacity;
  frame begun;  // the last one that left; without an end: none
} walk_lane;

typedef struct unit_border {
  uint64_t time;
  size_t unit;
  bool begins;
} unit_border;

// For whom it was is known at its submission, which comes later in the walk.
typedef struct device_part {
  size_t unit;
  uint32_t item;
  uint64_t ns, calls;
} device_part;

typedef struct walk_state {
  const ppi_walk_back *walk;
  walk_lane *lanes;
  size_t num_lanes, width;       // width: a power of two
  ppi_time_node *ends, *begins;  // 1: the root; those from `width` on are lanes
  unit_border *borders;          // from the last
  size_t num_borders, next_border;
  size_t *active;  // units
  size_t num_active;
  ppi_device_border *steps;  // of devices, from the last
  size_t num_steps, next_step;
  uint32_t *running;  // items on devices, the one that began first at the end
  size_t num_running, running_capacity;
  device_part *parts;
  size_t num_parts, parts_capacity;
  size_t num_last_parts;  // of one item, since the last border of a unit
  uint64_t since_ns;      // where the frame that began last did
  uint64_t now;           // a time + 1
  uint64_t next_other;    // border of a unit or a device: the same
  uint64_t unit_time;
  ppi_told told;
  bool is_odd;
} walk_state;

static uint64_t as_time(uint64_t ns) {
  return ns == UINT64_MAX ? ns : ns + 1;
}

// Of the innermost range that is open on the lane.
static inline void set_begin(walk_state *at, size_t number) {
  const walk_lane *lane = &at->lanes[number];
  uint64_t time = 0;
  uint32_t entry = 0;
  if (lane->num_frames) {
    const frame *top = &lane->frames[lane->num_frames - 1];
    time = as_time(top->start_ns);
    entry = top->flags & PPI_ITEM_WAITS ? PPI_TIME_WAITING : top->entry;
  }
  ppi_time_set(at->begins, at->width + number, time,
               (uint64_t)number << 32 | entry);
}

static inline void set_end(walk_state *at, size_t number, uint64_t time) {
  ppi_time_set(at->ends, at->width + number, time, (uint64_t)number << 32);
}

static pprof_status flush(walk_state *at) {
  return ppi_told_flush(&at->told, at->walk->accounts, at->active,
                        at->num_active);
}

// ---- frames ----

// Whether `outer` is the one that begins first.
static bool is_outer(const frame *outer, const ppi_held *range) {
  if (outer->start_ns != range->start_ns)
    return outer->start_ns < range->start_ns;
  if (outer->depth != range->depth) return outer->depth < range->depth;
  if (outer->site != range->site) return outer->site < range->site;
  if (outer->flags != range->flags) return outer->flags < range->flags;
  return outer->end_ns < range->end_ns;
}

// `around` is NULL where nothing is.
static inline bool place_frame(walk_state *at, frame *self,
                               const frame *around) {
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
  self->entry = ppi_told_find(&at->told, &place);
  return self->entry != UINT32_MAX;
}

static bool place_all(walk_state *at) {
  bool placed = true;
  for (size_t i = 0; i < at->num_lanes; i++) {
    frame *frames = at->lanes[i].frames;
    for (size_t j = 0; j < at->lanes[i].num_frames && placed; j++)
      placed = place_frame(at, &frames[j], j ? &frames[j - 1] : NULL);
    if (at->lanes[i].num_frames) set_begin(at, i);
  }
  return placed;
}

static inline void count_call(walk_state *at, const frame *self) {
  if (!at->num_active || self->level > 1) return;
  ppi_moment *sum = ppi_told_at(&at->told, self->entry);
  sum->stage_calls += self->level == 0;
  sum->child_calls += self->level == 1;
}

static frame frame_of(const ppi_held *range) {
  return (frame){.start_ns = range->start_ns,
                 .end_ns = range->end_ns,
                 .site = range->site,
                 .depth = range->depth,
                 .flags = range->flags};
}

static inline pprof_status push(walk_state *at, size_t number,
                                const ppi_held *range) {
  walk_lane *lane = &at->lanes[number];
  if (lane->num_frames == lane->frames_capacity) {
    frame *grown = ppi_grow(lane->frames, &lane->frames_capacity,
                            lane->num_frames + 1, sizeof *grown);
    if (!grown) return PPROF_STATUS_NO_MEMORY;
    lane->frames = grown;
  }
  frame *self = &lane->frames[lane->num_frames];
  const frame *around = lane->num_frames ? self - 1 : NULL;
  *self = frame_of(range);
  if (around && (range->end_ns > around->end_ns || !is_outer(around, range))) {
    at->is_odd = true;
    return PPROF_STATUS_OK;
  }
  if (!place_frame(at, self, around)) return PPROF_STATUS_NO_MEMORY;
  lane->num_frames++;
  set_begin(at, number);
  return PPROF_STATUS_OK;
}

static inline void pop(walk_state *at, size_t number) {
  walk_lane *lane = &at->lanes[number];
  lane->begun = lane->frames[--lane->num_frames];
  count_call(at, &lane->begun);
  set_begin(at, number);
}

// ---- ranges ----

static bool turn_page(const walk_state *at, walk_lane *lane) {
  while (lane->pages_left) {
    const ppi_hold_page *page = lane->pages[--lane->pages_left];
    if (page->min_start_ns >= at->walk->to_ns || !page->num_words) continue;
    lane->place = ppi_hold_last(page);
    return true;
  }
  return false;
}

static inline void next_range(walk_state *at, size_t number) {
  const ppi_walk_back *walk = at->walk;
  walk_lane *lane = &at->lanes[number];
  ppi_held *range = &lane->range;
  while (lane->place.num_words || turn_page(at, lane)) {
    ppi_hold_back(&lane->place, range);
    if (range->end_ns < walk->from_ns) break;
    if (PPI_UNLIKELY(range->flags)) {
      if (range->flags & PPI_HELD_APART) continue;
      range->flags = (uint16_t)ppi_answer_flags(range);
    }
    bool is_passed =
        range->end_ns == walk->from_ns && range->start_ns < range->end_ns;
    if (range->start_ns >= walk->to_ns || is_passed) continue;
    uint64_t end_ns = PPI_MIN(range->end_ns, walk->to_ns);
    set_end(at, number, as_time(end_ns));
    return;
  }
  set_end(at, number, 0);
}

static inline bool is_empty(const ppi_held *range) {
  return range->start_ns == range->end_ns;
}

// What begins with it, or ends there, is not around it.
static pprof_status take_empty(walk_state *at, walk_lane *lane) {
  const ppi_held *range = &lane->range;
  const frame *begun = &lane->begun;
  bool is_late = begun->end_ns && begun->start_ns == range->start_ns &&
                 is_outer(begun, range);
  if (is_late || at->unit_time == as_time(range->start_ns)) {
    at->is_odd = true;
    return PPROF_STATUS_OK;
  }
  size_t num = lane->num_frames;
  while (num && (lane->frames[num - 1].end_ns == range->end_ns ||
                 !is_outer(&lane->frames[num - 1], range)))
    num--;
  frame self = frame_of(range);
  if (!place_frame(at, &self, num ? &lane->frames[num - 1] : NULL))
    return PPROF_STATUS_NO_MEMORY;
  count_call(at, &self);
  return PPROF_STATUS_OK;
}

static inline pprof_status take_end(walk_state *at, size_t number) {
  walk_lane *lane = &at->lanes[number];
  pprof_status status = is_empty(&lane->range) ? take_empty(at, lane)
                                               : push(at, number, &lane->range);
  if (status == PPROF_STATUS_OK) next_range(at, number);
  return status;
}

// An empty range at the begin of the one that it lies in comes before that.
static inline bool holds_empty(const walk_state *at, size_t number) {
  const walk_lane *lane = &at->lanes[number];
  return at->ends[at->width + number].time ==
             at->begins[at->width + number].time &&
         is_empty(&lane->range) &&
         is_outer(&lane->frames[lane->num_frames - 1], &lane->range);
}

// ---- borders of units and devices ----

static uint64_t step_time(const walk_state *at) {
  return at->next_step < at->num_steps ? at->steps[at->next_step].time : 0;
}

static uint64_t unit_time(const walk_state *at) {
  return at->next_border < at->num_borders ? at->borders[at->next_border].time
                                           : 0;
}

static void find_next_other(walk_state *at) {
  at->next_other = PPI_MAX(unit_time(at), step_time(at));
}

// ---- units ----

static int compare_unit_borders(const void *left, const void *right) {
  const unit_border *a = left, *b = right;
  return (a->time < b->time) - (a->time > b->time);
}

static void add_unit(walk_state *at, size_t unit) {
  const ppi_walk_back *walk = at->walk;
  uint64_t start_ns = walk->units[unit].start_ns;
  uint64_t end_ns = walk->units[unit].end_ns;
  if (end_ns <= start_ns || start_ns >= walk->to_ns || end_ns <= walk->from_ns)
    return;
  at->borders[at->num_borders++] =
      (unit_border){as_time(PPI_MIN(end_ns, walk->to_ns)), unit, false};
  if (start_ns >= walk->from_ns)
    at->borders[at->num_borders++] =
        (unit_border){as_time(start_ns), unit, true};
}

static void drop_unit(walk_state *at, size_t unit) {
  for (size_t i = 0; i < at->num_active; i++) {
    if (at->active[i] != unit) continue;
    at->active[i] = at->active[--at->num_active];
    return;
  }
}

static pprof_status cross_units(walk_state *at) {
  pprof_status status = flush(at);
  uint64_t since_ns = 0;
  at->unit_time = at->now;
  at->num_last_parts = 0;
  for (; at->next_border < at->num_borders; at->next_border++) {
    const unit_border *border = &at->borders[at->next_border];
    if (border->time != at->now) break;
    if (border->begins)
      drop_unit(at, border->unit);
    else
      at->active[at->num_active++] = border->unit;
  }
  find_next_other(at);
  for (size_t i = 0; i < at->num_active; i++) {
    const ppi_moment_unit *unit = &at->walk->units[at->active[i]];
    if (unit->is_frame) since_ns = PPI_MAX(since_ns, unit->start_ns);
  }
  if (since_ns == at->since_ns || status != PPROF_STATUS_OK) return status;
  at->since_ns = since_ns;
  return place_all(at) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

// ---- devices ----

static bool list_devices(walk_state *at) {
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

// Most of what is told follows on what was told of the same item.
static bool tell_device(walk_state *at, uint32_t item, uint64_t ns,
                        uint64_t calls) {
  size_t last = at->num_parts - at->num_last_parts;
  if (at->num_last_parts && at->parts[last].item == item) {
    for (; last < at->num_parts; last++) {
      at->parts[last].ns += ns;
      at->parts[last].calls += calls;
    }
    return true;
  }
  if (at->num_active == 0) return true;
  device_part *grown = ppi_grow(at->parts, &at->parts_capacity,
                                at->num_parts + at->num_active, sizeof *grown);
  if (!grown) return false;
  at->parts = grown;
  for (size_t i = 0; i < at->num_active; i++)
    grown[at->num_parts++] = (device_part){at->active[i], item, ns, calls};
  at->num_last_parts = at->num_active;
  return true;
}

static pprof_status fold_devices(walk_state *at) {
  const ppi_walk_back *walk = at->walk;
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < at->num_parts && status == PPROF_STATUS_OK; i++) {
    const device_part *part = &at->parts[i];
    const ppi_item *item = &walk->items[part->item];
    ppi_moment moment = ppi_moment_on_device(item);
    moment.ns = part->ns;
    moment.stage_calls = part->calls;
    moment.child_calls = moment.child ? part->calls : 0;
    status = ppi_account_add(&walk->accounts[part->unit], &moment);
  }
  return status;
}

// Items are in order: of those that began together the first one counts.
static bool run_device(walk_state *at, uint32_t item) {
  const ppi_item *items = at->walk->items;
  uint32_t *grown = ppi_grow(at->running, &at->running_capacity,
                             at->num_running + 1, sizeof *grown);
  if (!grown) return false;
  at->running = grown;
  size_t place = at->num_running++;
  for (; place; place--) {
    uint32_t before = grown[place - 1];
    uint64_t began_ns = items[before].device_start_ns;
    uint64_t begins_ns = items[item].device_start_ns;
    if (began_ns > begins_ns || (began_ns == begins_ns && before > item)) break;
    grown[place] = before;
  }
  grown[place] = item;
  return true;
}

static void stop_device(walk_state *at, uint32_t item) {
  size_t kept = 0;
  for (size_t i = 0; i < at->num_running; i++)
    if (at->running[i] != item) at->running[kept++] = at->running[i];
  at->num_running = kept;
}

static void submit(const walk_state *at, ppi_item *item) {
  const ppi_answer_lane *lane =
      ppi_answer_lanes_at(at->walk->lanes, item->lane);
  size_t number = (size_t)(lane - at->walk->lanes->items);
  const walk_lane *of = &at->lanes[number];
  const frame *top = of->num_frames ? &of->frames[of->num_frames - 1] : NULL;
  item->stage = top ? top->stage : item->site;
  item->child = top ? top->child : 0;
}

static pprof_status take_step(walk_state *at) {
  const ppi_device_border *met = &at->steps[at->next_step++];
  bool done = true;
  find_next_other(at);
  if (met->kind == PPI_DEVICE_END)
    done = run_device(at, met->item);
  else if (met->kind == PPI_DEVICE_SUBMIT)
    submit(at, &at->walk->items[met->item]);
  else
    done = tell_device(at, met->item, 0, 1);
  if (met->kind == PPI_DEVICE_BEGIN) stop_device(at, met->item);
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

// ---- the walk ----

// Of those that wait, too, the one that began last.
static uint32_t find_owner(const walk_state *at) {
  const frame *found = NULL;
  for (size_t i = 0; i < at->num_lanes; i++) {
    const walk_lane *lane = &at->lanes[i];
    const frame *other = &lane->frames[lane->num_frames];
    if (!lane->num_frames || (--other)->flags & PPI_ITEM_WAITS) continue;
    if (!found || other->start_ns >= found->start_ns) found = other;
  }
  const walk_lane *last = &at->lanes[ppi_time_lane(&at->begins[1])];
  return (found ? found : &last->frames[last->num_frames - 1])->entry;
}

static inline bool pass_time(walk_state *at, uint64_t time) {
  uint64_t passed_ns = at->now - time;
  at->now = time;
  if (!passed_ns || !at->num_active) return true;
  if (PPI_UNLIKELY(at->num_running))
    return tell_device(at, at->running[at->num_running - 1], passed_ns, 0);
  const ppi_time_node *last = &at->begins[1];
  if (!last->time) return true;
  uint32_t entry = (uint32_t)last->who;
  if (PPI_UNLIKELY(entry == PPI_TIME_WAITING)) entry = find_owner(at);
  ppi_told_at(&at->told, entry)->ns += passed_ns;
  return true;
}

// What begins comes first, then units, then what ends.
static pprof_status take_other(walk_state *at, uint64_t next) {
  const ppi_time_node *begin = &at->begins[1], *end = &at->ends[1];
  bool is_device = step_time(at) == next;
  if (is_device && at->steps[at->next_step].kind != PPI_DEVICE_END)
    return take_step(at);
  if (begin->time == next) {
    if (holds_empty(at, ppi_time_lane(begin)))
      return take_end(at, ppi_time_lane(begin));
    pop(at, ppi_time_lane(begin));
    return PPROF_STATUS_OK;
  }
  bool is_end = end->time == next;
  if (unit_time(at) == next &&
      !(is_end && is_empty(&at->lanes[ppi_time_lane(end)].range)))
    return cross_units(at);
  return is_device ? take_step(at) : take_end(at, ppi_time_lane(end));
}

static inline pprof_status take_next(walk_state *at, uint64_t next) {
  const ppi_time_node *begin = &at->begins[1];
  if (PPI_UNLIKELY(next == at->next_other)) return take_other(at, next);
  if (begin->time != next) return take_end(at, ppi_time_lane(&at->ends[1]));
  if (PPI_UNLIKELY(holds_empty(at, ppi_time_lane(begin))))
    return take_end(at, ppi_time_lane(begin));
  pop(at, ppi_time_lane(begin));
  return PPROF_STATUS_OK;
}

static pprof_status walk_lanes(walk_state *at) {
  pprof_status status = PPROF_STATUS_OK;
  at->now = as_time(at->walk->to_ns);
  while (status == PPROF_STATUS_OK && !at->is_odd) {
    uint64_t next = PPI_MAX(at->begins[1].time, at->ends[1].time);
    next = PPI_MAX(next, at->next_other);
    if (next <= at->walk->from_ns) break;
    if (!pass_time(at, next)) return PPROF_STATUS_NO_MEMORY;
    status = take_next(at, next);
  }
  if (status != PPROF_STATUS_OK || at->is_odd) return status;
  if (!pass_time(at, as_time(at->walk->from_ns))) return PPROF_STATUS_NO_MEMORY;
  status = flush(at);
  return status == PPROF_STATUS_OK ? fold_devices(at) : status;
}

static int compare_open(const void *left, const void *right) {
  const ppi_item *a = *(const ppi_item *const *)left;
  const ppi_item *b = *(const ppi_item *const *)right;
  return ppi_item_compare(a, b);
}

static size_t lane_of(const walk_state *at, uint32_t id) {
  size_t i = 0;
  while (at->walk->lanes->items[i].id != id) i++;
  return i;
}

static pprof_status push_open(walk_state *at) {
  const ppi_walk_back *walk = at->walk;
  const ppi_item **open = ppi_alloc((walk->num_open + 1) * sizeof *open);
  pprof_status status = open ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
  size_t num = 0;
  for (size_t i = 0; i < walk->num_open && open; i++)
    if (walk->open[i].start_ns < walk->to_ns) open[num++] = &walk->open[i];
  if (num > 1) qsort(open, num, sizeof *open, compare_open);
  for (size_t i = 0; i < num && status == PPROF_STATUS_OK; i++) {
    const ppi_held range = {open[i]->start_ns, open[i]->end_ns, open[i]->site,
                            (uint16_t)open[i]->depth, (uint16_t)open[i]->flags};
    status = push(at, lane_of(at, open[i]->lane), &range);
  }
  ppi_free(open);
  return status;
}

static bool make_room(walk_state *at) {
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

static void start(walk_state *at) {
  for (size_t i = 0; i < at->width; i++)
    at->ends[at->width + i].who = at->begins[at->width + i].who = (uint64_t)i
                                                                  << 32;
  for (size_t i = 0; i < at->walk->num_units; i++) add_unit(at, i);
  if (at->num_borders > 1)
    qsort(at->borders, at->num_borders, sizeof *at->borders,
          compare_unit_borders);
  for (size_t i = 0; i < at->num_lanes; i++) {
    at->lanes[i].pages = at->walk->lanes->items[i].pages;
    at->lanes[i].pages_left = at->walk->lanes->items[i].num_pages;
    next_range(at, i);
  }
  find_next_other(at);
}

static void clear(walk_state *at) {
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
  ppi_told_clear(&at->told);
}

pprof_status ppi_walk_back_run(const ppi_walk_back *walk, bool *out_whole) {
  walk_state at = {.walk = walk};
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  if (make_room(&at)) {
    start(&at);
    status = at.is_odd ? PPROF_STATUS_OK : push_open(&at);
  }
  if (status == PPROF_STATUS_OK && !at.is_odd) status = walk_lanes(&at);
  *out_whole = !at.is_odd;
  clear(&at);
  return status;
}
