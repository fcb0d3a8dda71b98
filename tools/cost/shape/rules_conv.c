// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, pools, and what else slides over an image.
#include <string.h>

#include "cost/shape/rules.h"

// One axis of a window: attributes, with their defaults.
typedef struct window {
  int64_t stride, dilation, before, after, more;  // more: output_padding
} window;

static int64_t listed(const ppi_list *list, size_t i, int64_t fallback) {
  return list->is_given && i < list->num && list->items[i].known
             ? list->items[i].i
             : fallback;
}

typedef struct windows {
  ppi_list strides, dilations, pads, kernel, more, sizes;
  bool same, valid, ceil;
} windows;

static void read_windows(const ppi_op *op, windows *out) {
  ppi_op_list(op, "strides", SIZE_MAX, &out->strides);
  ppi_op_list(op, "dilations", SIZE_MAX, &out->dilations);
  ppi_op_list(op, "pads", SIZE_MAX, &out->pads);
  ppi_op_list(op, "kernel_shape", SIZE_MAX, &out->kernel);
  ppi_op_list(op, "output_padding", SIZE_MAX, &out->more);
  ppi_op_list(op, "output_shape", SIZE_MAX, &out->sizes);
  out->same = ppi_op_is(op, "auto_pad", "SAME_UPPER") ||
              ppi_op_is(op, "auto_pad", "SAME_LOWER");
  out->valid = ppi_op_is(op, "auto_pad", "VALID");
  out->ceil = ppi_op_int(op, "ceil_mode", 0) != 0;
}

static window window_at(const windows *all, size_t i, size_t num) {
  window one = {listed(&all->strides, i, 1), listed(&all->dilations, i, 1), 0,
                0, listed(&all->more, i, 0)};
  if (all->valid || all->pads.num != 2 * num) return one;
  one.before = listed(&all->pads, i, 0);
  one.after = listed(&all->pads, num + i, 0);
  return one;
}

// Sizes beyond these are nobody's, and their sums stay in 64 bits.
static bool is_sane(const window *one, int64_t kernel) {
  const int64_t most = INT32_MAX / 2;
  return one->stride > 0 && one->stride < most && one->dilation > 0 &&
         one->dilation < most && kernel > 0 && kernel < most &&
         one->before > -most && one->before < most && one->after > -most &&
         one->after < most && one->more >= 0 && one->more < most;
}

static ppi_value slide(const ppi_op *op, const windows *all, size_t i,
                       size_t num, ppi_value size, ppi_value kernel) {
  window one = window_at(all, i, num);
  if (!size.known || !kernel.known) return size.known ? kernel : size;
  if (!is_sane(&one, kernel.i) || size.i > INT64_MAX / 4)
    return ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID));
  if (all->same) return ppi_known((size.i - 1 + one.stride) / one.stride);
  int64_t room =
      size.i + one.before + one.after - (one.dilation * (kernel.i - 1) + 1);
  if (room < 0) return ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID));
  int64_t out = room / one.stride + 1;
  // The last window of a rounded number begins inside what there is.
  if (all->ceil && room % one.stride && out * one.stride < size.i + one.before)
    out++;
  return ppi_known(out);
}

// `data` is input 0; `weights` the input with the kernel, SIZE_MAX: pools.
static void slide_all(const ppi_op *op, size_t weights, ppi_value channels) {
  windows all;
  const ppi_tensor *in = op->inputs[0];
  const ppi_tensor *kernel = ppi_op_input(op, weights);
  ppi_tensor *out = in->rank < 2 ? NULL : ppi_op_begin(op, (size_t)in->rank);
  if (!out || (kernel && kernel->rank != in->rank)) {
    ppi_op_fail(op);
    return;
  }
  read_windows(op, &all);
  size_t num = (size_t)in->rank - 2;
  out->dims[0] = in->dims[0];
  out->dims[1] = channels;
  for (size_t i = 0; i < num; i++) {
    ppi_value size =
        kernel ? kernel->dims[i + 2] : ppi_known(listed(&all.kernel, i, 0));
    out->dims[i + 2] = slide(op, &all, i, num, in->dims[i + 2], size);
  }
}

void ppi_rule_conv(const ppi_op *op) {
  if (ppi_op_needs(op, 2)) slide_all(op, 1, ppi_op_dim(op, 1, 0));
}

void ppi_rule_conv_integer(const ppi_op *op) {
  ppi_rule_conv(op);
  if (op->num_outputs) op->outputs[0].type = PPI_TYPE_I32;
}

void ppi_rule_qlinear_conv(const ppi_op *op) {
  const ppi_tensor *zero = ppi_op_input(op, 7);
  if (!ppi_op_needs(op, 4)) return;
  slide_all(op, 3, ppi_op_dim(op, 3, 0));
  if (zero && op->num_outputs) op->outputs[0].type = zero->type;
}

void ppi_rule_deform_conv(const ppi_op *op) {
  ppi_rule_conv(op);
}

void ppi_rule_pool(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  slide_all(op, SIZE_MAX, ppi_op_dim(op, 0, 1));
  ppi_tensor *where = ppi_op_output(op, 1);
  if (!where) return;
  where->type = PPI_TYPE_I64;
  ppi_tensor_copy(where, &op->outputs[0], false);
}

