// SPDX-License-Identifier: Apache-2.0
//
// Finds the lane that carries each step, and what it waits for in its gaps.
#include "report/answer/step_path.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
  WAKE_NS = 150000,  // a thread goes on so long after what it waits for
  GAP_PARTS = 4,     // of a long gap it may take this part
  CLOSE_PARTS = 16,  // of two ranges, no more than this part of either
  LATE_PARTS = 4,    // of that time, it may end so much later
  LEAST_PARTS = 128  // a shorter part of a step is no wait
};

// An outermost range in a step, or a range of the lane without others in it.
typedef struct part {
  uint64_t start_ns, end_ns;
  uint32_t lane;
  bool is_cut;  // goes on after the step
  bool waits;
} part;

typedef struct parts {
  part *items;
  size_t num, capacity;
} parts;

// What a lane does in a step.
typedef struct share {
  uint64_t taken_ns, free_ns;  // free_ns: at both ends of the step
  uint32_t lane;
  bool is_marker;  // the step is a range of this lane
  bool is_cut;     // a border of the step lies in one of its ranges
} share;

typedef struct step {
  uint64_t start_ns, end_ns, least_ns;
  uint32_t lane;
  size_t num_ranges, num_lanes;
  share carrier;
} step;

typedef struct search {
  const ppi_walk_back *walk;
  step *steps;
  size_t num_steps;
  const ppi_item **open;  // outer ones first
  size_t num_open;
  parts tops, leaves;
  ppi_step_path *out;
} search;

// Reads the ranges of one lane from the last end, outer ones first.
typedef struct reading {
  search *of;
  uint32_t lane;
  size_t step;      // the one before this number
  uint64_t top_ns;  // begin of the latest outermost range
  uint64_t first_ns, last_ns;
  share in;
  part latest;      // a long one; end 0: none
  uint64_t *early;  // begins of ranges that began before the step
  size_t num_early, early_capacity;
} reading;

static bool is_on_lane(const ppi_item *item) {
  return !(item->flags & (PPI_ITEM_LOOSE | PPI_ITEM_NO_HOST));
}

static bool add_part(parts *to, const part *added) {
  return PPI_PUSH(to->items, to->num, to->capacity, *added);
}

// ---- the ranges of a lane ----

static bool is_better(const share *a, const share *b) {
  if (a->is_marker != b->is_marker) return a->is_marker;
  if (a->is_cut != b->is_cut) return b->is_cut;
  if (a->taken_ns / 2 > b->taken_ns) return true;
  if (b->taken_ns / 2 > a->taken_ns) return false;
  if (a->free_ns != b->free_ns) return a->free_ns < b->free_ns;
  return a->taken_ns > b->taken_ns;
}

// Short ranges are one with the range shortly after them.
static bool join_top(reading *at, const step *in, const part *top) {
  part *after = &at->of->tops.items[at->of->tops.num - 1];
  uint64_t length_ns = top->end_ns - top->start_ns;
  if (top->end_ns + in->least_ns <= after->start_ns ||
      PPI_MIN(length_ns, after->end_ns - after->start_ns) >= in->least_ns)
    return false;
  at->in.taken_ns += length_ns;
  at->first_ns = after->start_ns = top->start_ns;
  return true;
}

static bool take_top(reading *at, const step *in, uint64_t start_ns,
                     uint64_t end_ns) {
  const part top = {PPI_MAX(start_ns, in->start_ns),
                    PPI_MIN(end_ns, in->end_ns), at->lane, end_ns > in->end_ns,
                    false};
  at->top_ns = start_ns;
  at->in.is_cut |= top.is_cut || start_ns < in->start_ns;
  if (!at->in.taken_ns) at->last_ns = top.end_ns;
  if (at->in.taken_ns && join_top(at, in, &top)) return true;
  at->first_ns = top.start_ns;
  at->in.taken_ns += top.end_ns - top.start_ns;
  return add_part(&at->of->tops, &top);
}

