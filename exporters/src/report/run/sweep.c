// SPDX-License-Identifier: Apache-2.0
//
// Settles ranges before a horizon in one walk, from the last end backwards. A
// range comes after the ranges around it: a union is a sum, the first phase the
// outermost one. A stack has the ranges around a point (frames.h).
#include "report/run/passes.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/parts/threads.h"
#include "report/run/event_counts.h"
#include "report/run/frames.h"
#include "report/run/handover.h"
#include "report/run/plain_sweep.h"

typedef struct sweep {
  ppi_run *run;
  uint64_t from_ns, horizon_ns;
  ppi_run_category *communication;
  ppi_merge merge;
} sweep;

// ---- one range ----

// Adds the part of a range that is settled now. Ends fall: from the start of a
// range on, even an empty one, the sum is final. Overlaps of threads are hard
// to predict, so no branch depends on them.
static inline void unite(const sweep *at, const ppi_buffered *range,
                         uint64_t *sum, uint64_t *low_ns) {
  uint64_t start_ns = PPI_MAX(range->start_ns, at->from_ns);
  uint64_t end_ns = PPI_MIN(range->end_ns, at->horizon_ns);
  end_ns = PPI_MIN(end_ns, *low_ns);
  *sum += end_ns - PPI_MIN(start_ns, end_ns);
  *low_ns = PPI_MIN(start_ns, *low_ns);
}

// The process has the work that all threads submit.
static bool any_inside(const ppi_run *run, ppi_run_thread *thread,
                       const ppi_buffered *range, ppi_device_sums *out) {
  *out = (ppi_device_sums){{0}};
  if (thread->number)
    return ppi_scopes_inside(&thread->scopes, range->start_ns, range->end_ns,
                             out);
  bool any = false;
  for (thread = run->sweep.first_submitter; thread;
       thread = thread->next_submitter)
    any |=
        ppi_scopes_inside(&thread->scopes, range->start_ns, range->end_ns, out);
  return any;
}

// Without any submission, `out` does not change.
static inline bool inside(const ppi_run *run, ppi_run_thread *thread,
                          const ppi_buffered *range, ppi_device_sums *out) {
  bool may_be = thread->number ? thread->scopes.num_before
                               : run->sweep.first_submitter != NULL;
  return may_be && any_inside(run, thread, range, out);
}

// Borders of the process are kept once, not with every thread.
static bool add_border(ppi_run *run, ppi_run_thread *thread,
                       const ppi_buffered *range) {
  if (thread->number)
    return ppi_scopes_border(&thread->scopes, range->start_ns);
  if (!run->sweep.first_submitter) return true;
  return ppi_borders_add(&run->sweep.borders, range->start_ns);
}

static void take_phase(ppi_run *run, ppi_run_thread *thread,
                       const ppi_run_mark *mark, const ppi_buffered *range) {
  int phase = ppi_phase_of(mark->category);
  bool is_cut = range->flags & PPI_BUFFERED_CUT;
  ppi_spread_add_either(&run->steps.times[phase],
                        range->end_ns - range->start_ns, is_cut);
  ppi_device_sums sums;
  ppi_buffered all = *range;
  // Its submission is at its begin, and may take no time on the host.
  if (range->flags & PPI_BUFFERED_DEVICE)
    all.end_ns = PPI_MAX(all.end_ns, all.start_ns + 1);
  if (inside(run, thread, &all, &sums))
    ppi_device_spreads_add(&run->steps.devices[phase], &sums, is_cut);
}

// Adds a range directly inside an operator; its frame is not pushed yet.
static bool add_child(ppi_run *run, const ppi_run_lane *lane, size_t place,
                      const ppi_buffered *range, const ppi_device_sums *sums) {
  const ppi_run_site *site = run->ids.sites.items[range->site];
  if (!place) return true;
  if (site->traits & (PPI_TRAIT_OPERATOR | PPI_TRAIT_RUNTIME)) return true;
  uint32_t real = lane->frames[place - 1].real;
  if (real == PPI_NO_FRAME) return true;
  ppi_run_part key = {.op = lane->frames[real].site, .child = range->site};
  if (!ppi_run_is_operator(run, key.op)) return true;
  ppi_run_part *part = ppi_run_part_of(&run->rows, lane->thread, &key);
  if (!part) return false;
  bool is_cut = range->flags & PPI_BUFFERED_CUT;
  ppi_spread_add_either(&part->host, range->end_ns - range->start_ns, is_cut);
  const ppi_device_sums none = {{0}};
  ppi_device_spreads_add(&part->device, sums ? sums : &none, is_cut);
  return true;
}

