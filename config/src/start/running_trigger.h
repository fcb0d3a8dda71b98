// SPDX-License-Identifier: Apache-2.0
//
// Windows and dumps on demand.
#ifndef PPI_RUNNING_TRIGGER_H_
#define PPI_RUNNING_TRIGGER_H_

#include "start/running.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif  // PPI_RUNNING_TRIGGER_H_
