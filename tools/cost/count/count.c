// SPDX-License-Identifier: Apache-2.0
//
// The walk over a model.
#include "cost/count/count.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cost/count/walk.h"

// Functions and bodies may multiply what a file has.
#define MOST_NODES 1100000
#define MOST_MEMORY_BYTES (UINT64_C(1) << 30)

static bool walk_nodes(ppi_walk *walk, ppi_frame *frame,
                       Ppi__Onnx__Node *const *nodes, size_t num) {
  for (size_t i = 0; i < num; i++) {
    ppi_op op;
    if (!walk->nodes_left--)
      return ppi_walk_fail(walk, nodes[i], "too many nodes, here and in",
                           "functions");
    if (!ppi_node_begin(walk, frame, nodes[i], &op)) return false;
    bool done = ppi_node_has_inside(walk, &op)
                    ? ppi_node_inside(walk, frame, &op)
                    : ppi_node_plain(walk, frame, &op);
    if (!done) return false;
  }
  return true;
}

static const char *text(const char *text) {
  return text ? text : "";
}

static bool list_functions(ppi_walk *walk) {
  const Ppi__Onnx__Model *model = walk->model->proto;
  for (size_t i = 0; i < model->n_functions; i++) {
    Ppi__Onnx__Function *function = model->functions[i];
    const char *parts[3] = {text(function->domain), text(function->name),
                            text(function->overload)};
    size_t room = strlen(parts[0]) + strlen(parts[1]) + strlen(parts[2]) + 3;
    char *key = ppi_arena_take(&walk->shapes->arena, room, 1);
    if (!key) return ppi_walk_no_memory(walk);
    snprintf(key, room, "%s\n%s\n%s", parts[0], parts[1], parts[2]);
    if (!ppi_scope_put(&walk->functions, key, function))
      return ppi_walk_no_memory(walk);
  }
  return true;
}

static bool walk_model(ppi_walk *walk) {
  const Ppi__Onnx__Model *model = walk->model->proto;
  ppi_arena *arena = &walk->shapes->arena;
  ppi_frame frame = {.names = {.arena = arena},
                     .declared = {.arena = arena},
                     .opsets = model->opset_import,
                     .num_opsets = model->n_opset_import,
                     .module = "",
                     .times = 1};
  return list_functions(walk) &&
         ppi_bind_graph(walk, &frame, model->graph, true) &&
         walk_nodes(walk, &frame, model->graph->node, model->graph->n_node);
}

pprof_status ppi_cost_count(const ppi_model *model, ppi_wanted_dims *dims,
                            ppi_cost *out, pprof_error *error) {
  *out = (ppi_cost){.shapes = {.model = model}};
  out->shapes.arena.room_bytes = MOST_MEMORY_BYTES;
  ppi_walk walk = {.model = model,
                   .cost = out,
                   .shapes = &out->shapes,
                   .dims = dims,
                   .functions = {.arena = &out->shapes.arena},
                   .nodes_left = MOST_NODES,
                   .error = error,
                   .nodes = walk_nodes};
  if (!walk_model(&walk) && !walk.status) ppi_walk_no_memory(&walk);
  if (!walk.status && out->shapes.arena.failed) ppi_walk_no_memory(&walk);
  return walk.status;
}
