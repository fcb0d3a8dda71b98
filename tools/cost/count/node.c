// SPDX-License-Identifier: Apache-2.0
//
// One node of an operator: its outputs, its count, its row.
#include <string.h>

#include "base/mem.h"
#include "cost/count/formulas.h"
#include "cost/count/module.h"
#include "cost/count/walk.h"

static int64_t opset_of(const ppi_frame *frame, const char *domain) {
  bool is_onnx = !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
  for (size_t i = 0; i < frame->num_opsets; i++) {
    const Ppi__Onnx__OperatorSet *set = frame->opsets[i];
    bool sets_onnx =
        !set->domain || !*set->domain || strcmp(set->domain, "ai.onnx") == 0;
    if (is_onnx ? sets_onnx : set->domain && strcmp(set->domain, domain) == 0)
      return set->version;
  }
  return 1;
}

bool ppi_node_begin(ppi_walk *walk, ppi_frame *frame,
                    const Ppi__Onnx__Node *node, ppi_op *out) {
  ppi_arena *arena = &walk->shapes->arena;
  if (!node->op_type) return ppi_walk_fail(walk, node, "it has no", "op_type");
  size_t num = node->n_input, num_outputs = node->n_output;
  ppi_tensor **inputs = ppi_arena_take(arena, num + 1, sizeof *inputs);
  ppi_tensor *outputs = ppi_arena_take(arena, num_outputs + 1, sizeof *outputs);
  if (!inputs || !outputs) return ppi_walk_no_memory(walk);
  for (size_t i = 0; i < num; i++) {
    if (!*node->input[i]) continue;
    inputs[i] = ppi_scope_find(&frame->names, node->input[i]);
    if (!inputs[i])
      return ppi_walk_fail(walk, node, "no node before it makes its input",
                           node->input[i]);
    // A function's input that its caller left out.
    if (inputs[i]->rank == -2) inputs[i] = NULL;
  }
  for (size_t i = 0; i < num_outputs; i++) {
    outputs[i].rank = -1;
    outputs[i].num_items = -1;
  }
  // Trailing inputs that are left out are none.
  while (num && !inputs[num - 1]) num--;
  *out = (ppi_op){
      walk->shapes,        node,   frame->call, opset_of(frame, node->domain),
      ppi_node_name(node), inputs, outputs,     num,
      num_outputs};
  return true;
}

// ---- outputs ----

static void make_sane(ppi_walk *walk, const ppi_op *op, ppi_tensor *tensor) {
  uint32_t cause = 0;
  for (int i = 0; i < tensor->rank; i++) {
    ppi_value *dim = &tensor->dims[i];
    if (dim->known && dim->i >= 0) continue;
    if (!dim->known && dim->cause) continue;
    if (!cause)
      cause = ppi_cause_of(walk->shapes,
                           dim->known ? PPI_CAUSE_INVALID : PPI_CAUSE_DATA,
                           op->name);
    *dim = ppi_unknown(cause);
    tensor->values = NULL;
  }
}

bool ppi_node_outputs(ppi_walk *walk, ppi_frame *frame, const ppi_op *op) {
  for (size_t i = 0; i < op->num_outputs; i++) {
    const char *name = op->node->output[i];
    ppi_tensor *tensor = &op->outputs[i];
    if (!*name) continue;
    make_sane(walk, op, tensor);
    ppi_bind_declared(walk, frame, name, tensor);
    if (tensor->rank < 0 && !tensor->cause)
      tensor->cause = ppi_op_cause(op, PPI_CAUSE_DATA);
    if (!ppi_scope_put(&frame->names, name, tensor))
      return ppi_walk_no_memory(walk);
  }
  return true;
}

// ---- the row ----

static const char *text(const char *text) {
  return text ? text : "";
}

// Whole numbers of 64 bits and truths are shapes, axes, places: no parameters.
static bool is_parameter(const ppi_tensor *tensor) {
  return tensor->type != PPI_TYPE_I64 && tensor->type != PPI_TYPE_BOOL;
}

static void add(ppi_shapes *shapes, ppi_value *sum, ppi_value value) {
  *sum = ppi_value_add(shapes, *sum, value);
}

static void add_input(const ppi_op *op, const ppi_operator *known,
                      ppi_tensor *in, ppi_cost_row *row) {
  ppi_shapes *shapes = op->shapes;
  ppi_value bytes = ppi_tensor_bytes(shapes, in);
  if (in->is_weight && is_parameter(in) && !in->was_used) {
    in->was_used = true;
    add(shapes, &row->params, ppi_tensor_elements(shapes, in));
    add(shapes, &row->param_bytes, bytes);
  }
  if (known && known->count == ppi_count_views) return;
  // Of a table only those rows are read that are asked for.
  bool is_table = known && known->rule == ppi_rule_gather &&
                  in == op->inputs[0] && op->num_outputs;
  if (is_table) bytes = ppi_tensor_bytes(shapes, &op->outputs[0]);
  add(shapes, in->is_weight ? &row->weight_bytes : &row->in_bytes, bytes);
}

// What it computes with: of a few bits where its operands were that.
static int type_of(const ppi_op *op) {
  const ppi_tensor *a = ppi_op_input(op, 0), *b = ppi_op_input(op, 1);
  if (strcmp(op->node->op_type, "MatMulNBits") == 0)
    return ppi_op_int(op, "bits", 4) == 4 ? 22 : PPI_TYPE_I8;
  if (a && b && a->stored && b->stored) return PPI_TYPE_I8;
  if (a && a->type == PPI_TYPE_U8 && b) return PPI_TYPE_I8;
  if (a && a->type) return a->type;
  return op->num_outputs ? op->outputs[0].type : 0;
}

