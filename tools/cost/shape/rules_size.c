// SPDX-License-Identifier: Apache-2.0
//
// Operators that make tensors larger or smaller, axis by axis.
#include <math.h>
#include <string.h>

#include "cost/shape/fold.h"
#include "cost/shape/rules.h"

// The first output, like input 0.
static ppi_tensor *begin_like(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return NULL;
  const ppi_tensor *in = op->inputs[0];
  ppi_tensor *out = ppi_op_begin(op, (size_t)in->rank);
  if (out) memcpy(out->dims, in->dims, (size_t)in->rank * sizeof *in->dims);
  return out;
}

void ppi_rule_tile(const ppi_op *op) {
  ppi_list times;
  ppi_tensor *out = begin_like(op);
  if (!out) return;
  ppi_op_list(op, "repeats", 1, &times);
  for (int i = 0; i < out->rank; i++)
    out->dims[i] =
        times.num == (size_t)out->rank
            ? ppi_value_multiply(op->shapes, out->dims[i], times.items[i])
            : ppi_unknown(times.cause);
}

void ppi_rule_pad(const ppi_op *op) {
  ppi_list pads, axes;
  ppi_tensor *out = begin_like(op);
  if (!out) return;
  ppi_op_list(op, "pads", 1, &pads);
  ppi_op_list(op, NULL, 3, &axes);
  size_t num = axes.is_given ? axes.num : (size_t)out->rank;
  if (!pads.is_known || pads.num != 2 * num || (axes.is_given && !axes.num)) {
    for (int i = 0; i < out->rank; i++) out->dims[i] = ppi_unknown(pads.cause);
    if (pads.is_known) ppi_op_fail(op);
    return;
  }
  for (size_t i = 0; i < num; i++) {
    int axis = axes.is_given && axes.items[i].known
                   ? ppi_op_axis(axes.items[i].i, out->rank)
                   : (int)i;
    if (axis < 0) {
      ppi_op_fail(op);
      return;
    }
    ppi_value both =
        ppi_value_add(op->shapes, pads.items[i], pads.items[num + i]);
    out->dims[axis] = ppi_value_add(op->shapes, out->dims[axis], both);
  }
}

// ---- Resize and Upsample ----

static ppi_value scaled(ppi_value size, ppi_value scale) {
  if (!size.known || !scale.known) return size.known ? scale : size;
  double out = floor((double)size.i * scale.f);
  return out >= 0 && out < 9e18 ? ppi_known((int64_t)out) : ppi_unknown(0);
}

// Which input a resizing has its scales in, and its sizes; SIZE_MAX: none.
static void resize_inputs(const ppi_op *op, size_t *out_scales,
                          size_t *out_sizes) {
  bool is_old = op->opset < 11 || strcmp(op->node->op_type, "Upsample") == 0;
  *out_scales = is_old ? 1 : 2;
  *out_sizes = is_old ? SIZE_MAX : 3;
}

static bool has_elements(const ppi_op *op, const ppi_tensor *tensor) {
  if (!tensor) return false;
  ppi_value num = ppi_tensor_elements(op->shapes, tensor);
  return !num.known || num.i > 0;
}

static void by_sizes(const ppi_op *op, size_t input, const ppi_list *axes,
                     ppi_tensor *out) {
  ppi_list sizes;
  ppi_op_list(op, NULL, input, &sizes);
  size_t num = axes->is_given ? axes->num : (size_t)out->rank;
  // Other policies keep an aspect that depends on all of them.
  bool fits = sizes.num == num && num <= (size_t)out->rank;
  if (!fits) ppi_op_forget(op, sizes.cause);
  for (size_t i = 0; fits && i < num; i++) {
    int axis =
        axes->is_given ? ppi_op_axis(axes->items[i].i, out->rank) : (int)i;
    if (axis >= 0) out->dims[axis] = sizes.items[i];
  }
}

static void by_scales(const ppi_op *op, const ppi_tensor *scales,
                      const ppi_list *axes, ppi_tensor *out) {
  size_t num = axes->is_given ? axes->num : (size_t)out->rank;
  ppi_value has = ppi_tensor_elements(op->shapes, scales);
  bool fits = scales->values && has.known && has.i == (int64_t)num &&
              num <= (size_t)out->rank && scales->is_float;
  if (!fits) ppi_op_forget(op, ppi_op_cause(op, PPI_CAUSE_DATA));
  for (size_t i = 0; fits && i < num; i++) {
    int axis =
        axes->is_given ? ppi_op_axis(axes->items[i].i, out->rank) : (int)i;
    if (axis >= 0) out->dims[axis] = scaled(out->dims[axis], scales->values[i]);
  }
}

