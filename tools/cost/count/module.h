// SPDX-License-Identifier: Apache-2.0
//
// Which module a node belongs to, by what exporters leave of it.
#ifndef PPI_COST_MODULE_H_
#define PPI_COST_MODULE_H_

#include "cost/onnx/model.h"
#include "cost/shape/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_module_of answers the path, "layer1/0/conv1", in the arena: of what
// PyTorch says in the node's properties; else of the node's name without its
// last part, split at '/' and '.'; else of the name of its weights (NULL:
// none). "" is the model itself; NULL: out of memory.
const char *ppi_module_of(ppi_arena *arena, const Ppi__Onnx__Node *node,
                          const char *weights);
// ppi_module_below puts `inner` below `outer`.
const char *ppi_module_below(ppi_arena *arena, const char *outer,
                             const char *inner);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_MODULE_H_
