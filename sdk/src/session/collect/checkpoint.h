// SPDX-License-Identifier: Apache-2.0
//
// Lists what is open at a moment, so that readers may rely on it. Every range
// that began before the checkpoint's time was delivered or is listed, never
// both.
#pragma once

#include "session/state/session_state.h"

PPROF_BEGIN_C_

// ppi_checkpoint_take looks at all lanes; it sets each cursor's snapshot, up to
// which the lane is drained before the checkpoint is delivered.
void ppi_checkpoint_take(pprof_session *session);
// ppi_checkpoint_notify looks at the tables, and delivers: time 0 where one of
// the looks was not whole.
pprof_status ppi_checkpoint_notify(pprof_session *session);

PPROF_END_C_
