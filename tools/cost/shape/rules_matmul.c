// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices, and attention.
#include <string.h>

#include "cost/shape/rules.h"

void ppi_rule_gemm(const ppi_op *op) {
  if (!ppi_op_needs(op, 2)) return;
  bool fits = op->inputs[0]->rank == 2 && op->inputs[1]->rank == 2;
  ppi_tensor *out = fits ? ppi_op_begin(op, 2) : NULL;
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  out->dims[0] = ppi_op_dim(op, 0, ppi_op_int(op, "transA", 0) ? 1 : 0);
  out->dims[1] = ppi_op_dim(op, 1, ppi_op_int(op, "transB", 0) ? 0 : 1);
}

// Contributed: a Gemm whose operands each have scale and zero point behind
// them.
void ppi_rule_qgemm(const ppi_op *op) {
  if (!ppi_op_needs(op, 4)) return;
  bool fits = op->inputs[0]->rank == 2 && op->inputs[3]->rank == 2;
  ppi_tensor *out = fits ? ppi_op_begin(op, 2) : NULL;
  const ppi_tensor *zero = ppi_op_input(op, 8);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  out->type = zero ? zero->type : PPI_TYPE_F32;
  out->dims[0] = ppi_op_dim(op, 0, ppi_op_int(op, "transA", 0) ? 1 : 0);
  out->dims[1] = ppi_op_dim(op, 3, ppi_op_int(op, "transB", 0) ? 0 : 1);
}

// The first `rank` - 2 axes of a tensor; those of a matrix alone are none.
static ppi_tensor batch_of(const ppi_tensor *from) {
  ppi_tensor batch = *from;
  batch.rank = from->rank > 2 ? from->rank - 2 : 0;
  return batch;
}

// Of a row by a column, with what stands before them broadcast.
static void multiply(const ppi_op *op, const ppi_tensor *a, const ppi_tensor *b,
                     bool turn_a, bool turn_b) {
  ppi_tensor batch = {0}, of_a = batch_of(a), of_b = batch_of(b);
  bool fits =
      a->rank > 0 && b->rank > 0 && ppi_broadcast(op, &of_a, &of_b, &batch);
  size_t more = (size_t)((a->rank > 1) + (b->rank > 1));
  ppi_tensor *out = fits ? ppi_op_begin(op, (size_t)batch.rank + more) : NULL;
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  int at = 0;
  for (; at < batch.rank; at++) out->dims[at] = batch.dims[at];
  if (a->rank > 1)
    out->dims[at++] = a->dims[turn_a ? a->rank - 1 : a->rank - 2];
  if (b->rank > 1) out->dims[at] = b->dims[turn_b ? b->rank - 2 : b->rank - 1];
}

void ppi_rule_matmul(const ppi_op *op) {
  if (ppi_op_needs(op, 2))
    multiply(op, op->inputs[0], op->inputs[1], ppi_op_int(op, "transA", 0) != 0,
             ppi_op_int(op, "transB", 0) != 0);
}

void ppi_rule_matmul_integer(const ppi_op *op) {
  const ppi_tensor *scale = ppi_op_input(op, 2);
  bool is_scaled = strcmp(op->node->op_type, "MatMulInteger") != 0;
  ppi_rule_matmul(op);
  if (op->num_outputs)
    op->outputs[0].type = !is_scaled ? PPI_TYPE_I32
                          : scale    ? scale->type
                                     : PPI_TYPE_F32;
}

void ppi_rule_qlinear_matmul(const ppi_op *op) {
  const ppi_tensor *zero = ppi_op_input(op, 7);
  if (!ppi_op_needs(op, 4)) return;
  multiply(op, op->inputs[0], op->inputs[3], false, false);
  if (zero && op->num_outputs) op->outputs[0].type = zero->type;
}

// Contributed: weights of few bits, in blocks; N and K are attributes.
void ppi_rule_matmul_nbits(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  ppi_tensor *out = in->rank < 1 ? NULL : ppi_op_begin(op, (size_t)in->rank);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  memcpy(out->dims, in->dims, (size_t)in->rank * sizeof *in->dims);
  out->dims[out->rank - 1] = ppi_known(ppi_op_int(op, "N", 0));
}
