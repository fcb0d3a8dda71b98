// SPDX-License-Identifier: Apache-2.0
//
// Two inputs side by side: as data, and as a table with bars.
#include "compare/compare_pairs.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

enum {
  DATA_NAME = 0,
  DATA_CATEGORY,
  DATA_SIDE,
  DATA_METRIC,
  DATA_CALLS,
  DATA_SAMPLES = DATA_CALLS + 2,
  DATA_TIMES = DATA_SAMPLES + 2,
  DATA_FIRST = DATA_TIMES + 2,
  DATA_RATIO = DATA_FIRST + 2,
  DATA_CHANGE,
  DATA_LOW,
  DATA_HIGH,
  DATA_P,
  DATA_P_RANK,
  DATA_THRESHOLD,
  DATA_DETECTABLE,
  DATA_VERDICT,
  DATA_REASON,
  NUM_DATA
};

static const ppi_column data_columns[NUM_DATA] = {
    {"name", NULL},       {"category", NULL},  {"side", NULL},
    {"metric", NULL},     {"calls_a", NULL},   {"calls_b", NULL},
    {"samples_a", NULL},  {"samples_b", NULL}, {"a", "ns"},
    {"b", "ns"},          {"first_a", "ns"},   {"first_b", "ns"},
    {"ratio", NULL},      {"change", "%"},     {"change_low", "%"},
    {"change_high", "%"}, {"p", NULL},         {"p_rank", NULL},
    {"threshold", "%"},   {"detectable", "%"}, {"verdict", NULL},
    {"reason", NULL},
};

enum {
  CELL_NAME = 0,
  CELL_SIDE,
  CELL_METRIC,
  CELL_CALLS,
  CELL_TIMES = CELL_CALLS + 2,
  CELL_CHANGE = CELL_TIMES + 2,
  CELL_INTERVAL,
  CELL_P,
  CELL_DETECTABLE,
  CELL_VERDICT,
  CELL_BAR,
  NUM_CELLS
};

static const ppi_column cell_columns[NUM_CELLS] = {
    [CELL_NAME] = {"name", NULL},           [CELL_SIDE] = {"side", NULL},
    [CELL_METRIC] = {"metric", NULL},       [CELL_TIMES] = {"a", "ns"},
    [CELL_TIMES + 1] = {"b", "ns"},         [CELL_CHANGE] = {"change", "%"},
    [CELL_INTERVAL] = {"interval", "95 %"}, [CELL_VERDICT] = {"verdict", NULL}};
static const size_t brief[] = {CELL_NAME,     CELL_SIDE,      CELL_METRIC,
                               CELL_TIMES,    CELL_TIMES + 1, CELL_CHANGE,
                               CELL_INTERVAL, CELL_VERDICT};

static const ppi_table_column table_columns[] = {
    {"Name", 10, CELL_NAME, 1},           {"Side", 6, CELL_SIDE, 1},
    {"Metric", 6, CELL_METRIC, 1},        {"Calls A / B", 10, CELL_CALLS, 2},
    {"A / B", 10, CELL_TIMES, 2},         {"Change(%)", 9, CELL_CHANGE, 1},
    {"95 % of it", 9, CELL_INTERVAL, 1},  {"p", 6, CELL_P, 1},
    {"Sees(%)", 7, CELL_DETECTABLE, 1},   {"Verdict", 9, CELL_VERDICT, 1},
    {"Faster | Slower", 10, CELL_BAR, 1},
};

static const ppi_view_kind data_kind = {.name = "compare",
                                        .title = "Compare",
                                        .columns = data_columns,
                                        .num_columns = NUM_DATA};