void ppi_rule_global_pool(const ppi_op *op) {
  if (!ppi_op_needs(op, 1)) return;
  const ppi_tensor *in = op->inputs[0];
  ppi_tensor *out = in->rank < 2 ? NULL : ppi_op_begin(op, (size_t)in->rank);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  for (int i = 0; i < in->rank; i++)
    out->dims[i] = i < 2 ? in->dims[i] : ppi_known(1);
}

// ---- the other way ----

static ppi_value spread(const ppi_op *op, const windows *all, size_t i,
                        size_t num, ppi_value size, ppi_value kernel) {
  window one = window_at(all, i, num);
  if (all->sizes.is_given && all->sizes.num >= num)
    return all->sizes.items[all->sizes.num - num + i];
  if (!size.known || !kernel.known) return size.known ? kernel : size;
  if (!is_sane(&one, kernel.i) || size.i < 1 || size.i > INT32_MAX / 2)
    return ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID));
  if (all->same) return ppi_known(size.i * one.stride);
  return ppi_known(one.stride * (size.i - 1) + one.more +
                   ((kernel.i - 1) * one.dilation + 1) - one.before -
                   one.after);
}

static void spread_all(const ppi_op *op, ppi_value channels, size_t weights) {
  windows all;
  const ppi_tensor *in = op->inputs[0], *kernel = ppi_op_input(op, weights);
  ppi_tensor *out = in->rank < 2 ? NULL : ppi_op_begin(op, (size_t)in->rank);
  if (!out || (kernel && kernel->rank != in->rank)) {
    ppi_op_fail(op);
    return;
  }
  read_windows(op, &all);
  size_t num = (size_t)in->rank - 2;
  out->dims[0] = in->dims[0];
  out->dims[1] = channels;
  for (size_t i = 0; i < num; i++) {
    ppi_value size =
        kernel ? kernel->dims[i + 2] : ppi_known(listed(&all.kernel, i, 0));
    out->dims[i + 2] = spread(op, &all, i, num, in->dims[i + 2], size);
  }
}

void ppi_rule_conv_transpose(const ppi_op *op) {
  if (!ppi_op_needs(op, 2)) return;
  ppi_value groups = ppi_known(ppi_op_int(op, "group", 1));
  spread_all(op, ppi_value_multiply(op->shapes, ppi_op_dim(op, 1, 1), groups),
             1);
}

void ppi_rule_unpool(const ppi_op *op) {
  ppi_list sizes;
  if (!ppi_op_needs(op, 1)) return;
  ppi_op_list(op, NULL, 2, &sizes);
  if (!sizes.is_given) {
    spread_all(op, ppi_op_dim(op, 0, 1), SIZE_MAX);
    return;
  }
  ppi_tensor *out = ppi_op_begin(op, (size_t)op->inputs[0]->rank);
  for (int i = 0; out && i < out->rank; i++)
    out->dims[i] = sizes.num == (size_t)out->rank ? sizes.items[i]
                                                  : ppi_unknown(sizes.cause);
}

// ---- samplers ----

void ppi_rule_roi_align(const ppi_op *op) {
  if (!ppi_op_needs(op, 2)) return;
  ppi_tensor *out = op->inputs[0]->rank == 4 ? ppi_op_begin(op, 4) : NULL;
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  out->dims[0] = ppi_op_dim(op, 1, 0);
  out->dims[1] = ppi_op_dim(op, 0, 1);
  out->dims[2] = ppi_known(ppi_op_int(op, "output_height", 1));
  out->dims[3] = ppi_known(ppi_op_int(op, "output_width", 1));
}

void ppi_rule_grid_sample(const ppi_op *op) {
  if (!ppi_op_needs(op, 2)) return;
  const ppi_tensor *grid = op->inputs[1];
  ppi_tensor *out =
      grid->rank < 3 ? NULL : ppi_op_begin(op, (size_t)grid->rank);
  if (!out) {
    ppi_op_fail(op);
    return;
  }
  out->dims[0] = ppi_op_dim(op, 0, 0);
  out->dims[1] = ppi_op_dim(op, 0, 1);
  for (int i = 2; i < grid->rank; i++) out->dims[i] = grid->dims[i - 1];
}

void ppi_rule_col2im(const ppi_op *op) {
  ppi_list image, block;
  if (!ppi_op_needs(op, 1)) return;
  ppi_op_list(op, NULL, 1, &image);
  ppi_op_list(op, NULL, 2, &block);
  ppi_tensor *out =
      image.is_known && block.is_known ? ppi_op_begin(op, image.num + 2) : NULL;
  if (!out) {
    ppi_op_forget(op, image.is_known ? block.cause : image.cause);
    return;
  }
  ppi_value area = ppi_known(1);
  for (size_t i = 0; i < block.num; i++)
    area = ppi_value_multiply(op->shapes, area, block.items[i]);
  out->dims[0] = ppi_op_dim(op, 0, 0);
  out->dims[1] = !area.known   ? area
                 : area.i <= 0 ? ppi_unknown(0)
                               : ppi_value_divide(ppi_op_dim(op, 0, 1), area.i);
  for (size_t i = 0; i < image.num; i++) out->dims[i + 2] = image.items[i];
}
