// SPDX-License-Identifier: Apache-2.0
//
// What an Einsum gives.
#include <string.h>

#include "cost/shape/einsum.h"
#include "cost/shape/rules.h"

// What "..." stands for: the axes of the input that has most of them.
static void put_hidden(const ppi_op *op, ppi_tensor *out, size_t *axis) {
  ppi_equation eq;
  ppi_tensor batch = {0};
  if (!ppi_equation_find(op, &eq)) return;
  for (size_t i = 0; i < op->num_inputs; i++) {
    const ppi_tensor *in = op->inputs[i];
    size_t letters = ppi_equation_letters(eq), before = 0;
    int letter;
    while ((letter = ppi_equation_next(&eq)) > 0 && letter != '.') before++;
    if (letter == '.' && (size_t)in->rank > letters) {
      ppi_tensor part = {.rank = (int)((size_t)in->rank - letters),
                         .dims = in->dims + before};
      ppi_tensor both = {0};
      if (ppi_broadcast(op, &batch, &part, &both)) batch = both;
    }
    while (ppi_equation_next(&eq) > 0) continue;
    if (eq.at < eq.end) eq.at++;
  }
  for (int i = 0; i < batch.rank && *axis < (size_t)out->rank; i++)
    out->dims[(*axis)++] = batch.dims[i];
}

// Where an equation does not say it, the result has the letters that are there
// once, in their order.
static size_t implied(const ppi_op *op, char out[128]) {
  size_t num = 0, times[128] = {0};
  ppi_equation eq;
  if (!ppi_equation_find(op, &eq)) return 0;
  bool has_dots = memchr(eq.at, '.', (size_t)(eq.end - eq.at)) != NULL;
  for (; eq.at < eq.end; eq.at++)
    if ((unsigned char)*eq.at < 128) times[(unsigned char)*eq.at]++;
  if (has_dots)
    for (int i = 0; i < 3; i++) out[num++] = '.';
  for (int i = 'A'; i <= 'z'; i++)
    if (times[i] == 1) out[num++] = (char)i;
  return num;
}

void ppi_rule_einsum(const ppi_op *op) {
  ppi_einsum read;
  char letters[128];
  ppi_equation eq = {0}, result;
  if (!ppi_op_needs(op, op->num_inputs ? op->num_inputs : 1)) return;
  if (!ppi_einsum_read(op, &read) || !ppi_equation_find(op, &eq)) {
    ppi_op_fail(op);
    return;
  }
  const char *arrow = memmem(eq.at, (size_t)(eq.end - eq.at), "->", 2);
  result = arrow ? (ppi_equation){arrow + 2, eq.end}
                 : (ppi_equation){letters, letters + implied(op, letters)};
  size_t hidden = 0, rank = ppi_equation_letters(result), axis = 0;
  for (size_t i = 0; i < op->num_inputs; i++) {
    size_t own = ppi_equation_letters(eq), all = (size_t)op->inputs[i]->rank;
    if (all > own && all - own > hidden) hidden = all - own;
    while (ppi_equation_next(&eq) > 0) continue;
    if (eq.at < eq.end) eq.at++;
  }
  ppi_tensor *out = ppi_op_begin(op, rank + hidden);
  if (!out) return;
  for (int letter; (letter = ppi_equation_next(&result)) > 0;) {
    if (letter == '.')
      put_hidden(op, out, &axis);
    else if (axis < (size_t)out->rank)
      out->dims[axis++] = read.sizes[letter];
  }
  out->rank = (int)axis;
}
