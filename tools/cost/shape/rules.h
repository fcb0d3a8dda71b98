// SPDX-License-Identifier: Apache-2.0
//
// How operators' outputs follow from their inputs: one rule for all operators
// of a kind. Source: the ONNX operator schemas, opsets 7 to 25, and the
// contributed ones of ONNX Runtime.
#ifndef PPI_COST_RULES_H_
#define PPI_COST_RULES_H_

#include "cost/shape/op.h"

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
#define PPI_RULES(each) \
  each(same)            /* output 0 is like input 0 */ \
  each(same_mask)       /* output 1 is bool, as large */ \
  each(test)            /* like input 0, but bool */ \
  each(normalized)      /* like input 0; statistics beside */ \
  each(cast) each(cast_like) each(quantize) each(dequantize) \
  each(dynamic_quantize) each(random) each(random_like) each(skip_norm) \
  each(unary)           /* like input 0, values computed */ \
  each(broadcast) each(compare) each(where) \
  each(reduce) each(arg_reduce) \
  each(shape) each(size) each(reshape) each(flatten) each(squeeze) \
  each(unsqueeze) each(transpose) each(concat) each(split) each(slice) \
  each(gather) each(gather_elements) each(gather_nd) each(expand) each(tile) \
  each(pad) each(constant) each(constant_of_shape) each(range) each(resize) \
  each(depth_to_space) each(space_to_depth) each(one_hot) each(top_k) \
  each(non_zero) each(unknown_rows) each(nms) each(eye_like) each(crop_pad) \
  each(conv) each(conv_transpose) each(qlinear_conv) each(conv_integer) \
  each(reorder) each(pool) each(global_pool) each(roi_align) each(grid_sample) \
  each(deform_conv) each(col2im) each(unpool) \
  each(gemm) each(qgemm) each(matmul) each(matmul_integer) each(qlinear_matmul) \
  each(matmul_nbits) \
  each(einsum) each(attention) each(fused_attention) each(group_query) \
  each(recurrent) each(dft) each(stft) each(window) each(mel) \
  each(sequence) each(sequence_at) each(sequence_concat) each(sequence_split) \
  each(sequence_length) each(sequence_insert) each(sequence_erase) \
  each(sequence_empty) \
  each(optional) each(optional_has) each(elementwise_q)
// clang-format on

typedef void (*ppi_shape_rule)(const ppi_op *op);
#define PPI_RULE_DECLARATION_(name) void ppi_rule_##name(const ppi_op *op);
PPI_RULES(PPI_RULE_DECLARATION_)
#undef PPI_RULE_DECLARATION_

// ppi_broadcast gives `out` the shape of both, by NumPy's rule; false: they do
// not fit, or there is no memory.
bool ppi_broadcast(const ppi_op *op, const ppi_tensor *a, const ppi_tensor *b,
                   ppi_tensor *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_RULES_H_
