// SPDX-License-Identifier: Apache-2.0
//
// Sweeps one lane that has nothing but nested calls.
#include "report/run/plain_sweep.h"

#include "report/run/event_counts.h"
#include "report/run/frames.h"

static inline void unite(uint64_t start_ns, uint64_t end_ns, uint64_t *sum,
                         uint64_t *low_ns) {
  uint64_t before_ns = PPI_MIN(start_ns, *low_ns);
  *sum += PPI_MIN(end_ns, *low_ns) - before_ns;
  *low_ns = before_ns;
}

static void take_phase(ppi_run *run, ppi_run_thread *thread,
                       const ppi_buffered *range) {
  const ppi_run_mark *mark = &run->ids.marks[range->site];
  if (ppi_phase_is_outermost(thread, range))
    ppi_spread_add(&run->steps.times[ppi_phase_of(mark->category)],
                   range->end_ns - range->start_ns);
}

static __attribute__((noinline)) bool meet(ppi_run *run, ppi_run_lane *lane,
                                           const ppi_buffered *range) {
  const ppi_run_mark *mark = &run->ids.marks[range->site];
  unite(range->start_ns, range->end_ns, &mark->place->host_ns,
        &mark->place->low_ns);
  if (PPI_UNLIKELY(mark->traits & PPI_TRAIT_PHASE))
    take_phase(run, lane->thread, range);
  size_t place = ppi_frames_place(lane, range);
  uint32_t around = place ? lane->frames[place - 1].path : 0;
  ppi_frame_around own = {.end_ns = range->end_ns};
  bool done = ppi_paths_on_host(&run->paths, around, range->site, &own.path);
  if (!done) return false;
  ppi_run_path *path = ppi_paths_item(&run->paths, around);
  if (path) path->inner_ns += range->end_ns - range->start_ns;
  path = ppi_paths_item(&run->paths, own.path);
  if (PPI_LIKELY(path != NULL)) {
    unite(range->start_ns, range->end_ns, &path->wall_ns, &path->low_ns);
    done = ppi_paths_take(&run->paths, own.path, range, NULL);
  } else {
    done = ppi_event_count_dropped(run, range);
  }
  if (!done || range->start_ns == range->end_ns) return done;
  return ppi_frames_push(run, lane, place, range, &own);
}

// The lane's frames and its next range, as local variables of the loop.
typedef struct usual {
  ppi_frame_around *base, *top, *end;
  uint64_t start_ns, end_ns;
  uint32_t site;
} usual;

static __attribute__((noinline)) void take_usual_phase(ppi_run *run,
                                                       ppi_run_lane *lane,
                                                       const usual *at) {
  const ppi_buffered range = {at->start_ns, at->end_ns, at->site, 0, 0};
  take_phase(run, lane->thread, &range);
}

// Nearly all ranges lie in or behind the range before them, on a recently used
// path. False: the range does not, and nothing changes. Without points nobody
// asks a frame for more than its start and path.
static inline bool meet_usual(ppi_run *run, ppi_run_lane *lane, usual *at) {
  ppi_paths *paths = &run->paths;
  const ppi_run_mark *mark = &run->ids.marks[at->site];
  const uint64_t start_ns = at->start_ns, end_ns = at->end_ns;
  ppi_frame_around *self = at->top;
  while (self != at->base && self[-1].start_ns >= end_ns) self--;
  at->top = self;
  uint32_t around = self == at->base ? 0 : self[-1].path;
  const uint64_t key = ppi_paths_key(around, at->site, false);
  const ppi_recent_path *recent = ppi_paths_recent(paths, key);
  uint32_t number = recent->number;
  if (PPI_UNLIKELY(
          recent->key != key || (around && self[-1].start_ns > start_ns) ||
          self == at->end || paths->num_lengths + 1 == PPI_PATH_LENGTHS))
    return false;
  unite(start_ns, end_ns, &mark->place->host_ns, &mark->place->low_ns);
  if (PPI_UNLIKELY(mark->traits & PPI_TRAIT_PHASE)) {
    const usual copy = *at;
    take_usual_phase(run, lane, &copy);
  }
  if (around) paths->items[around - 1].inner_ns += end_ns - start_ns;
  ppi_run_path *path = &paths->items[number - 1];
  unite(start_ns, end_ns, &path->wall_ns, &path->low_ns);
  ppi_paths_note(paths, number, end_ns - start_ns, 0);
  self->start_ns = start_ns;
  self->path = number;
  self->communicates = false;
  at->top = self + 1;
  return true;
}

// Goes to the range before, if it is plain, lies on the same page and ends
// after `rest_ns`. A step has flags, and so is wide.
static inline bool go_back(const ppi_plain_sweep *at, ppi_hold_place *place,
                           uint64_t rest_ns, usual *to) {
  if (!place->num_words) return false;
  uint64_t word = place->words[place->num_words - 1];
  uint64_t start_ns = place->end_ns - ppi_hold_length(word);
  uint32_t site = ppi_hold_site(word);
  if (word & PPI_HOLD_WIDE || place->end_ns <= rest_ns ||
      start_ns < at->from_ns || start_ns == place->end_ns)
    return false;
  to->site = site;
  to->start_ns = start_ns;
  to->end_ns = place->end_ns;
  ppi_hold_step(place);
  return true;
}

// Takes usual ranges from `top` back. True: the range that `top` has then is
// still to be taken.
static bool take_usual(const ppi_plain_sweep *at, ppi_merge_cursor *top,
                       uint64_t rest_ns) {
  ppi_run_lane *lane = top->lane;
  if (top->range.start_ns == top->range.end_ns) return true;
  usual next = {.base = lane->frames,
                .top = lane->frames + lane->num_frames,
                .end = lane->frames + lane->frames_capacity,
                .start_ns = top->range.start_ns,
                .end_ns = top->range.end_ns,
                .site = top->range.site};
  ppi_hold_place place = top->place;
  bool is_met;
  do {
    is_met = meet_usual(at->run, lane, &next);
  } while (is_met && go_back(at, &place, rest_ns, &next));
  lane->num_frames = (size_t)(next.top - next.base);
  if (place.num_words == top->place.num_words) return !is_met;
  top->place = place;
  top->range = (ppi_buffered){next.start_ns, next.end_ns, next.site,
                              ppi_hold_depth(place.words[place.num_words]), 0};
  return !is_met;
}

bool ppi_sweep_plain(const ppi_plain_sweep *at, const ppi_merge *merge,
                     ppi_merge_cursor *top, uint64_t rest_ns) {
  bool done = true;
  do {
    if (take_usual(at, top, rest_ns))
      done = meet(at->run, top->lane, &top->range);
    if (!done) return false;
    ppi_merge_next(merge, top);
  } while (top->range.end_ns > rest_ns && ppi_sweep_is_plain(at, &top->range));
  return done;
}
