// SPDX-License-Identifier: Apache-2.0
//
// Where the collector stands in each lane.
#ifndef PPI_CURSOR_H_
#define PPI_CURSOR_H_

#include "session/state/session_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// The collector's. ppi_cursor_lane answers the lane in slot `i` with its
// cursor set to it; NULL when there is none that holds anything.
ppi_lane *ppi_cursor_lane(pprof_session *session, uint32_t i);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CURSOR_H_
