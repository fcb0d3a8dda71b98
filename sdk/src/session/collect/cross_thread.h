// SPDX-License-Identifier: Apache-2.0
//
// The collector's cross-thread ranges. Its thread only.
#pragma once

#include "session/state/session_state.h"

// ppi_cross_thread_drain delivers ended ranges that began by then, after edges
// have cut theirs.
void ppi_cross_thread_drain(pprof_session *session, uint64_t until_ticks);
// ppi_cross_thread_free returns the slots of records below `kept`.
void ppi_cross_thread_free(pprof_session *session, uint64_t kept);
