// SPDX-License-Identifier: Apache-2.0
//
// What has nodes inside: functions, If, Loop, Scan.
#include <stdio.h>
#include <string.h>

#include "cost/count/module.h"
#include "cost/count/walk.h"

// A program that recurses has no graph; what nests deeper is nobody's.
enum { DEPTH = 64 };
// Beyond these a number of iterations stands for "until the condition fails".
#define MOST_TIMES INT64_C(1000000000)

static const char *text(const char *text) {
  return text ? text : "";
}

// ---- frames ----

// Of what is inside `op`; a function sees nothing of what is around it.
static bool begin(ppi_walk *walk, const ppi_frame *outer, const ppi_op *op,
                  bool sees_outer, ppi_frame *out) {
  ppi_arena *arena = &walk->shapes->arena;
  *out = *outer;
  out->names =
      (ppi_scope){.outer = sees_outer ? &outer->names : NULL, .arena = arena};
  out->declared = (ppi_scope){.outer = sees_outer ? &outer->declared : NULL,
                              .arena = arena};
  if (++out->depth > DEPTH)
    return ppi_walk_fail(walk, op->node, "too deep, or without an end:",
                         text(op->node->op_type));
  const char *own = ppi_module_of(arena, op->node, NULL);
  const char *module = own ? own : "";
  const char *leaf = strrchr(text(op->node->name), '/');
  if (leaf) module = ppi_module_below(arena, module, leaf + 1);
  if (module && (outer->call || !*module))
    module = ppi_module_below(arena, outer->module, module);
  out->module = module ? module : "";
  return true;
}

// A body's or branch's outputs; NULL, after an error, where one is missing.
static ppi_tensor *output_of(ppi_walk *walk, const ppi_frame *frame,
                             const ppi_op *op, const char *name) {
  ppi_tensor *found = ppi_scope_find(&frame->names, name);
  if (!found)
    ppi_walk_fail(walk, op->node, "nothing inside it makes its output", name);
  return found;
}

static void give(ppi_op *op, size_t i, const ppi_tensor *from) {
  if (i >= op->num_outputs) return;
  op->outputs[i] = *from;
  op->outputs[i].is_weight = false;
}

// ---- functions ----

static const Ppi__Onnx__Function *find_function(ppi_walk *walk,
                                                const Ppi__Onnx__Node *node) {
  char key[512];
  if (!walk->functions.num) return NULL;
  int n = snprintf(key, sizeof key, "%s\n%s\n%s", text(node->domain),
                   text(node->op_type), text(node->overload));
  if (n < 0 || n >= (int)sizeof key) return NULL;
  return ppi_scope_find(&walk->functions, key);
}

static bool call(ppi_walk *walk, ppi_frame *outer, ppi_op *op,
                 const Ppi__Onnx__Function *function) {
  static ppi_tensor left_out = {.rank = -2};
  ppi_frame frame;
  const ppi_call this_call = {outer->call, op->node, function};
  if (!begin(walk, outer, op, false, &frame)) return false;
  frame.call = &this_call;
  if (function->n_opset_import) {
    frame.opsets = function->opset_import;
    frame.num_opsets = function->n_opset_import;
  }
  for (size_t i = 0; i < function->n_input; i++) {
    ppi_tensor *in = i < op->num_inputs ? op->inputs[i] : NULL;
    if (!ppi_scope_put(&frame.names, function->input[i], in ? in : &left_out))
      return ppi_walk_no_memory(walk);
  }
  if (!walk->nodes(walk, &frame, function->node, function->n_node))
    return false;
  for (size_t i = 0; i < function->n_output && i < op->num_outputs; i++) {
    ppi_tensor *made = output_of(walk, &frame, op, function->output[i]);
    if (!made) return false;
    give(op, i, made);
  }
  return true;
}

// ---- If ----

// Outputs of both branches: what differs is not known.
static void join(const ppi_op *op, ppi_tensor *out, const ppi_tensor *other) {
  uint32_t cause = ppi_op_cause(op, PPI_CAUSE_DATA);
  ppi_tensor both = *out;
  out->values = NULL;
  if (both.rank != other->rank) {
    ppi_tensor_forget(out, cause);
    return;
  }
  if (both.rank < 0) return;
  if (!ppi_tensor_shape(op->shapes, out, (size_t)both.rank)) return;
  for (int i = 0; i < both.rank; i++) {
    bool same = both.dims[i].known && other->dims[i].known &&
                both.dims[i].i == other->dims[i].i;
    out->dims[i] = same ? both.dims[i] : ppi_unknown(cause);
  }
}

static const Ppi__Onnx__Graph *graph_of(const ppi_op *op, const char *name) {
  const Ppi__Onnx__Attribute *found = ppi_op_attribute(op, name);
  return found ? found->g : NULL;
}

