// SPDX-License-Identifier: Apache-2.0
//
// The walk over a model.
#include "cost/count/count.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cost/count/walk.h"

// Functions that call functions multiply what a file has: by so much at most,
// beyond what any may come to.
#define MOST_NODES 1100000
enum { MOST_TIMES = 8, FEW_NODES = 65536 };
#define FEW_BYTES (UINT64_C(64) << 20)

static size_t count_nodes(Ppi__Onnx__Node *const *nodes, size_t num) {
  size_t sum = num;
  for (size_t i = 0; i < num; i++)
    for (size_t k = 0; k < nodes[i]->n_attribute; k++) {
      const Ppi__Onnx__Graph *inner = nodes[i]->attribute[k]->g;
      if (inner) sum += count_nodes(inner->node, inner->n_node);
    }
  return sum;
}

static size_t most_nodes(const Ppi__Onnx__Model *model) {
  size_t sum = count_nodes(model->graph->node, model->graph->n_node);
  for (size_t i = 0; i < model->n_functions; i++)
    sum += count_nodes(model->functions[i]->node, model->functions[i]->n_node);
  return PPI_MIN(MOST_TIMES * sum + FEW_NODES, MOST_NODES);
}

static uint64_t most_bytes(const ppi_model *model) {
  uint64_t taken = PPI_MODEL_MEMORY - model->room_bytes;
  return PPI_MIN(MOST_TIMES * taken + FEW_BYTES, PPI_MODEL_MEMORY);
}

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
  out->shapes.arena.room_bytes = most_bytes(model);
  ppi_walk walk = {.model = model,
                   .cost = out,
                   .shapes = &out->shapes,
                   .dims = dims,
                   .functions = {.arena = &out->shapes.arena},
                   .nodes_left = most_nodes(model->proto),
                   .error = error,
                   .nodes = walk_nodes};
  if (!walk_model(&walk) && !walk.status) ppi_walk_no_memory(&walk);
  if (!walk.status && out->shapes.arena.failed) ppi_walk_no_memory(&walk);
  return walk.status;
}
