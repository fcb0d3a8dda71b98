// SPDX-License-Identifier: Apache-2.0
//
// What an attention gives.
#include <string.h>

#include "cost/shape/attention.h"
#include "cost/shape/rules.h"

static void put_cache(const ppi_op *op, const ppi_attention *is, size_t at,
                      ppi_value size) {
  ppi_tensor *out = ppi_op_output(op, at);
  if (!out || !ppi_tensor_shape(op->shapes, out, 4)) return;
  out->type = op->inputs[0]->type;
  out->dims[0] = is->batch;
  out->dims[1] = is->key_heads;
  out->dims[2] = is->total;
  out->dims[3] = size;
}

// (B, L, H*D)
static void put_joined(const ppi_op *op, const ppi_attention *is) {
  ppi_tensor *out = ppi_op_begin(op, 3);
  if (!out) return;
  out->dims[0] = is->batch;
  out->dims[1] = is->queries;
  out->dims[2] = ppi_value_multiply(op->shapes, is->heads, is->value_size);
}

void ppi_rule_attention(const ppi_op *op) {
  ppi_attention is;
  if (!ppi_attention_read(op, &is)) return;
  if (ppi_op_rank(op, 0) == 4) {
    ppi_tensor *out = ppi_op_begin(op, 4);
    if (!out) return;
    out->dims[0] = is.batch;
    out->dims[1] = is.heads;
    out->dims[2] = is.queries;
    out->dims[3] = is.value_size;
  } else {
    put_joined(op, &is);
  }
  put_cache(op, &is, 1, is.size);
  put_cache(op, &is, 2, is.value_size);
  ppi_tensor *scores = ppi_op_output(op, 3);
  if (!scores || !ppi_tensor_shape(op->shapes, scores, 4)) return;
  scores->type = op->inputs[0]->type;
  scores->dims[0] = is.batch;
  scores->dims[1] = is.heads;
  scores->dims[2] = is.queries;
  scores->dims[3] = is.total;
}

void ppi_rule_fused_attention(const ppi_op *op) {
  ppi_attention is;
  if (!ppi_attention_read(op, &is)) return;
  put_joined(op, &is);
  // The contributed Attention has key and value of its cache in one tensor.
  ppi_tensor *cache = ppi_op_output(op, 1);
  if (!cache || strcmp(op->node->op_type, "Attention") != 0) {
    put_cache(op, &is, 1, is.size);
    put_cache(op, &is, 2, is.value_size);
    return;
  }
  if (!ppi_tensor_shape(op->shapes, cache, 5)) return;
  cache->type = op->inputs[0]->type;
  const ppi_value dims[5] = {ppi_known(2), is.batch, is.heads, is.total,
                             is.size};
  memcpy(cache->dims, dims, sizeof dims);
}

// Its cache is a buffer of the size it is given with.
void ppi_rule_group_query(const ppi_op *op) {
  ppi_attention is;
  if (!ppi_attention_read(op, &is)) return;
  put_joined(op, &is);
  put_cache(op, &is, 1, is.size);
  put_cache(op, &is, 2, is.value_size);
}
