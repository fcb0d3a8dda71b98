// SPDX-License-Identifier: Apache-2.0
//
// A session's windows, and the room of all of its sinks.
#pragma once

#include "window/window_sinks.h"

PPROF_BEGIN_C_

// The session's; ppi_session_windows makes them when there are none yet. BUSY
// after the start.
pprof_status ppi_session_windows(pprof_session *session,
                                 ppi_window_sinks **out);
pprof_status ppi_session_add_window_maker(pprof_session *session,
                                          const ppi_window_maker *maker);
// ppi_window_sinks_awaits for a session; false without window sinks.
bool ppi_session_awaits_window(const pprof_session *session);
// Whether all sinks have room, those of windows included.
bool ppi_session_have_room(pprof_session *session);
// The records that all sinks have missed.
uint64_t ppi_session_num_missed(const pprof_session *session);
// Reports the missed records of each sink.
void ppi_session_note_missed(pprof_session *session);

PPROF_END_C_
