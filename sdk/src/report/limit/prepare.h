// SPDX-License-Identifier: Apache-2.0
//
// Calls in the order of time, under their stages' names, on their rows.
#ifndef PPI_LIMIT_PREPARE_H_
#define PPI_LIMIT_PREPARE_H_

#include "report/limit/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_model_prepare uses `calls` up. False: out of memory.
bool ppi_model_prepare(ppi_limit_model *model, ppi_limit_calls *calls);
void ppi_model_clear(ppi_limit_model *model);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_PREPARE_H_
