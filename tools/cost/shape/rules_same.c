// SPDX-License-Identifier: Apache-2.0
//
// Operators whose output has the shape of an input, and those of NumPy's
// broadcasting.
#include <string.h>

#include "cost/shape/fold.h"
#include "cost/shape/rules.h"

// Output `at` like input `from`; of `type`, 0: of the input's.
static void like(const ppi_op *op, size_t at, size_t from, int type) {
  ppi_tensor *out = ppi_op_output(op, at);
  const ppi_tensor *in = ppi_op_input(op, from);
  if (!out) return;
  if (!in) {
    ppi_tensor_forget(out, ppi_op_cause(op, PPI_CAUSE_INVALID));
    return;
  }
  out->type = type ? type : in->type;
  ppi_tensor_copy(out, in, false);
}

void ppi_rule_same(const ppi_op *op) {
  like(op, 0, 0, 0);
}

void ppi_rule_same_mask(const ppi_op *op) {
  like(op, 0, 0, 0);
  like(op, 1, 0, PPI_TYPE_BOOL);
}

void ppi_rule_test(const ppi_op *op) {
  like(op, 0, 0, PPI_TYPE_BOOL);
}

// Statistics: of a layer's what lies before its axis; others have one for each
// channel.
static void put_statistics(const ppi_op *op, size_t at, int rank, int axis) {
  ppi_tensor *out = ppi_op_output(op, at);
  const ppi_tensor *in = ppi_op_input(op, 0);
  if (!out || !ppi_tensor_shape(op->shapes, out, (size_t)rank)) return;
  out->type = PPI_TYPE_F32;
  for (int i = 0; i < rank; i++)
    out->dims[i] = i < axis ? in->dims[i] : ppi_known(1);
}

void ppi_rule_normalized(const ppi_op *op) {
  bool is_batch = strcmp(op->node->op_type, "BatchNormalization") == 0;
  int rank = ppi_op_rank(op, 0);
  like(op, 0, 0, 0);
  int axis = ppi_op_axis(ppi_op_int(op, "axis", -1), rank);
  for (size_t i = 1; i < op->num_outputs; i++) {
    if (is_batch)
      like(op, i, i < 3 ? i + 2 : i, 0);
    else if (rank >= 0 && axis >= 0)
      put_statistics(op, i, rank, axis);
  }
}

// Contributed: output 3 is the sum of input and skip.
void ppi_rule_skip_norm(const ppi_op *op) {
  like(op, 0, 0, 0);
  like(op, 3, 0, 0);
}

void ppi_rule_quantize(const ppi_op *op) {
  const ppi_tensor *zero = ppi_op_input(op, 2);
  int type = (int)ppi_op_int(op, "output_dtype", 0);
  like(op, 0, 0, zero ? zero->type : type ? type : PPI_TYPE_U8);
}

void ppi_rule_dequantize(const ppi_op *op) {
  const ppi_tensor *scale = ppi_op_input(op, 1);
  int type = (int)ppi_op_int(op, "output_dtype", 0);
  like(op, 0, 0,
       type                   ? type
       : scale && scale->type ? scale->type
                              : PPI_TYPE_F32);
  if (op->num_outputs && op->num_inputs && op->inputs[0])
    op->outputs[0].stored = op->inputs[0]->type;
}

void ppi_rule_dynamic_quantize(const ppi_op *op) {
  like(op, 0, 0, PPI_TYPE_U8);
  for (size_t i = 1; i < op->num_outputs; i++) {
    op->outputs[i].type = i == 1 ? PPI_TYPE_F32 : PPI_TYPE_U8;
    ppi_tensor_shape(op->shapes, &op->outputs[i], 0);
  }
}

void ppi_rule_elementwise_q(const ppi_op *op) {
  // Each operand comes with its scale and zero point.
  const ppi_tensor *b = ppi_op_input(op, 3);
  if (!ppi_op_needs(op, 1)) return;
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!b || !out || b->rank < 0)
    ppi_op_fail(op);
  else if (!ppi_broadcast(op, op->inputs[0], b, out))
    ppi_op_fail(op);
  else
    out->type = op->inputs[0]->type;
}

// ---- values, one by one ----

static void fold_one(const ppi_op *op, int type, bool is_cast) {
  const ppi_tensor *in = ppi_op_input(op, 0);
  ppi_tensor *out = ppi_op_output(op, 0);
  like(op, 0, 0, type);
  if (!in || !out || !in->values) return;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  size_t num = values ? (size_t)ppi_tensor_elements(op->shapes, in).i : 0;
  for (size_t i = 0; i < num; i++)
    values[i] =
        is_cast ? ppi_fold_to(in->values[i], in->is_float, out->type)
                : ppi_fold_one(op->node->op_type, in->values[i], in->is_float);
}

void ppi_rule_unary(const ppi_op *op) {
  fold_one(op, 0, false);
}

void ppi_rule_cast(const ppi_op *op) {
  fold_one(op, (int)ppi_op_int(op, "to", 0), true);
}

