// SPDX-License-Identifier: Apache-2.0
//
// Device ranges become times: the collector's side of a device. Everything here
// runs on the collector's thread and only asks (query, elapsed), never waits.
#pragma once

#include "deliver/drain.h"
#include "device/device_clock.h"

PPROF_BEGIN_C_

// ppi_resolve_attach prepares `device` for the session; UNAVAILABLE where there
// is no room for its table. It becomes visible to markers at the end.
// With `graph_nodes` captured ranges become nodes of their graphs.
pprof_status ppi_resolve_attach(pprof_device *device, bool graph_nodes);
// ppi_resolve_poll gives times to what is ready and delivers it. Answers how
// many ended ranges still wait.
size_t ppi_resolve_poll(ppi_device_session *session, ppi_drain *drain,
                        ppi_placed *placed);
// ppi_resolve_free returns slots with kept records.
void ppi_resolve_free(ppi_device_session *session, uint64_t kept);
// ppi_resolve_rest delivers everything that is left: ended ranges without times
// as LATE, open ones as CLIPPED at `now` ticks. Where no anchor ever came, the
// passive bounds place them.
void ppi_resolve_rest(ppi_device_session *session, ppi_drain *drain,
                      ppi_placed *placed, uint64_t now);
// ppi_resolve_release destroys the events: the collector's last call.
void ppi_resolve_release(ppi_device_session *session);
// ppi_resolve_detach takes the device from the session, on the owner's thread;
// with `leak` what late markers might still touch stays.
void ppi_resolve_detach(ppi_device_session *session, bool leak);

PPROF_END_C_
