// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of a run: each settles and forgets what lies before its horizon.
#pragma once

#include "report/parts/merge.h"
#include "report/run/run.h"

PPROF_BEGIN_C_

pprof_status ppi_run_checkpoint(ppi_run *run,
                                const pprof_checkpoint *checkpoint);

// ppi_run_settle_ranges settles host ranges before `horizon_ns` as
// ppi_run_sweep does, and with `answers` the answer, too.
bool ppi_run_settle_ranges(ppi_run *run, uint64_t horizon_ns,
                           ppi_run_open *open, size_t num_open, bool answers);

// ppi_run_settle_devices settles the devices and the steps' time before
// `horizon_ns`, together, as ppi_identity_settle does.
bool ppi_run_settle_devices(ppi_run *run, uint64_t horizon_ns);

PPROF_END_C_