// No range lies in the latest long one.
static bool end_leaf(reading *at, const step *in) {
  const part leaf = at->latest;
  at->latest.end_ns = 0;
  return leaf.start_ns < in->start_ns || leaf.end_ns > in->end_ns ||
         add_part(&at->of->leaves, &leaf);
}

// Ranges that go on from the step before into this one.
static bool begin_step(reading *at) {
  const step *in = &at->of->steps[at->step - 1];
  at->in = (share){.lane = at->lane, .is_marker = in->lane == at->lane};
  at->top_ns = UINT64_MAX;
  size_t kept = 0;
  bool done = true;
  for (size_t i = 0; i < at->num_early && done; i++) {
    uint64_t start_ns = at->early[i];
    if (start_ns < in->start_ns)
      at->early[kept++] = start_ns;
    else if (start_ns < PPI_MIN(in->end_ns, at->top_ns))
      done = take_top(at, in, start_ns, UINT64_MAX);
  }
  at->num_early = kept;
  return done;
}

static bool end_step(reading *at) {
  step *in = &at->of->steps[at->step - 1];
  if (at->latest.end_ns && !end_leaf(at, in)) return false;
  if (at->in.taken_ns) {
    at->in.free_ns = at->first_ns - in->start_ns + in->end_ns - at->last_ns;
    if (!in->num_lanes++ || is_better(&at->in, &in->carrier))
      in->carrier = at->in;
  }
  return --at->step == 0 || begin_step(at);
}

static bool take_outer(reading *at, const step *in, uint64_t start_ns,
                       uint64_t end_ns) {
  bool is_around = start_ns < in->start_ns && end_ns > in->end_ns;
  return is_around || start_ns >= in->end_ns ||
         take_top(at, in, start_ns, end_ns);
}

static inline bool take_range(reading *at, uint64_t start_ns, uint64_t end_ns,
                              bool waits) {
  while (at->step && end_ns <= at->of->steps[at->step - 1].start_ns)
    if (!end_step(at)) return false;
  if (!at->step) return true;
  step *in = &at->of->steps[at->step - 1];
  in->num_ranges += end_ns <= in->end_ns;
  if (start_ns == end_ns) return true;
  if (start_ns >= at->latest.start_ns)
    at->latest.end_ns = 0;
  else if (at->latest.end_ns && !end_leaf(at, in))
    return false;
  if (end_ns - start_ns >= in->least_ns)
    at->latest = (part){start_ns, end_ns, at->lane, false, waits};
  if (start_ns < in->start_ns &&
      !PPI_PUSH(at->early, at->num_early, at->early_capacity, start_ns))
    return false;
  return start_ns >= at->top_ns || take_outer(at, in, start_ns, end_ns);
}

static bool begin_lane(reading *at, search *of, uint32_t lane) {
  *at = (reading){.of = of, .lane = lane, .step = of->num_steps};
  return begin_step(at);
}

static bool end_lane(reading *at, bool done) {
  while (at->step && done) done = end_step(at);
  ppi_free(at->early);
  return done;
}

// Counts short ranges inside another one, as far as they take one word each.
static void pass_short(reading *at, ppi_hold_place *place) {
  step *in = &at->of->steps[at->step - 1];
  const uint32_t num = place->num_words;
  uint64_t from_ns = PPI_MAX(at->top_ns, in->start_ns);
  while (place->num_words && !at->latest.end_ns) {
    uint64_t word = place->words[place->num_words - 1];
    uint64_t length_ns = ppi_hold_length(word);
    if (word & PPI_HOLD_WIDE || !length_ns || length_ns >= in->least_ns ||
        place->end_ns - length_ns < from_ns || place->end_ns > in->end_ns)
      break;
    ppi_hold_step(place);
  }
  in->num_ranges += num - place->num_words;
}

static bool read_page(reading *at, const ppi_hold_page *page) {
  ppi_hold_place place = ppi_hold_last(page);
  bool done = true;
  if (page->min_start_ns > at->of->steps[at->step - 1].end_ns) return true;
  while (at->step && done) {
    ppi_buffered range;
    pass_short(at, &place);
    if (!place.num_words) break;
    ppi_hold_back(&place, &range);
    if (!(range.flags & PPI_BUFFERED_APART))
      done = take_range(at, range.start_ns, range.end_ns,
                        range.flags & PPI_BUFFERED_WAITS);
  }
  return done;
}

