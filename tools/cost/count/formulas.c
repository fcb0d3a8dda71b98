// SPDX-License-Identifier: Apache-2.0
#include "cost/count/formulas.h"

#include <math.h>
#include <string.h>

#include "cost/shape/attention.h"
#include "cost/shape/einsum.h"

// All else stays 0.
static ppi_value product(const ppi_op *op, ppi_value a, ppi_value b) {
  return ppi_value_multiply(op->shapes, a, b);
}

static ppi_value elements(const ppi_op *op, const ppi_tensor *of) {
  return of ? ppi_tensor_elements(op->shapes, of) : ppi_known(0);
}

// What a formula does not find has the reason of the tensor without a shape, or
// does not fit.
static ppi_value missing(const ppi_op *op, const ppi_tensor *of) {
  bool is_open = of && of->rank < 0;
  return ppi_unknown(is_open ? of->cause : ppi_op_cause(op, PPI_CAUSE_INVALID));
}

// The number that an attribute (NULL: none) or input is; `usual` without it.
static ppi_value number(const ppi_op *op, const char *attribute, size_t input,
                        ppi_value usual) {
  ppi_list list;
  ppi_op_list(op, attribute, input, &list);
  if (!list.is_given) return usual;
  return list.num == 1 ? list.items[0] : ppi_unknown(list.cause);
}

static ppi_value num_out(const ppi_op *op) {
  return elements(op, ppi_op_output(op, 0));
}

// Where the data of a quantised twin is, with its weights behind scale and zero
// point.
static size_t weights_of(const ppi_op *op) {
  return strncmp(op->node->op_type, "QLinear", 7) == 0 ? 3 : 1;
}

void ppi_count_moves(const ppi_op *op, unsigned factor, ppi_work *out) {
  (void)op;
  (void)factor;
  (void)out;
}

void ppi_count_views(const ppi_op *op, unsigned factor, ppi_work *out) {
  (void)op;
  (void)factor;
  (void)out;
}

void ppi_count_each_out(const ppi_op *op, unsigned factor, ppi_work *out) {
  out->flops = product(op, num_out(op), ppi_known(factor));
}

void ppi_count_each_in(const ppi_op *op, unsigned factor, ppi_work *out) {
  out->flops =
      product(op, elements(op, ppi_op_input(op, 0)), ppi_known(factor));
}

void ppi_count_variadic(const ppi_op *op, unsigned factor, ppi_work *out) {
  int64_t times = op->num_inputs ? (int64_t)op->num_inputs - 1 : 0;
  out->flops = product(op, num_out(op), ppi_known(times + (int64_t)factor));
}

void ppi_count_pool(const ppi_op *op, unsigned factor, ppi_work *out) {
  ppi_list kernel;
  ppi_value area = ppi_known((int64_t)factor);
  ppi_op_list(op, "kernel_shape", SIZE_MAX, &kernel);
  for (size_t i = 0; i < kernel.num; i++)
    area = product(op, area, kernel.items[i]);
  out->flops = product(op, num_out(op), area);
}

// Squares of `size` channels and their sum, then scale, bias, power, quotient.
void ppi_count_lrn(const ppi_op *op, unsigned factor, ppi_work *out) {
  int64_t size = ppi_op_int(op, "size", 1);
  bool is_sane = size > 0 && size < INT32_MAX;
  (void)factor;
  out->flops = is_sane ? product(op, num_out(op), ppi_known(2 * size + 4))
                       : ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID));
}

// N.OC.OH.OW . (IC/g).KH.KW: weights are (OC, IC/g, KH, KW).
void ppi_count_conv(const ppi_op *op, unsigned factor, ppi_work *out) {
  const ppi_tensor *weights = ppi_op_input(op, weights_of(op));
  (void)factor;
  if (weights)
    out->macs =
        product(op, num_out(op),
                ppi_tensor_product(op->shapes, weights, 1, PPI_MAX_RANK));
}

// N.IC.IH.IW . (OC/g).KH.KW: weights are (IC, OC/g, KH, KW).
void ppi_count_conv_transpose(const ppi_op *op, unsigned factor,
                              ppi_work *out) {
  const ppi_tensor *weights = ppi_op_input(op, 1);
  (void)factor;
  if (weights)
    out->macs =
        product(op, elements(op, op->inputs[0]),
                ppi_tensor_product(op->shapes, weights, 1, PPI_MAX_RANK));
}

void ppi_count_gemm(const ppi_op *op, unsigned factor, ppi_work *out) {
  (void)factor;
  ppi_value inner = ppi_op_dim(op, 0, ppi_op_int(op, "transA", 0) ? 0 : 1);
  out->macs = product(op, num_out(op), inner);
}

