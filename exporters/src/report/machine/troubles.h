// SPDX-License-Identifier: Apache-2.0
//
// Finds troubles of the machine in its counters.
#pragma once

#include "report/figures/machine.h"
#include "report/limit/intervals.h"
#include "report/limit/limit_calls.h"
#include "report/machine/series.h"

PPROF_BEGIN_C_

// ppi_machine_find_troubles takes a finished run.
bool ppi_machine_find_troubles(const ppi_machine_run *run,
                               const ppi_limit_calls *calls,
                               ppi_machine_figures *out);
// ppi_machine_stretches adds the stretches of `wanted` on a device, or on the
// host (device 0), and answers their total time.
pprof_status ppi_machine_stretches(const ppi_machine_run *run,
                                   ppi_machine_cause wanted, unsigned device,
                                   ppi_intervals *to, uint64_t *out_ns);

PPROF_END_C_