// A loose range, or one without a frame around it, is at the root. An open
// range has a path, but no call so far. `sums` is NULL without submissions in
// the range.
static inline bool take_path(sweep *at, const ppi_run_lane *lane, size_t place,
                             const ppi_buffered *range, bool is_released,
                             const ppi_device_sums *sums, uint32_t *out) {
  ppi_paths *paths = &at->run->paths;
  uint32_t around = place ? lane->frames[place - 1].path : 0;
  bool done = ppi_paths_on_host(paths, around, range->site, out);
  if (!done) return false;
  ppi_run_path *path = ppi_paths_item(paths, *out);
  if (path) unite(at, range, &path->wall_ns, &path->low_ns);
  if (!is_released) return done;
  // Work of its earlier part may wait for its end.
  if (PPI_UNLIKELY(range->start_ns < at->from_ns)) {
    const ppi_device_call_key call = {lane->thread->index, *out,
                                      range->start_ns};
    ppi_device_calls_end(&at->run->device_calls, &call, range->end_ns);
  }
  path = ppi_paths_item(paths, around);
  if (path) path->inner_ns += range->end_ns - range->start_ns;
  if (!*out) return ppi_event_count_dropped(at->run, range);
  return ppi_paths_take(paths, *out, range, sums);
}

// `place` is where the range's frame goes; it is not pushed yet.
static bool take_memory(ppi_run *run, const ppi_run_lane *lane, size_t place,
                        const ppi_buffered *range, bool is_released) {
  ppi_run_site *site = run->ids.sites.items[range->site];
  ppi_net_bytes sums;
  bool done =
      ppi_allocations_meet(&run->allocations, range, is_released, &sums);
  if (!done) return false;
  ppi_net_add(&site->memory, &sums);
  if (range->flags & PPI_BUFFERED_LOOSE) return done;
  ppi_net_add(&site->own_memory, &sums);
  if (!place) return done;
  site = run->ids.sites.items[lane->frames[place - 1].site];
  ppi_net_take(&site->own_memory, &sums);
  return done;
}

static bool needs_nesting(const ppi_run *run, const ppi_run_thread *thread) {
  return ppi_allocations_any(&run->allocations) || thread->scopes.num_before ||
         thread->scopes.num_settled || run->details.operator_parts ||
         run->details.paths || (!thread->number && run->sweep.any_points);
}

// ---- the walk ----

static bool take_inside(ppi_run *run, ppi_run_lane *lane,
                        const ppi_buffered *range,
                        const ppi_device_sums *sums) {
  ppi_run_site *site = run->ids.sites.items[range->site];
  if (site->traits & (PPI_TRAIT_RUNTIME | PPI_TRAIT_STEP)) return true;
  bool is_cut = range->flags & PPI_BUFFERED_CUT;
  ppi_device_spreads_add(&site->row.inside, sums, is_cut);
  if (!run->details.by_thread) return true;
  ppi_run_row *row =
      ppi_run_thread_row_of(&run->rows, lane->thread, range->site);
  if (!row) return false;
  ppi_device_spreads_add(&row->inside, sums, is_cut);
  return true;
}

// Points of the thread may lie in the range. The lane has passed the points
// behind it; carried sums lie before the sweep. The process has the points of
// all threads.
static inline bool may_have_points(const sweep *at, const ppi_run_lane *lane,
                                   const ppi_buffered *range) {
  const ppi_scopes *scopes = &lane->thread->scopes;
  if (range->flags & PPI_BUFFERED_LOOSE || !lane->thread->number ||
      range->start_ns < at->from_ns)
    return true;
  return lane->num_points &&
         scopes->points[lane->num_points - 1].time_ns >= range->start_ns;
}

// Nests a range, for points or for details.
static inline bool nest_range(sweep *at, ppi_run_lane *lane,
                              const ppi_buffered *range, bool is_released) {
  ppi_run *run = at->run;
  bool done = true;
  bool is_nested = !(range->flags & PPI_BUFFERED_LOOSE);
  size_t place = 0;
  if (is_nested) {
    done = ppi_frames_meet(run, lane, range->end_ns);
    place = ppi_frames_place(lane, range);
  }
  if (done && ppi_allocations_any(&run->allocations))
    done = take_memory(run, lane, place, range, is_released);
  ppi_device_sums found;
  const ppi_device_sums *sums = NULL;
  if (!is_released && done) done = add_border(run, lane->thread, range);
  if (is_released && may_have_points(at, lane, range) &&
      inside(run, lane->thread, range, &found)) {
    sums = &found;
    done = done && take_inside(run, lane, range, sums);
  }
  ppi_frame_around own = {.end_ns = is_released ? range->end_ns : 0};
  if (run->details.paths && done)
    done = take_path(at, lane, place, range, is_released, sums, &own.path);
  if (!is_nested || !done) return done;
  if (is_released && run->details.operator_parts)
    done = add_child(run, lane, place, range, sums);
  if (!done || range->start_ns == range->end_ns) return done;
  return ppi_frames_push(run, lane, place, range, &own);
}

