// SPDX-License-Identifier: Apache-2.0
//
// Operators that ask for a shape or give another one to the same elements.
#include <math.h>
#include <string.h>

#include "cost/shape/fold.h"
#include "cost/shape/rules.h"

// ---- constants ----

static void read_list(const ppi_op *op, const Ppi__Onnx__Attribute *from,
                      bool is_float) {
  size_t num = is_float ? from->n_floats : from->n_ints;
  ppi_tensor *out = ppi_op_begin(op, 1);
  if (!out) return;
  out->type = is_float ? PPI_TYPE_F32 : PPI_TYPE_I64;
  out->dims[0] = ppi_known((int64_t)num);
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  for (size_t i = 0; values && i < num; i++) {
    values[i] = ppi_known(0);
    if (is_float)
      values[i].f = (double)from->floats[i];
    else
      values[i].i = from->ints[i];
  }
}

static void read_number(const ppi_op *op, const Ppi__Onnx__Attribute *from,
                        bool is_float) {
  ppi_tensor *out = ppi_op_begin(op, 0);
  if (!out) return;
  out->type = is_float ? PPI_TYPE_F32 : PPI_TYPE_I64;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  if (!values) return;
  values[0] = ppi_known(is_float ? 0 : from->i);
  if (is_float) values[0].f = (double)from->f;
}

void ppi_rule_constant(const ppi_op *op) {
  const Ppi__Onnx__Attribute *found;
  ppi_tensor *out = ppi_op_output(op, 0);
  if (!out) return;
  if ((found = ppi_op_attribute(op, "value")) != NULL && found->t)
    ppi_tensor_read(op->shapes, found->t, out);
  else if ((found = ppi_op_attribute(op, "value_ints")) != NULL)
    read_list(op, found, false);
  else if ((found = ppi_op_attribute(op, "value_floats")) != NULL)
    read_list(op, found, true);
  else if ((found = ppi_op_attribute(op, "value_int")) != NULL)
    read_number(op, found, false);
  else if ((found = ppi_op_attribute(op, "value_float")) != NULL)
    read_number(op, found, true);
  else if ((found = ppi_op_attribute(op, "sparse_value")) != NULL &&
           found->sparse_tensor && found->sparse_tensor->values) {
    const Ppi__Onnx__SparseTensor *sparse = found->sparse_tensor;
    if (!ppi_op_begin(op, sparse->n_dims)) return;
    out->type = sparse->values->data_type;
    for (size_t i = 0; i < sparse->n_dims; i++)
      out->dims[i] = ppi_known(sparse->dims[i]);
  } else {
    ppi_op_forget(op, ppi_op_cause(op, PPI_CAUSE_DATA));
  }
}

// A shape that values of an input hold.
static ppi_tensor *begin_listed(const ppi_op *op, const ppi_list *list) {
  if (list->is_known && list->num <= PPI_MAX_RANK) {
    ppi_tensor *out = ppi_op_begin(op, list->num);
    for (size_t i = 0; out && i < list->num; i++) out->dims[i] = list->items[i];
    return out;
  }
  if (list->is_given && !list->is_known)
    ppi_op_forget(op, list->cause);
  else
    ppi_op_fail(op);
  return NULL;
}

void ppi_rule_constant_of_shape(const ppi_op *op) {
  ppi_list list;
  ppi_tensor filler = {.type = PPI_TYPE_F32};
  const Ppi__Onnx__Attribute *value = ppi_op_attribute(op, "value");
  ppi_op_list(op, NULL, 0, &list);
  ppi_tensor *out = begin_listed(op, &list);
  if (!out) return;
  if (value && value->t) ppi_tensor_read(op->shapes, value->t, &filler);
  out->type = filler.type;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  size_t num = values ? (size_t)ppi_tensor_elements(op->shapes, out).i : 0;
  ppi_value first = {.known = !value};
  if (filler.values && filler.rank >= 0 &&
      ppi_tensor_elements(op->shapes, &filler).i == 1)
    first = filler.values[0];
  for (size_t i = 0; i < num; i++) values[i] = first;
}

