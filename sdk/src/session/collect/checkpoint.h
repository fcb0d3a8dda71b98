// SPDX-License-Identifier: Apache-2.0
//
// Lists what is open at a moment, so that readers may rely on it. Every range
// that began before the checkpoint's time was delivered or is listed, never
// both. No range of a thread that began later is delivered before it.
#pragma once

#include "session/state/session_state.h"

// ppi_checkpoint_take reads all lanes. It sets each cursor's snapshot: the lane
// is drained up to it before the checkpoint is delivered.
void ppi_checkpoint_take(pprof_session *session);
// ppi_checkpoint_notify reads the tables, and delivers: time 0 where a lane or
// table could not be read whole.
pprof_status ppi_checkpoint_notify(pprof_session *session);
