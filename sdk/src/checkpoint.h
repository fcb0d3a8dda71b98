// SPDX-License-Identifier: Apache-2.0
//
// What is open at a moment, taken so that readers may rely on it: every range
// that began before the checkpoint's time was delivered or is listed.
#ifndef PPI_CHECKPOINT_H_
#define PPI_CHECKPOINT_H_

#include "session_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_checkpoint_take looks at all lanes and tables; it sets each cursor's
// snapshot, up to which the lane is drained before the checkpoint is told.
void ppi_checkpoint_take(pprof_session *session);
pprof_status ppi_checkpoint_tell(pprof_session *session);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CHECKPOINT_H_
