// SPDX-License-Identifier: Apache-2.0
//
// Moves a session's windows on request: new rules, demands, a new choice of
// sites, watched markers. On the requesting thread.
#include "session/capture/capture_session.h"

#include "base/masked.h"
#include "session/capture/windows.h"

static bool has_marker(const ppi_capture *capture, const char *name) {
  for (size_t i = 0; i < capture->num_rules; i++)
    if (capture->rules[i].kind == PPI_CAPTURE_MARKER &&
        strcmp(capture->rules[i].marker.name, name) == 0)
      return true;
  return false;
}

static bool has_new_marker(const ppi_capture *now, const ppi_capture *before) {
  for (size_t i = 0; i < now->num_rules; i++)
    if (now->rules[i].kind == PPI_CAPTURE_MARKER &&
        !has_marker(before, now->rules[i].marker.name))
      return true;
  return false;
}

// Answers whether sites must be decided again. Names without a rule stay
// watched until then, which is harmless. If a name were forgotten for a moment,
// sites decided in it would be unwatched.
static bool watch_names(const ppi_capture *now, const ppi_capture *before) {
  ppi_names *names = ppi_recorder_in_force.names;
  if (!has_new_marker(now, before)) return false;
  ppi_names_watch(names, NULL);
  for (size_t i = 0; i < now->num_rules; i++)
    if (now->rules[i].kind == PPI_CAPTURE_MARKER)
      ppi_names_watch(names, now->rules[i].marker.name);
  return true;
}

static void change_rules(pprof_session *session, const ppi_capture *capture) {
  ppi_window_state *windows = &session->windows;
  ppi_rule_state rules[PPI_SCHEDULE_MAX_RULES];
  memset(rules, 0, sizeof rules);
  // A rule that was there already goes on where it is.
  for (size_t i = 0; i < capture->num_rules; i++)
    for (size_t was = 0; was < windows->capture.num_rules; was++)
      if (ppi_capture_same_state(&windows->capture.rules[was],
                                 &capture->rules[i]))
        rules[i] = windows->rules[was];
  bool renew = watch_names(capture, &windows->capture);
  windows->capture = *capture;
  memcpy(windows->rules, rules, sizeof rules);
  ppi_clock_sample sample = session->first_sample;
  if (ppi_clock_state.mode != PPI_CLOCK_INJECTED)
    sample = ppi_clock_take_sample();
  for (size_t i = 0; i < capture->num_rules; i++)
    ppi_windows_set_from(session, i, &sample);
  ppi_windows_replace(session, ppi_windows_now(&session->windows), renew);
}

pprof_status ppi_session_set_capture(pprof_session *session,
                                     const ppi_capture *capture) {
  pprof_status status = ppi_capture_check(capture, NULL);
  if (status != PPROF_STATUS_OK) return status;
  // The program's thread is in no marker here, as in ppi_windows_publish.
  ppi_calm before;
  ppi_lock_masked(&session->windows.mutex, &before);
  if (session->windows.is_live)
    change_rules(session, capture);
  else if (!session->windows.was_live)
    session->windows.capture = *capture;
  else
    status = PPROF_STATUS_BUSY;
  ppi_unlock_masked(&session->windows.mutex, &before);
  if (status == PPROF_STATUS_OK) ppi_wakeup_wake(&session->wakeup);
  return status;
}

static pprof_status demand_now(pprof_session *session, const ppi_demand *demand,
                               uint32_t *out_window) {
  ppi_window_state *windows = &session->windows;
  if (!windows->is_live) return PPROF_STATUS_INVALID;
  if (windows->phase.phase == PPI_PHASE_RECORD ||
      windows->demand.state != PPI_DEMAND_NONE)
    return PPROF_STATUS_BUSY;
  uint64_t now = ppi_windows_now(&session->windows);
  uint64_t now_ns = ppi_drain_ns(&session->drain, now);
  uint64_t ns = PPI_MIN(demand->ns, INT64_MAX - PPI_MIN(now_ns, INT64_MAX));
  windows->demand =
      (ppi_demanded){.state = ns ? PPI_DEMAND_OPEN : PPI_DEMAND_WAITS,
                     .steps = demand->steps,
                     .end_ns = (int64_t)(now_ns + ns),
                     .number = windows->demand.number + 1};
  *out_window = windows->next_window;
  if (ns) ppi_windows_move(session, now, false);
  return PPROF_STATUS_OK;
}

pprof_status pprof_session_set_schedule(pprof_session *session,
                                        const pprof_schedule *schedule) {
  PPI_UNCANCELLED;
  pprof_schedule known;
  ppi_capture capture = {.num_rules = schedule != NULL};
  if (!session) return PPROF_STATUS_INVALID;
  if (schedule && !ppi_copy_options(&known, sizeof known, schedule))
    return PPROF_STATUS_INVALID;
  if (schedule) {
    capture.rules[0].kind = PPI_CAPTURE_STEPS;
    capture.rules[0].steps = (ppi_schedule_rule){
        known.skip_first, known.wait,   known.warmup,
        known.active,     known.repeat, known.skip_first_wait};
  }
  return ppi_session_set_capture(session, &capture);
}

