// SPDX-License-Identifier: Apache-2.0
//
// Figures that add up, and how they are freed.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

pprof_status ppi_figures_add(ppi_figures *into, const ppi_figures *from);
void ppi_figures_clear(ppi_figures *figures);
// The greatest base that the runs have.
ppi_base_kind ppi_figures_base(const ppi_figures *figures);

void ppi_report_perf_merge(ppi_report_perf *into, const ppi_report_perf *from);

PPROF_END_C_
