// SPDX-License-Identifier: Apache-2.0
//
// Hands stretches of a sweep over to workers. Each worker adds up for itself;
// sums do not depend on who adds what, nor when.
#pragma once

#include "report/parts/merge.h"
#include "report/run/run.h"

// The ranges before a horizon, and where the last sweep ended.
typedef struct ppi_sweep_stretch {
  uint64_t from_ns, horizon_ns;
  ppi_run_open *open;  // a walk changes their order
  size_t num_open;
} ppi_sweep_stretch;

// Adds up the ranges of the run's lanes.
typedef bool (*ppi_sweep_walk)(ppi_run *run, const ppi_sweep_stretch *of);

// ppi_handover_put copies the stretch's ranges for a job. `*out_handed` false:
// nothing happened, for the stretch is small or needs the run itself.
bool ppi_handover_put(ppi_run *run, const ppi_sweep_stretch *of,
                      ppi_sweep_walk walk, bool *out_handed);
// ppi_handover_end waits for all jobs and adds their sums to the run.
bool ppi_handover_end(ppi_run *run);
