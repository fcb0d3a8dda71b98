// SPDX-License-Identifier: Apache-2.0
//
// A device's clock in the host's. A time of the device was taken inside each
// call: each call bounds the offset of the two, several bound it closely. Pure;
// all in ns.
#pragma once

#include "base/base.h"

PPROF_BEGIN_C_

// All zero knows nothing.
typedef struct ppi_bounded_clock {
  bool is_known;
  int64_t low, high;  // host less device lies between
  uint64_t at;        // of the host: when that was so
} ppi_bounded_clock;

typedef struct ppi_clock_call {
  uint64_t begin, end;  // of the host
  uint64_t device;      // taken meanwhile; 0: it does not say
} ppi_clock_call;

// ppi_bounded_clock_see adds a call. Two clocks drift by 200 ns a ms at most; a
// call that does not fit replaces all before it.
void ppi_bounded_clock_see(ppi_bounded_clock *clock,
                           const ppi_clock_call *call);
// ppi_bounded_clock_host answers the host's time of the device's, and
// ppi_bounded_clock_error by how much that may be off; of one that is known.
uint64_t ppi_bounded_clock_host(const ppi_bounded_clock *clock,
                                uint64_t device_ns);
uint64_t ppi_bounded_clock_error(const ppi_bounded_clock *clock);

PPROF_END_C_
