// SPDX-License-Identifier: Apache-2.0
//
// What a graph's names stand for before its nodes are walked.
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cost/count/walk.h"

const char *ppi_node_name(const Ppi__Onnx__Node *node) {
  if (node->name && *node->name) return node->name;
  if (node->n_output && *node->output[0]) return node->output[0];
  return node->op_type ? node->op_type : "";
}

bool ppi_walk_no_memory(ppi_walk *walk) {
  if (!walk->status)
    walk->status = ppi_fail(walk->error, PPROF_STATUS_NO_MEMORY,
                            "too large: out of memory");
  return false;
}

bool ppi_walk_fail(ppi_walk *walk, const Ppi__Onnx__Node *node,
                   const char *what, const char *name) {
  if (walk->status) return false;
  walk->status =
      node ? ppi_fail(walk->error, PPROF_STATUS_CORRUPT,
                      "node '%.80s' (%.40s): %s '%.80s'", ppi_node_name(node),
                      node->op_type ? node->op_type : "", what, name)
           : ppi_fail(walk->error, PPROF_STATUS_CORRUPT, "%s '%.80s'", what,
                      name);
  return false;
}

ppi_tensor *ppi_bind_tensor(ppi_walk *walk, ppi_frame *frame,
                            const char *name) {
  ppi_tensor *tensor = ppi_arena_take(&walk->shapes->arena, 1, sizeof *tensor);
  if (!tensor || !ppi_scope_put(&frame->names, name, tensor)) {
    ppi_walk_no_memory(walk);
    return NULL;
  }
  tensor->rank = -1;
  tensor->num_items = -1;
  return tensor;
}

// ---- what the file says ----

static ppi_value named_dim(ppi_walk *walk, const Ppi__Onnx__Dimension *dim,
                           const char *tensor, int axis) {
  if (dim->has_dim_value)
    return dim->dim_value >= 0 ? ppi_known(dim->dim_value)
                               : ppi_unknown(ppi_cause_of(
                                     walk->shapes, PPI_CAUSE_INVALID, tensor));
  if (!dim->dim_param || !*dim->dim_param) {
    // Without a name it is known by its tensor's: "image:0".
    size_t room = strlen(tensor) + 16;
    char *name = ppi_arena_take(&walk->shapes->arena, room, 1);
    if (!name) return ppi_unknown(0);
    snprintf(name, room, "%s:%d", tensor, axis);
    return ppi_unknown(ppi_cause_of(walk->shapes, PPI_CAUSE_DIM, name));
  }
  int64_t size = ppi_dims_find(walk->dims, dim->dim_param, -1);
  if (size >= 0) return ppi_known(size);
  return ppi_unknown(ppi_cause_of(walk->shapes, PPI_CAUSE_DIM, dim->dim_param));
}

// The tensor that a type is of: of a sequence its elements.
static const Ppi__Onnx__TensorType *tensor_of(const Ppi__Onnx__Type *type,
                                              bool *out_is_sequence) {
  *out_is_sequence = false;
  for (int i = 0; type && i < 8; i++) {
    if (type->tensor_type) return type->tensor_type;
    if (type->sequence_type) {
      *out_is_sequence = true;
      type = type->sequence_type->elem_type;
    } else {
      type = type->optional_type ? type->optional_type->elem_type : NULL;
    }
  }
  return NULL;
}

// What an operator's rule has found stays; a dimension of which it only knows
// that nobody knows it may have a name here.
static bool is_better(const ppi_walk *walk, ppi_value old, ppi_value new) {
  if (old.known) return false;
  if (new.known) return true;
  const ppi_cause *causes = walk->shapes->causes;
  return !old.cause || causes[old.cause].kind == PPI_CAUSE_OPERATOR;
}

static void take_shape(ppi_walk *walk, const Ppi__Onnx__Shape *shape,
                       const char *name, ppi_tensor *tensor) {
  bool is_new = tensor->rank < 0;
  if (is_new && !ppi_tensor_shape(walk->shapes, tensor, shape->n_dim)) {
    tensor->cause = ppi_cause_of(walk->shapes, PPI_CAUSE_INVALID, name);
    return;
  }
  if ((size_t)tensor->rank != shape->n_dim) return;
  ppi_value dims[PPI_MAX_RANK];
  bool any = is_new;
  for (int i = 0; i < tensor->rank; i++) {
    ppi_value said = named_dim(walk, shape->dim[i], name, i);
    bool takes = is_new || is_better(walk, tensor->dims[i], said);
    dims[i] = takes ? said : tensor->dims[i];
    any |= takes;
  }
  if (!any) return;
  // Others may share the list.
  if (!is_new && !ppi_tensor_shape(walk->shapes, tensor, shape->n_dim)) return;
  memcpy(tensor->dims, dims, (size_t)tensor->rank * sizeof *dims);
}

