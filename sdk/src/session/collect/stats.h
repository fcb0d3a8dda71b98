// SPDX-License-Identifier: Apache-2.0
//
// The statistics of a session that any thread may ask for.
#pragma once

#include "session/state/session_state.h"

PPROF_BEGIN_C_

// ppi_stats_publish makes pprof_session_stats answer what is true now.
void ppi_stats_publish(pprof_session *session);

PPROF_END_C_
