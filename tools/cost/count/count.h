// SPDX-License-Identifier: Apache-2.0
//
// The way from a model to its cost.
#ifndef PPI_COST_COUNT_H_
#define PPI_COST_COUNT_H_

#include "cost/count/cost.h"
#include "cost/count/dims.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_cost_count counts a model. It stays the caller's and must outlive the
// cost, which ppi_cost_clear frees, also after a failure.
//
// Errors: CORRUPT for what is no valid model, with the node; NO_MEMORY.
pprof_status ppi_cost_count(const ppi_model *model, ppi_wanted_dims *dims,
                            ppi_cost *out, pprof_error *error);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_COUNT_H_
