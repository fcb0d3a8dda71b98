// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers, signals, sequences.
#include <string.h>

#include "cost/shape/rules.h"

// ---- recurrent ----

static void put_states(const ppi_op *op, size_t at, bool batch_first,
                       const ppi_value dims[3]) {
  ppi_tensor *out = ppi_op_output(op, at);
  if (!out || !ppi_tensor_shape(op->shapes, out, 3)) return;
  out->type = op->inputs[0]->type;
  out->dims[0] = dims[batch_first ? 1 : 0];
  out->dims[1] = dims[batch_first ? 0 : 1];
  out->dims[2] = dims[2];
}

void ppi_rule_recurrent(const ppi_op *op) {
  if (!ppi_op_needs(op, 3)) return;
  bool batch_first = ppi_op_int(op, "layout", 0) != 0;
  ppi_value of[3] = {ppi_op_dim(op, 1, 0),                    // directions
                     ppi_op_dim(op, 0, batch_first ? 0 : 1),  // batch
                     ppi_op_dim(op, 2, -1)};                  // hidden
  ppi_value steps = ppi_op_dim(op, 0, batch_first ? 1 : 0);
  ppi_tensor *out = op->inputs[0]->rank == 3 ? ppi_op_begin(op, 4) : NULL;
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  const ppi_value usual[4] = {steps, of[0], of[1], of[2]};
  const ppi_value turned[4] = {of[1], steps, of[0], of[2]};
  memcpy(out->dims, batch_first ? turned : usual, sizeof usual);
  put_states(op, 1, batch_first, of);
  put_states(op, 2, batch_first, of);
}

// ---- signals ----

static ppi_value one_number(const ppi_op *op, size_t input) {
  ppi_list list;
  ppi_op_list(op, NULL, input, &list);
  return list.num == 1 ? list.items[0] : ppi_unknown(list.cause);
}

static ppi_value half_and_one(ppi_value size) {
  ppi_value half = ppi_value_divide(size, 2);
  return half.known ? ppi_known(half.i + 1) : half;
}

void ppi_rule_dft(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0], *given = ppi_op_input(op, 2);
  ppi_value wanted =
      given ? one_number(op, 2)
            : ppi_known(ppi_op_int(op, "axis", op->opset < 20 ? 1 : -2));
  int axis = wanted.known ? ppi_op_axis(wanted.i, in->rank) : -1;
  ppi_tensor *out = axis < 0 ? NULL : ppi_op_begin(op, (size_t)in->rank);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  memcpy(out->dims, in->dims, (size_t)in->rank * sizeof *in->dims);
  if (ppi_op_input(op, 1)) out->dims[axis] = one_number(op, 1);
  if (ppi_op_int(op, "onesided", 0))
    out->dims[axis] = half_and_one(out->dims[axis]);
  out->dims[in->rank - 1] = ppi_known(2);
}

void ppi_rule_stft(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  ppi_value step = one_number(op, 1), size = ppi_op_dim(op, 0, 1);
  ppi_value frame =
      ppi_op_input(op, 3) ? one_number(op, 3) : ppi_op_dim(op, 2, 0);
  ppi_tensor *out = ppi_op_begin(op, 4);
  if (!out) return;
  bool fits = size.known && frame.known && step.known && step.i > 0 &&
              frame.i > 0 && frame.i <= size.i;
  out->dims[0] = ppi_op_dim(op, 0, 0);
  out->dims[1] = fits          ? ppi_known((size.i - frame.i) / step.i + 1)
                 : !size.known ? size
                 : !step.known ? step
                               : ppi_unknown(frame.cause);
  out->dims[2] = ppi_op_int(op, "onesided", 1) ? half_and_one(frame) : frame;
  out->dims[3] = ppi_known(2);
}

void ppi_rule_window(const ppi_op *op) {
  ppi_tensor *out = ppi_op_begin(op, 1);
  if (!out) return;
  out->type = (int)ppi_op_int(op, "output_datatype", PPI_TYPE_F32);
  out->dims[0] = one_number(op, 0);
}

void ppi_rule_mel(const ppi_op *op) {
  ppi_tensor *out = ppi_op_begin(op, 2);
  if (!out) return;
  out->type = (int)ppi_op_int(op, "output_datatype", PPI_TYPE_F32);
  out->dims[0] = half_and_one(one_number(op, 1));
  out->dims[1] = one_number(op, 0);
}

// ---- sequences ----

// What is known of both: a dimension in which they differ is not.
static void join_shape(const ppi_op *op, ppi_tensor *out,
                       const ppi_tensor *in) {
  uint32_t cause = ppi_op_cause(op, PPI_CAUSE_DATA);
  ppi_value *dims = out->dims;
  if (out->rank < 0 || in->rank != out->rank) {
    ppi_tensor_forget(out, in->rank < 0 ? in->cause : cause);
    return;
  }
  if (!ppi_tensor_shape(op->shapes, out, (size_t)in->rank)) return;
  for (int i = 0; i < in->rank; i++) {
    bool differ =
        dims[i].known && in->dims[i].known && dims[i].i != in->dims[i].i;
    out->dims[i] = !dims[i].known ? dims[i]
                   : differ       ? ppi_unknown(cause)
                                  : in->dims[i];
  }
}