void ppi_rule_expand(const ppi_op *op) {
  ppi_list list;
  ppi_tensor target = {0}, *out = ppi_op_output(op, 0);
  if (!out || !ppi_op_needs(op, 1)) return;
  ppi_op_list(op, NULL, 1, &list);
  if (!begin_listed(op, &list)) return;
  target = *out;
  if (!ppi_broadcast(op, op->inputs[0], &target, out)) ppi_op_fail(op);
  out->type = op->inputs[0]->type;
  // One value, many times: masks of shapes are made so.
  const ppi_tensor *in = op->inputs[0];
  if (out->rank < 0 || !in->values) return;
  if (ppi_tensor_elements(op->shapes, in).i != 1) return;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  size_t num = values ? (size_t)ppi_tensor_elements(op->shapes, out).i : 0;
  for (size_t i = 0; i < num; i++) values[i] = in->values[0];
}

// ---- what a shape is ----

void ppi_rule_shape(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  int64_t start = ppi_op_int(op, "start", 0), end = in->rank;
  end = ppi_op_int(op, "end", end);
  if (start < 0) start += in->rank;
  if (end < 0) end += in->rank;
  start = start < 0 ? 0 : start > in->rank ? in->rank : start;
  end = end < start ? start : end > in->rank ? in->rank : end;
  ppi_tensor *out = ppi_op_begin(op, 1);
  if (!out) return;
  out->type = PPI_TYPE_I64;
  out->dims[0] = ppi_known(end - start);
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  for (int64_t i = start; values && i < end; i++)
    values[i - start] = in->dims[i];
}

void ppi_rule_size(const ppi_op *op) {
  ppi_tensor *out = ppi_op_begin(op, 0);
  const ppi_tensor *in = ppi_op_input(op, 0);
  if (!out || !in) return;
  out->type = PPI_TYPE_I64;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  if (values) values[0] = ppi_tensor_elements(op->shapes, in);
}

// ---- the same elements ----

static void keep_values(const ppi_op *op, ppi_tensor *out) {
  const ppi_tensor *in = op->inputs[0];
  ppi_value num = ppi_tensor_elements(op->shapes, out);
  if (!in->values || !num.known ||
      num.i != ppi_tensor_elements(op->shapes, in).i)
    return;
  out->values = in->values;
  out->is_float = in->is_float;
}

// What one dimension of -1 comes to.
static ppi_value rest_of(const ppi_op *op, ppi_tensor *out, size_t at) {
  out->dims[at] = ppi_known(1);
  ppi_value all = ppi_tensor_elements(op->shapes, op->inputs[0]);
  ppi_value others = ppi_tensor_elements(op->shapes, out);
  if (!all.known) return all;
  if (!others.known) return others;
  if (others.i > 0 && all.i % others.i == 0) return ppi_known(all.i / others.i);
  return all.i == 0 ? ppi_known(0)
                    : ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID));
}

void ppi_rule_reshape(const ppi_op *op) {
  ppi_list list;
  size_t rest = SIZE_MAX;
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  bool zero_is_zero = ppi_op_int(op, "allowzero", 0) != 0;
  ppi_op_list(op, "shape", 1, &list);
  ppi_tensor *out = begin_listed(op, &list);
  for (size_t i = 0; out && i < list.num; i++) {
    ppi_value *dim = &out->dims[i];
    if (!dim->known) continue;
    if (dim->i == -1 && rest == SIZE_MAX)
      rest = i;
    else if (dim->i == 0 && !zero_is_zero && i < (size_t)in->rank)
      *dim = in->dims[i];
    else if (dim->i < 0)
      *dim = ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID));
  }
  if (!out) return;
  if (rest != SIZE_MAX) out->dims[rest] = rest_of(op, out, rest);
  keep_values(op, out);
}

void ppi_rule_flatten(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  int64_t axis = ppi_op_int(op, "axis", 1);
  if (axis < 0) axis += in->rank;
  ppi_tensor *out = axis < 0 || axis > in->rank ? NULL : ppi_op_begin(op, 2);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  out->dims[0] = ppi_tensor_product(op->shapes, in, 0, (size_t)axis);
  out->dims[1] = ppi_tensor_product(op->shapes, in, (size_t)axis, PPI_MAX_RANK);
  keep_values(op, out);
}

