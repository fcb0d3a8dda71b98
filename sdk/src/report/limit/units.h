// SPDX-License-Identifier: Apache-2.0
//
// What a run is made of: requests, steps, or iterations that are found.
#ifndef PPI_LIMIT_UNITS_H_
#define PPI_LIMIT_UNITS_H_

#include "report/limit/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// False: out of memory.
bool ppi_model_find_units(ppi_limit_model *model, const ppi_limit_calls *calls);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_UNITS_H_