static bool branch(ppi_walk *walk, const ppi_frame *outer, ppi_op *op,
                   const char *name, bool is_second) {
  ppi_frame frame;
  const Ppi__Onnx__Graph *graph = graph_of(op, name);
  if (!graph) return ppi_walk_fail(walk, op->node, "it has no", name);
  if (!begin(walk, outer, op, true, &frame) ||
      !ppi_bind_graph(walk, &frame, graph, true) ||
      !walk->nodes(walk, &frame, graph->node, graph->n_node))
    return false;
  for (size_t i = 0; i < graph->n_output && i < op->num_outputs; i++) {
    ppi_tensor *made =
        output_of(walk, &frame, op, text(graph->output[i]->name));
    if (!made) return false;
    if (is_second)
      join(op, &op->outputs[i], made);
    else
      give(op, i, made);
  }
  return true;
}

static double cost_of(const ppi_cost *cost, size_t first, size_t end) {
  double sum = 0;
  for (size_t i = first; i < end; i++) {
    const ppi_work *work = &cost->rows[i].work;
    if (work->macs.known) sum += 2 * (double)work->macs.i;
    if (work->flops.known) sum += (double)work->flops.i;
  }
  return sum;
}

// What is not known of it may cost more: it stays unknown, with its reason, and
// what runs nobody knows how often is 0 at least.
static void do_not_count(ppi_cost *cost, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) {
    ppi_cost_row *row = &cost->rows[i];
    ppi_work *work = &row->work;
    bool is_known = work->macs.known && work->flops.known;
    bool costs = !is_known || work->macs.i || work->flops.i;
    if (row->times > 0 || !costs) row->times = 0;
    if (work->macs.known) work->macs = ppi_known(0);
    if (work->flops.known) work->flops = ppi_known(0);
    row->in_bytes = row->weight_bytes = row->out_bytes = ppi_known(0);
    if (is_known) row->cause = 0;
  }
}

// Of two branches the one that costs more counts, unless it is known which.
static bool choose(ppi_walk *walk, ppi_frame *frame, ppi_op *op) {
  static const char *const names[2] = {"then_branch", "else_branch"};
  const ppi_tensor *test = ppi_op_input(op, 0);
  ppi_cost *cost = walk->cost;
  if (test && test->values && test->rank == 0 && test->values[0].known)
    return branch(walk, frame, op, names[!test->values[0].i], false);
  size_t first = cost->num_rows;
  if (!branch(walk, frame, op, names[0], false)) return false;
  size_t middle = cost->num_rows;
  if (!branch(walk, frame, op, names[1], true)) return false;
  if (cost_of(cost, first, middle) >= cost_of(cost, middle, cost->num_rows))
    do_not_count(cost, middle, cost->num_rows);
  else
    do_not_count(cost, first, middle);
  return true;
}

// ---- Loop and Scan ----

typedef struct body {
  const Ppi__Onnx__Graph *graph;
  size_t first;       // input of the body that is the first state
  size_t num_states;  // from output `first_out` on; what follows is collected
  size_t first_out;
  ppi_tensor *inputs;   // of the body
  ppi_tensor *outputs;  // of the body, once it was walked
  int64_t times;
} body;

static int64_t all_times(int64_t outer, int64_t inner) {
  int64_t product;
  if (outer < 0 || inner < 0) return -1;
  return __builtin_mul_overflow(outer, inner, &product) ? -1 : product;
}

// One walk over the body.
static bool run(ppi_walk *walk, const ppi_frame *outer, ppi_op *op, body *is) {
  ppi_frame frame;
  const Ppi__Onnx__Graph *graph = is->graph;
  if (!begin(walk, outer, op, true, &frame)) return false;
  frame.times = all_times(outer->times, is->times);
  for (size_t i = 0; i < graph->n_input; i++) {
    const char *name = text(graph->input[i]->name);
    ppi_tensor *tensor = ppi_bind_tensor(walk, &frame, name);
    if (!tensor) return false;
    *tensor = is->inputs[i];
  }
  if (!ppi_bind_graph(walk, &frame, graph, false)) return false;
  for (size_t i = 0; i < graph->n_input; i++) {
    const char *name = text(graph->input[i]->name);
    ppi_bind_declared(walk, &frame, name, ppi_scope_find(&frame.names, name));
  }
  if (!walk->nodes(walk, &frame, graph->node, graph->n_node)) return false;
  for (size_t i = 0; i < graph->n_output; i++) {
    ppi_tensor *made =
        output_of(walk, &frame, op, text(graph->output[i]->name));
    if (!made) return false;
    is->outputs[i] = *made;
    is->outputs[i].is_weight = false;
  }
  return true;
}

