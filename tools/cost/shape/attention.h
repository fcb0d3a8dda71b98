// SPDX-License-Identifier: Apache-2.0
//
// The sizes of an attention, for its outputs and its count.
#ifndef PPI_COST_ATTENTION_H_
#define PPI_COST_ATTENTION_H_

#include "cost/shape/op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_attention {
  ppi_value batch, heads, key_heads, queries, keys, size, value_size;
  ppi_value past, total;  // keys of the cache, and all keys
  // Of one that also makes query, key and value: (input_size, projected)
  // weights; otherwise `projected` is 0.
  ppi_value input_size, projected;
} ppi_attention;

// ppi_attention_read: false, and unknown outputs, where the inputs do not fit.
bool ppi_attention_read(const ppi_op *op, ppi_attention *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_ATTENTION_H_
