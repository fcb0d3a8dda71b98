// SPDX-License-Identifier: Apache-2.0
//
// Figures that add up, and how they are freed.
#ifndef PPI_REPORT_FIGURES_H_
#define PPI_REPORT_FIGURES_H_

#include "report/figures/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

pprof_status ppi_figures_add(ppi_figures *into, const ppi_figures *from);
void ppi_figures_clear(ppi_figures *figures);

void ppi_report_perf_merge(ppi_report_perf *into, const ppi_report_perf *from);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_FIGURES_H_
