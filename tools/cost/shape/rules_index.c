// SPDX-License-Identifier: Apache-2.0
//
// Operators that take parts of tensors, and put parts together.
#include <string.h>

#include "cost/shape/rules.h"

// ---- together ----

static void join_values(const ppi_op *op, ppi_tensor *out) {
  size_t at = 0;
  for (size_t i = 0; i < op->num_inputs; i++)
    if (!op->inputs[i]->values || op->inputs[i]->rank != 1) return;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  for (size_t i = 0; values && i < op->num_inputs; i++)
    for (int64_t k = 0; k < op->inputs[i]->dims[0].i; k++)
      values[at++] = op->inputs[i]->values[k];
}

void ppi_rule_concat(const ppi_op *op) {
  if (!ppi_op_needs(op, op->num_inputs ? op->num_inputs : 1)) return;
  const ppi_tensor *first = op->inputs[0];
  int axis = ppi_op_axis(ppi_op_int(op, "axis", 0), first->rank);
  ppi_tensor *out = axis < 0 ? NULL : ppi_op_begin(op, (size_t)first->rank);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  for (int i = 0; i < first->rank; i++) out->dims[i] = first->dims[i];
  for (size_t k = 1; k < op->num_inputs; k++) {
    const ppi_tensor *in = op->inputs[k];
    if (in->rank != first->rank) {
      ppi_op_fail(op);
      return;
    }
    for (int i = 0; i < in->rank; i++) {
      if (i == axis)
        out->dims[i] = ppi_value_add(op->shapes, out->dims[i], in->dims[i]);
      else if (!out->dims[i].known)
        out->dims[i] = in->dims[i];
    }
  }
  join_values(op, out);
}

// ---- parts ----

// Sizes of equal parts: the last may be smaller.
static ppi_value equal_part(ppi_value whole, size_t num, size_t i) {
  if (!whole.known) return whole;
  int64_t size = whole.i / (int64_t)num + (whole.i % (int64_t)num > 0);
  int64_t left = whole.i - size * (int64_t)i;
  return ppi_known(left < 0 ? 0 : left < size ? left : size);
}

