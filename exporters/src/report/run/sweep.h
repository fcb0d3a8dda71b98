// SPDX-License-Identifier: Apache-2.0
//
// Settles the ranges before a horizon, in one walk over them.
#pragma once

#include "report/parts/merge.h"
#include "report/run/run.h"

PPROF_BEGIN_C_

// ppi_run_sweep settles ranges before `horizon_ns`. All ranges that end by it
// have come, and all device work submitted before it. Other ranges that begin
// before it have come or are in `open`. The order of `open` changes.
bool ppi_run_sweep(ppi_run *run, uint64_t horizon_ns, ppi_run_open *open,
                   size_t num_open);
// ppi_run_pass_swept comes after ppi_run_sweep, when nothing else reads the
// lanes. It forgets settled ranges, or hands them over to the answer.
bool ppi_run_pass_swept(ppi_run *run);

PPROF_END_C_
