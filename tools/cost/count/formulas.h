// SPDX-License-Identifier: Apache-2.0
//
// What operators compute, as their definitions say; docs/cost.md has the
// formulas. Each is called once the outputs are known as far as they can be.
#ifndef PPI_COST_FORMULAS_H_
#define PPI_COST_FORMULAS_H_

#include "cost/count/operators.h"

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
#define PPI_FORMULAS(each) \
  each(moves)       /* nothing: it moves data */ \
  each(views)       /* nothing, and no data moves either */ \
  each(each_out)    /* factor, for each element of output 0 */ \
  each(each_in)     /* factor, for each element of input 0 */ \
  each(variadic)    /* one less than there are inputs, for each element */ \
  each(pool) each(lrn) each(conv) each(conv_transpose) each(gemm) each(matmul) \
  each(matmul_nbits) each(einsum) each(attention) \
  each(recurrent)   /* factor: gates */ \
  each(dft) each(stft)
// clang-format on
#define PPI_FORMULA_DECLARATION_(name) \
  void ppi_count_##name(const ppi_op *op, unsigned factor, ppi_work *out);
PPI_FORMULAS(PPI_FORMULA_DECLARATION_)
#undef PPI_FORMULA_DECLARATION_

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_FORMULAS_H_