void ppi_rule_split(const ppi_op *op) {
  ppi_list sizes;
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  int axis = ppi_op_axis(ppi_op_int(op, "axis", 0), in->rank);
  ppi_op_list(op, "split", 1, &sizes);
  if (axis < 0 || (sizes.is_known && sizes.num < op->num_outputs)) {
    ppi_op_fail(op);
    return;
  }
  int64_t at = 0;
  for (size_t i = 0; i < op->num_outputs; i++) {
    ppi_tensor *out = &op->outputs[i];
    if (!ppi_tensor_shape(op->shapes, out, (size_t)in->rank)) return;
    out->type = in->type;
    memcpy(out->dims, in->dims, (size_t)in->rank * sizeof *in->dims);
    out->dims[axis] = !sizes.is_given
                          ? equal_part(in->dims[axis], op->num_outputs, i)
                      : sizes.is_known ? sizes.items[i]
                                       : ppi_unknown(sizes.cause);
    if (!in->values || in->rank != 1 || !out->dims[0].known) continue;
    if (out->dims[0].i < 0 || out->dims[0].i > in->dims[0].i - at) continue;
    out->values = in->values + at;
    out->is_float = in->is_float;
    at += out->dims[0].i;
  }
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// The bounds of one axis, as Python's slices have them.
typedef struct bounds {
  int64_t start, step, num;
} bounds;

static bounds bound(int64_t size, int64_t start, int64_t end, int64_t step) {
  bounds out = {0, step, 0};
  if (start < 0) start = start < -size ? -1 : start + size;
  if (end < 0) end = end < -size ? -1 : end + size;
  if (step > 0) {
    start = clamp(start, 0, size);
    end = clamp(end, 0, size);
    out.num = end > start ? (end - start - 1) / step + 1 : 0;
  } else {
    start = clamp(start, -1, size - 1);
    end = clamp(end, -1, size - 1);
    uint64_t back = 0 - (uint64_t)step;
    out.num =
        start > end ? (int64_t)((uint64_t)(start - end - 1) / back + 1) : 0;
  }
  out.start = start;
  return out;
}

// Of an axis of unknown size: a slice that keeps all leaves it as it is, one
// from the front keeps what it says.
static ppi_value slice_unknown(ppi_value size, ppi_value start, ppi_value end,
                               ppi_value step) {
  if (!start.known || !end.known || !step.known) return ppi_unknown(0);
  if (start.i == 0 && step.i == 1 && end.i >= INT32_MAX) return size;
  if (start.i < 0 && step.i == 1 && end.i >= INT32_MAX && start.i > -4096)
    return ppi_known(-start.i);
  return ppi_unknown(size.cause);
}

typedef struct slice_lists {
  ppi_list starts, ends, axes, steps;
} slice_lists;

static void slice_axis(const ppi_op *op, const slice_lists *lists, size_t i,
                       int axis, ppi_tensor *out) {
  const ppi_tensor *in = op->inputs[0];
  ppi_value size = in->dims[axis], start = lists->starts.items[i],
            end = lists->ends.items[i],
            step = lists->steps.is_given ? lists->steps.items[i] : ppi_known(1);
  if (!size.known) {
    out->dims[axis] = slice_unknown(size, start, end, step);
    return;
  }
  ppi_value missing = !start.known ? start : !end.known ? end : step;
  if (!missing.known || step.i == 0) {
    out->dims[axis] = ppi_unknown(missing.cause);
    return;
  }
  bounds one = bound(size.i, start.i, end.i, step.i);
  out->dims[axis] = ppi_known(one.num);
  if (!in->values || in->rank != 1) return;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  for (int64_t k = 0; values && k < one.num; k++)
    values[k] = in->values[one.start + k * one.step];
}

void ppi_rule_slice(const ppi_op *op) {
  slice_lists lists;
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  ppi_op_list(op, "starts", 1, &lists.starts);
  ppi_op_list(op, "ends", 2, &lists.ends);
  ppi_op_list(op, "axes", 3, &lists.axes);
  ppi_op_list(op, NULL, 4, &lists.steps);
  size_t num = lists.starts.num;
  bool fits = lists.starts.is_known && lists.ends.is_known &&
              lists.ends.num == num &&
              (!lists.axes.is_given || lists.axes.num == num) &&
              (!lists.steps.is_given || lists.steps.num == num);
  ppi_tensor *out = fits ? ppi_op_begin(op, (size_t)in->rank) : NULL;
  if (!out) {
    lists.starts.is_known ? ppi_op_fail(op)
                          : ppi_op_forget(op, lists.starts.cause);
    return;
  }
  memcpy(out->dims, in->dims, (size_t)in->rank * sizeof *in->dims);
  for (size_t i = 0; i < num; i++) {
    ppi_value axis =
        lists.axes.is_given ? lists.axes.items[i] : ppi_known((int64_t)i);
    int at = axis.known ? ppi_op_axis(axis.i, in->rank) : -1;
    if (at < 0) {
      ppi_op_fail(op);
      return;
    }
    slice_axis(op, &lists, i, at, out);
  }
  if (num == 0) ppi_tensor_copy(out, in, true);
}

// ---- by index ----

static void gather_values(const ppi_op *op, ppi_tensor *out) {
  const ppi_tensor *in = op->inputs[0], *indices = op->inputs[1];
  if (!in->values || in->rank != 1 || !indices->values) return;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  size_t num = values ? (size_t)ppi_tensor_elements(op->shapes, out).i : 0;
  out->is_float = in->is_float;
  for (size_t i = 0; i < num; i++) {
    ppi_value index = ppi_tensor_whole(indices, i);
    if (index.known && index.i < 0) index.i += in->dims[0].i;
    if (!index.known)
      values[i] = index;
    else if (index.i >= 0 && index.i < in->dims[0].i)
      values[i] = in->values[index.i];
  }
}

void ppi_rule_gather(const ppi_op *op) {
  if (!ppi_op_needs(op, 2)) return;
  const ppi_tensor *in = op->inputs[0], *indices = op->inputs[1];
  int axis = ppi_op_axis(ppi_op_int(op, "axis", 0), in->rank);
  ppi_tensor *out =
      axis < 0 ? NULL
               : ppi_op_begin(op, (size_t)(in->rank - 1 + indices->rank));
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  size_t at = 0;
  for (int i = 0; i < axis; i++) out->dims[at++] = in->dims[i];
  for (int i = 0; i < indices->rank; i++) out->dims[at++] = indices->dims[i];
  for (int i = axis + 1; i < in->rank; i++) out->dims[at++] = in->dims[i];
  gather_values(op, out);
}

void ppi_rule_gather_elements(const ppi_op *op) {
  if (!ppi_op_needs(op, 2)) return;
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!out) return;
  out->type = op->inputs[0]->type;
  ppi_tensor_copy(out, op->inputs[1], false);
}

