// SPDX-License-Identifier: Apache-2.0
//
// Windows and dumps on demand.
#pragma once

#include "start/running.h"

PPROF_BEGIN_C_

// `add` before the start;
// `destroy` after the session's.
pprof_status ppi_triggers_add(ppi_running *run, pprof_error *error);
void ppi_triggers_destroy(ppi_triggers *triggers);
// As ppi_control_actions say; `user` is the running.
void ppi_triggers_trigger(void *user, const ppi_trigger *trigger,
                          ppi_control_reply *reply);
bool ppi_triggers_settled(void *user, uint64_t ticket,
                          ppi_control_reply *reply);
void ppi_triggers_gone(void *user, uint64_t ticket);

PPROF_END_C_
