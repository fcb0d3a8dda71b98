// SPDX-License-Identifier: Apache-2.0
//
// Adds memory by place to a report's figures.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// ppi_figures_add_place and ppi_figures_add_owned add to the row of that place.
pprof_status ppi_figures_add_place(ppi_figures *into, const char *name,
                                   const ppi_report_place *from);
pprof_status ppi_figures_add_owned(ppi_figures *into, const char *place,
                                   const ppi_report_memory *from);
// ppi_figures_add_memory adds the places of `from` and their memory rows.
pprof_status ppi_figures_add_memory(ppi_figures *into, const ppi_figures *from);

PPROF_END_C_