static ppi_value rounded(double value) {
  bool fits = value >= 0 && value < 9e18;
  return fits ? ppi_known((int64_t)floor(value + 0.5)) : ppi_unknown(0);
}

// With a policy the smallest, or the greatest, of the ratios is for all axes.
static void by_policy(const ppi_op *op, size_t input, const ppi_list *axes,
                      ppi_tensor *out) {
  ppi_list sizes;
  bool smallest = ppi_op_is(op, "keep_aspect_ratio_policy", "not_larger");
  size_t num = axes->is_given ? axes->num : (size_t)out->rank;
  double ratio = 0;
  ppi_op_list(op, NULL, input, &sizes);
  bool fits = sizes.num == num && num <= (size_t)out->rank;
  for (int pass = 0; fits && pass < 2; pass++) {
    for (size_t i = 0; i < num; i++) {
      int axis =
          axes->is_given ? ppi_op_axis(axes->items[i].i, out->rank) : (int)i;
      if (axis < 0 || !out->dims[axis].known || !sizes.items[i].known ||
          out->dims[axis].i <= 0) {
        fits = false;
        break;
      }
      double size = (double)out->dims[axis].i;
      double one = (double)sizes.items[i].i / size;
      if (pass == 1)
        out->dims[axis] = rounded(size * ratio);
      else if (i == 0 || (smallest ? one < ratio : one > ratio))
        ratio = one;
    }
  }
  if (!fits) ppi_op_forget(op, sizes.cause);
}

// Old Upsample has its scales as an attribute.
static void by_attribute(const ppi_op *op, ppi_tensor *out) {
  const Ppi__Onnx__Attribute *scales = ppi_op_attribute(op, "scales");
  if (!scales || scales->n_floats != (size_t)out->rank) {
    ppi_op_fail(op);
    return;
  }
  for (int i = 0; i < out->rank; i++) {
    ppi_value scale = ppi_known(0);
    scale.f = (double)scales->floats[i];
    out->dims[i] = scaled(out->dims[i], scale);
  }
}

void ppi_rule_resize(const ppi_op *op) {
  size_t scales, sizes;
  ppi_list axes;
  ppi_tensor *out = begin_like(op);
  if (!out) return;
  ppi_op_list(op, "axes", SIZE_MAX, &axes);
  resize_inputs(op, &scales, &sizes);
  bool has_policy = ppi_op_is(op, "keep_aspect_ratio_policy", "not_larger") ||
                    ppi_op_is(op, "keep_aspect_ratio_policy", "not_smaller");
  if (has_elements(op, ppi_op_input(op, scales)))
    by_scales(op, ppi_op_input(op, scales), &axes, out);
  else if (has_elements(op, ppi_op_input(op, sizes)))
    has_policy ? by_policy(op, sizes, &axes, out)
               : by_sizes(op, sizes, &axes, out);
  else
    by_attribute(op, out);
}

// ---- blocks ----

static void move_blocks(const ppi_op *op, bool to_space) {
  ppi_tensor *out = begin_like(op);
  int64_t block = ppi_op_int(op, "blocksize", 0);
  if (!out) return;
  if (out->rank != 4 || block <= 0 || block > INT32_MAX) {
    ppi_op_fail(op);
    return;
  }
  ppi_value side = ppi_known(block), area = ppi_known(block * block);
  for (int i = 1; i < 4; i++) {
    ppi_value by = i == 1 ? area : side;
    out->dims[i] = to_space == (i != 1)
                       ? ppi_value_multiply(op->shapes, out->dims[i], by)
                       : ppi_value_divide(out->dims[i], by.i);
  }
}

void ppi_rule_depth_to_space(const ppi_op *op) {
  move_blocks(op, true);
}

void ppi_rule_space_to_depth(const ppi_op *op) {
  move_blocks(op, false);
}

// ONNX Runtime's channels in blocks, and back to so many; what fills the last
// block is not known here. In between the channels are whole, axis 1.
void ppi_rule_reorder(const ppi_op *op) {
  ppi_tensor *out = begin_like(op);
  int64_t channels = ppi_op_int(op, "channels", 0);
  bool is_last = ppi_op_int(op, "channels_last", 0) != 0;
  if (!out || out->rank < 2) return;
  ppi_value *dims = out->dims;
  int last = out->rank - 1;
  size_t bytes = (size_t)(last - 1) * sizeof *dims;
  ppi_value whole = channels > 0 ? ppi_known(channels) : dims[last];
  if (!is_last && channels > 0) dims[1] = whole;
  if (!is_last) return;
  if (channels > 0)
    memmove(dims + 1, dims + 2, bytes);
  else
    memmove(dims + 2, dims + 1, bytes);
  dims[channels > 0 ? last : 1] = whole;
}

