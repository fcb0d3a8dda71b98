// SPDX-License-Identifier: Apache-2.0
//
// Ranges that wait.
#ifndef PPI_LIMIT_WAITS_H_
#define PPI_LIMIT_WAITS_H_

#include "report/limit/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// False: out of memory.
bool ppi_model_find_waits(ppi_limit_model *model);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_WAITS_H_