static const ppi_view_kind table_kind = {
    .name = "compare",
    .title = "Compare",
    PPI_VIEW_LAYOUT(cell_columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .end = PPI_TABLE_END_NOTE};

// None where an error is so large that there is no such number.
static ppi_cell percent(double share) {
  return isfinite(share) ? ppi_cell_decimal(100 * share) : (ppi_cell){0};
}

// What is beyond any use is not written out.
static const char *short_percent(ppi_view *view, const char *sign,
                                 double share) {
  if (!(share <= PPI_COMPARE_HUGE))
    return ppi_view_text(view, ">%.0f", 100 * PPI_COMPARE_HUGE);
  return ppi_view_text(view, "%s%.2f", sign, 100 * share);
}

static void fill_data(ppi_cell *cells, const ppi_comparison *comparison) {
  const ppi_compare_stage *stage = ppi_compare_stage_of(comparison);
  cells[DATA_NAME] = ppi_cell_text(stage->name);
  cells[DATA_CATEGORY] = ppi_cell_text(stage->category);
  cells[DATA_SIDE] = ppi_cell_text(ppi_compare_side(stage));
  cells[DATA_METRIC] = ppi_cell_text(ppi_metric_name(comparison->metric));
  cells[DATA_THRESHOLD] = percent(comparison->margin);
  cells[DATA_VERDICT] = ppi_cell_text(ppi_verdict_name(comparison->verdict));
  cells[DATA_REASON] = ppi_compare_text(comparison->reason);
  for (int i = 0; i < 2; i++) {
    const ppi_compare_stage *own = comparison->stages[i];
    cells[DATA_CALLS + i] = ppi_cell_count(own ? own->calls : 0);
    cells[DATA_SAMPLES + i] = ppi_cell_count(own ? own->num_values : 0);
    cells[DATA_TIMES + i] = ppi_compare_time(comparison, i);
    cells[DATA_FIRST + i] = ppi_compare_first(own);
  }
  if (!comparison->is_tested) return;
  cells[DATA_RATIO] = ppi_cell_decimal(comparison->ratio);
  cells[DATA_CHANGE] = percent(comparison->ratio - 1);
  cells[DATA_LOW] = percent(comparison->low - 1);
  cells[DATA_HIGH] = percent(comparison->high - 1);
  cells[DATA_P] = ppi_cell_decimal(comparison->p);
  cells[DATA_P_RANK] = ppi_cell_decimal(comparison->p_rank);
  cells[DATA_DETECTABLE] = percent(comparison->detectable);
}

// Bars: the interval as a line through the change, on one scale for all rows.
enum { BAR_HALF = 12, BAR_WIDTH = 2 * BAR_HALF + 1 };

static double widest_of(const ppi_compare_result *result) {
  double widest = 0.001, limit = log(2);
  for (size_t i = 0; i < result->num_comparisons; i++) {
    const ppi_comparison *comparison = &result->comparisons[i];
    if (!comparison->is_tested) continue;
    widest = PPI_MAX(widest, PPI_MAX(fabs(log(comparison->low)),
                                     fabs(log(comparison->high))));
  }
  return PPI_MIN(widest, limit);
}

static int place_of(double ratio, double widest) {
  double place = BAR_HALF + round(log(ratio) / widest * BAR_HALF);
  return (int)PPI_MIN(PPI_MAX(place, 0.0), BAR_WIDTH - 1.0);
}

static const char *bar_of(ppi_view *view, const ppi_comparison *comparison,
                          double widest) {
  char bar[BAR_WIDTH + 1];
  int low = place_of(comparison->low, widest);
  int high = place_of(comparison->high, widest);
  memset(bar, ' ', BAR_WIDTH);
  bar[BAR_WIDTH] = '\0';
  bar[BAR_HALF] = '|';
  memset(bar + low, '-', (size_t)(high - low + 1));
  if (log(comparison->low) < -widest * 1.001) bar[0] = '<';
  if (log(comparison->high) > widest * 1.001) bar[BAR_WIDTH - 1] = '>';
  bar[place_of(comparison->ratio, widest)] = 'o';
  return ppi_view_text(view, "%s", bar);
}

static const char *bound(ppi_view *view, double ratio) {
  const char *text = short_percent(view, ratio < 1 ? "" : "+", ratio - 1);
  return text ? text : "";
}

static void fill_tested(ppi_view *view, ppi_cell *cells,
                        const ppi_comparison *comparison, double widest) {
  cells[CELL_CHANGE] = ppi_compare_text(
      ppi_view_text(view, "%+.2f", 100 * (comparison->ratio - 1)));
  cells[CELL_INTERVAL] = ppi_compare_text(
      ppi_view_text(view, "%s..%s", bound(view, comparison->low),
                    bound(view, comparison->high)));
  cells[CELL_P] = ppi_compare_p(view, comparison);
  cells[CELL_DETECTABLE] =
      ppi_compare_text(short_percent(view, "", comparison->detectable));
  cells[CELL_BAR] = ppi_compare_text(bar_of(view, comparison, widest));
}

static void fill_table(ppi_view *view, ppi_cell *cells,
                       const ppi_comparison *comparison, double widest) {
  const ppi_compare_stage *stage = ppi_compare_stage_of(comparison);
  cells[CELL_NAME] = ppi_compare_name(view, stage);
  cells[CELL_SIDE] = ppi_cell_text(ppi_compare_side(stage));
  cells[CELL_METRIC] = ppi_cell_text(ppi_metric_name(comparison->metric));
  cells[CELL_VERDICT] = ppi_cell_text(ppi_verdict_name(comparison->verdict));
  cells[CELL_BAR] = ppi_compare_text(comparison->reason);
  for (int i = 0; i < 2; i++) {
    const ppi_compare_stage *own = comparison->stages[i];
    if (own) cells[CELL_CALLS + i] = ppi_cell_count(own->calls);
    cells[CELL_TIMES + i] = ppi_compare_time(comparison, i);
  }
  if (comparison->is_tested) fill_tested(view, cells, comparison, widest);
}

// `widest`: that of the bars; 0: there are none.
static void put_notes(const ppi_compare_result *result, double widest,
                      ppi_page *note) {
  bool has_bars = widest > 0;
  size_t num_tests = 0;
  for (size_t i = 0; i < result->num_comparisons; i++)
    num_tests += result->comparisons[i].is_read;
  ppi_page_bytes(note, result->notes->bytes, result->notes->len);
  ppi_page_format(note,
                  "Change is B against A. %s corrected for %zu "
                  "comparison%s (Holm), the\ninterval is each row's own.%s",
                  has_bars ? "p and Verdict are" : "Verdict is", num_tests,
                  num_tests == 1 ? "" : "s", has_bars ? "" : "\n");
  if (has_bars)
    ppi_page_format(note,
                    " Sees: the smallest change that 9 of 10 such\n"
                    "measurements would have found. Bars reach to %.1f %%.\n",
                    100 * expm1(widest));
}

bool ppi_compare_pairs(const ppi_compare_result *result,
                       ppi_report_format format, ppi_view *out) {
  bool is_table = format == PPI_FORMAT_TABLE;
  bool is_for_people = is_table || format == PPI_FORMAT_MARKDOWN;
  double widest = widest_of(result);
  *out = (ppi_view){.kind = is_for_people ? &table_kind : &data_kind};
  for (size_t i = 0; i < result->num_comparisons; i++) {
    ppi_cell *cells = ppi_view_add_row(out, 0, 0);
    if (!cells) return false;
    const ppi_comparison *comparison = &result->comparisons[i];
    if (is_for_people)
      fill_table(out, cells, comparison, widest);
    else
      fill_data(cells, comparison);
    // There is no room for a column of it.
    if (is_for_people && !is_table && comparison->reason[0])
      cells[CELL_VERDICT] = ppi_compare_text(
          ppi_view_text(out, "%s: %s", ppi_verdict_name(comparison->verdict),
                        comparison->reason));
  }
  if (is_for_people)
    put_notes(result, is_table ? widest : 0, &out->note);
  else
    ppi_page_bytes(&out->note, result->notes->bytes, result->notes->len);
  return true;
}
