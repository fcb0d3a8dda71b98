// SPDX-License-Identifier: Apache-2.0
//
// CrossThread ranges as the collector sees them. Its thread only.
#pragma once

#include "session/state/session_state.h"

// ppi_cross_thread_drain delivers what has ended, cutting first what an edge
// ends.
void ppi_cross_thread_drain(pprof_session *session);
// ppi_cross_thread_free returns the slots of records below `kept`.
void ppi_cross_thread_free(pprof_session *session, uint64_t kept);