// Marks the axes of a list; false: one is unknown, out of range or twice there.
static bool mark_axes(const ppi_op *op, const ppi_list *list, int rank,
                      bool out_marked[PPI_MAX_RANK]) {
  memset(out_marked, 0, PPI_MAX_RANK * sizeof *out_marked);
  bool fits = list->is_known && rank <= PPI_MAX_RANK;
  for (size_t i = 0; fits && i < list->num; i++) {
    int axis = list->items[i].known ? ppi_op_axis(list->items[i].i, rank) : -1;
    fits = axis >= 0 && !out_marked[axis];
    if (fits) out_marked[axis] = true;
  }
  if (!fits && list->is_given && !list->is_known)
    ppi_op_forget(op, list->cause);
  else if (!fits)
    ppi_op_fail(op);
  return fits;
}

void ppi_rule_squeeze(const ppi_op *op) {
  ppi_list list;
  bool gone[PPI_MAX_RANK] = {false};
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  ppi_op_list(op, "axes", 1, &list);
  if (list.is_given && !mark_axes(op, &list, in->rank, gone)) return;
  size_t num = 0;
  for (int i = 0; i < in->rank; i++) {
    if (!list.is_given) {
      if (!in->dims[i].known) {
        ppi_op_forget(op, in->dims[i].cause);
        return;
      }
      gone[i] = in->dims[i].i == 1;
    }
    num += gone[i];
  }
  ppi_tensor *out = ppi_op_begin(op, (size_t)in->rank - num);
  if (!out) return;
  for (int i = 0, at = 0; i < in->rank; i++)
    if (!gone[i]) out->dims[at++] = in->dims[i];
  keep_values(op, out);
}

void ppi_rule_unsqueeze(const ppi_op *op) {
  ppi_list list;
  bool is_new[PPI_MAX_RANK];
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  ppi_op_list(op, "axes", 1, &list);
  size_t rank = (size_t)in->rank + list.num;
  if (!mark_axes(op, &list, rank > PPI_MAX_RANK ? PPI_MAX_RANK + 1 : (int)rank,
                 is_new))
    return;
  ppi_tensor *out = ppi_op_begin(op, rank);
  if (!out) return;
  for (size_t i = 0, at = 0; i < rank; i++)
    out->dims[i] = is_new[i] ? ppi_known(1) : in->dims[at++];
  keep_values(op, out);
}

// The axis of the input that stands at `i` of a transposed one; -1: none.
static int source_axis(const ppi_list *list, int rank, int i) {
  if (!list->is_given || (list->num == 0 && rank == 0)) return rank - 1 - i;
  if (list->num != (size_t)rank || !list->items[i].known) return -1;
  return ppi_op_axis(list->items[i].i, rank);
}

void ppi_rule_transpose(const ppi_op *op) {
  ppi_list list;
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  ppi_op_list(op, "perm", SIZE_MAX, &list);
  ppi_tensor *out = ppi_op_begin(op, (size_t)in->rank);
  for (int i = 0; out && i < in->rank; i++) {
    int axis = source_axis(&list, in->rank, i);
    if (axis < 0) {
      ppi_op_fail(op);
      return;
    }
    out->dims[i] = in->dims[axis];
  }
  if (out && in->rank < 2) keep_values(op, out);
}

void ppi_rule_range(const ppi_op *op) {
  ppi_tensor *out = ppi_op_begin(op, 1);
  if (!out) return;
  uint32_t cause = ppi_op_cause(op, PPI_CAUSE_DATA);
  double of[3];
  out->dims[0] = ppi_unknown(cause);
  for (size_t i = 0; i < 3; i++) {
    const ppi_tensor *in = ppi_op_input(op, i);
    if (!in || !in->values || in->rank > 1) return;
    if (in->rank == 1 && in->dims[0].i != 1) return;
    if (!in->values[0].known) {
      if (in->values[0].cause) out->dims[0] = ppi_unknown(in->values[0].cause);
      return;
    }
    of[i] = in->is_float ? in->values[0].f : (double)in->values[0].i;
  }
  const double most = 1e15;  // beyond, sums of them may not be whole
  if (!(fabs(of[0]) < most && fabs(of[2]) < most)) return;
  double num = of[2] != 0 ? (of[1] - of[0]) / of[2] : -1;
  if (!(num < 9e18)) return;
  int64_t whole = num > 0 ? (int64_t)num : 0;
  out->dims[0] = ppi_known(whole + ((double)whole < num && num > 0));
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  for (int64_t i = 0; values && i < out->dims[0].i; i++) {
    values[i] = ppi_known((int64_t)of[0] + i * (int64_t)of[2]);
    if (out->is_float) values[i].f = of[0] + (double)i * of[2];
  }
}
