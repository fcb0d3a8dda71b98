// SPDX-License-Identifier: Apache-2.0
//
// Divides a device's time in windows and steps into busy and idle classes.
#include "report/spans/identity.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"

static uint64_t overlap(uint64_t start_a, uint64_t end_a, uint64_t start_b,
                        uint64_t end_b) {
  uint64_t low = PPI_MAX(start_a, start_b), high = PPI_MIN(end_a, end_b);
  return low < high ? high - low : 0;
}

static size_t first_window(const ppi_windows *windows, uint64_t time_ns) {
  return ppi_spans_after(windows->items, windows->num, time_ns);
}

uint64_t ppi_windows_overlap(const ppi_windows *windows, uint64_t start_ns,
                             uint64_t end_ns) {
  return ppi_spans_overlap(windows->items, windows->num, start_ns, end_ns);
}

bool ppi_identity_add(ppi_identity *identity, const ppi_device_side *side) {
  ppi_device_side added = *side;
  added.start_ns = PPI_MAX(side->start_ns, identity->settled_ns);
  added.end_ns = PPI_MAX(side->end_ns, added.start_ns);
  return PPI_PUSH(identity->sides, identity->num_sides,
                  identity->sides_capacity, added);
}

PPI_ORDER(compare_steps, ppi_identity_step, PPI_UP(start_ns) PPI_UP(end_ns))

static size_t find_open(const ppi_identity *identity, uint64_t key,
                        uint64_t start_ns) {
  size_t i = 0;
  while (i < identity->num_open && (identity->open[i].key != key ||
                                    identity->open[i].start_ns != start_ns))
    i++;
  return i;
}

// Only the end of an open step needs a search over all steps.
static void end_open(ppi_identity *identity, size_t open, uint64_t end_ns) {
  const ppi_open_step ended = identity->open[open];
  if (end_ns == UINT64_MAX) return;
  identity->open[open] = identity->open[--identity->num_open];
  for (size_t i = identity->num_steps; i-- > 0;) {
    ppi_identity_step *step = &identity->steps[i];
    if (step->start_ns != ended.start_ns || step->key != ended.key ||
        step->end_ns != UINT64_MAX)
      continue;
    step->end_ns = end_ns;
    return;
  }
}

bool ppi_identity_step_at(ppi_identity *identity, uint64_t key,
                          uint64_t start_ns, uint64_t end_ns) {
  bool is_open = end_ns == UINT64_MAX;
  size_t open = find_open(identity, key, start_ns);
  if (open < identity->num_open) {
    end_open(identity, open, end_ns);
    return true;
  }
  if (start_ns < identity->settled_ns) {
    identity->steps_unchecked += !is_open;
    return true;
  }
  const ppi_identity_step step = {
      .key = key, .start_ns = start_ns, .end_ns = end_ns};
  if (is_open &&
      !PPI_PUSH(identity->open, identity->num_open, identity->open_capacity,
                (ppi_open_step){key, start_ns}))
    return false;
  return PPI_PUSH(identity->steps, identity->num_steps,
                  identity->steps_capacity, step);
}

// The steps that sides and gaps may reach, by number, in order. Steps may
// overlap (those of several threads), so none waits for the step before it.
typedef struct live_steps {
  size_t *items;
  size_t num, next;
} live_steps;

static bool begin_live(const ppi_identity *identity, live_steps *live) {
  *live = (live_steps){0};
  if (!identity->num_steps) return true;
  live->items = ppi_alloc(identity->num_steps * sizeof *live->items);
  return live->items;
}

// Sides and gaps come in order: steps that end by `low_ns` are complete.
static void move_live(const ppi_identity *identity, live_steps *live,
                      uint64_t low_ns, uint64_t high_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < live->num; i++)
    if (identity->steps[live->items[i]].end_ns > low_ns)
      live->items[kept++] = live->items[i];
  for (; live->next < identity->num_steps; live->next++) {
    const ppi_identity_step *step = &identity->steps[live->next];
    if (step->start_ns >= high_ns) break;
    if (step->end_ns > low_ns) live->items[kept++] = live->next;
  }
  live->num = kept;
}

// ---- sides in order ----

PPI_ORDER(compare_sides, ppi_device_side,
          PPI_UP(start_ns) PPI_UP(submit_ns) PPI_UP(end_ns) PPI_UP(error_ns))

static uint64_t side_start(const void *side) {
  return ((const ppi_device_side *)side)->start_ns;
}

// ---- gaps ----

// A gap [start, end) before a side, or after the last one (`next` NULL).
typedef struct idle_gap {
  uint64_t start_ns, end_ns, start_error_ns;
  const ppi_device_side *next;
} idle_gap;

