// SPDX-License-Identifier: Apache-2.0
//
// The equation of an Einsum, for its output and its count.
#ifndef PPI_COST_EINSUM_H_
#define PPI_COST_EINSUM_H_

#include "cost/shape/op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_equation {
  const char *at, *end;
} ppi_equation;

bool ppi_equation_find(const ppi_op *op, ppi_equation *out);
// ppi_equation_next answers the next letter, '.' for an ellipsis, 0 at the end
// of the term, -1 for what is none of these.
int ppi_equation_next(ppi_equation *eq);
// ppi_equation_letters counts those of the term.
size_t ppi_equation_letters(ppi_equation eq);

// The sizes of an Einsum's letters, for its count: false where the equation
// cannot be read. `out_sizes` is by letter; `out_seen` says which are there.
typedef struct ppi_einsum {
  ppi_value sizes[128];
  bool seen[128];
  ppi_tensor batch;  // what "..." stands for, of all inputs
} ppi_einsum;
bool ppi_einsum_read(const ppi_op *op, ppi_einsum *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_EINSUM_H_
