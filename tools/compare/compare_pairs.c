// SPDX-License-Identifier: Apache-2.0
//
// Lays out two inputs side by side, as data and as a table with bars.
#include "compare/compare_pairs.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli/rows.h"

// The last two where a row is of energy.
// clang-format off
#define DATA_COLUMNS(each) \
  each(DATA_NAME, "name", NULL) \
  each(DATA_CATEGORY, "category", NULL) \
  each(DATA_SIDE, "side", NULL) \
  each(DATA_METRIC, "metric", NULL) \
  each(DATA_CALLS, "calls_a", NULL) \
  each(DATA_CALLS_B, "calls_b", NULL) \
  each(DATA_SAMPLES, "samples_a", NULL) \
  each(DATA_SAMPLES_B, "samples_b", NULL) \
  each(DATA_TIMES, "a", "ns") \
  each(DATA_TIMES_B, "b", "ns") \
  each(DATA_FIRST, "first_a", "ns") \
  each(DATA_FIRST_B, "first_b", "ns") \
  each(DATA_RATIO, "ratio", NULL) \
  each(DATA_CHANGE, "change", "%") \
  each(DATA_LOW, "change_low", "%") \
  each(DATA_HIGH, "change_high", "%") \
  each(DATA_P, "p", NULL) \
  each(DATA_P_RANK, "p_rank", NULL) \
  each(DATA_THRESHOLD, "threshold", "%") \
  each(DATA_DETECTABLE, "detectable", "%") \
  each(DATA_VERDICT, "verdict", NULL) \
  each(DATA_REASON, "reason", NULL) \
  each(DATA_RUNS, "runs_a", NULL) \
  each(DATA_RUNS_B, "runs_b", NULL) \
  each(DATA_PROGRAMS_CHANGE, "programs_change", "%") \
  each(DATA_PROGRAMS_LOW, "programs_low", "%") \
  each(DATA_PROGRAMS_HIGH, "programs_high", "%") \
  each(DATA_PROGRAMS_P, "programs_p", NULL) \
  each(DATA_PROGRAMS_DETECTABLE, "programs_detectable", "%") \
  each(DATA_MORE_RUNS, "more_runs", NULL) \
  each(DATA_PROGRAMS, "programs", NULL) \
  each(DATA_PROGRAMS_REASON, "programs_reason", NULL) \
  each(DATA_ENERGY, "energy_a", "J") \
  each(DATA_ENERGY_B, "energy_b", "J")
// clang-format on
enum { DATA_COLUMNS(PPI_COLUMN_CELL) NUM_WITH_ENERGY, NUM_DATA = DATA_ENERGY };
static const ppi_column data_columns[] = {DATA_COLUMNS(PPI_COLUMN_ROW)};

enum {
  CELL_NAME = 0,
  CELL_SIDE,
  CELL_METRIC,
  CELL_CALLS,
  CELL_TIMES = CELL_CALLS + 2,
  CELL_CHANGE = CELL_TIMES + 2,
  CELL_INTERVAL,
  CELL_DETECTABLE,
  CELL_VERDICT,
  CELL_PROGRAMS,
  CELL_BAR,
  NUM_CELLS
};

static const ppi_column cell_columns[NUM_CELLS] = {
    [CELL_NAME] = {"name", NULL},           [CELL_SIDE] = {"side", NULL},
    [CELL_METRIC] = {"metric", NULL},       [CELL_TIMES] = {"a", "ns"},
    [CELL_TIMES + 1] = {"b", "ns"},         [CELL_CHANGE] = {"change", "%"},
    [CELL_INTERVAL] = {"interval", "95 %"}, [CELL_VERDICT] = {"runs", NULL},
    [CELL_PROGRAMS] = {"programs", NULL}};
static const size_t brief[] = {CELL_NAME,     CELL_SIDE,      CELL_METRIC,
                               CELL_TIMES,    CELL_TIMES + 1, CELL_CHANGE,
                               CELL_INTERVAL, CELL_VERDICT,   CELL_PROGRAMS};

