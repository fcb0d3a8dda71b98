// SPDX-License-Identifier: Apache-2.0
//
// Frees the memory of records, ranges and lanes that sinks have kept. The
// collector's thread.
#pragma once

#include "session/state/session_state.h"

void ppi_collector_free_kept(pprof_session *session);
