// SPDX-License-Identifier: Apache-2.0
//
// What an Einsum gives.
#include <string.h>

#include "cost/shape/einsum.h"
#include "cost/shape/rules.h"

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
  ppi_equation eq, result;
  if (!ppi_op_needs(op, op->num_inputs ? op->num_inputs : 1)) return;
  if (!ppi_einsum_read(op, &read) || !ppi_equation_find(op, &eq)) {
    ppi_op_fail(op);
    return;
  }
  const char *arrow = memmem(eq.at, (size_t)(eq.end - eq.at), "->", 2);
  result = arrow ? (ppi_equation){arrow + 2, eq.end}
                 : (ppi_equation){letters, letters + implied(op, letters)};
  size_t rank = ppi_equation_letters(result), axis = 0;
  ppi_tensor *out = ppi_op_begin(op, rank + (size_t)read.batch.rank);
  if (!out) return;
  for (int letter; (letter = ppi_equation_next(&result)) > 0;) {
    if (letter != '.' && axis < (size_t)out->rank)
      out->dims[axis++] = read.sizes[letter];
    for (int i = 0; letter == '.' && i < read.batch.rank; i++)
      if (axis < (size_t)out->rank) out->dims[axis++] = read.batch.dims[i];
  }
  out->rank = (int)axis;
}
