// SPDX-License-Identifier: Apache-2.0
//
// The requests of one run, among the figures of several.
#ifndef PPI_REPORT_REQUEST_ROWS_H_
#define PPI_REPORT_REQUEST_ROWS_H_

#include "report/figures/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_figures_request_run adds a run, and takes it on success.
pprof_status ppi_figures_request_run(ppi_figures *figures,
                                     ppi_request_run *run);
ppi_request_run *ppi_request_run_copy(const ppi_request_run *run);
void ppi_request_run_destroy(ppi_request_run *run);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_REQUEST_ROWS_H_
