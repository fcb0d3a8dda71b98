// SPDX-License-Identifier: Apache-2.0
//
// Edges as the collector follows them, and its first error.
#pragma once

#include "session/state/session_state.h"

// ppi_edges_see takes in new edges. A reader of records first reads their
// number, then calls it: a record is published after the edge before it, so
// that its window is known. Collector's thread.
void ppi_edges_see(pprof_session *session);
// ppi_session_keep_error remembers the first error that is no sink's.
void ppi_session_keep_error(pprof_session *session, pprof_status status);
