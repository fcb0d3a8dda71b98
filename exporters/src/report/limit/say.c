// SPDX-License-Identifier: Apache-2.0
//
// Writes words that several rules need.
#include "report/limit/say.h"

#include <string.h>

#include "report/findings/words.h"

void ppi_limit_add_name(ppi_limit *out, const char *name) {
  if (out->num_names == PPI_LIMIT_NAMES || !*name) return;
  for (size_t i = 0; i < out->num_names; i++)
    if (strcmp(out->names[i], name) == 0) return;
  PPI_SAY(out->names[out->num_names], "%s", name);
  out->num_names++;
}

const char *ppi_limit_unit_name(const ppi_limit_model *model) {
  static const char *const names[] = {[PPI_UNIT_NONE] = "run",
                                      [PPI_UNIT_REQUEST] = "request",
                                      [PPI_UNIT_STEP] = "step",
                                      [PPI_UNIT_ITERATION] = "iteration"};
  return names[model->unit_kind];
}

const char *ppi_limit_a_unit(const ppi_limit_model *model) {
  static const char *const names[] = {[PPI_UNIT_NONE] = "a run",
                                      [PPI_UNIT_REQUEST] = "a request",
                                      [PPI_UNIT_STEP] = "a step",
                                      [PPI_UNIT_ITERATION] = "an iteration"};
  return names[model->unit_kind];
}

uint32_t ppi_limit_greatest(const double *values, size_t num) {
  uint32_t best = PPI_NONE;
  for (size_t i = 0; i < num; i++)
    if (values[i] > 0 && (best == PPI_NONE || values[i] > values[best]))
      best = (uint32_t)i;
  return best;
}
