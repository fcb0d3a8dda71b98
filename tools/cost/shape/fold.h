// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of shapes: what exporters compute from Shape, on values.
#ifndef PPI_COST_FOLD_H_
#define PPI_COST_FOLD_H_

#include "cost/shape/op.h"

#ifdef __cplusplus
extern "C" {
#endif

// What `op_type` makes of one value, or of two; unknown where either is, or
// where it is none of ours.
ppi_value ppi_fold_one(const char *op_type, ppi_value value, bool is_float);
ppi_value ppi_fold_two(ppi_shapes *shapes, const char *op_type, ppi_value a,
                       ppi_value b, bool is_float);
// ppi_fold_to: a value of one kind of number as one of another; bool: 0 or 1.
ppi_value ppi_fold_to(ppi_value value, bool from_float, int type);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_FOLD_H_