static inline bool is_released(const sweep *at, const ppi_buffered *range) {
  return !(range->flags & PPI_BUFFERED_OPEN) &&
         ppi_buffered_is_passed(range, at->horizon_ns);
}

static inline bool is_ahead(const sweep *at, const ppi_buffered *range) {
  return range->start_ns >= at->horizon_ns && at->horizon_ns != UINT64_MAX;
}

static bool meet(sweep *at, ppi_run_lane *lane, const ppi_buffered *range) {
  ppi_run *run = at->run;
  if (is_ahead(at, range)) return true;
  const ppi_run_mark *mark = &run->ids.marks[range->site];
  bool is_on_device = range->flags & PPI_BUFFERED_DEVICE;
  if (!(mark->traits & PPI_TRAIT_STEP || is_on_device))
    unite(at, range, &mark->place->host_ns, &mark->place->low_ns);
  if (range->flags & PPI_BUFFERED_COMMUNICATION)
    unite(at, range, &at->communication->host_ns, &at->communication->low_ns);
  bool released = is_released(at, range);
  if (mark->traits & PPI_TRAIT_PHASE &&
      ppi_phase_is_outermost(lane->thread, range) && released)
    take_phase(run, lane->thread, mark, range);
  if (!needs_nesting(run, lane->thread)) return true;
  if (is_on_device) return released || add_border(run, lane->thread, range);
  return nest_range(at, lane, range, released);
}

static inline bool meet_any(sweep *at, const ppi_merge_cursor *top) {
  const uint32_t special = PPI_TRAIT_STEP | PPI_TRAIT_PHASE;
  const ppi_buffered *range = &top->range;
  const ppi_run_mark *mark = &at->run->ids.marks[range->site];
  const uint32_t few = ~(uint32_t)PPI_BUFFERED_COUNTED;
  if (PPI_UNLIKELY(mark->traits & special || range->flags & few))
    return meet(at, top->lane, range);
  if (is_ahead(at, range)) return true;
  unite(at, range, &mark->place->host_ns, &mark->place->low_ns);
  return !top->is_needed ||
         nest_range(at, top->lane, range, is_released(at, range));
}

// Whether plain ranges of the lane, from `top` on, are swept without a look at
// points: those behind are passed, and the ranges begin after all others.
static bool pass_points(sweep *at, const ppi_merge_cursor *top,
                        ppi_plain_sweep *plain, bool *out_done) {
  ppi_run *run = at->run;
  ppi_run_lane *lane = top->lane;
  plain->from_ns = at->from_ns;
  if (!run->sweep.any_points) return true;
  if (top->range.flags || !lane->thread->number ||
      ppi_allocations_any(&run->allocations))
    return false;
  *out_done = ppi_frames_meet(run, lane, top->range.end_ns);
  if (!lane->num_points) return *out_done;
  uint64_t last_ns = lane->thread->scopes.points[lane->num_points - 1].time_ns;
  plain->from_ns = PPI_MAX(at->from_ns, PPI_MIN(last_ns, UINT64_MAX - 1) + 1);
  return *out_done;
}

static bool walk(sweep *at) {
  bool done = true;
  const ppi_run *run = at->run;
  ppi_plain_sweep plain = {at->run, at->from_ns, at->horizon_ns};
  bool has_paths_alone = run->details.paths && !run->details.operator_parts &&
                         !run->details.one_way;
  for (;;) {
    ppi_merge_cursor *top = ppi_merge_top(&at->merge);
    if (!top) return true;
    uint64_t rest_ns = ppi_merge_rest(&at->merge);
    do {
      if (has_paths_alone && pass_points(at, top, &plain, &done) &&
          ppi_sweep_is_plain(&plain, &top->range)) {
        done = ppi_sweep_plain(&plain, &at->merge, top, rest_ns);
      } else {
        done = done && meet_any(at, top);
        ppi_merge_next(&at->merge, top);
      }
      if (!done) return false;
    } while (top->range.end_ns > rest_ns);
    ppi_merge_replay(&at->merge);
  }
}

