// SPDX-License-Identifier: Apache-2.0
//
// Turns the rules' decisions into edges. An edge waits if the collector is far
// behind: the next look then decides again.
#include "session/capture/windows.h"

#include "base/masked.h"
#include "session/capture/step_range.h"

#define MILLISECOND_NS 1000000

static int64_t ns_at(const pprof_session *session, uint64_t ticks) {
  return (int64_t)ppi_drain_ns(&session->drain, ticks);
}

static bool watches(const ppi_window_state *windows) {
  for (size_t i = 0; i < windows->capture.num_rules; i++)
    if (windows->capture.rules[i].kind == PPI_CAPTURE_MARKER &&
        !windows->rules[i].is_over)
      return true;
  return false;
}

static ppi_step_phase wanted_by_time(ppi_window_state *windows, size_t i,
                                     int64_t now_ns) {
  const ppi_capture_time *rule = &windows->capture.rules[i].time;
  ppi_rule_state *state = &windows->rules[i];
  int64_t next_ns;
  ppi_step_phase at =
      ppi_capture_at_time(rule, state->from_ns, now_ns, &next_ns);
  // A wall clock that is set neither tears a window nor opens one twice.
  if (at.phase == PPI_PHASE_RECORD && at.cycle < state->windows)
    at.phase = PPI_PHASE_CLOSED;
  if (at.phase == PPI_PHASE_RECORD)
    state->windows = at.cycle;
  else if (state->is_fixed)
    state->windows++;
  state->is_fixed = at.phase == PPI_PHASE_RECORD;
  if (next_ns < windows->next_ns) windows->next_ns = next_ns;
  return at;
}

static ppi_step_phase wanted_by(ppi_window_state *windows, size_t i,
                                uint64_t step, int64_t now_ns) {
  const ppi_capture_rule *rule = &windows->capture.rules[i];
  const ppi_rule_state *state = &windows->rules[i];
  if (rule->kind == PPI_CAPTURE_STEPS)
    return ppi_schedule_rule_at(&rule->steps, step);
  if (rule->kind == PPI_CAPTURE_TIME) return wanted_by_time(windows, i, now_ns);
  if (state->is_open) return (ppi_step_phase){PPI_PHASE_RECORD, state->windows};
  return (ppi_step_phase){PPI_PHASE_CLOSED, 0};
}

// A demand comes before all rules: its window is whole.
static ppi_step_phase wanted(ppi_window_state *windows, uint64_t step,
                             int64_t now_ns) {
  ppi_step_phase best = {PPI_PHASE_CLOSED, 0};
  ppi_demanded *demand = &windows->demand;
  windows->next_ns = INT64_MAX;
  if (demand->state == PPI_DEMAND_OPEN &&
      (demand->steps ? step >= demand->end_step : now_ns >= demand->end_ns))
    demand->state = PPI_DEMAND_NONE;
  if (demand->state == PPI_DEMAND_OPEN) {
    ppi_phase_prefer(&best, (ppi_step_phase){PPI_PHASE_RECORD, demand->number},
                     PPI_SCHEDULE_MAX_RULES);
    if (!demand->steps) windows->next_ns = demand->end_ns;
  }
  if (windows->capture.num_rules == 0)
    ppi_phase_prefer(&best, (ppi_step_phase){PPI_PHASE_RECORD, 0}, 0);
  for (size_t i = 0; i < windows->capture.num_rules; i++)
    ppi_phase_prefer(&best, wanted_by(windows, i, step, now_ns), i);
  return best;
}

void ppi_windows_close_marker(const ppi_capture_marker *rule,
                              ppi_rule_state *state) {
  state->is_open = state->has_last = false;
  state->is_over = !rule->again;
  state->windows++;
  state->seen = 0;
}

// An edge cuts every range, so it is the end of last occurrences, too.
static bool close_cut_markers(ppi_window_state *windows) {
  bool any = false;
  for (size_t i = 0; i < windows->capture.num_rules; i++) {
    if (!windows->rules[i].has_last) continue;
    ppi_windows_close_marker(&windows->capture.rules[i].marker,
                             &windows->rules[i]);
    any = true;
  }
  return any;
}

static bool is_same(ppi_step_phase a, ppi_step_phase b) {
  return a.phase == b.phase && a.cycle == b.cycle;
}

// Without a window there is an epoch only for watched markers and warm-up.
static bool needs_epoch(const ppi_window_state *windows, ppi_step_phase want) {
  return want.phase != PPI_PHASE_CLOSED || watches(windows);
}

static bool needs_edge(const ppi_window_state *windows, ppi_step_phase want,
                       bool renew) {
  bool has_epoch = needs_epoch(windows, want);
  if (has_epoch != (windows->epoch != 0)) return true;
  return has_epoch && (renew || !is_same(want, windows->phase));
}

static void publish(ppi_window_state *windows, uint32_t epoch) {
  ppi_epoch_publish(epoch);
  __atomic_store_n(&windows->num_published,
                   ppi_recorder_in_force.spool.header->num_edges,
                   __ATOMIC_RELEASE);
}

