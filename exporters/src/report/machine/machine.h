// SPDX-License-Identifier: Apache-2.0
//
// What the machine's counters say of a finished run: troubles, energy, and the
// interpreter's time.
#pragma once

#include "report/figures/figures.h"
#include "report/limit/intervals.h"
#include "report/limit/limit_calls.h"
#include "report/machine/series.h"

// ppi_machine_find_troubles takes a finished run.
bool ppi_machine_find_troubles(const ppi_machine_run *run,
                               const ppi_limit_calls *calls,
                               ppi_machine_figures *out);
// ppi_machine_stretches adds the stretches of `wanted` on a device, or on the
// host (device 0), and answers their total time.
pprof_status ppi_machine_stretches(const ppi_machine_run *run,
                                   ppi_machine_cause wanted, unsigned device,
                                   ppi_intervals *to, uint64_t *out_ns);

// ppi_machine_split_energy takes a finished run.
bool ppi_machine_split_energy(const ppi_machine_run *run,
                              const ppi_limit_calls *calls, ppi_figures *out);

// ppi_interpreter_find takes a finished run; `loops` are the counters of
// category EventLoop.
bool ppi_interpreter_find(const ppi_machine_run *loops,
                          const ppi_limit_calls *calls,
                          ppi_interpreter_figures *out);