static bool read_lane(search *of, const ppi_answer_lane *lane) {
  reading at;
  bool done = begin_lane(&at, of, lane->id);
  for (size_t i = 0; i < of->num_open && done; i++)
    if (of->open[i]->lane == lane->id)
      done = take_range(&at, of->open[i]->start_ns, UINT64_MAX, false);
  for (size_t i = lane->num_pages; i && at.step && done; i--)
    done = read_page(&at, lane->pages[i - 1]);
  return end_lane(&at, done);
}

// Of one lane from the last end, outer ones first.
PPI_ORDER_OF_POINTERS(compare_read, ppi_item,
                      PPI_UP(lane) PPI_DOWN(end_ns)
                          PPI_BY(ppi_item_compare(a, b)))

static const ppi_item **list_hosts(const ppi_item *items, size_t num,
                                   size_t *out_num) {
  const ppi_item **list = ppi_alloc((num + 1) * sizeof *list);
  *out_num = 0;
  for (size_t i = 0; i < num && list; i++)
    if (is_on_lane(&items[i])) list[(*out_num)++] = &items[i];
  if (list) qsort(list, *out_num, sizeof *list, compare_read);
  return list;
}

static bool read_items(search *of) {
  const ppi_walk_back *walk = of->walk;
  size_t num;
  const ppi_item **list = list_hosts(walk->items, walk->num_items, &num);
  bool done = list;
  for (size_t i = 0; i < num && done;) {
    reading at;
    uint32_t lane = list[i]->lane;
    done = begin_lane(&at, of, lane);
    for (; i < num && list[i]->lane == lane && done; i++)
      done = take_range(&at, list[i]->start_ns, list[i]->end_ns,
                        list[i]->flags & PPI_ITEM_WAITS);
    done = end_lane(&at, done);
  }
  ppi_free(list);
  return done;
}

static bool read_lanes(search *of) {
  const ppi_answer_lanes *lanes = of->walk->lanes;
  of->open = list_hosts(of->walk->open, of->walk->num_open, &of->num_open);
  bool done = of->open;
  for (size_t i = 0; i < lanes->num && done; i++)
    done = read_lane(of, &lanes->items[i]);
  ppi_free(of->open);
  return done;
}

// ---- the path, from its end ----

static bool put(ppi_step_path *out, uint32_t lane, uint64_t start_ns,
                uint64_t end_ns) {
  if (start_ns >= end_ns) return true;
  ppi_lane_stretch *last = out->num ? &out->items[out->num - 1] : NULL;
  if (last && last->lane == lane && last->start_ns == end_ns) {
    last->start_ns = start_ns;
    return true;
  }
  return PPI_PUSH(out->items, out->num, out->capacity,
                  (ppi_lane_stretch){start_ns, end_ns, lane});
}

static uint64_t closeness(const part *at) {
  return PPI_MIN(WAKE_NS, (at->end_ns - at->start_ns) / CLOSE_PARTS);
}

// The carrier's path from `now_ns` back; `tops` are those not yet passed.
typedef struct carrying {
  search *of;
  const parts *tops;
  uint32_t lane;
  uint64_t now_ns, least_ns;
  size_t num_tops;
} carrying;

// The latest range of another lane that ends by `time_ns`, or hardly later.
static const part *last_other(carrying *at, uint64_t time_ns) {
  for (; at->num_tops; at->num_tops--) {
    const part *other = &at->tops->items[at->num_tops - 1];
    if (other->lane != at->lane && !other->is_cut &&
        other->end_ns <= time_ns + closeness(other) / LATE_PARTS)
      return other;
  }
  return NULL;
}

