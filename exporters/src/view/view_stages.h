// SPDX-License-Identifier: Apache-2.0
//
// Figures of stages for other views.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

// ppi_stage_rate is the Stages view's rate by own time.
ppi_cell ppi_stage_rate(const ppi_figures *figures,
                        const ppi_report_name *name);

enum { PPI_MAX_ROOFLINES = 32 };

typedef struct ppi_rooflines {
  ppi_roofline items[PPI_MAX_ROOFLINES];  // texts of the figures, the options
  size_t num;
  bool is_used[PPI_MAX_COSTS];  // by a stage, each of the options' costs
} ppi_rooflines;

// ppi_stage_rooflines makes them of the stages with known work, those with most
// time first.
pprof_status ppi_stage_rooflines(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_rooflines *out);

PPROF_END_C_