void ppi_count_matmul(const ppi_op *op, unsigned factor, ppi_work *out) {
  bool turned = ppi_op_int(op, "transA", 0) && ppi_op_rank(op, 0) > 1;
  (void)factor;
  out->macs = product(op, num_out(op), ppi_op_dim(op, 0, turned ? -2 : -1));
}

void ppi_count_matmul_nbits(const ppi_op *op, unsigned factor, ppi_work *out) {
  (void)factor;
  out->macs = product(op, num_out(op), ppi_op_dim(op, 0, -1));
}

// The product of the sizes of all indices; one operand alone is summed.
void ppi_count_einsum(const ppi_op *op, unsigned factor, ppi_work *out) {
  ppi_einsum read;
  (void)factor;
  if (op->num_inputs < 2) {
    ppi_value in = elements(op, ppi_op_input(op, 0)), kept = num_out(op);
    bool moves = in.known && kept.known && in.i == kept.i;
    out->flops = moves ? ppi_known(0) : in;
    return;
  }
  if (!ppi_einsum_read(op, &read)) {
    out->macs = ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID));
    return;
  }
  ppi_value all = elements(op, &read.batch);
  for (size_t i = 0; i < sizeof read.seen; i++)
    if (read.seen[i]) all = product(op, all, read.sizes[i]);
  out->macs = product(op, all, ppi_known((int64_t)op->num_inputs - 1));
}

// B.H.(Lq.Lk.Dqk + Lq.Lk.Dv), and 5 for each score's softmax. A causal one is
// counted in full, as it is computed unless a kernel skips blocks.
void ppi_count_attention(const ppi_op *op, unsigned factor, ppi_work *out) {
  ppi_attention is;
  (void)factor;
  if (!ppi_attention_read(op, &is)) {
    out->macs = ppi_unknown(ppi_op_output(op, 0) ? op->outputs[0].cause : 0);
    return;
  }
  ppi_value scores = product(op, product(op, is.batch, is.heads),
                             product(op, is.queries, is.total));
  ppi_value sizes = ppi_value_add(op->shapes, is.size, is.value_size);
  ppi_value rows = product(op, is.batch, is.queries);
  ppi_value projections =
      product(op, rows, product(op, is.input_size, is.projected));
  out->macs =
      ppi_value_add(op->shapes, product(op, scores, sizes), projections);
  out->flops = product(op, scores, ppi_known(5));
}

// T.B.dir.gates.H.(I + H)
void ppi_count_recurrent(const ppi_op *op, unsigned factor, ppi_work *out) {
  const ppi_tensor *in = ppi_op_input(op, 0);
  if (!in || in->rank != 3) {
    out->macs = missing(op, in);
    return;
  }
  ppi_value steps = product(op, in->dims[0], in->dims[1]);
  ppi_value hidden = ppi_op_dim(op, 2, -1);
  ppi_value gates = product(op, product(op, ppi_op_dim(op, 1, 0), hidden),
                            ppi_known((int64_t)factor));
  ppi_value sizes = ppi_value_add(op->shapes, in->dims[2], hidden);
  out->macs = product(op, product(op, steps, gates), sizes);
}

// 5 n log2 n a transform.
static ppi_value transforms(const ppi_op *op, ppi_value num, ppi_value size) {
  if (!num.known || !size.known) return num.known ? size : num;
  if (size.i < 1) return ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID));
  double one = 5 * (double)size.i * log2((double)size.i);
  double all = one * (double)num.i;
  return all >= 0 && all < 9e18 ? ppi_known((int64_t)llround(all))
                                : ppi_unknown(0);
}

void ppi_count_dft(const ppi_op *op, unsigned factor, ppi_work *out) {
  const ppi_tensor *in = ppi_op_input(op, 0);
  (void)factor;
  ppi_value axis = number(op, "axis", 2, ppi_known(op->opset < 20 ? 1 : -2));
  int at = in && axis.known ? ppi_op_axis(axis.i, in->rank) : -1;
  if (at < 0) {
    out->flops = axis.known ? missing(op, in) : axis;
    return;
  }
  ppi_value num = ppi_known(1);
  for (int i = 0; i + 1 < in->rank; i++)
    if (i != at) num = product(op, num, in->dims[i]);
  out->flops = transforms(op, num, number(op, NULL, 1, in->dims[at]));
}

void ppi_count_stft(const ppi_op *op, unsigned factor, ppi_work *out) {
  const ppi_tensor *made = ppi_op_output(op, 0);
  (void)factor;
  if (!made || made->rank != 4) {
    out->flops = missing(op, made);
    return;
  }
  ppi_value size = number(op, NULL, 3, ppi_op_dim(op, 2, 0));
  out->flops = transforms(op, product(op, made->dims[0], made->dims[1]), size);
}
