// SPDX-License-Identifier: Apache-2.0
//
// Hands stretches of a sweep over to workers. Each worker adds up for itself;
// sums do not depend on who adds what, nor when.
#pragma once

#include "report/run/run.h"
#include "report/run/sweep.h"

PPROF_BEGIN_C_

// ppi_handover_put copies the stretch's ranges for a job. `*out_handed` false:
// nothing happened, for the stretch is small or needs the run itself.
pprof_status ppi_handover_put(ppi_run *run, const ppi_sweep_stretch *of,
                              bool *out_handed);
// ppi_handover_end waits for all jobs and adds their sums to the run.
pprof_status ppi_handover_end(ppi_run *run);

PPROF_END_C_
