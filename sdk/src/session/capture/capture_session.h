// SPDX-License-Identifier: Apache-2.0
//
// The rules of a session: set, demanded, renewed, and called by watched
// markers.
#pragma once

#include "mark/recorder.h"
#include "pprof/session.h"
#include "rules/capture.h"

PPROF_BEGIN_C_

// ppi_session_set_capture: before start, and while it runs. A change while it
// runs is an edge where it opens or closes a window or watches other markers;
// a window that is open goes on while the new rules record, too. Rules that
// did not change go on counting. INVALID as ppi_capture_check says; BUSY after
// the stop.
pprof_status ppi_session_set_capture(pprof_session *session,
                                     const ppi_capture *capture);

// ppi_session_demand opens a window: either for `steps` steps from the next
// pprof_step on, or now for `ns`. BUSY while a window is open or a demand waits
// for its step; INVALID while the session does not run. *out_window is the
// window's index. Any thread.
typedef struct ppi_demand {
  uint64_t steps, ns;
} ppi_demand;
pprof_status ppi_session_demand(pprof_session *session,
                                const ppi_demand *demand, uint32_t *out_window);
// ppi_session_withdraw takes back a demand that waits for its step; false: none
// waits.
bool ppi_session_withdraw(pprof_session *session);

// ppi_session_new_epoch makes every site be decided again; a window that is
// open goes on, ranges that are open are clipped. OK without an epoch to renew;
// where it must wait for the collector, it comes later by itself.
pprof_status ppi_session_new_epoch(pprof_session *session);

// ppi_capture_watch connects watched markers to the session that runs; before
// there is an epoch.
void ppi_capture_watch(ppi_recorder *recorder);

PPROF_END_C_