static const ppi_table_column table_columns[] = {
    {"Name", 10, CELL_NAME, 1},           {"Side", 6, CELL_SIDE, 1},
    {"Metric", 6, CELL_METRIC, 1},        {"Calls A / B", 10, CELL_CALLS, 2},
    {"A / B", 10, CELL_TIMES, 2},         {"Change(%)", 9, CELL_CHANGE, 1},
    {"95 % of it", 9, CELL_INTERVAL, 1},  {"Sees(%)", 7, CELL_DETECTABLE, 1},
    {"Runs", 9, CELL_VERDICT, 1},         {"Programs", 9, CELL_PROGRAMS, 1},
    {"Faster | Slower", 10, CELL_BAR, 1},
};

static const ppi_view_kind data_kind = {.name = "compare",
                                        .title = "Compare",
                                        .columns = data_columns,
                                        .num_columns = NUM_DATA};
static const ppi_view_kind energy_kind = {.name = "compare",
                                          .title = "Compare",
                                          .columns = data_columns,
                                          .num_columns = NUM_WITH_ENERGY};
static const ppi_view_kind table_kind = {
    .name = "compare",
    .title = "Compare",
    PPI_VIEW_LAYOUT(cell_columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .end = PPI_TABLE_END_NOTE};

// Empty for an infinite error.
static ppi_cell percent(double share) {
  return isfinite(share) ? ppi_cell_decimal(100 * share) : (ppi_cell){0};
}

// Shortens changes that are too large to be useful.
static const char *short_percent(ppi_view *view, const char *sign,
                                 double share) {
  if (!(share <= PPI_COMPARE_HUGE))
    return ppi_view_text(view, ">%.0f", 100 * PPI_COMPARE_HUGE);
  return ppi_view_text(view, "%s%.2f", sign, 100 * share);
}

static void fill_runs(ppi_cell *cells, const ppi_decision *runs) {
  if (!runs->is_tested) return;
  cells[DATA_RATIO] = ppi_cell_decimal(runs->ratio);
  cells[DATA_CHANGE] = percent(runs->ratio - 1);
  cells[DATA_LOW] = percent(runs->low - 1);
  cells[DATA_HIGH] = percent(runs->high - 1);
  cells[DATA_P] = ppi_cell_decimal(runs->p);
  cells[DATA_P_RANK] = ppi_cell_decimal(runs->p_rank);
  cells[DATA_DETECTABLE] = percent(runs->detectable);
}

static void fill_programs(ppi_cell *cells, const ppi_decision *programs) {
  if (!programs->is_tested) return;
  cells[DATA_PROGRAMS_CHANGE] = percent(programs->ratio - 1);
  cells[DATA_PROGRAMS_LOW] = percent(programs->low - 1);
  cells[DATA_PROGRAMS_HIGH] = percent(programs->high - 1);
  cells[DATA_PROGRAMS_P] = ppi_cell_decimal(programs->p);
  cells[DATA_PROGRAMS_DETECTABLE] = percent(programs->detectable);
  if (programs->verdict == PPI_VERDICT_AMBIGUOUS && programs->more_runs)
    cells[DATA_MORE_RUNS] = ppi_cell_count(programs->more_runs);
}

static void fill_data(ppi_cell *cells, const ppi_comparison *comparison,
                      bool has_energy) {
  const ppi_compare_stage *stage = ppi_compare_stage_of(comparison);
  cells[DATA_NAME] = ppi_cell_text(stage->name);
  cells[DATA_CATEGORY] = ppi_cell_text(stage->category);
  cells[DATA_SIDE] = ppi_cell_text(ppi_compare_side(stage));
  cells[DATA_METRIC] = ppi_cell_text(ppi_metric_name(comparison->metric));
  cells[DATA_THRESHOLD] = percent(comparison->margin);
  cells[DATA_VERDICT] =
      ppi_cell_text(ppi_compare_verdict(comparison, &comparison->runs));
  cells[DATA_REASON] = ppi_compare_text(comparison->runs.reason);
  cells[DATA_PROGRAMS] =
      ppi_cell_text(ppi_compare_verdict(comparison, &comparison->programs));
  cells[DATA_PROGRAMS_REASON] = ppi_compare_text(comparison->programs.reason);
  for (int i = 0; i < 2; i++) {
    const ppi_compare_stage *own = comparison->stages[i];
    cells[DATA_CALLS + i] = ppi_cell_count(own ? own->calls : 0);
    cells[DATA_SAMPLES + i] = ppi_cell_count(own ? own->num_values : 0);
    cells[DATA_TIMES + i] = ppi_compare_time(comparison, i);
    cells[DATA_FIRST + i] = ppi_compare_first(own);
    cells[DATA_RUNS + i] = ppi_cell_count(own ? own->num_runs : 0);
    if (has_energy) cells[DATA_ENERGY + i] = ppi_compare_energy(comparison, i);
  }
  fill_runs(cells, &comparison->runs);
  fill_programs(cells, &comparison->programs);
}

// A bar shows the interval as a line through the change. All rows share one
// scale.
enum { BAR_HALF = 12, BAR_WIDTH = 2 * BAR_HALF + 1 };

// The answer about the programs if there are enough runs, else about the runs.
static const ppi_decision *answer_of(const ppi_comparison *comparison) {
  return comparison->programs.is_tested ? &comparison->programs
                                        : &comparison->runs;
}

static double widest_of(const ppi_compare_result *result) {
  double widest = 0.001, limit = log(2);
  for (size_t i = 0; i < result->num_comparisons; i++) {
    const ppi_decision *answer = answer_of(&result->comparisons[i]);
    if (!answer->is_tested) continue;
    widest = PPI_MAX(widest,
                     PPI_MAX(fabs(log(answer->low)), fabs(log(answer->high))));
  }
  return PPI_MIN(widest, limit);
}

static int place_of(double ratio, double widest) {
  double place = BAR_HALF + round(log(ratio) / widest * BAR_HALF);
  return (int)PPI_MIN(PPI_MAX(place, 0.0), BAR_WIDTH - 1.0);
}

static const char *bar_of(ppi_view *view, const ppi_decision *answer,
                          double widest) {
  char bar[BAR_WIDTH + 1];
  int low = place_of(answer->low, widest);
  int high = place_of(answer->high, widest);
  memset(bar, ' ', BAR_WIDTH);
  bar[BAR_WIDTH] = '\0';
  bar[BAR_HALF] = '|';
  memset(bar + low, '-', (size_t)(high - low + 1));
  if (log(answer->low) < -widest * 1.001) bar[0] = '<';
  if (log(answer->high) > widest * 1.001) bar[BAR_WIDTH - 1] = '>';
  bar[place_of(answer->ratio, widest)] = 'o';
  return ppi_view_text(view, "%s", bar);
}

static const char *bound(ppi_view *view, double ratio) {
  const char *text = short_percent(view, ratio < 1 ? "" : "+", ratio - 1);
  return text ? text : "";
}

static void fill_tested(ppi_view *view, ppi_cell *cells,
                        const ppi_decision *answer, double widest) {
  cells[CELL_CHANGE] =
      ppi_compare_text(ppi_view_text(view, "%+.2f", 100 * (answer->ratio - 1)));
  cells[CELL_INTERVAL] = ppi_compare_text(ppi_view_text(
      view, "%s..%s", bound(view, answer->low), bound(view, answer->high)));
  cells[CELL_DETECTABLE] =
      ppi_compare_text(short_percent(view, "", answer->detectable));
  cells[CELL_BAR] = ppi_compare_text(bar_of(view, answer, widest));
}

static void fill_table(ppi_view *view, ppi_cell *cells,
                       const ppi_comparison *comparison, double widest) {
  const ppi_compare_stage *stage = ppi_compare_stage_of(comparison);
  cells[CELL_NAME] = ppi_compare_name(view, stage);
  cells[CELL_SIDE] = ppi_cell_text(ppi_compare_side(stage));
  cells[CELL_METRIC] = ppi_cell_text(ppi_metric_name(comparison->metric));
  cells[CELL_VERDICT] =
      ppi_cell_text(ppi_compare_verdict(comparison, &comparison->runs));
  cells[CELL_PROGRAMS] = ppi_compare_programs(comparison);
  cells[CELL_BAR] = ppi_compare_text(comparison->runs.reason);
  for (int i = 0; i < 2; i++) {
    const ppi_compare_stage *own = comparison->stages[i];
    if (own) cells[CELL_CALLS + i] = ppi_cell_count(own->calls);
    cells[CELL_TIMES + i] = ppi_compare_value(view, comparison, i);
  }
  const ppi_decision *answer = answer_of(comparison);
  if (answer->is_tested) fill_tested(view, cells, answer, widest);
}

// The first row in which the runs differ. Its stage takes the most time of
// these.
static const ppi_comparison *first_change(const ppi_compare_result *result,
                                          size_t *out_num) {
  const ppi_comparison *first = NULL;
  *out_num = 0;
  for (size_t i = 0; i < result->num_comparisons; i++) {
    const ppi_decision *runs = &result->comparisons[i].runs;
    if (runs->verdict > PPI_VERDICT_SLOWER) continue;
    if (!first) first = &result->comparisons[i];
    ++*out_num;
  }
  return first;
}

static void put_change(const ppi_comparison *comparison, ppi_page *note) {
  ppi_page_visible(note, ppi_compare_stage_of(comparison)->name);
  bool is_energy = ppi_metric_is_energy(comparison->metric);
  double unit = is_energy ? 1e9 : 1e6;
  ppi_page_format(
      note, " %s %+.1f %% (%.4g -> %.4g %s)",
      ppi_metric_name(comparison->metric), 100 * (comparison->runs.ratio - 1),
      comparison->estimates[0].value / unit,
      comparison->estimates[1].value / unit, is_energy ? "J" : "ms");
}

// Puts the answers to both questions.
static void put_answers(const ppi_compare_result *result, ppi_page *note) {
  size_t num, num_programs = 0, num_tested = 0;
  const ppi_comparison *first = first_change(result, &num);
  for (size_t i = 0; i < result->num_comparisons; i++) {
    num_tested += result->comparisons[i].programs.is_tested;
    num_programs +=
        result->comparisons[i].programs.verdict <= PPI_VERDICT_SLOWER;
  }
  if (first) {
    ppi_page_format(note, "The runs surely differ in %zu of %zu rows: ", num,
                    result->num_comparisons);
    put_change(first, note);
    ppi_page_text(note, num > 1 ? " and others\n" : "\n");
  } else {
    ppi_page_text(note, "No row shows surely that the runs differ\n");
  }
  if (num_tested)
    ppi_page_format(note, "The programs surely differ in %zu of %zu rows\n",
                    num_programs, result->num_comparisons);
  else
    ppi_page_text(note, PPI_COMPARE_ONE_RUN);
}

// `widest` is the scale of the bars; 0: no bars.
static void put_notes(const ppi_compare_result *result, double widest,
                      ppi_page *note) {
  ppi_page_bytes(note, result->notes->bytes, result->notes->len);
  put_answers(result, note);
  ppi_page_format(note,
                  "Change is B against A: of the programs where there are runs "
                  "enough, else of the runs.\nRuns and Programs are corrected "
                  "for %zu rows (Holm), the interval is each row's own.\n",
                  result->num_comparisons);
  if (widest > 0)
    ppi_page_format(note,
                    "Sees: the smallest change that 9 of 10 such measurements "
                    "would have found. Bars\nreach to %.1f %%.\n",
                    100 * expm1(widest));
}

void ppi_compare_pairs(const ppi_compare_result *result,
                       ppi_report_format format, ppi_view *out) {
  bool is_table = format == PPI_FORMAT_TABLE;
  bool is_for_people = is_table || format == PPI_FORMAT_MARKDOWN;
  bool has_energy = ppi_compare_has_energy(result);
  double widest = widest_of(result);
  *out = (ppi_view){.kind = is_for_people ? &table_kind
                            : has_energy  ? &energy_kind
                                          : &data_kind};
  for (size_t i = 0; i < result->num_comparisons; i++) {
    ppi_cell *cells = ppi_tool_row(out);
    const ppi_comparison *comparison = &result->comparisons[i];
    if (is_for_people)
      fill_table(out, cells, comparison, widest);
    else
      fill_data(cells, comparison, has_energy);
    // A column of reasons would not fit.
    if (is_for_people && !is_table && comparison->runs.reason[0])
      cells[CELL_VERDICT] = ppi_compare_text(ppi_view_text(
          out, "%s: %s", ppi_compare_verdict(comparison, &comparison->runs),
          comparison->runs.reason));
  }
  if (is_for_people)
    put_notes(result, is_table ? widest : 0, &out->note);
  else
    ppi_page_bytes(&out->note, result->notes->bytes, result->notes->len);
}