// Gives the time in which the carrier waits to the ranges that it waits for, if
// one of them ends when it goes on.
static bool fill(carrying *at, const part *wait, bool is_idle) {
  uint64_t length_ns = wait->end_ns - wait->start_ns;
  uint64_t near_ns =
      is_idle ? PPI_MAX(WAKE_NS, length_ns / GAP_PARTS) : closeness(wait);
  uint64_t time_ns = PPI_MIN(wait->end_ns, at->now_ns);
  const part *other = last_other(at, wait->end_ns);
  if (other && !is_idle) near_ns = PPI_MIN(near_ns, closeness(other));
  if (!other || other->end_ns + near_ns < wait->end_ns ||
      (!is_idle && other->end_ns > wait->end_ns + near_ns / LATE_PARTS))
    return true;
  for (; other && other->end_ns > wait->start_ns && time_ns > wait->start_ns;
       other = last_other(at, time_ns)) {
    uint64_t start_ns = PPI_MAX(other->start_ns, wait->start_ns);
    uint64_t end_ns = PPI_MIN(other->end_ns, time_ns);
    if (start_ns >= end_ns) {
      at->num_tops--;
      continue;
    }
    if (!put(at->of->out, at->lane, end_ns, at->now_ns) ||
        !put(at->of->out, other->lane, start_ns, end_ns))
      return false;
    at->now_ns = time_ns = start_ns;
    if (other->start_ns >= wait->start_ns) at->num_tops--;
  }
  return true;
}

static bool fill_gap(carrying *at, uint64_t start_ns, uint64_t end_ns) {
  const part gap = {.start_ns = start_ns, .end_ns = end_ns};
  return start_ns + at->least_ns > end_ns || start_ns >= end_ns ||
         fill(at, &gap, true);
}

// `tops` and `leaves` are those of the step.
static bool carry(search *of, const step *in, const parts *tops,
                  const parts *leaves) {
  carrying at = {of,         tops,         in->carrier.lane,
                 in->end_ns, in->least_ns, tops->num};
  uint64_t next_ns = in->end_ns;
  size_t leaf = leaves->num;
  bool done = true;
  for (size_t i = tops->num; i && done; i--) {
    const part *top = &tops->items[i - 1];
    if (top->lane != at.lane) continue;
    done = fill_gap(&at, top->end_ns, next_ns);
    for (; leaf && leaves->items[leaf - 1].end_ns > top->start_ns; leaf--) {
      const part *wait = &leaves->items[leaf - 1];
      if (wait->lane == at.lane && done) done = fill(&at, wait, wait->waits);
    }
    next_ns = PPI_MIN(next_ns, top->start_ns);
  }
  return done && fill_gap(&at, in->start_ns, next_ns) &&
         put(of->out, at.lane, in->start_ns, at.now_ns);
}

static uint64_t end_of(const void *at) {
  return ((const part *)at)->end_ns;
}

PPI_ORDER(compare_parts, part,
          PPI_UP(end_ns) PPI_UP(start_ns) PPI_UP(lane) PPI_UP(waits))

// Takes the parts that end after `from_ns` from the end of `all`.
static parts take_last(parts *all, uint64_t from_ns) {
  size_t num = all->num;
  while (num && all->items[num - 1].end_ns > from_ns) num--;
  parts taken = {all->items + num, all->num - num, 0};
  all->num = num;
  return taken;
}

static bool carry_all(search *of) {
  bool done = true;
  ppi_sort(of->tops.items, of->tops.num, sizeof(part), end_of, compare_parts);
  ppi_sort(of->leaves.items, of->leaves.num, sizeof(part), end_of,
           compare_parts);
  for (size_t i = of->num_steps; i && done; i--) {
    const step *in = &of->steps[i - 1];
    const parts tops = take_last(&of->tops, in->start_ns);
    const parts leaves = take_last(&of->leaves, in->start_ns);
    bool is_long = in->num_ranges > PPI_STEP_PATH_MOST;
    if (in->num_lanes > 1 && !is_long) done = carry(of, in, &tops, &leaves);
  }
  for (size_t i = 0; i < of->out->num / 2; i++) {
    ppi_lane_stretch *a = &of->out->items[i];
    ppi_lane_stretch *b = &of->out->items[of->out->num - 1 - i];
    const ppi_lane_stretch first = *a;
    *a = *b;
    *b = first;
  }
  return done;
}

