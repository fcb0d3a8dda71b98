// SPDX-License-Identifier: Apache-2.0
//
// The requests of runs in figures of several runs.
#pragma once

#include "report/figures/figures.h"

// ppi_figures_request_run adds a run, and one to its owners on success.
bool ppi_figures_request_run(ppi_figures *figures, ppi_request_run *run);
// ppi_request_run_release takes an owner away; the last one frees the run.
void ppi_request_run_release(ppi_request_run *run);
// A read makes the run, with one owner.
void ppi_request_run_carry(ppi_carry *carry, ppi_request_run **run);

// ---- steady requests, by length ----

typedef struct ppi_steady_request {
  const ppi_request_run *run;
  const ppi_request_row *row;
  size_t run_index;  // of `run` in figures->request_runs
} ppi_steady_request;

// ppi_steady_requests: `*out` is the caller's (ppi_free). NO_MEMORY.
pprof_status ppi_steady_requests(const ppi_figures *figures,
                                 ppi_steady_request **out, size_t *out_num,
                                 size_t *out_num_cold);