static void append_edge(pprof_session *session, ppi_step_phase want,
                        uint64_t now) {
  ppi_window_state *windows = &session->windows;
  bool was_window = windows->phase.phase == PPI_PHASE_RECORD;
  bool is_window = want.phase == PPI_PHASE_RECORD;
  bool goes_on = was_window && is_same(want, windows->phase);
  ppi_edge edge = {.ticks = now, .old_epoch = windows->epoch};
  if (was_window) edge.window = windows->next_window - 1;
  if (was_window && !goes_on) {
    ppi_step_cut(&session->steps, now);
    edge.flags |= PPI_EDGE_CLOSES;
    edge.closes = edge.window;
  }
  if (is_window && !goes_on) {
    edge.flags |= PPI_EDGE_OPENS;
    edge.window = windows->next_window++;
  }
  if (!windows->is_live)
    edge.flags |= PPI_EDGE_START;
  else if (windows->epoch == 0)
    edge.flags |= PPI_EDGE_AFTER_OFF;
  windows->epoch = needs_epoch(windows, want) ? ppi_epoch_next() : 0;
  windows->phase = want;
  edge.new_epoch = windows->epoch;
  if (want.phase == PPI_PHASE_CLOSED)
    __atomic_store_n(&ppi_recorder_in_force.watch_epoch, windows->epoch,
                     __ATOMIC_RELEASE);
  ppi_edge_append(ppi_recorder_in_force.spool.header, &edge);
  if (windows->is_live) publish(windows, windows->epoch);
  if (is_window && !goes_on) ppi_step_open(&session->steps, now);
}

static bool has_room_for_edge(void) {
  const ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  uint64_t done = __atomic_load_n(&header->edges_done, __ATOMIC_ACQUIRE);
  return header->num_edges - done < PPI_MAX_EDGES - 16;
}

// A thread that waits for a time reads it without the mutex.
static void notify_next(ppi_window_state *windows) {
  __atomic_store_n(&windows->due_ns, windows->next_ns, __ATOMIC_RELEASE);
  __atomic_store_n(&windows->watches, watches(windows), __ATOMIC_RELAXED);
}

static bool move(pprof_session *session, uint64_t now, bool renew) {
  ppi_window_state *windows = &session->windows;
  uint64_t step = session->steps.number;
  int64_t now_ns = ns_at(session, now);
  ppi_step_phase want = wanted(windows, step, now_ns);
  if (want.phase == PPI_PHASE_RECORD &&
      windows->demand.state == PPI_DEMAND_WAITS) {
    // A rule opens a window first: that is then the demanded one.
    windows->demand.state = PPI_DEMAND_OPEN;
    windows->demand.end_step = step + 1 + windows->demand.steps;
    want = wanted(windows, step, now_ns);
  }
  renew |= windows->wants_renewal;
  windows->wants_renewal = false;
  if (!needs_edge(windows, want, renew)) return false;
  if (!has_room_for_edge()) {
    windows->wants_renewal = renew;
    windows->next_ns = PPI_MIN(windows->next_ns, now_ns + MILLISECOND_NS);
    return false;
  }
  if (close_cut_markers(windows)) want = wanted(windows, step, now_ns);
  if (!needs_edge(windows, want, renew)) return false;
  append_edge(session, want, now);
  return true;
}

bool ppi_windows_move(pprof_session *session, uint64_t now, bool renew) {
  bool was_closed = session->windows.phase.phase == PPI_PHASE_CLOSED;
  bool moved = move(session, now, renew);
  notify_next(&session->windows);
  // The collector may be asleep for long while nothing is recorded.
  if (moved && was_closed) ppi_wakeup_wake(&session->wakeup);
  return moved;
}

void ppi_windows_replace(pprof_session *session, uint64_t now, bool renew) {
  ppi_window_state *windows = &session->windows;
  ppi_step_phase want =
      wanted(windows, session->steps.number, ns_at(session, now));
  if (want.phase == windows->phase.phase) windows->phase = want;
  ppi_windows_move(session, now, renew);
}

void ppi_windows_step(pprof_session *session) {
  ppi_demanded *demand = &session->windows.demand;
  if (demand->state != PPI_DEMAND_WAITS) return;
  demand->state = PPI_DEMAND_OPEN;
  demand->end_step = session->steps.number + demand->steps;
}

// Sets the origin of a rule by the wall clock. That clock is independent, so a
// newer sample is better.
void ppi_windows_set_from(pprof_session *session, size_t i,
                          const ppi_clock_sample *sample) {
  const ppi_capture_rule *rule = &session->windows.capture.rules[i];
  ppi_rule_state *state = &session->windows.rules[i];
  if (rule->kind != PPI_CAPTURE_TIME || !rule->time.at_realtime_ns ||
      state->is_fixed)
    return;
  state->from_ns = (int64_t)rule->time.at_realtime_ns -
                   (int64_t)sample->realtime_ns + ns_at(session, sample->ticks);
}