void ppi_rule_cast_like(const ppi_op *op) {
  const ppi_tensor *model = ppi_op_input(op, 1);
  fold_one(op, model ? model->type : 0, true);
}

// ---- two and more ----

static ppi_value wider(ppi_value a, ppi_value b, bool *fits) {
  if (a.known && a.i == 1) return b;
  if (b.known && b.i == 1) return a;
  if (!a.known) return b;  // what is larger than one decides
  if (b.known && a.i != b.i) *fits = false;
  return a;
}

bool ppi_broadcast(const ppi_op *op, const ppi_tensor *a, const ppi_tensor *b,
                   ppi_tensor *out) {
  int rank = a->rank > b->rank ? a->rank : b->rank;
  bool fits = true;
  ppi_value dims[PPI_MAX_RANK];
  for (int i = 0; i < rank; i++) {
    int in_a = i - (rank - a->rank), in_b = i - (rank - b->rank);
    dims[i] = wider(in_a < 0 ? ppi_known(1) : a->dims[in_a],
                    in_b < 0 ? ppi_known(1) : b->dims[in_b], &fits);
  }
  if (!fits || !ppi_tensor_shape(op->shapes, out, (size_t)rank)) return false;
  for (int i = 0; i < rank; i++) out->dims[i] = dims[i];
  return true;
}

// Where the value of `out`'s element `at` stands in what was broadcast to it.
static size_t source_of(const ppi_tensor *out, const ppi_tensor *from,
                        size_t at) {
  size_t place = 0, stride = 1;
  for (int i = out->rank - 1; i >= 0; i--) {
    size_t size = (size_t)out->dims[i].i;
    int axis = i - (out->rank - from->rank);
    if (axis >= 0) {
      if (from->dims[axis].i != 1) place += at % size * stride;
      stride *= (size_t)from->dims[axis].i;
    }
    at /= size;
  }
  return place;
}

static void fold_two(const ppi_op *op, const ppi_tensor *a, const ppi_tensor *b,
                     ppi_tensor *out) {
  bool is_float = a->is_float;
  if (!a->values || !b->values || a->is_float != b->is_float) return;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  size_t num = values ? (size_t)ppi_tensor_elements(op->shapes, out).i : 0;
  for (size_t i = 0; i < num; i++)
    values[i] = ppi_fold_two(op->shapes, op->node->op_type,
                             a->values[source_of(out, a, i)],
                             b->values[source_of(out, b, i)], is_float);
}

static void broadcast(const ppi_op *op, int type) {
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!out || !ppi_op_needs(op, op->num_inputs ? op->num_inputs : 1)) return;
  ppi_tensor sum = *op->inputs[0];
  for (size_t i = 1; i < op->num_inputs; i++) {
    ppi_tensor next = {.type = type ? type : sum.type};
    if (!ppi_broadcast(op, &sum, op->inputs[i], &next)) {
      ppi_op_fail(op);
      return;
    }
    fold_two(op, &sum, op->inputs[i], &next);
    sum = next;
  }
  ppi_tensor_copy(out, &sum, true);
  out->type = type ? type : op->inputs[0]->type;
}

void ppi_rule_broadcast(const ppi_op *op) {
  broadcast(op, 0);
}

void ppi_rule_compare(const ppi_op *op) {
  broadcast(op, PPI_TYPE_BOOL);
}

void ppi_rule_where(const ppi_op *op) {
  ppi_tensor both = {0}, *out = ppi_op_output(op, 0);
  if (!out || !ppi_op_needs(op, 3)) return;
  const ppi_tensor *test = op->inputs[0], *yes = op->inputs[1],
                   *no = op->inputs[2];
  out->type = yes->type;
  if (!ppi_broadcast(op, yes, no, &both) ||
      !ppi_broadcast(op, test, &both, out)) {
    ppi_op_fail(op);
    return;
  }
  if (!test->values || !yes->values || !no->values) return;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  size_t num = values ? (size_t)ppi_tensor_elements(op->shapes, out).i : 0;
  for (size_t i = 0; i < num; i++) {
    ppi_value chosen = test->values[source_of(out, test, i)];
    if (!chosen.known)
      values[i] = ppi_unknown(chosen.cause);
    else
      values[i] = chosen.i ? yes->values[source_of(out, yes, i)]
                           : no->values[source_of(out, no, i)];
  }
}

// ---- made of a shape ----

void ppi_rule_random_like(const ppi_op *op) {
  like(op, 0, 0, (int)ppi_op_int(op, "dtype", 0));
}

void ppi_rule_random(const ppi_op *op) {
  ppi_list shape;
  ppi_op_list(op, "shape", SIZE_MAX, &shape);
  ppi_tensor *out = ppi_op_begin(op, shape.num);
  if (!out) return;
  out->type = (int)ppi_op_int(op, "dtype", PPI_TYPE_F32);
  for (size_t i = 0; i < shape.num; i++) out->dims[i] = shape.items[i];
}
