// SPDX-License-Identifier: Apache-2.0
//
// The sizes of an attention: of ONNX's, and of ONNX Runtime's.
#include "cost/shape/attention.h"

#include <string.h>

static ppi_value divided(ppi_value size, ppi_value by) {
  if (!by.known) return by;
  return by.i > 0 ? ppi_value_divide(size, by.i) : ppi_unknown(0);
}

static ppi_value attribute(const ppi_op *op, const char *name,
                           ppi_value fallback) {
  int64_t value = ppi_op_int(op, name, 0);
  return value > 0 ? ppi_known(value) : fallback;
}

// ONNX: of rank 4 (B, H, L, D), or of rank 3 (B, L, H*D).
static bool read_onnx(const ppi_op *op, ppi_attention *out) {
  bool is_split = ppi_op_rank(op, 0) == 4;
  if (!is_split && ppi_op_rank(op, 0) != 3) return false;
  int length = is_split ? 2 : 1;
  out->batch = ppi_op_dim(op, 0, 0);
  out->queries = ppi_op_dim(op, 0, length);
  out->keys = ppi_op_dim(op, 1, length);
  out->heads = is_split ? ppi_op_dim(op, 0, 1)
                        : attribute(op, "q_num_heads", ppi_unknown(0));
  out->key_heads = is_split ? ppi_op_dim(op, 1, 1)
                            : attribute(op, "kv_num_heads", out->heads);
  ppi_value query = ppi_op_dim(op, 0, -1), value = ppi_op_dim(op, 2, -1);
  out->size = is_split ? query : divided(query, out->heads);
  out->value_size = is_split ? value : divided(value, out->key_heads);
  out->past = ppi_op_input(op, 4) ? ppi_op_dim(op, 4, 2) : ppi_known(0);
  return true;
}

// Contributed: an input that its weights make query, key and value of.
static bool read_joined(const ppi_op *op, ppi_attention *out) {
  ppi_list sizes;
  ppi_value all = ppi_op_dim(op, 1, 1), third = divided(all, ppi_known(3));
  ppi_op_list(op, "qkv_hidden_sizes", SIZE_MAX, &sizes);
  out->batch = ppi_op_dim(op, 0, 0);
  out->queries = out->keys = ppi_op_dim(op, 0, 1);
  out->heads = out->key_heads = attribute(op, "num_heads", ppi_unknown(0));
  bool differ = sizes.num == 3;
  out->size = divided(differ ? sizes.items[0] : third, out->heads);
  out->value_size = divided(differ ? sizes.items[2] : third, out->heads);
  bool has_past = ppi_op_rank(op, 4) == 5;
  out->past = has_past ? ppi_op_dim(op, 4, 3) : ppi_known(0);
  out->input_size = ppi_op_dim(op, 0, 2);
  out->projected = all;
  return true;
}

// Contributed: query, key and value, or all three in the first.
static bool read_separate(const ppi_op *op, ppi_attention *out) {
  bool is_packed = ppi_op_rank(op, 0) == 5;
  int key_rank = ppi_op_rank(op, 1);
  out->batch = ppi_op_dim(op, 0, 0);
  out->queries = ppi_op_dim(op, 0, 1);
  out->heads = out->key_heads = attribute(op, "num_heads", ppi_unknown(0));
  out->past = ppi_op_rank(op, 6) == 4 ? ppi_op_dim(op, 6, 2) : ppi_known(0);
  if (is_packed) {
    out->keys = out->queries;
    out->size = out->value_size = ppi_op_dim(op, 0, 4);
    return true;
  }
  out->size = divided(ppi_op_dim(op, 0, 2), out->heads);
  if (key_rank == 5) {
    out->keys = ppi_op_dim(op, 1, 1);
    out->value_size = out->size;
    return true;
  }
  bool is_split = key_rank == 4;
  out->keys = ppi_op_dim(op, 1, is_split ? 2 : 1);
  out->value_size = is_split ? ppi_op_dim(op, 2, 3)
                             : divided(ppi_op_dim(op, 2, 2), out->heads);
  return ppi_op_rank(op, 0) == 3;
}

static bool read_grouped(const ppi_op *op, ppi_attention *out) {
  bool is_packed = !ppi_op_input(op, 1);
  out->batch = ppi_op_dim(op, 0, 0);
  out->queries = out->keys = ppi_op_dim(op, 0, 1);
  out->heads = attribute(op, "num_heads", ppi_unknown(0));
  out->key_heads = attribute(op, "kv_num_heads", out->heads);
  ppi_value parts = out->heads;
  if (is_packed && out->heads.known && out->key_heads.known &&
      out->heads.i < INT32_MAX && out->key_heads.i < INT32_MAX)
    parts = ppi_known(out->heads.i + 2 * out->key_heads.i);
  out->size = out->value_size = divided(ppi_op_dim(op, 0, 2), parts);
  out->past = ppi_op_input(op, 3) ? ppi_op_dim(op, 3, 2) : ppi_known(0);
  return ppi_op_rank(op, 0) == 3;
}

bool ppi_attention_read(const ppi_op *op, ppi_attention *out) {
  const char *type = op->node->op_type, *domain = op->node->domain;
  memset(out, 0, sizeof *out);
  out->projected = ppi_known(0);
  bool is_onnx = !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
  if (!ppi_op_needs(op, 1)) return false;
  bool fits = strcmp(type, "GroupQueryAttention") == 0 ? read_grouped(op, out)
              : strcmp(type, "Attention") != 0         ? read_separate(op, out)
              : is_onnx                                ? read_onnx(op, out)
                                                       : read_joined(op, out);
  out->total = ppi_value_add(op->shapes, out->keys, out->past);
  if (!fits) ppi_op_fail(op);
  return fits;
}