void ppi_windows_sample(pprof_session *session,
                        const ppi_clock_sample *sample) {
  if (ppi_clock_state.mode == PPI_CLOCK_INJECTED) return;
  ppi_window_state *windows = &session->windows;
  pthread_mutex_lock(&windows->mutex);
  for (size_t i = 0; i < windows->capture.num_rules; i++)
    ppi_windows_set_from(session, i, sample);
  if (windows->is_live)
    ppi_windows_move(session, ppi_windows_now(&session->windows), false);
  pthread_mutex_unlock(&windows->mutex);
}

uint64_t ppi_windows_now(ppi_window_state *windows) {
  windows->latest_ticks = PPI_MAX(windows->latest_ticks, ppi_clock_ticks());
  return windows->latest_ticks;
}

uint64_t ppi_windows_due(pprof_session *session) {
  ppi_window_state *windows = &session->windows;
  uint64_t now = ppi_clock_ticks();
  int64_t now_ns = ns_at(session, now);
  if (now_ns >= __atomic_load_n(&windows->due_ns, __ATOMIC_ACQUIRE)) {
    pthread_mutex_lock(&windows->mutex);
    // Read again: another edge may have come while this waited.
    if (windows->is_live)
      ppi_windows_move(session, ppi_windows_now(&session->windows), false);
    pthread_mutex_unlock(&windows->mutex);
  }
  int64_t due_ns = __atomic_load_n(&windows->due_ns, __ATOMIC_ACQUIRE);
  // Nobody knows how a test's clock will go on.
  if (due_ns == INT64_MAX || ppi_clock_state.mode == PPI_CLOCK_INJECTED)
    return UINT64_MAX;
  return due_ns > now_ns ? (uint64_t)(due_ns - now_ns) : 0;
}

static void begin_rules(pprof_session *session) {
  ppi_window_state *windows = &session->windows;
  ppi_names *names = ppi_recorder_in_force.names;
  memset(windows->rules, 0, sizeof windows->rules);
  for (size_t i = 0; i < windows->capture.num_rules; i++) {
    const ppi_capture_rule *rule = &windows->capture.rules[i];
    ppi_windows_set_from(session, i, &session->first_sample);
    if (rule->kind == PPI_CAPTURE_MARKER)
      ppi_names_watch(names, rule->marker.name);
  }
}

void ppi_windows_begin(pprof_session *session) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  ppi_window_state *windows = &session->windows;
  ppi_steps *steps = &session->steps;
  steps->start_ticks = recorder->spool.header->start_ticks;
  windows->latest_ticks = steps->start_ticks;
  __atomic_store_n(&windows->num_published, 0, __ATOMIC_RELAXED);
  steps->site = ppi_names_site(recorder->names, "ProfileStep",
                               PPROF_CATEGORY_PROFILE_STEP, 0);
  ppi_names_stay(recorder->names, steps->site);
  begin_rules(session);
  append_edge(session, wanted(windows, steps->number, 0), steps->start_ticks);
  notify_next(windows);
}

// The program's thread is in no marker here: a handler that steps would wait
// for the mutex that its own thread has.
void ppi_windows_publish(pprof_session *session) {
  ppi_window_state *windows = &session->windows;
  ppi_calm before;
  ppi_lock_masked(&windows->mutex, &before);
  windows->is_live = windows->was_live = true;
  __atomic_store_n(ppi_epoch_page + 1, ppi_recorder_in_force.serial,
                   __ATOMIC_RELEASE);
  publish(windows, windows->epoch);
  ppi_unlock_masked(&windows->mutex, &before);
}

void ppi_windows_end(pprof_session *session) {
  ppi_window_state *windows = &session->windows;
  ppi_calm before;
  ppi_lock_masked(&windows->mutex, &before);
  // A run lasts a tick at least, also by a clock that stands still.
  session->stop_ticks =
      PPI_MAX(ppi_windows_now(&session->windows),
              ppi_recorder_in_force.spool.header->start_ticks + 1);
  windows->had_none = windows->next_window == 0;
  ppi_edge edge = {.ticks = session->stop_ticks,
                   .old_epoch = windows->epoch,
                   .flags = PPI_EDGE_STOP};
  if (windows->phase.phase == PPI_PHASE_RECORD) {
    edge.flags |= PPI_EDGE_CLOSES;
    edge.window = edge.closes = windows->next_window - 1;
  }
  ppi_step_cut(&session->steps, session->stop_ticks);
  ppi_edge_append(ppi_recorder_in_force.spool.header, &edge);
  ppi_windows_forget(session);
  publish(windows, 0);
  __atomic_store_n(ppi_epoch_page + 1, 0, __ATOMIC_RELEASE);
  ppi_unlock_masked(&windows->mutex, &before);
}

void ppi_windows_forget(pprof_session *session) {
  ppi_window_state *windows = &session->windows;
  windows->is_live = false;
  session->steps.number = session->steps.range = 0;
  windows->epoch = windows->next_window = 0;
  windows->phase = (ppi_step_phase){PPI_PHASE_CLOSED, 0};
  windows->demand = (ppi_demanded){0};
  windows->wants_renewal = false;
  windows->next_ns = INT64_MAX;
  notify_next(windows);
}

void ppi_windows_in_forked_child(pprof_session *session) {
  pthread_mutex_init(&session->windows.mutex, NULL);
  session->windows.is_live = false;
}