static bool differs(const ppi_tensor *a, const ppi_tensor *b) {
  if (a->rank != b->rank) return true;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i].known != b->dims[i].known ||
        (a->dims[i].known && a->dims[i].i != b->dims[i].i))
      return true;
  return false;
}

// A state whose shape an iteration changes is not known; what depends on it is
// walked once more.
static bool settle(ppi_walk *walk, const ppi_frame *outer, ppi_op *op,
                   body *is) {
  size_t first_row = walk->cost->num_rows;
  bool changed = false;
  if (!run(walk, outer, op, is)) return false;
  for (size_t i = 0; i < is->num_states; i++) {
    ppi_tensor *in = &is->inputs[is->first + i];
    const ppi_tensor *out = &is->outputs[is->first_out + i];
    if (!differs(in, out)) continue;
    join(op, in, out);
    changed = true;
  }
  if (!changed) return true;
  // What these rows took as parameters is taken again.
  for (size_t i = first_row; i < walk->cost->num_rows; i++)
    walk->cost->rows[i].times = 0;
  size_t second = walk->cost->num_rows;
  if (!run(walk, outer, op, is)) return false;
  ppi_cost *cost = walk->cost;
  size_t num = cost->num_rows - second;
  for (size_t i = 0; i < num && first_row + i < second; i++) {
    cost->rows[second + i].params = cost->rows[first_row + i].params;
    cost->rows[second + i].param_bytes = cost->rows[first_row + i].param_bytes;
  }
  memmove(cost->rows + first_row, cost->rows + second,
          num * sizeof *cost->rows);
  cost->num_rows = first_row + num;
  return true;
}

static bool begin_body(ppi_walk *walk, ppi_op *op, body *is) {
  ppi_arena *arena = &walk->shapes->arena;
  is->graph = graph_of(op, "body");
  if (!is->graph) return ppi_walk_fail(walk, op->node, "it has no", "body");
  is->inputs =
      ppi_arena_take(arena, is->graph->n_input + 1, sizeof(ppi_tensor));
  is->outputs =
      ppi_arena_take(arena, is->graph->n_output + 1, sizeof(ppi_tensor));
  if (!is->inputs || !is->outputs) return ppi_walk_no_memory(walk);
  for (size_t i = 0; i < is->graph->n_input; i++) {
    is->inputs[i].rank = -1;
    is->inputs[i].num_items = -1;
  }
  return true;
}

// What each iteration gives, one behind the other along `axis`.
static void collect(const ppi_op *op, ppi_tensor *out, const ppi_tensor *one,
                    int64_t axis, ppi_value times) {
  out->type = one->type;
  if (one->rank < 0) {
    ppi_tensor_forget(out, one->cause);
    return;
  }
  int at = ppi_op_axis(axis, one->rank + 1);
  if (at < 0 || !ppi_tensor_shape(op->shapes, out, (size_t)one->rank + 1)) {
    ppi_tensor_forget(out, ppi_op_cause(op, PPI_CAUSE_INVALID));
    return;
  }
  for (int i = 0, from = 0; i <= one->rank; i++)
    out->dims[i] = i == at ? times : one->dims[from++];
}

// Of a body that was counted so often, but may end sooner, once is counted.
static void count_once(ppi_cost *cost, size_t first, int64_t times) {
  for (size_t i = first; i < cost->num_rows; i++) {
    ppi_cost_row *row = &cost->rows[i];
    ppi_value *all[] = {&row->work.macs, &row->work.flops, &row->in_bytes,
                        &row->weight_bytes, &row->out_bytes};
    if (row->times <= 0) continue;
    for (size_t j = 0; j < sizeof all / sizeof *all; j++)
      *all[j] = ppi_value_divide(*all[j], times);
    row->times = -1;
  }
}

static bool is_true(const ppi_tensor *tensor) {
  return tensor && tensor->values && tensor->values[0].known &&
         tensor->values[0].i;
}

