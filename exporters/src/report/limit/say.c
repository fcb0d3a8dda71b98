// SPDX-License-Identifier: Apache-2.0
//
// Writes words that several rules need.
#include "report/limit/say.h"

#include <string.h>

void ppi_limit_add_name(ppi_limit *out, const char *name) {
  if (out->num_names == PPI_LIMIT_NAMES || !*name) return;
  for (size_t i = 0; i < out->num_names; i++)
    if (strcmp(out->names[i], name) == 0) return;
  PPI_SAY(out->names[out->num_names], "%s", name);
  out->num_names++;
}

ppi_limit *ppi_limit_begin(ppi_limit_search *search, ppi_limit_claim claim,
                           const char *verdict, double utilization,
                           const char *name) {
  ppi_limit *out = search->out;
  out->claim = claim;
  out->verdict = verdict;
  out->utilization = utilization;
  ppi_limit_add_name(out, name);
  return out;
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
