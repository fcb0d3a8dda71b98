// SPDX-License-Identifier: Apache-2.0
//
// Prints one row for each try, the answer below, and in a terminal a bar each.
#include "batch/batch_print.h"

#include <math.h>

#include "batch/batch_measure.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "file/json_put.h"

enum {
  CELL_BATCH = 0,
  CELL_RESULT,
  CELL_WALL,
  CELL_BATCHES,
  CELL_SPAN,
  CELL_THROUGHPUT,
  CELL_P50,
  CELL_P99,
  CELL_RUNS,
  NUM_CELLS
};
static const ppi_column columns[NUM_CELLS] = {
    {"batch", NULL},   {"result", NULL},       {"wall", "ns"},
    {"batches", NULL}, {"batches_time", "ns"}, {"throughput", "items/s"},
    {"p50", "ns"},     {"p99", "ns"},          {"runs", NULL}};
static const ppi_table_column table_columns[] = {
    {"Batch", 5, CELL_BATCH, 1},  {"Result", 6, CELL_RESULT, 1},
    {"Wall", 8, CELL_WALL, 1},    {"Batches", 7, CELL_BATCHES, 1},
    {"In time", 8, CELL_SPAN, 1}, {"Items/s", 8, CELL_THROUGHPUT, 1},
    {"P50", 6, CELL_P50, 1},      {"P99", 6, CELL_P99, 1},
    {"Runs", 4, CELL_RUNS, 1},
};
static const ppi_view_kind kind = {.name = "search-batch",
                                   .title = "Batches",
                                   PPI_VIEW_LAYOUT(columns, table_columns),
                                   .has_time_unit = true,
                                   .end = PPI_TABLE_END_NOTE};

static bool fill_rows(const ppi_batch_result *result, ppi_view *view) {
  for (size_t i = 0; i < result->num_tries; i++) {
    const ppi_batch_try *one = &result->tries[i];
    double throughput = ppi_batch_throughput(one);
    ppi_cell *cells = ppi_view_add_row(view, 0, 0);
    if (!cells) return false;
    cells[CELL_BATCH] = ppi_cell_count(one->batch);
    cells[CELL_RESULT] = ppi_cell_text(one->result);
    cells[CELL_WALL] = ppi_cell_time(one->wall_ns);
    if (one->num_runs == 0) continue;
    cells[CELL_BATCHES] = ppi_cell_count(one->num_batches);
    cells[CELL_SPAN] = ppi_cell_time(one->span_ns);
    cells[CELL_P50] = ppi_cell_time(one->p50_ns);
    cells[CELL_P99] = ppi_cell_time(one->p99_ns);
    cells[CELL_RUNS] = ppi_cell_count(one->num_runs);
    if (throughput > 0) cells[CELL_THROUGHPUT] = ppi_cell_decimal(throughput);
  }
  return true;
}

static void put_seconds(ppi_page *page, uint64_t ns) {
  ppi_page_fixed(page, (double)ns / 1e9, 3);
}

static void put_largest(const ppi_batch_result *result,
                        const ppi_batch_try *largest, ppi_page *notes) {
  ppi_page_format(notes, "Largest batch%s",
                  result->interrupted ? " before the interrupt" : "");
  if (result->latency_ns) {
    ppi_page_text(notes, " with a p99 of at most ");
    ppi_page_fixed(notes, (double)result->latency_ns / 1e6, 3);
    ppi_page_text(notes, " ms");
  }
  ppi_page_format(notes, ": %zu%s\n", largest->batch,
                  result->failed || result->interrupted
                      ? ""
                      : ", where --to ends the search");
}

// Items per second, and the figures behind them.
static void put_throughput(const ppi_batch_try *one, ppi_page *notes) {
  ppi_page_fixed(notes, ppi_batch_throughput(one), 2);
  ppi_page_format(notes, " items/s = (%llu batches x %zu) / ",
                  (unsigned long long)one->num_batches, one->batch);
  put_seconds(notes, one->span_ns);
  ppi_page_text(notes, " s\n");
}