pprof_status ppi_session_demand(pprof_session *session,
                                const ppi_demand *demand,
                                uint32_t *out_window) {
  if ((demand->steps != 0) == (demand->ns != 0)) return PPROF_STATUS_INVALID;
  if (demand->steps > INT64_MAX) return PPROF_STATUS_INVALID;
  pthread_mutex_lock(&session->windows.mutex);
  pprof_status status = demand_now(session, demand, out_window);
  pthread_mutex_unlock(&session->windows.mutex);
  if (status == PPROF_STATUS_OK) ppi_wakeup_wake(&session->wakeup);
  return status;
}

bool ppi_session_withdraw(pprof_session *session) {
  ppi_demanded *demand = &session->windows.demand;
  pthread_mutex_lock(&session->windows.mutex);
  bool waits = demand->state == PPI_DEMAND_WAITS;
  if (waits) demand->state = PPI_DEMAND_NONE;
  pthread_mutex_unlock(&session->windows.mutex);
  return waits;
}

pprof_status ppi_session_new_epoch(pprof_session *session) {
  ppi_window_state *windows = &session->windows;
  pthread_mutex_lock(&windows->mutex);
  if (windows->is_live)
    ppi_windows_move(session, ppi_windows_now(&session->windows), true);
  pthread_mutex_unlock(&windows->mutex);
  return PPROF_STATUS_OK;
}

// The rule's state if it counts this marker, else NULL.
static ppi_rule_state *counting(ppi_window_state *windows, size_t i,
                                const char *name) {
  const ppi_capture_rule *rule = &windows->capture.rules[i];
  if (rule->kind != PPI_CAPTURE_MARKER || windows->rules[i].is_over ||
      strcmp(rule->marker.name, name) != 0)
    return NULL;
  return &windows->rules[i];
}

static uint32_t begun(pprof_session *session, const char *name) {
  ppi_window_state *windows = &session->windows;
  uint32_t answer = 0;
  for (size_t i = 0; i < windows->capture.num_rules; i++) {
    ppi_rule_state *state = counting(windows, i, name);
    if (!state) continue;
    state->seen++;
    state->is_open = state->seen >= windows->capture.rules[i].marker.from;
  }
  if (ppi_windows_move(session, ppi_windows_now(&session->windows), false))
    answer |= PPI_CAPTURE_MOVED;
  for (size_t i = 0; i < windows->capture.num_rules; i++) {
    ppi_rule_state *state = counting(windows, i, name);
    // An occurrence that begins beside the last one may end before it.
    if (!state || !state->is_open || state->has_last ||
        state->seen < windows->capture.rules[i].marker.to)
      continue;
    state->has_last = true;
    answer |= PPI_CAPTURE_LAST;
  }
  return answer;
}

static void ended(pprof_session *session, const char *name) {
  ppi_window_state *windows = &session->windows;
  for (size_t i = 0; i < windows->capture.num_rules; i++) {
    ppi_rule_state *state = counting(windows, i, name);
    if (state && state->has_last)
      ppi_windows_close_marker(&windows->capture.rules[i].marker, state);
  }
  ppi_windows_move(session, ppi_windows_now(&session->windows), false);
}

// The session with the rules that count markers; NULL when there is none.
static pprof_session *watching_session(void) {
  pprof_session *session = pprof_session_current();
  return session && __atomic_load_n(&session->windows.watches, __ATOMIC_RELAXED)
             ? session
             : NULL;
}

static uint32_t watched_begun(uint32_t site) {
  pprof_session *session = watching_session();
  const char *name =
      session ? ppi_names_watched(ppi_recorder_in_force.names, site) : NULL;
  if (!name) return 0;
  uint32_t answer = 0;
  ppi_calm before;
  ppi_lock_masked(&session->windows.mutex, &before);
  if (session->windows.is_live) answer = begun(session, name);
  ppi_unlock_masked(&session->windows.mutex, &before);
  return answer;
}

static void watched_ended(uint32_t site) {
  pprof_session *session = watching_session();
  const char *name =
      session ? ppi_names_watched(ppi_recorder_in_force.names, site) : NULL;
  if (!name) return;
  ppi_calm before;
  ppi_lock_masked(&session->windows.mutex, &before);
  if (session->windows.is_live) ended(session, name);
  ppi_unlock_masked(&session->windows.mutex, &before);
}

void ppi_capture_watch(ppi_recorder *recorder) {
  recorder->watched_begun = watched_begun;
  recorder->watched_ended = watched_ended;
}
