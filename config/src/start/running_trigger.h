// SPDX-License-Identifier: Apache-2.0
//
// Windows and dumps on demand.
#pragma once

#include "start/running.h"

// Call `add` before the session's start; `destroy` after it is destroyed.
pprof_status ppi_triggers_add(ppi_running *run, pprof_error *error);
void ppi_triggers_destroy(ppi_triggers *triggers);
// As in ppi_control_actions; `user` is the running.
void ppi_triggers_trigger(void *user, const ppi_trigger *trigger,
                          ppi_control_reply *reply);
bool ppi_triggers_settled(void *user, uint64_t ticket,
                          ppi_control_reply *reply);
void ppi_triggers_gone(void *user, uint64_t ticket);
