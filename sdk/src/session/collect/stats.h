// SPDX-License-Identifier: Apache-2.0
//
// The statistics of a session that any thread may ask for.
#ifndef PPI_STATS_H_
#define PPI_STATS_H_

#include "session/state/session_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_stats_publish makes pprof_session_stats answer what is true now.
void ppi_stats_publish(pprof_session *session);

#ifdef __cplusplus
}
#endif

#endif  // PPI_STATS_H_
