// SPDX-License-Identifier: Apache-2.0
//
// Lays out two inputs side by side, as data and as a table with bars.
#include "compare/compare_pairs.h"

#include <math.h>

#include "cli/rows.h"

// Empty for an infinite error.
static ppi_cell percent(double share) {
  return isfinite(share) ? ppi_cell_decimal(100 * share) : (ppi_cell){0};
}

// A comparison as data: each(name, unit, value), values as in PPI_VIEW_TABLE.
// clang-format off
#define PAIR(each, name, unit, value) \
  each(name##_a, unit, as(value(0))) \
  each(name##_b, unit, as(value(1)))
#define CALLS(i) ppi_cell_count(own[i] ? own[i]->calls : 0)
#define SAMPLES(i) ppi_cell_count(own[i] ? own[i]->num_values : 0)
#define RUNS(i) ppi_cell_count(own[i] ? own[i]->num_runs : 0)
#define FIRST(i) ppi_compare_first(own[i])
#define ENERGY(i) ppi_compare_energy(comparison, i)
#define DATA(each) \
  each(name, NULL, text(stage->name)) \
  each(category, NULL, text(stage->category)) \
  each(side, NULL, text(ppi_compare_side(stage))) \
  each(metric, NULL, text(ppi_metric_name(comparison->metric))) \
  PAIR(each, calls, NULL, CALLS) \
  PAIR(each, samples, NULL, SAMPLES) \
  each(a, "ns", as(ppi_compare_time(comparison, 0))) \
  each(b, "ns", as(ppi_compare_time(comparison, 1))) \
  PAIR(each, first, "ns", FIRST) \
  each(ratio, NULL, if (runs->is_tested, ppi_cell_decimal(runs->ratio))) \
  each(change, "%", if (runs->is_tested, percent(runs->ratio - 1))) \
  each(change_low, "%", if (runs->is_tested, percent(runs->low - 1))) \
  each(change_high, "%", if (runs->is_tested, percent(runs->high - 1))) \
  each(p, NULL, if (runs->is_tested, ppi_cell_decimal(runs->p))) \
  each(p_rank, NULL, if (runs->is_tested, ppi_cell_decimal(runs->p_rank))) \
  each(threshold, "%", as(percent(comparison->margin))) \
  each(detectable, "%", if (runs->is_tested, percent(runs->detectable))) \
  each(verdict, NULL, text(ppi_compare_verdict(comparison, runs))) \
  each(reason, NULL, as(ppi_compare_text(runs->reason))) \
  PAIR(each, runs, NULL, RUNS) \
  each(programs_change, "%", \
       if (programs->is_tested, percent(programs->ratio - 1))) \
  each(programs_low, "%", \
       if (programs->is_tested, percent(programs->low - 1))) \
  each(programs_high, "%", \
       if (programs->is_tested, percent(programs->high - 1))) \
  each(programs_p, NULL, \
       if (programs->is_tested, ppi_cell_decimal(programs->p))) \
  each(programs_detectable, "%", \
       if (programs->is_tested, percent(programs->detectable))) \
  each(more_runs, NULL, \
       if (programs->is_tested && programs->more_runs && \
               programs->verdict == PPI_VERDICT_AMBIGUOUS, \
           ppi_cell_count(programs->more_runs))) \
  each(programs, NULL, text(ppi_compare_verdict(comparison, programs))) \
  each(programs_reason, NULL, as(ppi_compare_text(programs->reason)))
#define WITH_ENERGY(each) PAIR(each, energy, "J", ENERGY)
// clang-format on
#define DATA_COLUMN(name, unit, value) {#name, unit},
#define DATA_VALUE(name, unit, value) *cells++ = ppi_cell_##value;
static const ppi_column data_columns[] = {DATA(DATA_COLUMN)
                                              WITH_ENERGY(DATA_COLUMN)};
enum {
  NUM_WITH_ENERGY = sizeof data_columns / sizeof *data_columns,
  NUM_DATA = NUM_WITH_ENERGY - 2
};

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

static const ppi_layout cell_layout[NUM_CELLS] = {
    [CELL_NAME] = {"Name", 10, 1},
    [CELL_SIDE] = {"Side", 6, 2},
    [CELL_METRIC] = {"Metric", 6, 3},
    [CELL_CALLS] = {"Calls A / B", 10, 0},
    [CELL_CALLS + 1] = {"", 0, 0},
    [CELL_TIMES] = {"A / B", 10, 4},
    [CELL_TIMES + 1] = {"", 0, 5},
    [CELL_CHANGE] = {"Change(%)", 9, 6},
    [CELL_INTERVAL] = {"95 % of it", 9, 7},
    [CELL_DETECTABLE] = {"Sees(%)", 7, 0},
    [CELL_VERDICT] = {"Runs", 9, 8},
    [CELL_PROGRAMS] = {"Programs", 9, 9},
    [CELL_BAR] = {"Faster | Slower", 10, 0}};

static const ppi_view_kind data_kind = {.name = "compare",
                                        .title = "Compare",
                                        .columns = data_columns,
                                        .num_columns = NUM_DATA};
static const ppi_view_kind energy_kind = {.name = "compare",
                                          .title = "Compare",
                                          .columns = data_columns,
                                          .num_columns = NUM_WITH_ENERGY};
static const ppi_view_kind table_kind = {.name = "compare",
                                         .title = "Compare",
                                         .columns = cell_columns,
                                         .num_columns = NUM_CELLS,
                                         .layout = cell_layout};

// Shortens changes that are too large to be useful.
static const char *short_percent(ppi_view *view, const char *sign,
                                 double share) {
  if (!(share <= PPI_COMPARE_HUGE))
    return ppi_view_text(view, ">%.0f", 100 * PPI_COMPARE_HUGE);
  return ppi_view_text(view, "%s%.2f", sign, 100 * share);
}

static void fill_data(ppi_cell *cells, const ppi_comparison *comparison,
                      bool has_energy) {
  const ppi_compare_stage *stage = ppi_compare_stage_of(comparison);
  const ppi_compare_stage *const *own = comparison->stages;
  const ppi_decision *runs = &comparison->runs;
  const ppi_decision *programs = &comparison->programs;
  DATA(DATA_VALUE)
  if (!has_energy) return;
  WITH_ENERGY(DATA_VALUE)
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
  cells[CELL_NAME] = ppi_cell_text(stage->name);
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