void ppi_rule_sequence(const ppi_op *op) {
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!out || !ppi_op_input(op, 0)) return;
  out->type = op->inputs[0]->type;
  ppi_tensor_copy(out, op->inputs[0], false);
  for (size_t i = 1; i < op->num_inputs; i++)
    if (op->inputs[i]) join_shape(op, out, op->inputs[i]);
  out->is_sequence = true;
  out->num_items = (int64_t)op->num_inputs;
}

void ppi_rule_sequence_empty(const ppi_op *op) {
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!out) return;
  ppi_tensor_forget(out, ppi_op_cause(op, PPI_CAUSE_DATA));
  out->type = (int)ppi_op_int(op, "dtype", PPI_TYPE_F32);
  out->is_sequence = true;
}

void ppi_rule_sequence_insert(const ppi_op *op) {
  const ppi_tensor *in = ppi_op_input(op, 0), *more = ppi_op_input(op, 1);
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!in || !more || !out) return;
  bool is_first = in->num_items == 0;
  out->type = in->type;
  ppi_tensor_copy(out, is_first ? more : in, false);
  if (!is_first) join_shape(op, out, more);
  out->is_sequence = true;
  bool is_known = in->num_items >= 0 && in->num_items < INT64_MAX;
  out->num_items = is_known ? in->num_items + 1 : -1;
}

void ppi_rule_sequence_erase(const ppi_op *op) {
  const ppi_tensor *in = ppi_op_input(op, 0);
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!in || !out) return;
  out->type = in->type;
  ppi_tensor_copy(out, in, false);
  out->num_items = in->num_items > 0 ? in->num_items - 1 : -1;
}

void ppi_rule_sequence_at(const ppi_op *op) {
  const ppi_tensor *in = ppi_op_input(op, 0);
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!in || !out) return;
  out->type = in->type;
  ppi_tensor_copy(out, in, false);
  out->is_sequence = false;
}

void ppi_rule_sequence_length(const ppi_op *op) {
  const ppi_tensor *in = ppi_op_input(op, 0);
  ppi_tensor *out = ppi_op_begin(op, 0);
  if (!in || !out) return;
  out->type = PPI_TYPE_I64;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  if (values)
    values[0] = in->num_items >= 0
                    ? ppi_known(in->num_items)
                    : ppi_unknown(ppi_op_cause(op, PPI_CAUSE_DATA));
}

void ppi_rule_sequence_concat(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  bool is_new = ppi_op_int(op, "new_axis", 0) != 0;
  int rank = in->rank + is_new;
  int axis = ppi_op_axis(ppi_op_int(op, "axis", 0), rank);
  ppi_tensor *out = axis < 0 ? NULL : ppi_op_begin(op, (size_t)rank);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  ppi_value num = in->num_items >= 0
                      ? ppi_known(in->num_items)
                      : ppi_unknown(ppi_op_cause(op, PPI_CAUSE_DATA));
  for (int i = 0, at = 0; i < rank; i++) {
    if (i == axis && is_new)
      out->dims[i] = num;
    else
      out->dims[i] = in->dims[at++];
  }
  if (!is_new)
    out->dims[axis] = ppi_value_multiply(op->shapes, out->dims[axis], num);
}

void ppi_rule_sequence_split(const ppi_op *op) {
  ppi_list parts;
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  ppi_tensor *out = ppi_op_output(op, 0);
  int axis = ppi_op_axis(ppi_op_int(op, "axis", 0), in->rank);
  ppi_op_list(op, NULL, 1, &parts);
  if (!out || axis < 0) {
    ppi_op_fail(op);
    return;
  }
  bool is_one = !parts.is_given || ppi_op_rank(op, 1) == 0;
  ppi_value size = !parts.is_given       ? ppi_known(1)
                   : is_one && parts.num ? parts.items[0]
                                         : ppi_unknown(parts.cause);
  ppi_value whole = in->dims[axis];
  bool drops = !parts.is_given && !ppi_op_int(op, "keepdims", 1);
  if (!ppi_tensor_shape(op->shapes, out, (size_t)(in->rank - drops))) return;
  for (int i = 0, at = 0; i < in->rank; i++)
    if (i != axis || !drops) out->dims[at++] = i == axis ? size : in->dims[i];
  out->type = in->type;
  out->is_sequence = true;
  out->num_items = !is_one ? (int64_t)parts.num : -1;
  if (is_one && whole.known && size.known && size.i > 0)
    out->num_items = whole.i / size.i + (whole.i % size.i > 0);
}

// An optional is what is in it.
void ppi_rule_optional(const ppi_op *op) {
  const ppi_tensor *in = ppi_op_input(op, 0);
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!out) return;
  if (!in) {
    ppi_tensor_forget(out, ppi_op_cause(op, PPI_CAUSE_DATA));
    return;
  }
  out->type = in->type;
  ppi_tensor_copy(out, in, true);
}

void ppi_rule_optional_has(const ppi_op *op) {
  ppi_tensor *out = ppi_op_begin(op, 0);
  if (out) out->type = PPI_TYPE_BOOL;
}