// A gap is classified window by window: a side in another window is no
// neighbour of this window's idle time.
static ppi_idle classify(const idle_gap *gap, const ppi_span *window,
                         uint64_t low_ns, uint64_t high_ns) {
  uint64_t bound_ns = 0;
  if (low_ns == gap->start_ns) bound_ns += gap->start_error_ns;
  if (gap->next && high_ns == gap->end_ns) bound_ns += gap->next->error_ns;
  if (high_ns - low_ns < bound_ns) return PPI_IDLE_UNRESOLVED;
  if (!gap->next || gap->next->submit_ns >= window->end_ns)
    return PPI_IDLE_NO_MORE_WORK;
  return gap->next->submit_ns < low_ns ? PPI_IDLE_QUEUED
                                       : PPI_IDLE_NOT_SUBMITTED;
}

static uint64_t overlap_of(const ppi_union *in_steps, uint64_t start_ns,
                           uint64_t end_ns) {
  return ppi_spans_overlap(in_steps->spans, in_steps->num, start_ns, end_ns);
}

// Keeps the time in steps of the gap that is open at the horizon. The gap has
// no class yet, but steps before the horizon are forgotten.
static bool keep_gap(ppi_identity *identity, const ppi_windows *windows,
                     const ppi_union *in_steps, uint64_t horizon_ns) {
  uint64_t from_ns = PPI_MAX(identity->cursor_ns, identity->settled_ns);
  if (!in_steps->num) return true;
  for (size_t i = first_window(windows, from_ns); i < windows->num; i++) {
    uint64_t low_ns = PPI_MAX(from_ns, windows->items[i].start_ns);
    uint64_t high_ns = PPI_MIN(horizon_ns, windows->items[i].end_ns);
    if (low_ns >= high_ns) break;
    if (!identity->gap_num) identity->gap_first = i;
    size_t at = i - identity->gap_first;
    if (!PPI_REACH(identity->gap_ns, identity->gap_num, identity->gap_capacity,
                   at + 1))
      return false;
    identity->gap_ns[at] += overlap_of(in_steps, low_ns, high_ns);
  }
  return true;
}

// The time of a gap inside steps, in window `at`.
static uint64_t gap_in_steps(const ppi_identity *identity,
                             const ppi_union *in_steps, size_t at,
                             uint64_t low_ns, uint64_t high_ns) {
  bool is_kept =
      at >= identity->gap_first && at - identity->gap_first < identity->gap_num;
  uint64_t kept_ns = is_kept ? identity->gap_ns[at - identity->gap_first] : 0;
  low_ns = PPI_MAX(low_ns, identity->settled_ns);
  return kept_ns + overlap_of(in_steps, low_ns, high_ns);
}

// Adds part of a gap to one idle class.
static bool add_idle(ppi_identity *identity, const idle_gap *gap, ppi_idle idle,
                     const ppi_span *part) {
  uint64_t length_ns = part->end_ns - part->start_ns;
  if (part->end_ns <= part->start_ns) return true;
  identity->idle_ns[idle] += length_ns;
  if (gap->start_ns == 0 && idle == PPI_IDLE_NOT_SUBMITTED)
    identity->first_calls_ns += length_ns;
  if (!identity->has_course) return true;
  return ppi_course_add(&identity->course, (int)idle, part->start_ns,
                        part->end_ns);
}

// The end of the part in which the device's work is known. Untimed work may run
// from its submission on, unless timed work is queued.
static uint64_t known_until(const ppi_identity *identity, ppi_idle idle,
                            const ppi_span *part) {
  if (!identity->untimed_from_ns || idle == PPI_IDLE_QUEUED)
    return part->end_ns;
  uint64_t from_ns = PPI_MAX(identity->untimed_from_ns - 1, part->start_ns);
  return PPI_MIN(from_ns, part->end_ns);
}

static bool take_part(ppi_identity *identity, const idle_gap *gap,
                      const ppi_span *window, const ppi_span *part) {
  ppi_idle idle = classify(gap, window, part->start_ns, part->end_ns);
  uint64_t from_ns = known_until(identity, idle, part);
  const ppi_span known = {part->start_ns, from_ns};
  const ppi_span unknown = {from_ns, part->end_ns};
  return add_idle(identity, gap, idle, &known) &&
         add_idle(identity, gap, PPI_IDLE_UNRESOLVED, &unknown);
}

