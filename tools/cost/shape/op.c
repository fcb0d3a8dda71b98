// SPDX-License-Identifier: Apache-2.0
#include "cost/shape/op.h"

#include <string.h>

static const Ppi__Onnx__Attribute *find(Ppi__Onnx__Attribute *const *all,
                                        size_t num, const char *name) {
  for (size_t i = 0; i < num; i++)
    if (all[i]->name && strcmp(all[i]->name, name) == 0) return all[i];
  return NULL;
}

// A function's node may take one from the call, or else what the function says.
const Ppi__Onnx__Attribute *ppi_op_attribute(const ppi_op *op,
                                             const char *name) {
  const ppi_call *call = op->call;
  const Ppi__Onnx__Attribute *found =
      find(op->node->attribute, op->node->n_attribute, name);
  while (found && found->ref_attr_name && *found->ref_attr_name) {
    if (!call) return NULL;
    name = found->ref_attr_name;
    found = find(call->node->attribute, call->node->n_attribute, name);
    if (!found)
      return find(call->function->attribute_proto,
                  call->function->n_attribute_proto, name);
    call = call->outer;
  }
  return found;
}

int64_t ppi_op_int(const ppi_op *op, const char *name, int64_t fallback) {
  const Ppi__Onnx__Attribute *found = ppi_op_attribute(op, name);
  return found && found->has_i ? found->i : fallback;
}

bool ppi_op_is(const ppi_op *op, const char *name, const char *text) {
  const Ppi__Onnx__Attribute *found = ppi_op_attribute(op, name);
  size_t len = strlen(text);
  return found && found->has_s && found->s.len == len &&
         memcmp(found->s.data, text, len) == 0;
}

const ppi_tensor *ppi_op_input(const ppi_op *op, size_t i) {
  return i < op->num_inputs ? op->inputs[i] : NULL;
}

ppi_tensor *ppi_op_output(const ppi_op *op, size_t i) {
  return i < op->num_outputs ? &op->outputs[i] : NULL;
}

int ppi_op_rank(const ppi_op *op, size_t i) {
  const ppi_tensor *input = ppi_op_input(op, i);
  return input ? input->rank : -1;
}

int ppi_op_axis(int64_t axis, int rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? (int)axis : -1;
}

ppi_value ppi_op_dim(const ppi_op *op, size_t input, int axis) {
  const ppi_tensor *from = ppi_op_input(op, input);
  if (!from || from->rank < 0) return ppi_unknown(from ? from->cause : 0);
  axis = ppi_op_axis(axis, from->rank);
  return axis < 0 ? ppi_unknown(ppi_op_cause(op, PPI_CAUSE_INVALID))
                  : from->dims[axis];
}

// ---- lists ----

static void list_input(const ppi_op *op, const ppi_tensor *from,
                       ppi_list *out) {
  out->is_given = true;
  out->cause = from->cause;
  if (!from->values) {
    // Unknown values of a known number: each is unknown.
    ppi_value num = ppi_tensor_elements(op->shapes, from);
    uint32_t cause = ppi_op_cause(op, PPI_CAUSE_DATA);
    if (from->rank < 0 && from->cause) cause = from->cause;
    out->cause = num.known || !num.cause ? cause : num.cause;
    out->is_known = num.known && num.i <= PPI_MAX_RANK * 2;
    out->num = out->is_known ? (size_t)num.i : 0;
    for (size_t i = 0; i < out->num; i++) out->items[i] = ppi_unknown(cause);
    return;
  }
  ppi_value num = ppi_tensor_elements(op->shapes, from);
  out->is_known = num.known && num.i <= PPI_MAX_RANK * 2;
  out->num = out->is_known ? (size_t)num.i : 0;
  for (size_t i = 0; i < out->num; i++)
    out->items[i] = ppi_tensor_whole(from, i);
}

void ppi_op_list(const ppi_op *op, const char *attribute, size_t input,
                 ppi_list *out) {
  *out = (ppi_list){.is_given = false};
  const Ppi__Onnx__Attribute *found =
      attribute ? ppi_op_attribute(op, attribute) : NULL;
  const ppi_tensor *from = ppi_op_input(op, input);
  if (!found) {
    if (from) list_input(op, from, out);
    return;
  }
  out->is_given = true;
  out->is_known = found->n_ints <= PPI_MAX_RANK * 2;
  out->cause = out->is_known ? 0 : ppi_op_cause(op, PPI_CAUSE_INVALID);
  out->num = out->is_known ? found->n_ints : 0;
  for (size_t i = 0; i < out->num; i++)
    out->items[i] = ppi_known(found->ints[i]);
  // A single number serves where some opsets have one in place of a list.
  if (!found->n_ints && found->has_i) {
    out->num = 1;
    out->items[0] = ppi_known(found->i);
  }
}

// ---- outputs ----

uint32_t ppi_op_cause(const ppi_op *op, ppi_cause_kind kind) {
  // Of what values decide the tensor is named: --dim may say its size.
  bool is_tensor =
      kind == PPI_CAUSE_DATA && op->node->n_output && *op->node->output[0];
  return ppi_cause_of(op->shapes, kind,
                      is_tensor ? op->node->output[0] : op->name);
}

void ppi_op_forget(const ppi_op *op, uint32_t cause) {
  for (size_t i = 0; i < op->num_outputs; i++)
    ppi_tensor_forget(&op->outputs[i], cause);
}

void ppi_op_fail(const ppi_op *op) {
  ppi_op_forget(op, ppi_op_cause(op, PPI_CAUSE_INVALID));
}

ppi_tensor *ppi_op_begin(const ppi_op *op, size_t rank) {
  ppi_tensor *out = ppi_op_output(op, 0);
  const ppi_tensor *in = ppi_op_input(op, 0);
  if (!out) return NULL;
  if (in && !out->type) out->type = in->type;
  if (ppi_tensor_shape(op->shapes, out, rank)) return out;
  ppi_op_fail(op);
  return NULL;
}

bool ppi_op_needs(const ppi_op *op, size_t num) {
  for (size_t i = 0; i < num; i++) {
    const ppi_tensor *input = ppi_op_input(op, i);
    if (input && input->rank >= 0) continue;
    if (input)
      ppi_op_forget(op, input->cause);
    else
      ppi_op_fail(op);
    return false;
  }
  return true;
}
