// SPDX-License-Identifier: Apache-2.0
//
// Where a device's clock lies against the run's: anchors, drift, bounds, and
// the placing of a range. Collector's thread.
#ifndef PPI_DEVICE_CLOCK_H_
#define PPI_DEVICE_CLOCK_H_

#include "device/device_impl.h"
#include "device/resolve.h"

// ppi_device_clock_renew takes an anchor where one is due: at once when ranges
// wait and none is known, later at least once a second while the device is in
// use, more often until the drift is well known.
void ppi_device_clock_renew(ppi_device_session *session, bool in_use);
// ppi_device_clock_place writes the slot's device times and error; BUSY when
// there is no mapping yet.
pprof_status ppi_device_clock_place(ppi_device_session *session, uint32_t index,
                                    ppi_slot *slot, ppi_resolve_stats *stats);
// ppi_anchor_record makes an event and records it as an anchor; the event is
// the caller's.
bool ppi_anchor_record(ppi_device_session *session, uint32_t pool,
                       pprof_anchor *out);
// ppi_event_destroy takes NULL, too, and leaves alone what went with its pool.
void ppi_event_destroy(const ppi_device_session *session, uint32_t pool,
                       void *event);
// ppi_device_clock_forget_pool drops the anchors of a pool that is gone.
void ppi_device_clock_forget_pool(ppi_device_session *session, uint32_t pool);
void ppi_device_clock_clear(ppi_device_session *session);

#endif  // PPI_DEVICE_CLOCK_H_
