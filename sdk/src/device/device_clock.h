// SPDX-License-Identifier: Apache-2.0
//
// Maps a device's clock to the run's: anchors, drift, bounds, and the placing
// of a range. Collector's thread.
#pragma once

#include "device/device_impl.h"

#define PPI_ANCHORS 16u

// A moment known on both clocks: the device's within half the bracket of the
// run's.
typedef struct ppi_anchor {
  int64_t device_ns;  // absolute, or since the first anchor
  uint64_t host_ns;
  uint64_t bracket_ns;
  void *event;
} ppi_anchor;

// The state of a device's clock against the run's. Kept by the collector.
typedef struct ppi_device_clock {
  ppi_anchor anchors[PPI_ANCHORS];  // oldest first
  uint32_t num_anchors;
  bool retry;          // the last attempt brought nothing of use
  uint64_t tried_ns;   // when that was; 0: never
  double drift;        // host ns per device ns, less one
  double drift_error;  // by how much `drift` may be off at the last anchor
  bool drift_known;
} ppi_device_clock;

struct ppi_device_clocks {
  ppi_device_clock of_pools[PPI_EVENT_POOLS];
  uint64_t last_used_ns;
  uint64_t step_ns;  // absolute times so far are multiples of this
};

// The number of ranges that were moved to a possible place, and the largest
// error of a placed range.
typedef struct ppi_placed {
  uint64_t clamped;
  uint64_t clock_error_ns;
} ppi_placed;

// ppi_device_clock_renew takes an anchor where one is due: at once when ranges
// wait and none is known, later at least once a second while the device is in
// use, more often until the drift is well known.
void ppi_device_clock_renew(ppi_device_session *session, bool in_use);
// ppi_device_clock_place writes the slot's device times and error; BUSY when
// there is no mapping yet.
pprof_status ppi_device_clock_place(ppi_device_session *session, uint32_t index,
                                    ppi_slot *slot, ppi_placed *placed);
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