static bool loop(ppi_walk *walk, ppi_frame *frame, ppi_op *op) {
  body is = {.first = 2, .first_out = 1};
  const ppi_tensor *most = ppi_op_input(op, 0), *test = ppi_op_input(op, 1);
  if (!begin_body(walk, op, &is)) return false;
  size_t num_in = is.graph->n_input, num_out = is.graph->n_output;
  if (num_in < 2 || num_out < 1 || num_out - 1 < num_in - 2)
    return ppi_walk_fail(walk, op->node, "too few inputs or outputs of its",
                         "body");
  is.num_states = num_in - 2;
  for (size_t i = 2; i < num_in && i < op->num_inputs; i++)
    if (op->inputs[i]) is.inputs[i] = *op->inputs[i];
  for (size_t i = 2; i < num_in; i++) {
    is.inputs[i].values = NULL;  // the next iteration has others
    is.inputs[i].is_weight = false;
  }
  is.inputs[0].type = PPI_TYPE_I64;
  ppi_tensor_shape(walk->shapes, &is.inputs[0], 0);
  if (test) is.inputs[1] = *test;
  bool is_known = most && most->values && most->values[0].known &&
                  most->values[0].i >= 0 && most->values[0].i < MOST_TIMES &&
                  (!test || is_true(test));
  is.times = is_known ? most->values[0].i : -1;
  size_t first_row = walk->cost->num_rows;
  if (!settle(walk, frame, op, &is)) return false;
  // The condition may end it sooner.
  bool ends = test && !is_true(&is.outputs[0]);
  ppi_value times = is_known && !ends
                        ? ppi_known(is.times)
                        : ppi_unknown(ppi_op_cause(op, PPI_CAUSE_DATA));
  if (is_known && ends) count_once(walk->cost, first_row, is.times);
  for (size_t i = 0; i < op->num_outputs && i + 1 < num_out; i++) {
    const ppi_tensor *made = &is.outputs[i + 1];
    if (i >= is.num_states)
      collect(op, &op->outputs[i], made, 0, times);
    else
      give(op, i, made);
  }
  return true;
}

// The axis at `i` of a list of axes; 0 without one.
static int64_t axis_at(const ppi_op *op, const char *name, size_t i) {
  ppi_list axes;
  ppi_op_list(op, name, SIZE_MAX, &axes);
  return i < axes.num && axes.items[i].known ? axes.items[i].i : 0;
}

// One step of a scanned input, which has the axis no more. Answers its size.
static ppi_value slice(const ppi_op *op, const ppi_tensor *from, int64_t axis,
                       ppi_tensor *out) {
  *out = (ppi_tensor){.type = from->type, .rank = -1, .cause = from->cause};
  int at = ppi_op_axis(axis, from->rank);
  if (at < 0 || !ppi_tensor_shape(op->shapes, out, (size_t)from->rank - 1))
    return ppi_unknown(from->cause);
  for (int i = 0, to = 0; i < from->rank; i++)
    if (i != at) out->dims[to++] = from->dims[i];
  return from->dims[at];
}

static bool scan(ppi_walk *walk, ppi_frame *frame, ppi_op *op) {
  body is = {.first = 0, .first_out = 0};
  ppi_value steps = ppi_known(0);
  if (!begin_body(walk, op, &is)) return false;
  int64_t scanned = ppi_op_int(op, "num_scan_inputs", -1);
  size_t num_in = is.graph->n_input;
  if (scanned < 1 || (size_t)scanned > num_in ||
      is.graph->n_output < num_in - (size_t)scanned || op->opset < 9)
    return ppi_walk_fail(walk, op->node,
                         "no Scan of opset 9 or later:", "num_scan_inputs");
  is.num_states = num_in - (size_t)scanned;
  for (size_t i = 0; i < num_in && i < op->num_inputs; i++) {
    const ppi_tensor *from = op->inputs[i];
    if (!from) continue;
    if (i < is.num_states) {
      is.inputs[i] = *from;
      is.inputs[i].values = NULL;
      is.inputs[i].is_weight = false;
      continue;
    }
    size_t at = i - is.num_states;
    steps = slice(op, from, axis_at(op, "scan_input_axes", at), &is.inputs[i]);
  }
  is.times = steps.known ? steps.i : -1;
  if (!settle(walk, frame, op, &is)) return false;
  for (size_t i = 0; i < op->num_outputs && i < is.graph->n_output; i++) {
    if (i < is.num_states)
      give(op, i, &is.outputs[i]);
    else
      collect(op, &op->outputs[i], &is.outputs[i],
              axis_at(op, "scan_output_axes", i - is.num_states), steps);
  }
  return true;
}

// ---- which of them ----

typedef bool (*inside)(ppi_walk *walk, ppi_frame *frame, ppi_op *op);

static inside kind_of(const ppi_op *op) {
  const char *type = text(op->node->op_type);
  const char *domain = text(op->node->domain);
  if (*domain && strcmp(domain, "ai.onnx") != 0) return NULL;
  if (strcmp(type, "If") == 0) return choose;
  if (strcmp(type, "Loop") == 0) return loop;
  // Opset 8's has another layout, and no exporter that we know.
  return strcmp(type, "Scan") == 0 && op->opset >= 9 ? scan : NULL;
}

bool ppi_node_has_inside(ppi_walk *walk, const ppi_op *op) {
  return kind_of(op) || find_function(walk, op->node);
}

bool ppi_node_inside(ppi_walk *walk, ppi_frame *frame, ppi_op *op) {
  const Ppi__Onnx__Function *function = find_function(walk, op->node);
  inside kind = kind_of(op);
  bool done = function ? call(walk, frame, op, function)
                       : kind && kind(walk, frame, op);
  return done && ppi_node_outputs(walk, frame, op);
}
