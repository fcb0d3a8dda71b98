// SPDX-License-Identifier: Apache-2.0
//
// Maps a device's clock to the host's. Each call contains a time of the device,
// so each call bounds the offset of the two clocks; several calls bound it
// closely. Pure; all in ns.
#pragma once

#include "base/base.h"

PPROF_BEGIN_C_

// All zero: unknown.
typedef struct ppi_bounded_clock {
  bool is_known;
  int64_t low, high;  // host less device lies between these
  uint64_t at;        // of the host: the time of these bounds
} ppi_bounded_clock;

typedef struct ppi_clock_call {
  uint64_t begin, end;  // of the host
  uint64_t device;      // taken during the call; 0: unknown
} ppi_clock_call;

// ppi_bounded_clock_see adds a call. Two clocks drift by 200 ns per ms at most;
// a call that does not fit replaces all earlier ones.
void ppi_bounded_clock_see(ppi_bounded_clock *clock,
                           const ppi_clock_call *call);
// ppi_bounded_clock_host answers the host's time of the device's, and
// ppi_bounded_clock_error the bound of its error. The clock must be known.
uint64_t ppi_bounded_clock_host(const ppi_bounded_clock *clock,
                                uint64_t device_ns);
uint64_t ppi_bounded_clock_error(const ppi_bounded_clock *clock);

PPROF_END_C_