static void put_knee(const ppi_batch_curve *curve, ppi_page *notes) {
  if (curve->fastest != curve->largest) {
    ppi_page_format(notes, "Fastest batch: %zu, with ", curve->fastest->batch);
    put_throughput(curve->fastest, notes);
  }
  if (curve->knee == curve->fastest) return;
  ppi_page_format(notes, "Knee: %zu, with ", curve->knee->batch);
  ppi_page_fixed(notes,
                 100 * ppi_batch_throughput(curve->knee) /
                     ppi_batch_throughput(curve->fastest),
                 0);
  ppi_page_format(notes, "%% of the items/s of %zu; larger ones bring little\n",
                  curve->fastest->batch);
}

static void put_bars(const ppi_batch_result *result,
                     const ppi_batch_curve *curve, ppi_page *notes) {
  const int width = 40;
  double most = ppi_batch_throughput(curve->fastest);
  ppi_page_text(notes, "Items/s by batch:\n");
  for (size_t i = 0; i < result->num_tries; i++) {
    const ppi_batch_try *one = &result->tries[i];
    double part = ppi_batch_throughput(one) / most;
    if (part <= 0) continue;
    ppi_page_format(notes, "%8zu ", one->batch);
    for (int at = 0; at < width; at++)
      ppi_page_text(notes, at < part * width ? "#" : " ");
    ppi_page_text(notes, " ");
    ppi_page_fixed(notes, ppi_batch_throughput(one), 2);
    ppi_page_text(notes, one == curve->knee ? "  knee\n" : "\n");
  }
}

// Puts the answer in words.
static void put_answer(const ppi_batch_result *result,
                       const ppi_batch_curve *curve, ppi_page *notes) {
  const ppi_batch_try *largest = curve->largest;
  const char *unit = result->options->stage ? "matching ranges" : "steps";
  if (!largest) {
    ppi_page_format(notes, "No batch: with %zu already %s\n", result->from,
                    result->tries[0].result);
    return;
  }
  put_largest(result, largest, notes);
  if (largest->num_runs == 0) {
    ppi_page_format(
        notes, "Throughput unknown: no log of it has %s (see --stage)\n", unit);
    return;
  }
  ppi_page_text(notes, "Throughput: ");
  put_throughput(largest, notes);
  if (curve->fastest) put_knee(curve, notes);
}

static void put_member(ppi_page *page, const char *name,
                       const ppi_batch_try *one) {
  if (one)
    ppi_put_u64(page, name, one->batch);
  else
    ppi_put_text(page, name, NULL);
}

static void put_json_head(const ppi_batch_result *result,
                          const ppi_batch_curve *curve, ppi_page *page) {
  double throughput = curve->largest ? ppi_batch_throughput(curve->largest) : 0;
  ppi_tool_rows_begin(page, "pprof.search-batch/1");
  ppi_put_line(page);
  ppi_put_array(page, "command");
  for (int i = 0; i < result->options->num_inputs; i++)
    ppi_put_text(page, NULL, result->options->inputs[i]);
  ppi_page_text(page, "]");
  ppi_put_line(page);
  put_member(page, "largest", curve->largest);
  put_member(page, "fastest", curve->fastest);
  put_member(page, "knee", curve->knee);
  ppi_put_real(page, "throughput", throughput > 0 ? throughput : NAN);
}

int ppi_batch_print(const ppi_batch_result *result, int code) {
  ppi_report_format format = ppi_report_format_of(result->options->format);
  ppi_view view = {.kind = &kind};
  ppi_page page = {.is_raw = result->options->raw};
  ppi_batch_curve curve;
  ppi_batch_curve_of(result->tries, result->num_tries, &curve);
  put_answer(result, &curve, &view.note);
  if (format == PPI_FORMAT_TABLE && curve.fastest && result->num_tries > 1)
    put_bars(result, &curve, &view.note);
  bool ok = fill_rows(result, &view) && !view.note.failed;
  if (format == PPI_FORMAT_JSON) put_json_head(result, &curve, &page);
  ppi_tool_rows_all(&page, &view, result->options, NULL);
  page.failed |= !ok;
  ppi_view_clear(&view);
  return ppi_tool_output_page(result->options, &page, code);
}