// ---- steps ----

// Units that overlap have no path, whichever of them is known first.
static bool list_steps(search *of) {
  const ppi_walk_back *walk = of->walk;
  uint64_t last_ns = 0;
  of->steps = ppi_alloc((walk->num_units + 1) * sizeof *of->steps);
  for (size_t i = 0; i < walk->num_units && of->steps; i++) {
    const ppi_moment_unit *unit = &walk->units[i];
    if (!unit->is_frame || unit->end_ns <= unit->start_ns) continue;
    step *before = of->num_steps ? &of->steps[of->num_steps - 1] : NULL;
    if (before && before->end_ns > unit->start_ns) of->num_steps--;
    if (unit->start_ns >= PPI_MAX(last_ns, walk->from_ns) && !unit->is_cut &&
        unit->end_ns <= walk->to_ns && unit->end_ns != UINT64_MAX)
      of->steps[of->num_steps++] =
          (step){.start_ns = unit->start_ns,
                 .end_ns = unit->end_ns,
                 .least_ns = (unit->end_ns - unit->start_ns) / LEAST_PARTS,
                 .lane = unit->lane};
    last_ns = PPI_MAX(last_ns, unit->end_ns);
  }
  return of->steps;
}

// Items are in order.
static void count_items(search *of) {
  size_t at = 0;
  for (size_t i = 0; i < of->walk->num_items && at < of->num_steps; i++) {
    const ppi_item *item = &of->walk->items[i];
    while (at < of->num_steps && of->steps[at].end_ns <= item->start_ns) at++;
    if (at < of->num_steps && item->start_ns >= of->steps[at].start_ns)
      of->steps[at].num_ranges += !is_on_lane(item);
  }
}

bool ppi_step_path_find(const ppi_walk_back *walk, ppi_step_path *out) {
  search of = {.walk = walk, .out = out};
  bool is_alone = walk->lanes && walk->lanes->num < 2;
  out->num = 0;
  bool done = is_alone || list_steps(&of);
  if (of.num_steps && done) {
    count_items(&of);
    done = walk->lanes ? read_lanes(&of) : read_items(&of);
    done = done && carry_all(&of);
  }
  PPI_FREE_ALL(of.steps, of.tops.items, of.leaves.items);
  return done;
}

static size_t count_page(const ppi_hold_page *page, uint64_t from_ns,
                         uint64_t to_ns) {
  ppi_hold_place place = ppi_hold_last(page);
  size_t num = 0;
  if (page->min_start_ns > to_ns) return 0;
  while (place.num_words && place.end_ns > from_ns) {
    ppi_buffered range;
    ppi_hold_back(&place, &range);
    num += range.end_ns <= to_ns && !(range.flags & PPI_BUFFERED_APART);
  }
  return num;
}

bool ppi_step_path_is_long(const ppi_answer_lanes *lanes, const ppi_item *items,
                           size_t num_items, uint64_t from_ns, uint64_t to_ns) {
  size_t num = 0, most = 0;
  for (size_t i = 0; i < lanes->num; i++)
    for (size_t j = 0; j < lanes->items[i].num_pages; j++)
      most += lanes->items[i].pages[j]->num_words;
  if (most + num_items <= PPI_STEP_PATH_MOST) return false;
  for (size_t i = 0; i < num_items; i++) {
    const ppi_item *item = &items[i];
    num += is_on_lane(item)
               ? item->end_ns > from_ns && item->end_ns <= to_ns
               : item->start_ns >= from_ns && item->start_ns < to_ns;
  }
  for (size_t i = 0; i < lanes->num; i++)
    for (size_t j = 0; j < lanes->items[i].num_pages; j++)
      num += count_page(lanes->items[i].pages[j], from_ns, to_ns);
  return num > PPI_STEP_PATH_MOST;
}
