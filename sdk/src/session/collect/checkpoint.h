// SPDX-License-Identifier: Apache-2.0
//
// What is open at a moment, taken so that readers may rely on it: every range
// that began before the checkpoint's time was delivered or is listed, and none
// is both.
#ifndef PPI_CHECKPOINT_H_
#define PPI_CHECKPOINT_H_

#include "session/state/session_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_checkpoint_take looks at all lanes; it sets each cursor's snapshot, up to
// which the lane is drained before the checkpoint is told.
void ppi_checkpoint_take(pprof_session *session);
// ppi_checkpoint_notify looks at the tables, and tells: time 0 where one of the
// looks was not whole.
pprof_status ppi_checkpoint_notify(pprof_session *session);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CHECKPOINT_H_
