// SPDX-License-Identifier: Apache-2.0
//
// What the walk over a model's graphs has with it.
#ifndef PPI_COST_WALK_H_
#define PPI_COST_WALK_H_

#include "cost/count/cost.h"
#include "cost/count/dims.h"
#include "cost/count/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

// A graph or function that is being walked.
typedef struct ppi_frame {
  ppi_scope names;     // of tensors
  ppi_scope declared;  // of what the file says of them: Ppi__Onnx__ValueInfo
  const ppi_call *call;
  Ppi__Onnx__OperatorSet *const *opsets;
  size_t num_opsets;
  const char *module;  // below which its nodes are
  int64_t times;       // how often it runs; -1: nobody knows
  unsigned depth;
} ppi_frame;

typedef struct ppi_walk {
  const ppi_model *model;
  ppi_cost *cost;
  ppi_shapes *shapes;  // the cost's
  ppi_wanted_dims *dims;
  ppi_scope functions;
  size_t nodes_left;  // functions may call functions: so many in all
  pprof_error *error;
  pprof_status status;
  // Walks nodes in a frame; here so that what is inside a node can be walked.
  bool (*nodes)(struct ppi_walk *walk, ppi_frame *frame,
                Ppi__Onnx__Node *const *nodes, size_t num);
} ppi_walk;

// Each answers false, here and from then on.
bool ppi_walk_fail(ppi_walk *walk, const Ppi__Onnx__Node *node,
                   const char *what, const char *name);
bool ppi_walk_no_memory(ppi_walk *walk);

// "name (Op)" of a node, for messages.
const char *ppi_node_name(const Ppi__Onnx__Node *node);

// ppi_bind_graph gives a frame a graph's initialisers, what the file says of
// tensors, and, with `with_inputs`, its inputs as they are declared.
bool ppi_bind_graph(ppi_walk *walk, ppi_frame *frame,
                    const Ppi__Onnx__Graph *graph, bool with_inputs);
// ppi_bind_tensor answers a new tensor of the name; NULL: no memory.
ppi_tensor *ppi_bind_tensor(ppi_walk *walk, ppi_frame *frame, const char *name);
// ppi_bind_declared fills in what is not known of a tensor from what the file,
// and --dim, say of it.
void ppi_bind_declared(ppi_walk *walk, const ppi_frame *frame, const char *name,
                       ppi_tensor *tensor);

// ppi_node_begin makes the op of a node: inputs by name, outputs unknown. False
// after an error.
bool ppi_node_begin(ppi_walk *walk, ppi_frame *frame,
                    const Ppi__Onnx__Node *node, ppi_op *out);
// ppi_node_plain does what a node of an operator does, and appends its row.
bool ppi_node_plain(ppi_walk *walk, ppi_frame *frame, ppi_op *op);

// ppi_node_outputs has the names of its outputs stand for them.
bool ppi_node_outputs(ppi_walk *walk, ppi_frame *frame, const ppi_op *op);

// ppi_node_inside does it for what has graphs in it, or is a function.
bool ppi_node_has_inside(ppi_walk *walk, const ppi_op *op);
bool ppi_node_inside(ppi_walk *walk, ppi_frame *frame, ppi_op *op);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_WALK_H_
