// SPDX-License-Identifier: Apache-2.0
//
// Between the two readings: what will be told exactly.
#ifndef PPI_PLAN_H_
#define PPI_PLAN_H_

#include "html/picture_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_plan_make also takes the requests that are told whole from the figures,
// which it borrows. NO_MEMORY.
pprof_status ppi_plan_make(ppi_picture *picture, const ppi_figures *figures);

#ifdef __cplusplus
}
#endif

#endif  // PPI_PLAN_H_
