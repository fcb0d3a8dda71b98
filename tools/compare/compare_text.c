// SPDX-License-Identifier: Apache-2.0
//
// Writes the cells that both tables of a comparison have.
#include "compare/compare_text.h"

#include <math.h>
#include <string.h>

enum { NAME_WIDTH = 40 };

const ppi_compare_stage *ppi_compare_stage_of(
    const ppi_comparison *comparison) {
  return comparison->stages[comparison->stages[0] ? 0 : 1];
}

ppi_cell ppi_compare_text(const char *text) {
  return text && text[0] ? ppi_cell_text(text) : (ppi_cell){0};
}

ppi_cell ppi_compare_name(ppi_view *view, const ppi_compare_stage *stage) {
  return ppi_compare_text(ppi_view_shorten(
      view, stage->name, strlen(stage->name), NAME_WIDTH, NAME_WIDTH - 3));
}

const char *ppi_compare_side(const ppi_compare_stage *stage) {
  return stage->on_device ? "device" : "host";
}

ppi_cell ppi_compare_time(const ppi_comparison *comparison, int side) {
  const ppi_estimate *estimate = &comparison->estimates[side];
  if (!comparison->stages[side] || estimate->n == 0) return (ppi_cell){0};
  return ppi_cell_time((uint64_t)llround(estimate->value));
}

ppi_cell ppi_compare_programs(const ppi_decision *programs) {
  return ppi_cell_text(programs->reason[0]
                           ? programs->reason
                           : ppi_verdict_name(programs->verdict));
}

ppi_cell ppi_compare_first(const ppi_compare_stage *stage) {
  return stage && stage->calls ? ppi_cell_time(stage->first_ns) : (ppi_cell){0};
}