// ---- steps: their device time is that of all threads ----

static bool take_step(ppi_run *run, const ppi_buffered *step,
                      uint64_t horizon_ns) {
  ppi_run_thread *process = ppi_run_process(&run->ids);
  if (!process) return false;
  if (!ppi_buffered_is_passed(step, horizon_ns) ||
      step->flags & PPI_BUFFERED_OPEN)
    return add_border(run, process, step);
  ppi_device_sums sums;
  if (!inside(run, process, step, &sums)) return true;
  ppi_run_site *site = run->ids.sites.items[step->site];
  bool is_cut = step->flags & PPI_BUFFERED_CUT;
  ppi_device_spreads_add(&site->row.inside, &sums, is_cut);
  ppi_device_spreads_add(&run->steps.devices[PPI_PHASE_PROFILE_STEP], &sums,
                         is_cut);
  return true;
}

static bool sweep_steps(ppi_run *run, uint64_t horizon_ns,
                        const ppi_run_open *open, size_t num_open) {
  bool done = true;
  size_t kept = 0;
  for (size_t i = 0; i < run->steps.buffered.num; i++) {
    ppi_buffered step = run->steps.buffered.items[i];
    done = done && take_step(run, &step, horizon_ns);
    if (!ppi_buffered_is_passed(&step, horizon_ns))
      run->steps.buffered.items[kept++] = step;
  }
  run->steps.buffered.num = kept;
  for (size_t i = 0; i < num_open && done; i++) {
    const ppi_run_site *site = run->ids.sites.items[open[i].buffered.site];
    if (site->traits & PPI_TRAIT_STEP)
      done = take_step(run, &open[i].buffered, horizon_ns);
  }
  return done;
}

// ---- before and after ----

static bool prepare_thread(ppi_run *run, ppi_run_thread *thread,
                           uint64_t horizon_ns) {
  thread->cover_ns = thread->later_cover_ns = thread->level_ns = UINT64_MAX;
  ppi_scopes *scopes = &thread->scopes;
  run->sweep.any_points |= scopes->num_points || scopes->num_carried;
  if (!scopes->num_points && !scopes->num_carried) return true;
  bool done = ppi_scopes_prepare(scopes, horizon_ns);
  if (scopes->num_before) {
    thread->next_submitter = run->sweep.first_submitter;
    run->sweep.first_submitter = thread;
  }
  bool asks = run->details.paddle_distribution || run->details.paths;
  for (size_t i = 0; i < scopes->num_settled && !asks; i++)
    asks = scopes->points[i].kind == PPI_POINT_MEMORY;
  if (!asks || !scopes->num_settled || !done) return done;
  thread->around = ppi_alloc(scopes->num_settled * sizeof *thread->around);
  return thread->around;
}

static bool prepare_lane(sweep *at, ppi_run_lane *lane) {
  lane->num_frames = 0;
  lane->num_points = lane->thread->scopes.num_settled;
  bool is_needed = needs_nesting(at->run, lane->thread);
  if (!ppi_merge_hold(&at->merge, lane, &lane->nested, is_needed)) return false;
  return ppi_merge_hold(&at->merge, lane, &lane->loose, is_needed);
}

static bool prepare_points(ppi_run *run, uint64_t horizon_ns) {
  bool done = ppi_allocations_prepare(&run->allocations, horizon_ns);
  run->sweep.any_points = ppi_allocations_any(&run->allocations);
  run->sweep.first_submitter = NULL;
  run->sweep.borders.num = 0;
  for (size_t i = 0; i < ppi_run_num_threads(&run->ids) && done; i++)
    done = prepare_thread(run, ppi_run_any_thread(&run->ids, i), horizon_ns);
  return done;
}

static bool prepare(sweep *at, ppi_run_open *open, size_t num_open) {
  ppi_run *run = at->run;
  bool done = true;
  for (size_t i = 0; i < run->ids.categories.num; i++)
    if (run->ids.categories.items[i])
      ((ppi_run_category *)run->ids.categories.items[i])->low_ns = UINT64_MAX;
  for (size_t i = 0; i < run->paths.num; i++)
    run->paths.items[i].low_ns = UINT64_MAX;
  for (size_t i = 0; i < ppi_run_num_lanes(&run->ids) && done; i++) {
    ppi_run_lane *lane = ppi_run_any_lane(&run->ids, i);
    if (lane && lane->thread) done = prepare_lane(at, lane);
  }
  return done && ppi_merge_open(&at->merge, open, num_open) &&
         ppi_merge_start(&at->merge);
}