static void count(const ppi_op *op, const ppi_operator *known,
                  ppi_cost_row *row) {
  const ppi_tensor *out = ppi_op_output(op, 0);
  row->work = (ppi_work){ppi_known(0), ppi_known(0)};
  if (!known) {
    row->cause =
        ppi_cause_of(op->shapes, PPI_CAUSE_OPERATOR, text(op->node->op_type));
    row->work = (ppi_work){ppi_unknown(row->cause), ppi_unknown(row->cause)};
  } else if (!out || !out->values) {
    // What is known before the model runs costs nothing.
    known->count(op, known->factor, &row->work);
  }
  ppi_value times = ppi_known(row->times < 0 ? 1 : row->times);
  row->work.macs = ppi_value_multiply(op->shapes, row->work.macs, times);
  row->work.flops = ppi_value_multiply(op->shapes, row->work.flops, times);
  ppi_value *bytes[] = {&row->in_bytes, &row->weight_bytes, &row->out_bytes};
  for (size_t i = 0; i < 3; i++)
    *bytes[i] = ppi_value_multiply(op->shapes, *bytes[i], times);
}

static void find_cause(const ppi_op *op, ppi_cost_row *row) {
  const ppi_value all[] = {row->work.macs, row->work.flops,   row->out_bytes,
                           row->in_bytes,  row->weight_bytes, row->params};
  for (size_t i = 0; !row->cause && i < sizeof all / sizeof *all; i++)
    if (!all[i].known)
      row->cause =
          all[i].cause ? all[i].cause : ppi_op_cause(op, PPI_CAUSE_DATA);
}

static const char *module_of(ppi_walk *walk, const ppi_frame *frame,
                             const ppi_op *op) {
  const char *weights = NULL;
  for (size_t i = 0; i < op->num_inputs && !weights; i++)
    if (op->inputs[i] && op->inputs[i]->is_weight) weights = op->node->input[i];
  ppi_arena *arena = &walk->shapes->arena;
  const char *own = ppi_module_of(arena, op->node, weights);
  if (!own) return NULL;
  // The name of a node in a body has the whole path; in a function it begins
  // there.
  if (!frame->call && *own) return own;
  return ppi_module_below(arena, frame->module, own);
}

static bool add_row(ppi_walk *walk, const ppi_frame *frame, const ppi_op *op,
                    const ppi_operator *known) {
  ppi_cost *cost = walk->cost;
  ppi_cost_row *rows =
      ppi_grow(cost->rows, &cost->capacity, cost->num_rows + 1, sizeof *rows);
  const char *module = module_of(walk, frame, op);
  if (rows) cost->rows = rows;
  if (!rows || !module) return ppi_walk_no_memory(walk);
  const ppi_tensor *out = ppi_op_output(op, 0);
  ppi_cost_row *row = &rows[cost->num_rows++];
  *row = (ppi_cost_row){.name = text(op->node->name),
                        .op_type = text(op->node->op_type),
                        .domain = text(op->node->domain),
                        .module = module,
                        .output = out ? op->node->output[0] : "",
                        .type = type_of(op),
                        .times = frame->times,
                        .rank = out ? out->rank : -1,
                        .dims = out ? out->dims : NULL};
  row->params = row->param_bytes = row->in_bytes = row->weight_bytes =
      row->out_bytes = ppi_known(0);
  for (size_t i = 0; i < op->num_inputs; i++)
    if (op->inputs[i] && (i == 0 || op->inputs[i] != op->inputs[i - 1]))
      add_input(op, known, op->inputs[i], row);
  for (size_t i = 0; i < op->num_outputs; i++)
    if (*op->node->output[i] && !(known && known->count == ppi_count_views))
      add(op->shapes, &row->out_bytes,
          ppi_tensor_bytes(op->shapes, &op->outputs[i]));
  count(op, known, row);
  find_cause(op, row);
  return true;
}

// Constants of more than one number are weights as initialisers are.
static void mark_constant(const ppi_op *op) {
  if (!op->num_outputs) return;
  ppi_value num = ppi_tensor_elements(op->shapes, &op->outputs[0]);
  op->outputs[0].is_weight = num.known && num.i > 1;
}

bool ppi_node_plain(ppi_walk *walk, ppi_frame *frame, ppi_op *op) {
  const char *type = text(op->node->op_type);
  const ppi_operator *known = ppi_operator_find(op->node->domain, type);
  if (known)
    known->rule(op);
  else
    ppi_op_forget(op, ppi_cause_of(walk->shapes, PPI_CAUSE_OPERATOR, type));
  if (strcmp(type, "Constant") == 0) mark_constant(op);
  if (!ppi_node_outputs(walk, frame, op)) return false;
  bool is_same = strcmp(type, "Identity") == 0 && op->num_inputs == 1 &&
                 op->num_outputs == 1;
  if (is_same && op->inputs[0]->is_weight)
    return ppi_scope_put(&frame->names, op->node->output[0], op->inputs[0]) ||
           ppi_walk_no_memory(walk);
  return add_row(walk, frame, op, known) &&
         (!walk->shapes->arena.failed || ppi_walk_no_memory(walk));
}
