// SPDX-License-Identifier: Apache-2.0
//
// The work launched inside the program's own device ranges, which events
// measure: of one thread, during a sweep. With details.kernels.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

typedef struct ppi_event_calls {
  uint32_t thread;  // index
  uint64_t horizon_ns;
  uint32_t *numbers;  // of run->device_calls: those that are open
  size_t num, capacity;
} ppi_event_calls;

// ppi_event_calls_begin finds the calls that earlier sweeps left open. Points
// then come in order of time.
pprof_status ppi_event_calls_begin(ppi_run *run, ppi_event_calls *open);
// ppi_event_calls_add opens the range that was submitted at a point.
pprof_status ppi_event_calls_add(ppi_run *run, ppi_event_calls *open,
                                 uint32_t path, const ppi_point *point);
// ppi_event_calls_take counts a kernel, copy or set in all open calls.
pprof_status ppi_event_calls_take(ppi_run *run, ppi_event_calls *open,
                                  const ppi_point *point);
void ppi_event_calls_clear(ppi_event_calls *open);

PPROF_END_C_
