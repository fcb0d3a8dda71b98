// SPDX-License-Identifier: Apache-2.0
//
// Prints the result of `compare`, ranks more than two inputs, and writes its
// page.
#include "compare/compare_print.h"

#include <errno.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_pairs.h"
#include "file/json_put.h"
#include "html/html.h"
#include "html/spread_text.h"

// ---- more than two inputs, ranked for each stage against the best one ----

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
  cells[CELL_name] = ppi_cell_text(stage->name);
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

static void rank_inputs(const ppi_compare_result *result, bool as_table,
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

// ---- the page ----

static void put_spread(ppi_page *page, size_t input,
                       const ppi_compare_stage *stage) {
  uint64_t counts[PPI_SPREAD_CLASSES] = {0};
  for (size_t i = 0; i < stage->num_values; i++)
    ppi_spread_count(counts, (uint64_t)stage->values[i], 1);
  ppi_put_object(page, NULL);
  ppi_put_u64(page, "input", input);
  ppi_put_text(page, "name", stage->name);
  ppi_put_text(page, "category", stage->category);
  ppi_put_text(page, "side", ppi_compare_side(stage));
  ppi_spread_put_counts(page, "all", counts);
  ppi_page_text(page, "}");
}

// Appends the distributions of the compared stages.
static void put_spreads(ppi_page *page, const ppi_compare_result *result) {
  bool any = false;
  ppi_put_array(page, NULL);
  for (size_t i = 0; i < result->num_comparisons; i++) {
    const ppi_compare_stage *stage =
        ppi_compare_stage_of(&result->comparisons[i]);
    if (i > 0 && stage == ppi_compare_stage_of(&result->comparisons[i - 1]))
      continue;
    for (size_t k = 0; k < result->num_inputs; k++) {
      const ppi_compare_stage *found =
          ppi_samples_find(&result->inputs[k], stage);
      if (!found || found->energy) continue;
      if (any) ppi_put_line(page);
      put_spread(page, k, found);
      any = true;
    }
  }
  ppi_page_text(page, "]\n");
}

// Writes `json`, the result as JSON, and `spreads` into
// --html's file, and frees both. Answers the worse of `code` and its own.
static int write_html(const struct ppi_tool_options *options, ppi_page *json,
                      ppi_page *spreads, int code) {
  struct ppi_tool_options to = *options;
  FILE *out;
  to.output = options->html;
  int opened = ppi_tool_output_open(&to, &out);
  if (opened != PPI_EXIT_DONE) {
    ppi_page_clear(json);
    ppi_page_clear(spreads);
    return opened;
  }
  errno = 0;
  ppi_html_begin(out);
  pprof_status status = ppi_html_element(out, "compare", json);
  pprof_status more = ppi_html_element(out, "spreads", spreads);
  if (status == PPROF_STATUS_OK) status = more;
  ppi_html_end(out);
  int reason = errno;
  if (status == PPROF_STATUS_NO_MEMORY) {
    ppi_tool_say("out of memory");
    code = PPI_EXIT_INPUT;
  }
  code = ppi_tool_output_close(&to, out, reason, code);
  if (strcmp(to.output, "-") != 0) ppi_tool_show(stderr, to.output);
  return code;
}

// ---- the rest ----

static void put_inputs(ppi_page *page, const ppi_compare_result *result) {
  static const char *const keys[] = {"uuid", "host", "pid"};
  ppi_put_line(page);
  ppi_put_array(page, "inputs");
  for (size_t i = 0; i < result->num_inputs; i++) {
    const ppi_samples *input = &result->inputs[i];
    const char *const texts[] = {input->uuid, input->host, input->pid};
    ppi_put_line(page);
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", result->names[i]);
    for (size_t k = 0; k < 3; k++)
      ppi_put_text(page, keys[k], texts[k] ? texts[k] : "");
    ppi_put_u64(page, "runs", input->num_runs);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

static void put_page(ppi_page *page, const ppi_compare_result *result,
                     const ppi_view *view,
                     const struct ppi_tool_options *options,
                     ppi_report_format format) {
  bool is_json = format == PPI_FORMAT_JSON;
  if (is_json) {
    ppi_tool_rows_begin(page, "pprof.compare/1");
    put_inputs(page, result);
  }
  ppi_tool_rows_view(page, view, options, format);
  if (!is_json) return;
  ppi_tool_rows_lines(page, "notes", result->notes);
  ppi_page_text(page, "}\n");
}

static void make_page(const struct ppi_tool_options *options,
                      const ppi_compare_result *result,
                      ppi_report_format format, ppi_page *page) {
  bool as_table = format == PPI_FORMAT_TABLE;
  ppi_view view;
  if (result->num_inputs == 2)
    ppi_compare_pairs(result, format, &view);
  else
    rank_inputs(result, as_table, &view);
  put_page(page, result, &view, options, format);
  page->failed |= view.note.failed || result->notes->failed;
  ppi_view_clear(&view);
}

// Compressed and in base64, so many rows fit a page of 3 MB.
enum { PAGE_ROWS = 4096, PAGE_BYTES = 2000000 };

// Writes as many of the first rows as the page has room for.
static int put_html(const struct ppi_tool_options *options,
                    const ppi_compare_result *result, int code) {
  ppi_page json = {0}, spreads = {0}, notes = {0};
  ppi_compare_result part = *result;
  size_t num = result->num_comparisons, most = PAGE_ROWS;
  do {
    json.len = spreads.len = notes.len = 0;
    part.num_comparisons = PPI_MIN(num, most);
    part.notes = &notes;
    ppi_page_bytes(&notes, result->notes->bytes, result->notes->len);
    if (part.num_comparisons < num)
      ppi_page_format(&notes,
                      "This page has the first %zu of %zu rows; `pprof-report "
                      "compare -f csv` prints all\n",
                      part.num_comparisons, num);
    make_page(options, &part, PPI_FORMAT_JSON, &json);
    put_spreads(&spreads, &part);
    most /= 2;
  } while (json.len + spreads.len > PAGE_BYTES && most);
  json.failed |= notes.failed;
  ppi_page_clear(&notes);
  return write_html(options, &json, &spreads, code);
}

int ppi_compare_print(const struct ppi_tool_options *options,
                      const ppi_compare_result *result, int code) {
  ppi_report_format format = ppi_report_format_of(options->format);
  ppi_page page = {.is_raw = options->raw};
  make_page(options, result, format, &page);
  code = ppi_tool_output_page(options, &page, code);
  return options->html ? put_html(options, result, code) : code;
}