static bool take_gap(ppi_identity *identity, const ppi_windows *windows,
                     const ppi_union *in_steps, const idle_gap *gap,
                     const live_steps *live) {
  bool done = true;
  for (size_t i = first_window(windows, gap->start_ns); i < windows->num; i++) {
    const ppi_span *window = &windows->items[i];
    uint64_t low_ns = PPI_MAX(gap->start_ns, window->start_ns);
    uint64_t high_ns = PPI_MIN(gap->end_ns, window->end_ns);
    if (window->start_ns >= gap->end_ns) break;
    if (low_ns >= high_ns) continue;
    const ppi_span part = {low_ns, high_ns};
    ppi_idle idle = classify(gap, window, low_ns, high_ns);
    done = done && take_part(identity, gap, window, &part);
    if (idle == PPI_IDLE_NOT_SUBMITTED)
      identity->not_submitted_in_steps_ns += gap_in_steps(
          identity, in_steps, i, low_ns, known_until(identity, idle, &part));
    for (size_t k = 0; k < live->num; k++) {
      ppi_identity_step *step = &identity->steps[live->items[k]];
      if (step->start_ns >= high_ns) break;
      step->idle_ns += overlap(low_ns, high_ns, step->start_ns, step->end_ns);
    }
  }
  identity->gap_num = 0;
  return done;
}

// Adds the part of a side that no earlier side covers to the course.
static bool note_busy(ppi_identity *identity, const ppi_windows *windows,
                      const ppi_device_side *side) {
  uint64_t start_ns = PPI_MAX(side->start_ns, identity->noted_ns);
  if (!identity->has_course) return true;
  identity->noted_ns = PPI_MAX(identity->noted_ns, side->end_ns);
  size_t first = first_window(windows, start_ns);
  for (size_t i = first; i < windows->num; i++) {
    const ppi_span *window = &windows->items[i];
    if (window->start_ns >= side->end_ns) break;
    if (!ppi_course_add(&identity->course, PPI_COURSE_BUSY,
                        PPI_MAX(start_ns, window->start_ns),
                        PPI_MIN(side->end_ns, window->end_ns)))
      return false;
  }
  return true;
}

static void cover(ppi_covered *by, uint64_t start_ns, uint64_t end_ns) {
  start_ns = PPI_MAX(start_ns, by->until_ns);
  if (end_ns <= start_ns) return;
  by->ns += end_ns - start_ns;
  by->until_ns = end_ns;
}

// Adds the parts of a side in `spans`. A late or endless step counts in both
// the ratio base, which has the same spans, and here, or in neither.
static void add_busy(const ppi_span *spans, size_t num,
                     const ppi_device_side *side, ppi_covered *busy) {
  for (size_t i = ppi_spans_after(spans, num, side->start_ns);
       i < num && spans[i].start_ns < side->end_ns; i++) {
    uint64_t low_ns = PPI_MAX(side->start_ns, spans[i].start_ns);
    uint64_t high_ns = PPI_MIN(side->end_ns, spans[i].end_ns);
    cover(&busy[0], low_ns, high_ns);
    if (side->is_kernel) cover(&busy[1], low_ns, high_ns);
  }
}

static void add_to_steps(ppi_identity *identity, const ppi_windows *windows,
                         const ppi_device_side *side, const live_steps *live) {
  for (size_t k = 0; k < live->num; k++) {
    ppi_identity_step *step = &identity->steps[live->items[k]];
    ppi_device_side part = {.start_ns = PPI_MAX(side->start_ns, step->start_ns),
                            .end_ns = PPI_MIN(side->end_ns, step->end_ns)};
    add_busy(windows->items, windows->num, &part, &step->busy);
  }
}

static void check_step(ppi_identity *identity, const ppi_windows *windows,
                       ppi_identity_step *step) {
  uint64_t wall_ns = ppi_windows_overlap(windows, step->start_ns, step->end_ns);
  if (wall_ns != step->busy.ns + step->idle_ns) identity->steps_failed++;
}

static bool take_side(ppi_identity *identity, const ppi_windows *windows,
                      const ppi_union *in_steps, const ppi_device_side *side,
                      const live_steps *live) {
  bool done = true;
  if (side->continued) return true;
  if (side->is_untimed) {
    if (!identity->untimed_from_ns)
      identity->untimed_from_ns = side->submit_ns + 1;
    return true;
  }
  if (side->start_ns > identity->cursor_ns) {
    idle_gap before = {identity->cursor_ns, side->start_ns,
                       identity->cursor_error_ns, side};
    done = take_gap(identity, windows, in_steps, &before, live);
  }
  // Work runs in order of submission: the untimed work has ended.
  if (side->submit_ns >= identity->untimed_from_ns)
    identity->untimed_from_ns = 0;
  if (side->end_ns > identity->cursor_ns) {
    identity->cursor_ns = side->end_ns;
    identity->cursor_error_ns = side->error_ns;
  } else if (side->end_ns == identity->cursor_ns) {
    identity->cursor_error_ns =
        PPI_MAX(identity->cursor_error_ns, side->error_ns);
  }
  return done;
}

// Keeps a step while busy time or the open gap may still reach into it. A step
// wholly inside the open gap is idle throughout: its identity is true for any
// class of the gap.
static void release_steps(ppi_identity *identity, const ppi_windows *windows,
                          uint64_t horizon_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < identity->num_steps; i++) {
    ppi_identity_step *step = &identity->steps[i];
    bool known = step->end_ns <= horizon_ns;
    if (known && step->end_ns <= identity->cursor_ns)
      check_step(identity, windows, step);
    else if (!known || step->start_ns < identity->cursor_ns)
      identity->steps[kept++] = *step;
  }
  identity->num_steps = kept;
}

