// SPDX-License-Identifier: Apache-2.0
//
// The table of what a machine's counters can say against it.
#pragma once

#include "report/figures/machine.h"
#include "report/limit/intervals.h"
#include "report/limit/limit_calls.h"
#include "report/machine/series.h"

PPROF_BEGIN_C_

// ppi_machine_find_troubles looks at a run that is over.
//
// Errors: NO_MEMORY.
pprof_status ppi_machine_find_troubles(const ppi_machine_run *run,
                                       const ppi_limit_calls *calls,
                                       ppi_machine_figures *out);
// ppi_machine_stretches adds when `wanted` was there, on that device or, as
// device 0, on the host, and returns the sum of what it took.
//
// Errors: NO_MEMORY.
pprof_status ppi_machine_stretches(const ppi_machine_run *run,
                                   ppi_machine_cause wanted, unsigned device,
                                   ppi_intervals *to, uint64_t *out_ns);

PPROF_END_C_
