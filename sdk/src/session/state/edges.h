// SPDX-License-Identifier: Apache-2.0
//
// Edges as the collector follows them, and the first error it meets.
#pragma once

#include "session/state/session_state.h"

PPROF_BEGIN_C_

// ppi_edges_see takes in new edges. Whoever reads records calls it after it has
// read how many there are: a record was published after the edge before it, so
// that its window is known. Collector's thread.
void ppi_edges_see(pprof_session *session);
// ppi_session_keep_error remembers the first error that is no sink's.
void ppi_session_keep_error(pprof_session *session, pprof_status status);

PPROF_END_C_