static bool take_sides(ppi_identity *identity, const ppi_windows *windows,
                       const ppi_union *in_steps, uint64_t horizon_ns,
                       live_steps *live) {
  bool done = true;
  size_t kept = 0;
  for (size_t i = 0; i < identity->num_sides; i++) {
    ppi_device_side side = identity->sides[i];
    if (side.start_ns >= horizon_ns || !done) {
      identity->sides[kept++] = side;
      continue;
    }
    move_live(identity, live, PPI_MIN(side.start_ns, identity->cursor_ns),
              side.end_ns);
    done = take_side(identity, windows, in_steps, &side, live);
    if (side.is_untimed) continue;
    ppi_device_side known = side;
    known.end_ns = PPI_MIN(side.end_ns, horizon_ns);
    done = done && note_busy(identity, windows, &known);
    add_busy(windows->items, windows->num, &known, identity->busy);
    add_busy(in_steps->spans, in_steps->num, &known, identity->busy_in_steps);
    add_to_steps(identity, windows, &known, live);
    if (side.end_ns <= horizon_ns) continue;
    side.start_ns = horizon_ns;
    side.continued = true;
    identity->sides[kept++] = side;
  }
  identity->num_sides = kept;
  return done;
}

static size_t drop_ended(uint64_t *ends_ns, size_t num, uint64_t time_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < num; i++)
    if (ends_ns[i] > time_ns) ends_ns[kept++] = ends_ns[i];
  return kept;
}

// A step that begins in too many others is not checked. An open one is
// forgotten, so its end counts it as late.
static void limit_steps(ppi_identity *identity, uint64_t horizon_ns) {
  uint64_t ends_ns[PPI_IDENTITY_MAX_OPEN];
  size_t num = 0, kept = 0;
  for (size_t i = 0; i < identity->num_steps; i++) {
    ppi_identity_step *step = &identity->steps[i];
    bool is_known = step->start_ns < horizon_ns;
    if (is_known && num == PPI_IDENTITY_MAX_OPEN)
      num = drop_ended(ends_ns, num, step->start_ns);
    if (is_known && num == PPI_IDENTITY_MAX_OPEN) {
      bool is_open = step->end_ns == UINT64_MAX;
      if (is_open) {
        size_t open = find_open(identity, step->key, step->start_ns);
        identity->open[open] = identity->open[--identity->num_open];
      }
      identity->steps_unchecked += !is_open;
      continue;
    }
    if (is_known) ends_ns[num++] = step->end_ns;
    identity->steps[kept++] = *step;
  }
  identity->num_steps = kept;
}

// Takes the gap after the last side, at the end of the run.
static bool take_last_gap(ppi_identity *identity, const ppi_windows *windows,
                          const ppi_union *in_steps, live_steps *live) {
  const idle_gap last = {identity->cursor_ns, UINT64_MAX,
                         identity->cursor_error_ns, NULL};
  move_live(identity, live, identity->cursor_ns, UINT64_MAX);
  bool done = take_gap(identity, windows, in_steps, &last, live);
  identity->cursor_ns = UINT64_MAX;
  return done;
}

bool ppi_identity_settle(ppi_identity *identity, const ppi_windows *windows,
                         const ppi_union *in_steps, uint64_t horizon_ns) {
  if (horizon_ns <= identity->settled_ns) return true;
  ppi_sort(identity->sides, identity->num_sides, sizeof *identity->sides,
           side_start, compare_sides);
  if (identity->num_steps > 1)
    qsort(identity->steps, identity->num_steps, sizeof *identity->steps,
          compare_steps);
  limit_steps(identity, horizon_ns);
  live_steps live;
  bool done = begin_live(identity, &live) &&
              take_sides(identity, windows, in_steps, horizon_ns, &live);
  if (done && horizon_ns == UINT64_MAX)
    done = take_last_gap(identity, windows, in_steps, &live);
  else if (done)
    done = keep_gap(identity, windows, in_steps, horizon_ns);
  ppi_free(live.items);
  if (!done) return false;
  release_steps(identity, windows, horizon_ns);
  identity->settled_ns = horizon_ns;
  if (identity->num_sides) return true;
  ppi_free(identity->sides);
  identity->sides = NULL;
  identity->sides_capacity = 0;
  return true;
}

void ppi_identity_clear(ppi_identity *identity) {
  PPI_FREE_ALL(identity->steps, identity->gap_ns, identity->open,
               identity->sides);
  ppi_course_clear(&identity->course);
  *identity = (ppi_identity){0};
}
