// SPDX-License-Identifier: Apache-2.0
//
// The collector's thread, as the session's owner starts and ends it.
#pragma once

#include "session/state/session_state.h"

// ppi_collector_start makes the thread and waits for its first cycle.
pprof_status ppi_collector_start(pprof_session *session);
// ppi_collector_stop makes it deliver the rest, then joins it.
void ppi_collector_stop(pprof_session *session);
