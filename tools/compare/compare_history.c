// SPDX-License-Identifier: Apache-2.0
#include "compare/compare_history.h"

#include <math.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_text.h"

enum {
  CELL_NAME = 0,
  CELL_CATEGORY,
  CELL_SIDE,
  CELL_METRIC,
  CELL_RUNS,
  CELL_SINCE,
  CELL_BEFORE,
  CELL_AFTER,
  CELL_CHANGE,
  CELL_P,
  CELL_VERDICT,
  NUM_CELLS
};
static const ppi_column columns[NUM_CELLS] = {
    {"name", NULL},  {"category", NULL}, {"side", NULL},   {"metric", NULL},
    {"runs", NULL},  {"since", NULL},    {"before", "ns"}, {"after", "ns"},
    {"change", "%"}, {"p", NULL},        {"verdict", NULL}};
static const size_t brief[] = {CELL_NAME,   CELL_SIDE,  CELL_SINCE,
                               CELL_BEFORE, CELL_AFTER, CELL_CHANGE,
                               CELL_VERDICT};
static const ppi_table_column table_columns[] = {
    {"Name", 10, CELL_NAME, 1},       {"Side", 6, CELL_SIDE, 1},
    {"Metric", 6, CELL_METRIC, 1},    {"Runs", 4, CELL_RUNS, 1},
    {"Since", 10, CELL_SINCE, 1},     {"Before / after", 14, CELL_BEFORE, 2},
    {"Change(%)", 9, CELL_CHANGE, 1}, {"Verdict", 9, CELL_VERDICT, 1},
};
static const ppi_view_kind kind = {.name = "history",
                                   .title = "History",
                                   PPI_VIEW_LAYOUT(columns, table_columns),
                                   PPI_VIEW_BRIEF(brief),
                                   .has_time_unit = true,
                                   .end = PPI_TABLE_END_NOTE};

static const char *verdict_of(const ppi_change *change, bool is_new) {
  bool is_slower = change->after > change->before;
  if (is_new) return is_slower ? "new, slower" : "new, faster";
  return is_slower ? "slower" : "faster";
}

static bool add_row(const ppi_history *history, const ppi_history_stage *own,
                    const ppi_change *change, ppi_view *view) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[CELL_NAME] = ppi_compare_name(view, own->stage);
  cells[CELL_CATEGORY] = ppi_cell_text(own->stage->category);
  cells[CELL_SIDE] = ppi_cell_text(ppi_compare_side(own->stage));
  cells[CELL_METRIC] = ppi_cell_text(ppi_metric_name(history->metric));
  cells[CELL_RUNS] = ppi_cell_count(own->num_runs);
  cells[CELL_VERDICT] = ppi_cell_text("same");
  if (!change) return true;
  cells[CELL_SINCE] = ppi_cell_text(history->points[change->point]);
  cells[CELL_BEFORE] = ppi_cell_time((uint64_t)llround(exp(change->before)));
  cells[CELL_AFTER] = ppi_cell_time((uint64_t)llround(exp(change->after)));
  cells[CELL_CHANGE] =
      ppi_cell_decimal(100 * expm1(change->after - change->before));
  cells[CELL_P] = ppi_cell_decimal(change->p);
  cells[CELL_VERDICT] =
      ppi_cell_text(verdict_of(change, own->is_new[change - own->changes]));
  return true;
}

static bool add_rows(const ppi_history *history, ppi_view *view) {
  bool ok = true;
  for (size_t i = 0; ok && i < history->num_stages; i++) {
    const ppi_history_stage *own = &history->stages[i];
    if (own->num_changes == 0) ok = add_row(history, own, NULL, view);
    for (size_t k = 0; ok && k < own->num_changes; k++)
      ok = add_row(history, own, &own->changes[k], view);
  }
  return ok;
}

int ppi_history_print(const ppi_history *history, int code) {
  const struct ppi_tool_options *options = history->options;
  ppi_report_format format = ppi_report_format_of(options->format);
  ppi_view view = {.kind = &kind};
  ppi_page page = {.is_raw = options->raw};
  bool ok = add_rows(history, &view);
  ppi_page_format(&view.note, "%zu points, from ", history->num_points);
  ppi_page_visible(&view.note, history->points[0]);
  ppi_page_text(&view.note, " to ");
  ppi_page_visible(&view.note, history->points[history->num_points - 1]);
  ppi_page_text(&view.note,
                "\nWhere nothing changed at most 5 % of pasts show a change in "
                "any stage. A level\nhas three runs or more\n");
  if (format == PPI_FORMAT_JSON)
    ppi_page_text(&page, "{\"schema\":\"pprof.history/1\",\n");
  ppi_tool_rows_view(&page, &view, options, format);
  if (format == PPI_FORMAT_JSON) {
    ppi_tool_rows_lines(&page, "notes", &view.note);
    ppi_page_text(&page, "}\n");
  }
  page.failed |= !ok || view.note.failed;
  ppi_view_clear(&view);
  return ppi_tool_output_page(options, &page, code);
}
