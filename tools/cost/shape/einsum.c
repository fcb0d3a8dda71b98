// SPDX-License-Identifier: Apache-2.0
#include "cost/shape/einsum.h"

#include <string.h>

#include "cost/shape/rules.h"

int ppi_equation_next(ppi_equation *eq) {
  while (eq->at < eq->end && *eq->at == ' ') eq->at++;
  if (eq->at == eq->end || *eq->at == ',') return 0;
  if (*eq->at == '-') return 0;
  unsigned char letter = (unsigned char)*eq->at++;
  if (letter != '.') return letter < 128 ? letter : -1;
  if (eq->end - eq->at < 2 || eq->at[0] != '.' || eq->at[1] != '.') return -1;
  eq->at += 2;
  return '.';
}

size_t ppi_equation_letters(ppi_equation eq) {
  size_t num = 0;
  for (int letter; (letter = ppi_equation_next(&eq)) > 0;) num += letter != '.';
  return num;
}

bool ppi_equation_find(const ppi_op *op, ppi_equation *out) {
  const Ppi__Onnx__Attribute *found = ppi_op_attribute(op, "equation");
  if (!found || !found->has_s) return false;
  *out = (ppi_equation){(const char *)found->s.data,
                        (const char *)found->s.data + found->s.len};
  return true;
}

static void see(ppi_einsum *out, int letter, ppi_value size) {
  bool is_better =
      !out->sizes[letter].known || (out->sizes[letter].i == 1 && size.known);
  if (!out->seen[letter] || is_better) out->sizes[letter] = size;
  out->seen[letter] = true;
}

// One input's term; false: it does not fit the input.
static bool read_term(const ppi_op *op, ppi_equation *eq, const ppi_tensor *in,
                      ppi_einsum *out) {
  size_t letters = ppi_equation_letters(*eq), axis = 0;
  if (in->rank < 0 || letters > (size_t)in->rank) return false;
  size_t hidden = (size_t)in->rank - letters;
  for (int letter; (letter = ppi_equation_next(eq)) != 0;) {
    if (letter < 0) return false;
    if (letter == '.') {
      const ppi_tensor part = {.rank = (int)hidden, .dims = in->dims + axis};
      ppi_tensor both = {0};
      if (!ppi_broadcast(op, &out->batch, &part, &both)) return false;
      out->batch = both;
      axis += hidden;
    } else {
      if (axis >= (size_t)in->rank) return false;
      see(out, letter, in->dims[axis++]);
    }
  }
  return axis == (size_t)in->rank;
}

bool ppi_einsum_read(const ppi_op *op, ppi_einsum *out) {
  ppi_equation eq;
  memset(out, 0, sizeof *out);
  if (!ppi_equation_find(op, &eq)) return false;
  for (size_t i = 0; i < op->num_inputs; i++) {
    if (!op->inputs[i] || !read_term(op, &eq, op->inputs[i], out)) return false;
    while (eq.at < eq.end && *eq.at == ' ') eq.at++;
    if (eq.at < eq.end && *eq.at == ',') eq.at++;
  }
  return true;
}
