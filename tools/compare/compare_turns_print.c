// SPDX-License-Identifier: Apache-2.0
//
// Prints the result of `try`, as a table with an answer in words.
#include "compare/compare_turns_print.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_judge.h"
#include "compare/compare_text.h"

static ppi_cell time_of(double log_ns) {
  return isfinite(log_ns) ? ppi_cell_time((uint64_t)llround(exp(log_ns)))
                          : (ppi_cell){0};
}

// A change, where it is tested.
static ppi_cell change_of(const ppi_decision *decision, double share) {
  return decision->is_tested ? ppi_cell_decimal(100 * share) : (ppi_cell){0};
}

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 10, 1, as(ppi_compare_name(view, own))) \
  each(category, NULL, NULL, 0, 0, text(own->category)) \
  each(side, NULL, "Side", 6, 2, text(ppi_compare_side(own))) \
  each(metric, NULL, "Metric", 6, 0, text(ppi_metric_name(result->metric))) \
  each(new, NULL, "New", 3, 3, count(program + 1)) \
  each(runs, NULL, "Runs", 4, 4, count(figure->num)) \
  each(base, "ns", "Base / new", 10, 0, as(time_of(logs[0]))) \
  each(time, "ns", "", 0, 0, as(time_of(logs[num * (program + 1)]))) \
  each(change, "%", "Change(%)", 9, 5, as(change_of(found, found->ratio - 1))) \
  each(change_low, "%", "From / to", 9, 6, as(change_of(found, found->low - 1))) \
  each(change_high, "%", "", 0, 7, as(change_of(found, found->high - 1))) \
  each(detectable, "%", "Sees(%)", 7, 0, \
       as(change_of(found, found->detectable))) \
  each(verdict, NULL, "Verdict", 9, 8, text(ppi_verdict_name(found->verdict)))
// clang-format on
PPI_VIEW_TABLE(turns, COLUMNS);
static const ppi_view_kind kind = {PPI_VIEW_OF(turns, "try", "Try")};

static void add_row(const ppi_turns_result *result, size_t program,
                    size_t stage, ppi_view *view) {
  const ppi_compare_stage *own = result->stages[stage];
  const ppi_turn_figure *figure =
      ppi_turns_figure(result->turns, program, stage);
  const ppi_decision *found = &figure->decision;
  const double *logs = result->logs + stage;
  size_t num = result->turns->num_stages;
  ppi_cell *cells = ppi_tool_row(view);
  PPI_VIEW_PUT(COLUMNS, cells);
}

static void put_change(const ppi_turns_result *result, size_t program,
                       size_t stage, ppi_page *out) {
  const ppi_decision *decision =
      &ppi_turns_figure(result->turns, program, stage)->decision;
  ppi_tool_put(out, "%s is surely %s: %+.1f %% (%+.1f to %+.1f %%)",
               result->stages[stage]->name, ppi_verdict_name(decision->verdict),
               100 * (decision->ratio - 1), 100 * (decision->low - 1),
               100 * (decision->high - 1));
}

// The largest of the stages' smallest detectable changes.
static double worst_detectable(const ppi_turns *turns, size_t program) {
  double most = 0;
  for (size_t i = 0; i < turns->num_stages; i++)
    most =
        PPI_MAX(most, ppi_turns_figure(turns, program, i)->decision.detectable);
  return most;
}

static void put_answer(const ppi_turns_result *result, size_t program,
                       ppi_page *out) {
  const ppi_turns *turns = result->turns;
  size_t num = 0, same = 0;
  for (size_t i = 0; i < turns->num_stages; i++) {
    ppi_verdict verdict = ppi_turns_figure(turns, program, i)->decision.verdict;
    same += verdict == PPI_VERDICT_SAME;
    if (verdict > PPI_VERDICT_SLOWER) continue;
    ppi_page_format(out, "%s", num++ ? "; " : "");
    if (num == 1) ppi_page_format(out, "New %zu: ", program + 1);
    put_change(result, program, i, out);
  }
  if (num == 0 && same == turns->num_stages)
    ppi_page_format(out, "New %zu: no stage changed by more than %.3g %%",
                    program + 1, 100 * turns->until);
  else if (num == 0)
    ppi_page_format(out,
                    "New %zu: no change was found; one of %.3g %% would have "
                    "been, in any stage",
                    program + 1, 100 * worst_detectable(turns, program));
  ppi_page_format(
      out, "; %zu runs a side%s\n", turns->rounds_of[program],
      turns->is_out[program] ? ", then dropped for better ones" : "");
}

static void put_notes(const ppi_turns_result *result, ppi_page *out) {
  for (size_t i = 0; i < result->turns->num_programs; i++) {
    if (result->turns->num_programs > 1)
      ppi_tool_put(out, "New %zu is %s\n", i + 1, result->commands[i + 1]);
    put_answer(result, i, out);
  }
  ppi_page_bytes(out, result->notes->bytes, result->notes->len);
}

int ppi_turns_print(const ppi_turns_result *result, int code) {
  const ppi_turns *turns = result->turns;
  ppi_view view = {.kind = &kind};
  ppi_page page = {.is_raw = result->options->raw};
  for (size_t i = 0; i < turns->num_programs; i++)
    for (size_t k = 0; k < turns->num_stages; k++) add_row(result, i, k, &view);
  put_notes(result, &view.note);
  ppi_tool_rows_all(&page, &view, result->options, "pprof.try/1");
  ppi_view_clear(&view);
  return ppi_tool_output_page(result->options, &page, code);
}
