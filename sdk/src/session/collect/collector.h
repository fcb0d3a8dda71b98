// SPDX-License-Identifier: Apache-2.0
//
// The collector's thread, as the session's owner starts and ends it.
#ifndef PPI_COLLECTOR_H_
#define PPI_COLLECTOR_H_

#include "session/state/session_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_collector_start makes the thread and waits for its first cycle.
pprof_status ppi_collector_start(pprof_session *session);
// ppi_collector_stop makes it deliver the rest, then joins it.
void ppi_collector_stop(pprof_session *session);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COLLECTOR_H_
