// SPDX-License-Identifier: Apache-2.0
//
// Ranks more than two inputs for each stage, each against the best one.
#include "compare/compare_ranking.h"

#include "cli/rows.h"

// The last one where a row is of energy.
// clang-format off
#define COLUMNS(each) \
  each(name, NULL, NULL, 0, 1) \
  each(category, NULL, NULL, 0, 0) \
  each(side, NULL, NULL, 0, 2) \
  each(metric, NULL, NULL, 0, 3) \
  each(rank, NULL, NULL, 0, 4) \
  each(input, NULL, NULL, 0, 5) \
  each(calls, NULL, NULL, 0, 0) \
  each(samples, NULL, NULL, 0, 0) \
  each(time, "ns", NULL, 0, 6) \
  each(best, "%", NULL, 0, 7) \
  each(first, "ns", NULL, 0, 0) \
  each(p, NULL, NULL, 0, 0) \
  each(verdict, NULL, NULL, 0, 8) \
  each(reason, NULL, NULL, 0, 0) \
  each(programs_p, NULL, NULL, 0, 0) \
  each(programs, NULL, NULL, 0, 9) \
  each(programs_reason, NULL, NULL, 0, 0) \
  each(energy, "J", NULL, 0, 0)
// clang-format on
PPI_VIEW_TABLE(ranking, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);

static const ppi_table_column table_columns[] = {
    {"Name", 10, CELL_name, 1},        {"Side", 6, CELL_side, 1},
    {"Metric", 6, CELL_metric, 1},     {"Rank", 4, CELL_rank, 1},
    {"Input", 10, CELL_input, 1},      {"Calls", 5, CELL_calls, 1},
    {"Time", 8, CELL_time, 1},         {"Best(%)", 9, CELL_best, 1},
    {"First call", 10, CELL_first, 1}, {"Runs", 9, CELL_verdict, 1},
    {"Programs", 9, CELL_programs, 1}, {"Why", 3, CELL_reason, 1},
};

#define KIND(num)                                                      \
  {                                                                    \
    .name = "ranking", .title = "Ranking", .columns = ranking_columns, \
    .num_columns = (num), .layout = ranking_layout,                    \
    .table_columns = table_columns,                                    \
    .num_table_columns = sizeof table_columns / sizeof *table_columns  \
  }
static const ppi_view_kind kind = KIND(CELL_energy);
static const ppi_view_kind energy_kind = KIND(NUM_COLUMNS);

// Adds the row of side `side` of a comparison.
static ppi_cell *add_row(ppi_view *view, const ppi_compare_result *result,
                         const ppi_comparison *comparison, int side,
                         bool as_table) {
  const ppi_compare_stage *stage = ppi_compare_stage_of(comparison);
  const ppi_compare_stage *own = comparison->stages[side];
  ppi_cell *cells = ppi_tool_row(view);
  cells[CELL_name] =
      as_table ? ppi_compare_name(view, stage) : ppi_cell_text(stage->name);
  cells[CELL_category] = ppi_cell_text(stage->category);
  cells[CELL_side] = ppi_cell_text(ppi_compare_side(stage));
  cells[CELL_metric] = ppi_cell_text(ppi_metric_name(comparison->metric));
  cells[CELL_input] = ppi_cell_text(result->names[comparison->inputs[side]]);
  cells[CELL_calls] = ppi_cell_count(own ? own->calls : 0);
  cells[CELL_samples] = ppi_cell_count(own ? own->num_values : 0);
  cells[CELL_time] = as_table ? ppi_compare_value(view, comparison, side)
                              : ppi_compare_time(comparison, side);
  if (view->kind == &energy_kind)
    cells[CELL_energy] = ppi_compare_energy(comparison, side);
  cells[CELL_first] = ppi_compare_first(own);
  return cells;
}

static void fill_best(ppi_cell *cells, const ppi_comparison *comparison) {
  cells[CELL_verdict] = cells[CELL_programs] = ppi_cell_text("best");
  if (comparison->estimates[0].n == 0) return;
  cells[CELL_rank] = ppi_cell_count(1);
  cells[CELL_best] = ppi_cell_decimal(100);
}

static void fill_other(ppi_cell *cells, const ppi_comparison *comparison,
                       size_t rank, bool as_table) {
  const ppi_estimate *best = &comparison->estimates[0];
  const ppi_estimate *own = &comparison->estimates[1];
  const ppi_decision *runs = &comparison->runs;
  const ppi_decision *programs = &comparison->programs;
  cells[CELL_verdict] = ppi_cell_text(ppi_compare_verdict(comparison, runs));
  cells[CELL_reason] = comparison->stages[1]
                           ? ppi_compare_text(runs->reason)
                           : ppi_cell_text("not in this input");
  cells[CELL_programs] =
      as_table ? ppi_compare_programs(comparison)
               : ppi_cell_text(ppi_compare_verdict(comparison, programs));
  cells[CELL_programs_reason] = ppi_compare_text(programs->reason);
  if (runs->is_tested) cells[CELL_p] = ppi_cell_decimal(runs->p);
  if (programs->is_tested)
    cells[CELL_programs_p] = ppi_cell_decimal(programs->p);
  if (own->n == 0) return;
  cells[CELL_rank] = ppi_cell_count(rank);
  if (own->value > 0)
    cells[CELL_best] = ppi_cell_decimal(100 * best->value / own->value);
}

static bool begins_group(const ppi_compare_result *result, size_t i) {
  if (i == 0) return true;
  const ppi_comparison *before = &result->comparisons[i - 1];
  const ppi_comparison *comparison = &result->comparisons[i];
  return comparison->stages[0] != before->stages[0] ||
         comparison->metric != before->metric;
}

void ppi_compare_ranking(const ppi_compare_result *result, bool as_table,
                         ppi_view *out) {
  size_t rank = 1;
  bool any_tested = false;
  *out =
      (ppi_view){.kind = ppi_compare_has_energy(result) ? &energy_kind : &kind};
  for (size_t i = 0; i < result->num_comparisons; i++) {
    const ppi_comparison *comparison = &result->comparisons[i];
    any_tested |= comparison->programs.is_tested;
    if (begins_group(result, i)) {
      rank = 1;
      fill_best(add_row(out, result, comparison, 0, as_table), comparison);
    }
    fill_other(add_row(out, result, comparison, 1, as_table), comparison,
               ++rank, as_table);
  }
  ppi_page_bytes(&out->note, result->notes->bytes, result->notes->len);
  if (!any_tested) ppi_page_text(&out->note, PPI_COMPARE_ONE_RUN);
  if (as_table)
    ppi_page_text(&out->note,
                  "Best(%): the best one's time / this one's. In Why, A is the "
                  "best one and B this one.\n");
}