// Adds up the lanes' ranges. Points and allocations, if there are any, are
// prepared.
static bool walk_stretch(ppi_run *run, const ppi_sweep_stretch *of) {
  sweep at = {.run = run,
              .from_ns = of->from_ns,
              .horizon_ns = of->horizon_ns,
              .merge = {.horizon_ns = of->horizon_ns, .pool = &run->ids.pool},
              .communication = ppi_run_communication(&run->ids)};
  if (!at.communication) return false;
  bool done = prepare(&at, of->open, of->num_open) && walk(&at);
  ppi_merge_clear(&at.merge);
  return done;
}

// Takes the points before all settled ranges of their lane.
static bool finish_lanes(ppi_run *run, uint64_t horizon_ns) {
  bool done = true;
  for (size_t i = 0; i < ppi_run_num_lanes(&run->ids) && done; i++) {
    ppi_run_lane *lane = ppi_run_any_lane(&run->ids, i);
    if (!lane || !lane->thread) continue;
    if (lane->num_frames) done = ppi_frames_meet(run, lane, 0);
    if (done && lane->loose.num_pages)
      done = ppi_hold_pass(&lane->loose, &run->ids.pool, horizon_ns, NULL);
  }
  return done;
}

// Adds the details of swept threads to the row of threads that left.
static bool forget_swept(ppi_run *run) {
  if (!ppi_run_find_swept(&run->ids)) return true;
  bool done = ppi_run_sum_details(&run->rows, run->ids.left_threads);
  if (done) ppi_run_forget_swept(&run->ids);
  return done;
}

// Hands settled ranges over to the answer, or forgets them.
static bool pass_nested(ppi_run *run, ppi_run_lane *lane) {
  ppi_answer_lane *to = NULL;
  bool is_read = run->details.answer && !run->by_request;
  if (is_read) to = ppi_answer_lanes_at(&run->accounts.lanes, lane->id);
  if (is_read && !to) return false;
  return ppi_hold_pass(&lane->nested, &run->ids.pool, run->sweep.swept_ns,
                       to ? &to->passed : NULL);
}

bool ppi_run_pass_swept(ppi_run *run) {
  bool done = true;
  if (!run->sweep.has_more_passed) return true;
  run->sweep.has_more_passed = false;
  for (size_t i = 0; i < ppi_run_num_lanes(&run->ids) && done; i++) {
    ppi_run_lane *lane = ppi_run_any_lane(&run->ids, i);
    if (lane && lane->thread && lane->nested.num_pages)
      done = pass_nested(run, lane);
  }
  return done && forget_swept(run);
}

// A walk without points only adds up: any worker may do it.
static bool walk_or_hand_over(ppi_run *run, const ppi_sweep_stretch *of) {
  bool has_points = run->sweep.any_points || run->sweep.first_submitter;
  for (size_t i = 0; i < ppi_run_num_threads(&run->ids); i++)
    has_points |= ppi_run_any_thread(&run->ids, i)->scopes.num_settled > 0;
  bool is_handed = false;
  bool done = true;
  if (!has_points) done = ppi_handover_put(run, of, walk_stretch, &is_handed);
  if (!done || is_handed) return done;
  return walk_stretch(run, of);
}

bool ppi_run_sweep(ppi_run *run, uint64_t horizon_ns, ppi_run_open *open,
                   size_t num_open) {
  const ppi_sweep_stretch of = {run->sweep.swept_ns, horizon_ns, open,
                                num_open};
  if (horizon_ns <= run->sweep.swept_ns) return true;
  if (!ppi_run_communication(&run->ids)) return false;
  bool done = prepare_points(run, horizon_ns) && walk_or_hand_over(run, &of) &&
              sweep_steps(run, horizon_ns, open, num_open) &&
              finish_lanes(run, horizon_ns) &&
              ppi_allocations_carry(&run->allocations);
  ppi_borders_sort(&run->sweep.borders);
  for (size_t i = 0; i < ppi_run_num_threads(&run->ids) && done; i++)
    done = ppi_points_settle(run, ppi_run_any_thread(&run->ids, i), horizon_ns);
  done = done &&
         ppi_device_calls_settle(&run->device_calls, &run->paths, horizon_ns);
  for (size_t i = 0; i < run->paths.num; i++) {
    ppi_run_path *path = &run->paths.items[i];
    ppi_union_settle(&path->own, horizon_ns);
    if (path->use) ppi_union_settle(&path->use->busy, horizon_ns);
  }
  run->sweep.has_more_passed = done;
  run->sweep.swept_ns = horizon_ns;
  return done;
}
