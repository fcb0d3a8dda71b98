// SPDX-License-Identifier: Apache-2.0
//
// The session that runs (pprof_session_current), and whether one ever did.
#pragma once

#include "pprof/session.h"

// The owner's, at start and stop; NULL: none runs.
void ppi_current_set(pprof_session *session);
// In a forked child none runs, and none was started.
void ppi_current_in_forked_child(void);

// Has any session been started in this process?
bool ppi_session_was_started(void);