// Of a tensor of which nothing is known, all axes from 0 on are its shape.
static void take_wanted_rank(ppi_walk *walk, const char *name,
                             ppi_tensor *tensor) {
  size_t rank = 0;
  while (rank < PPI_MAX_RANK && ppi_dims_find(walk->dims, name, (int)rank) >= 0)
    rank++;
  if (rank) ppi_tensor_shape(walk->shapes, tensor, rank);
}

static void take_wanted(ppi_walk *walk, const char *name, ppi_tensor *tensor) {
  if (!walk->dims->num) return;
  if (tensor->rank < 0) take_wanted_rank(walk, name, tensor);
  for (int i = 0; i < tensor->rank; i++) {
    int64_t size = ppi_dims_find(walk->dims, name, i);
    ppi_tensor old = *tensor;
    if (size < 0) continue;
    if (!ppi_tensor_shape(walk->shapes, tensor, (size_t)old.rank)) return;
    memcpy(tensor->dims, old.dims, (size_t)old.rank * sizeof *old.dims);
    tensor->dims[i] = ppi_known(size);
    tensor->values = NULL;
  }
}

void ppi_bind_declared(ppi_walk *walk, const ppi_frame *frame, const char *name,
                       ppi_tensor *tensor) {
  const Ppi__Onnx__ValueInfo *info = ppi_scope_find(&frame->declared, name);
  bool is_sequence;
  const Ppi__Onnx__TensorType *type =
      info ? tensor_of(info->type, &is_sequence) : NULL;
  if (type) {
    if (!tensor->type) tensor->type = type->elem_type;
    if (tensor->rank < 0 && is_sequence) tensor->is_sequence = true;
    if (type->shape) take_shape(walk, type->shape, name, tensor);
  }
  take_wanted(walk, name, tensor);
}

// ---- a graph ----

static bool bind_weights(ppi_walk *walk, ppi_frame *frame,
                         const Ppi__Onnx__Graph *graph) {
  for (size_t i = 0; i < graph->n_initializer; i++) {
    const Ppi__Onnx__Tensor *from = graph->initializer[i];
    ppi_tensor *tensor =
        ppi_bind_tensor(walk, frame, from->name ? from->name : "");
    if (!tensor) return false;
    ppi_tensor_read(walk->shapes, from, tensor);
    tensor->is_weight = true;
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
    const Ppi__Onnx__SparseTensor *from = graph->sparse_initializer[i];
    const char *name = from->values ? from->values->name : NULL;
    ppi_tensor *tensor = name ? ppi_bind_tensor(walk, frame, name) : NULL;
    if (!name) continue;
    if (!tensor) return false;
    tensor->type = from->values->data_type;
    tensor->is_weight = true;
    if (!ppi_tensor_shape(walk->shapes, tensor, from->n_dims)) continue;
    for (size_t k = 0; k < from->n_dims; k++)
      tensor->dims[k] = ppi_known(from->dims[k] < 0 ? 0 : from->dims[k]);
  }
  return true;
}

static bool declare(ppi_walk *walk, ppi_frame *frame,
                    Ppi__Onnx__ValueInfo *const *infos, size_t num) {
  for (size_t i = 0; i < num; i++)
    if (infos[i]->name &&
        !ppi_scope_put(&frame->declared, infos[i]->name, infos[i]))
      return ppi_walk_no_memory(walk);
  return true;
}

bool ppi_bind_graph(ppi_walk *walk, ppi_frame *frame,
                    const Ppi__Onnx__Graph *graph, bool with_inputs) {
  if (!declare(walk, frame, graph->value_info, graph->n_value_info) ||
      !declare(walk, frame, graph->output, graph->n_output) ||
      !declare(walk, frame, graph->input, graph->n_input) ||
      !bind_weights(walk, frame, graph))
    return false;
  for (size_t i = 0; with_inputs && i < graph->n_input; i++) {
    const char *name = graph->input[i]->name ? graph->input[i]->name : "";
    // Up to IR 3 weights are among the inputs.
    if (ppi_scope_find(&frame->names, name)) continue;
    ppi_tensor *tensor = ppi_bind_tensor(walk, frame, name);
    if (!tensor) return false;
    tensor->cause = ppi_cause_of(walk->shapes, PPI_CAUSE_INPUT, name);
    ppi_bind_declared(walk, frame, name, tensor);
  }
  return true;
}
