// SPDX-License-Identifier: Apache-2.0
//
// What other views show of a stage, too.
#ifndef PPI_VIEW_STAGES_H_
#define PPI_VIEW_STAGES_H_

#include "view/view.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_stage_rate is the Stages view's rate by own time; with details.stages.
ppi_cell ppi_stage_rate(const ppi_figures *figures,
                        const ppi_report_name *name);

#ifdef __cplusplus
}
#endif

#endif  // PPI_VIEW_STAGES_H_
