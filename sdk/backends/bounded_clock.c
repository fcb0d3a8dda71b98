// SPDX-License-Identifier: Apache-2.0
//
// Bounds the offset between a device's clock and the host's.
#include "bounded_clock.h"

#define DRIFT_PER_MS 200

static void widen(ppi_bounded_clock *clock, uint64_t now_ns) {
  uint64_t apart = now_ns > clock->at ? now_ns - clock->at : clock->at - now_ns;
  int64_t drift =
      (int64_t)(PPI_MIN(apart, (uint64_t)1 << 50) / 1000000 * DRIFT_PER_MS);
  clock->low -= drift;
  clock->high += drift;
}

void ppi_bounded_clock_see(ppi_bounded_clock *clock,
                           const ppi_clock_call *call) {
  if (!call->device || call->end < call->begin) return;
  const ppi_bounded_clock own = {.is_known = true,
                                 .low = (int64_t)(call->begin - call->device),
                                 .high = (int64_t)(call->end - call->device),
                                 .at = call->end};
  if (clock->is_known) widen(clock, call->end);
  bool fits =
      clock->is_known && clock->low <= own.high && clock->high >= own.low;
  int64_t low = fits ? PPI_MAX(clock->low, own.low) : own.low;
  int64_t high = fits ? PPI_MIN(clock->high, own.high) : own.high;
  *clock = (ppi_bounded_clock){true, low, high, own.at};
}

uint64_t ppi_bounded_clock_host(const ppi_bounded_clock *clock,
                                uint64_t device_ns) {
  return device_ns + (uint64_t)(clock->low + (clock->high - clock->low) / 2);
}

uint64_t ppi_bounded_clock_error(const ppi_bounded_clock *clock) {
  return (uint64_t)(clock->high - clock->low + 1) / 2;
}
