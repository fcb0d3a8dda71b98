// SPDX-License-Identifier: Apache-2.0
//
// Adds, copies and frees the requests of one run in figures of several runs.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// ppi_figures_request_run adds a run, and owns it on success.
pprof_status ppi_figures_request_run(ppi_figures *figures,
                                     ppi_request_run *run);
ppi_request_run *ppi_request_run_copy(const ppi_request_run *run);
void ppi_request_run_destroy(ppi_request_run *run);

PPROF_END_C_
