// SPDX-License-Identifier: Apache-2.0
//
// Writes the cells that both tables of a comparison have.
#include "compare/compare_text.h"

#include <math.h>

const ppi_compare_stage *ppi_compare_stage_of(
    const ppi_comparison *comparison) {
  return comparison->stages[comparison->stages[0] ? 0 : 1];
}

ppi_cell ppi_compare_text(const char *text) {
  return text && text[0] ? ppi_cell_text(text) : (ppi_cell){0};
}

const char *ppi_compare_side(const ppi_compare_stage *stage) {
  return stage->on_device ? "device" : "host";
}

ppi_cell ppi_compare_time(const ppi_comparison *comparison, int side) {
  const ppi_estimate *estimate = &comparison->estimates[side];
  if (!comparison->stages[side] || estimate->n == 0 ||
      ppi_metric_is_energy(comparison->metric))
    return (ppi_cell){0};
  return ppi_cell_time((uint64_t)llround(estimate->value));
}

ppi_cell ppi_compare_energy(const ppi_comparison *comparison, int side) {
  const ppi_compare_stage *stage = comparison->stages[side];
  if (!stage || !stage->energy) return (ppi_cell){0};
  if (stage->is_unresolved) return ppi_cell_unresolved();
  return ppi_cell_decimal(comparison->estimates[side].value / 1e9);
}

ppi_cell ppi_compare_value(ppi_view *view, const ppi_comparison *comparison,
                           int side) {
  ppi_cell cell = ppi_compare_energy(comparison, side);
  if (!comparison->stages[side] || !comparison->stages[side]->energy)
    return ppi_compare_time(comparison, side);
  if (comparison->stages[side]->is_unresolved) return cell;
  return ppi_compare_text(
      ppi_view_text(view, "%.4g J", comparison->estimates[side].value / 1e9));
}

const char *ppi_compare_verdict(const ppi_comparison *comparison,
                                const ppi_decision *decision) {
  if (ppi_metric_is_energy(comparison->metric) &&
      decision->verdict <= PPI_VERDICT_SLOWER)
    return decision->verdict == PPI_VERDICT_SLOWER ? "more" : "less";
  return ppi_verdict_name(decision->verdict);
}

bool ppi_compare_has_energy(const ppi_compare_result *result) {
  bool has = false;
  for (size_t i = 0; i < result->num_comparisons && !has; i++)
    has = ppi_metric_is_energy(result->comparisons[i].metric);
  return has;
}

ppi_cell ppi_compare_programs(const ppi_comparison *comparison) {
  const ppi_decision *programs = &comparison->programs;
  return ppi_cell_text(programs->reason[0]
                           ? programs->reason
                           : ppi_compare_verdict(comparison, programs));
}

ppi_cell ppi_compare_first(const ppi_compare_stage *stage) {
  return stage && stage->calls && !stage->energy
             ? ppi_cell_time(stage->first_ns)
             : (ppi_cell){0};
}

void ppi_compare_put_html(ppi_page *page, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      ppi_page_text(page, "&lt;");
    else if (*text == '&')
      ppi_page_text(page, "&amp;");
    else if ((unsigned char)*text >= ' ')
      ppi_page_bytes(page, text, 1);
  }
}