void ppi_rule_eye_like(const ppi_op *op) {
  ppi_tensor *out = begin_like(op);
  int64_t type = ppi_op_int(op, "dtype", 0);
  if (out && type) out->type = (int)type;
}

void ppi_rule_crop_pad(const ppi_op *op) {
  ppi_list sizes, axes;
  ppi_tensor *out = begin_like(op);
  if (!out) return;
  ppi_op_list(op, NULL, 1, &sizes);
  ppi_op_list(op, "axes", SIZE_MAX, &axes);
  size_t num = axes.is_given ? axes.num : (size_t)out->rank;
  for (size_t i = 0; i < num; i++) {
    int axis = axes.is_given ? ppi_op_axis(axes.items[i].i, out->rank) : (int)i;
    if (axis < 0 || axis >= out->rank) continue;
    out->dims[axis] =
        sizes.num == num ? sizes.items[i] : ppi_unknown(sizes.cause);
  }
}

// ---- reductions ----

static bool reduced(const ppi_op *op, const ppi_list *axes, int rank,
                    bool out_gone[PPI_MAX_RANK]) {
  bool all = !axes->is_given || (axes->is_known && axes->num == 0);
  for (int i = 0; i < rank; i++) out_gone[i] = all;
  if (axes->is_given && !axes->is_known) {
    ppi_op_forget(op, axes->cause);
    return false;
  }
  for (size_t i = 0; i < axes->num; i++) {
    int axis = axes->items[i].known ? ppi_op_axis(axes->items[i].i, rank) : -1;
    if (axis < 0) {
      axes->items[i].known ? ppi_op_fail(op)
                           : ppi_op_forget(op, axes->items[i].cause);
      return false;
    }
    out_gone[axis] = true;
  }
  return true;
}

static ppi_tensor *reduce(const ppi_op *op, const ppi_list *axes, bool keeps) {
  bool gone[PPI_MAX_RANK];
  size_t rank = 0;
  if (!ppi_op_needs(op, 1)) return NULL;
  const ppi_tensor *in = op->inputs[0];
  if (!reduced(op, axes, in->rank, gone)) return NULL;
  for (int i = 0; i < in->rank; i++) rank += keeps || !gone[i];
  ppi_tensor *out = ppi_op_begin(op, rank);
  if (!out) return NULL;
  for (int i = 0, at = 0; i < in->rank; i++)
    if (keeps || !gone[i])
      out->dims[at++] = gone[i] ? ppi_known(1) : in->dims[i];
  return out;
}

// A list of sizes, multiplied or the like.
static void fold_all(const ppi_op *op, ppi_tensor *out) {
  const ppi_tensor *in = op->inputs[0];
  const char *type = op->node->op_type;
  const char *step = strcmp(type, "ReduceProd") == 0  ? "Mul"
                     : strcmp(type, "ReduceSum") == 0 ? "Add"
                     : strcmp(type, "ReduceMax") == 0 ? "Max"
                     : strcmp(type, "ReduceMin") == 0 ? "Min"
                                                      : NULL;
  if (!step || !in->values || in->rank != 1) return;
  ppi_value num = ppi_tensor_elements(op->shapes, out);
  if (!num.known || num.i != 1 || in->dims[0].i < 1) return;
  ppi_value *values = ppi_tensor_values(op->shapes, out);
  if (!values) return;
  out->is_float = in->is_float;
  values[0] = in->values[0];
  for (int64_t i = 1; i < in->dims[0].i; i++)
    values[0] =
        ppi_fold_two(op->shapes, step, values[0], in->values[i], in->is_float);
}

void ppi_rule_reduce(const ppi_op *op) {
  ppi_list axes;
  ppi_op_list(op, "axes", 1, &axes);
  bool is_empty = !axes.is_given || (axes.is_known && axes.num == 0);
  if (is_empty && ppi_op_int(op, "noop_with_empty_axes", 0)) {
    ppi_rule_same(op);
    return;
  }
  ppi_tensor *out = reduce(op, &axes, ppi_op_int(op, "keepdims", 1) != 0);
  if (out) fold_all(op, out);
}

void ppi_rule_arg_reduce(const ppi_op *op) {
  ppi_list axis = {.is_given = true, .is_known = true, .num = 1};
  axis.items[0] = ppi_known(ppi_op_int(op, "axis", 0));
  ppi_tensor *out = reduce(op, &axis, ppi_op_int(op, "keepdims", 1) != 0);
  if (out) out->type = PPI_TYPE_I64;
}
