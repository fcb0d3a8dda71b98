// SPDX-License-Identifier: Apache-2.0
//
// The windows of the running session: the current result of the capture rules,
// and the edges between. Moved by pprof_step, by watched markers, by the
// collector when a time has come, and by demands; all under the windows' mutex.
#pragma once

#include "base/clock.h"
#include "session/state/session_state.h"

PPROF_BEGIN_C_

// The owner calls, in this order: before the collector; when markers may come;
// at stop.
void ppi_windows_begin(pprof_session *session);
void ppi_windows_publish(pprof_session *session);
void ppi_windows_end(pprof_session *session);
// With the mutex: after a start that failed.
void ppi_windows_forget(pprof_session *session);
// The child has neither the windows nor the thread that may hold the mutex.
void ppi_windows_in_forked_child(pprof_session *session);

// With the mutex: the time, never before what this answered earlier. Processors
// may read their clock before they have the mutex.
uint64_t ppi_windows_now(ppi_window_state *windows);

// With the mutex: moves the windows to the state that the rules want at `now`
// ticks; with `renew`, to a new epoch in any case. True: the epoch changed.
bool ppi_windows_move(pprof_session *session, uint64_t now, bool renew);
// With the mutex, after the rules have changed: a window that is open and still
// wanted stays the same one.
void ppi_windows_replace(pprof_session *session, uint64_t now, bool renew);
// With the mutex: a step has begun (steps.number).
void ppi_windows_step(pprof_session *session);

// The collector's: moves the windows at their times; answers the ns until the
// next check, UINT64_MAX: no time is known.
uint64_t ppi_windows_due(pprof_session *session);
// The collector's: applies a new sample of the wall clock.
void ppi_windows_sample(pprof_session *session, const ppi_clock_sample *sample);

// With the mutex. The occurrences that a rule by markers wanted are over.
void ppi_windows_close_marker(const ppi_capture_marker *rule,
                              ppi_rule_state *state);
// With the mutex, or before the start: rule `i` by the wall clock gets that
// clock's time.
void ppi_windows_set_from(pprof_session *session, size_t i,
                          const ppi_clock_sample *sample);

PPROF_END_C_