void ppi_rule_gather_nd(const ppi_op *op) {
  if (!ppi_op_needs(op, 2)) return;
  const ppi_tensor *in = op->inputs[0], *indices = op->inputs[1];
  ppi_value last = ppi_op_dim(op, 1, -1);
  int64_t batch = ppi_op_int(op, "batch_dims", 0);
  if (!last.known) {
    ppi_op_forget(op, last.cause);
    return;
  }
  bool fits = batch >= 0 && batch <= in->rank && last.i >= 0 &&
              last.i <= in->rank - batch;
  int64_t rest = fits ? in->rank - batch - last.i : -1;
  ppi_tensor *out = !fits || indices->rank < 1
                        ? NULL
                        : ppi_op_begin(op, (size_t)(indices->rank - 1 + rest));
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  size_t at = 0;
  for (int i = 0; i + 1 < indices->rank; i++)
    out->dims[at++] = indices->dims[i];
  for (int64_t i = batch + last.i; i < in->rank; i++)
    out->dims[at++] = in->dims[i];
}

void ppi_rule_one_hot(const ppi_op *op) {
  ppi_list depth;
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0], *values = ppi_op_input(op, 2);
  int axis = ppi_op_axis(ppi_op_int(op, "axis", -1), in->rank + 1);
  ppi_op_list(op, NULL, 1, &depth);
  ppi_tensor *out = axis < 0 ? NULL : ppi_op_begin(op, (size_t)in->rank + 1);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  out->type = values ? values->type : PPI_TYPE_F32;
  for (int i = 0, at = 0; i <= in->rank; i++)
    out->dims[i] = i != axis        ? in->dims[at++]
                   : depth.num == 1 ? depth.items[0]
                                    : ppi_unknown(depth.cause);
}

void ppi_rule_top_k(const ppi_op *op) {
  ppi_list k;
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  int axis = ppi_op_axis(ppi_op_int(op, "axis", -1), in->rank);
  ppi_op_list(op, "k", 1, &k);
  for (size_t i = 0; i < op->num_outputs; i++) {
    ppi_tensor *out = &op->outputs[i];
    if (axis < 0 || !ppi_tensor_shape(op->shapes, out, (size_t)in->rank)) {
      ppi_op_fail(op);
      return;
    }
    out->type = i == 0 ? in->type : PPI_TYPE_I64;
    memcpy(out->dims, in->dims, (size_t)in->rank * sizeof *in->dims);
    out->dims[axis] = k.num == 1 ? k.items[0] : ppi_unknown(k.cause);
  }
}

// ---- what values decide ----

void ppi_rule_non_zero(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  ppi_tensor *out = ppi_op_begin(op, 2);
  if (!out) return;
  out->type = PPI_TYPE_I64;
  out->dims[0] = ppi_known(in->rank);
  out->dims[1] = ppi_unknown(ppi_op_cause(op, PPI_CAUSE_DATA));
  // Those of a constant, as exporters make of masks.
  if (!in->values) return;
  size_t num = (size_t)ppi_tensor_elements(op->shapes, in).i;
  int64_t found = 0;
  for (size_t i = 0; i < num; i++) {
    if (!in->values[i].known) return;
    found += in->is_float ? in->values[i].f != 0 : in->values[i].i != 0;
  }
  out->dims[1] = ppi_known(found);
}

// Compress and Unique: without an axis of all elements, with one of its rows.
void ppi_rule_unknown_rows(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  bool has_axis = ppi_op_attribute(op, "axis") != NULL;
  int axis = has_axis ? ppi_op_axis(ppi_op_int(op, "axis", 0), in->rank) : 0;
  uint32_t cause = ppi_op_cause(op, PPI_CAUSE_DATA);
  ppi_tensor *out =
      axis < 0 ? NULL : ppi_op_begin(op, has_axis ? (size_t)in->rank : 1);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  for (int i = 0; has_axis && i < in->rank; i++) out->dims[i] = in->dims[i];
  out->dims[axis] = ppi_unknown(cause);
  for (size_t i = 1; i < op->num_outputs; i++) {
    ppi_tensor *more = &op->outputs[i];
    more->type = PPI_TYPE_I64;
    if (!ppi_tensor_shape(op->shapes, more, 1)) return;
    more->dims[0] = ppi_unknown(cause);
    if (i != 2) continue;
    more->dims[0] =
        has_axis ? in->dims[axis] : ppi_tensor_elements(op->shapes, in);
  }
}

void ppi_rule_nms(const ppi_op *op) {
  ppi_tensor *out = ppi_op_begin(op, 2);
  if (!out) return;
  out->type = PPI_TYPE_I64;
  out->dims[0] = ppi_unknown(ppi_op_cause(op, PPI_CAUSE_DATA));
  out->dims[1] = ppi_known(3);
}
