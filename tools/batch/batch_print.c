// SPDX-License-Identifier: Apache-2.0
//
// Prints one row for each try, the answer below, and in a terminal a bar each;
// draws items per second over the batch size.
#include "batch/batch_print.h"

#include <math.h>
#include <stdio.h>

#include "batch/batch_measure.h"
#include "batch/batch_run.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_text.h"
#include "file/json_put.h"
#include "pprof/base.h"

// ---- what to try, and what came of it ----

static bool is_measured(const ppi_batch_try *try) {
  return try->survived && try->num_runs > 0;
}

static uint64_t items_of(const ppi_batch_try *try) {
  return try->num_batches * try->batch;
}

// Whether `items` make about `batches` batches. The first batch of each run
// does not count, so two roundings may differ by one.
static bool is_near(uint64_t batches, uint64_t items, size_t batch) {
  uint64_t wanted = items / batch;
  return batches + 1 >= wanted && batches <= wanted + 1;
}

static bool stopped_early(const ppi_batch_try *before, size_t num,
                          const ppi_batch_try *last, uint64_t least) {
  if (last->num_runs > 0 && last->num_batches + last->num_runs < least)
    return true;
  const ppi_batch_try *first = NULL;
  bool same_batches = true, same_items = true;
  for (size_t i = 0; i < num; i++) {
    if (!is_measured(&before[i])) continue;
    if (!first) first = &before[i];
    same_batches &= before[i].num_batches == first->num_batches;
    same_items &=
        is_near(before[i].num_batches, items_of(first), before[i].batch);
  }
  // No earlier try has batches to compare with.
  if (!first) return least > 0 && last->num_runs == 0;
  if (last->num_runs == 0) return true;
  uint64_t by_items = items_of(first) / last->batch;
  bool too_few = last->num_batches < first->num_batches;
  bool too_few_items = last->num_batches + 1 < by_items;
  if (same_batches && same_items) return too_few && too_few_items;
  return (same_batches && too_few) || (same_items && too_few_items);
}

void ppi_batch_judge(const ppi_batch_try *before, size_t num,
                     const ppi_batch_demand *demand, ppi_batch_try *now) {
  if (!now->survived) return;
  if (stopped_early(before, num, now, demand->least_batches))
    snprintf(now->result, sizeof now->result, "stopped early%s",
             now->says_no_memory ? ", out of memory" : "");
  else if (demand->latency_ns && now->p99_ns > demand->latency_ns)
    snprintf(now->result, sizeof now->result, "too slow");
  else
    return;
  now->survived = false;
}

void ppi_batch_curve_of(const ppi_batch_try *tries, size_t num,
                        ppi_batch_curve *out) {
  double most = 0;
  *out = (ppi_batch_curve){0};
  for (size_t i = 0; i < num; i++) {
    const ppi_batch_try *one = &tries[i];
    if (!one->survived) continue;
    if (!out->largest || one->batch > out->largest->batch) out->largest = one;
    if (ppi_batch_throughput(one) > most) {
      most = ppi_batch_throughput(one);
      out->fastest = one;
    }
  }
  for (size_t i = 0; i < num && most > 0; i++) {
    const ppi_batch_try *one = &tries[i];
    bool enough = one->survived && ppi_batch_throughput(one) * 100 >=
                                       most * PPI_BATCH_KNEE_PERCENT;
    if (enough && (!out->knee || one->batch < out->knee->batch))
      out->knee = one;
  }
}

uint64_t ppi_batch_limit_of(const ppi_batch_try *first, size_t batch) {
  const uint64_t minute = 60000000000u;
  double limit =
      10.0 * (double)first->wall_ns * (double)batch / (double)first->batch;
  if (limit < (double)first->wall_ns * 10) limit = (double)first->wall_ns * 10;
  if (limit < (double)minute) return minute;
  return limit < 1e18 ? (uint64_t)limit : (uint64_t)1e18;
}

size_t ppi_batch_next(const ppi_batch_search *search) {
  size_t low = search->survived, high = search->failed;
  if (low == 0) return high ? 0 : search->from;
  if (high && high - low <= 1) return 0;
  if (search->sequential) return high || low >= search->to ? 0 : low + 1;
  if (high) return low + (high - low) / 2;
  if (low >= search->to) return 0;
  return low > search->to / 2 ? search->to : 2 * low;
}

void ppi_batch_tell(ppi_batch_search *search, size_t batch, bool survived) {
  size_t *limit = survived ? &search->survived : &search->failed;
  *limit = batch;
}

// clang-format off
#define COLUMNS(each) \
  each(batch, NULL, "Batch", 5, 0, count(one->batch)) \
  each(result, NULL, "Result", 6, 0, text(one->result)) \
  each(wall, "ns", "Wall", 8, 0, time(one->wall_ns)) \
  each(batches, NULL, "Batches", 7, 0, \
       if (has_runs, ppi_cell_count(one->num_batches))) \
  each(batches_time, "ns", "In time", 8, 0, \
       if (has_runs, ppi_cell_time(one->span_ns))) \
  each(throughput, "items/s", "Items/s", 8, 0, \
       if (has_runs && throughput > 0, ppi_cell_decimal(throughput))) \
  each(p50, "ns", "P50", 6, 0, if (has_runs, ppi_cell_time(one->p50_ns))) \
  each(p99, "ns", "P99", 6, 0, if (has_runs, ppi_cell_time(one->p99_ns))) \
  each(runs, NULL, "Runs", 4, 0, if (has_runs, ppi_cell_count(one->num_runs)))
// clang-format on
PPI_VIEW_TABLE(batch, COLUMNS);
static const ppi_view_kind kind = {
    PPI_VIEW_OF(batch, "search-batch", "Batches")};

static void fill_rows(const ppi_batch_result *result, ppi_view *view) {
  for (size_t i = 0; i < result->num_tries; i++) {
    const ppi_batch_try *one = &result->tries[i];
    double throughput = ppi_batch_throughput(one);
    bool has_runs = one->num_runs > 0;
    ppi_cell *cells = ppi_tool_row(view);
    PPI_VIEW_PUT(COLUMNS, cells);
  }
}

static void put_largest(const ppi_batch_result *result,
                        const ppi_batch_try *largest, ppi_page *notes) {
  ppi_page_format(notes, "Largest batch%s",
                  result->interrupted ? " before the interrupt" : "");
  if (result->latency_ns)
    ppi_page_format(notes, " with a p99 of at most %.3f ms",
                    (double)result->latency_ns / 1e6);
  ppi_page_format(notes, ": %zu%s\n", largest->batch,
                  result->failed || result->interrupted
                      ? ""
                      : ", where --to ends the search");
}

// Items per second, and the figures behind them.
static void put_throughput(const ppi_batch_try *one, ppi_page *notes) {
  ppi_page_format(notes, "%.2f items/s = (%llu batches x %zu) / %.3f s\n",
                  ppi_batch_throughput(one),
                  (unsigned long long)one->num_batches, one->batch,
                  (double)one->span_ns / 1e9);
}

static void put_knee(const ppi_batch_curve *curve, ppi_page *notes) {
  if (curve->fastest != curve->largest) {
    ppi_page_format(notes, "Fastest batch: %zu, with ", curve->fastest->batch);
    put_throughput(curve->fastest, notes);
  }
  if (curve->knee == curve->fastest) return;
  ppi_page_format(notes,
                  "Knee: %zu, with %.0f%% of the items/s of %zu; larger ones "
                  "bring little\n",
                  curve->knee->batch,
                  100 * ppi_batch_throughput(curve->knee) /
                      ppi_batch_throughput(curve->fastest),
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
    ppi_page_format(notes, " %.2f%s\n", ppi_batch_throughput(one),
                    one == curve->knee ? "  knee" : "");
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
  fill_rows(result, &view);
  if (format == PPI_FORMAT_JSON) put_json_head(result, &curve, &page);
  ppi_tool_rows_all(&page, &view, result->options, NULL);
  ppi_view_clear(&view);
  return ppi_tool_output_page(result->options, &page, code);
}

// ---- the curve ----

// SVG in a page. Batch sizes double from mark to mark; tries that failed stand
// on the axis.

enum { WIDTH = 720, HEIGHT = 360, LEFT = 90, RIGHT = 30, TOP = 30, BELOW = 60 };

typedef struct scale {
  double least, largest;  // log2 of the batches
  double most;            // items a second
} scale;

static int x_of(const scale *plot, size_t batch) {
  double width = plot->largest > plot->least ? plot->largest - plot->least : 1;
  double part = (log2((double)batch) - plot->least) / width;
  return LEFT + (int)lround(part * (WIDTH - LEFT - RIGHT));
}

static int y_of(const scale *plot, double throughput) {
  double part = throughput / plot->most;
  return HEIGHT - BELOW - (int)lround(part * (HEIGHT - TOP - BELOW));
}

static void put_axes(const scale *plot, ppi_page *page) {
  ppi_page_format(page,
                  "<path d=\"M%d %d V%d H%d\" fill=\"none\" "
                  "stroke=\"#555\"/>\n",
                  LEFT, TOP, HEIGHT - BELOW, WIDTH - RIGHT);
  for (int i = 0; i <= 4; i++) {
    double value = plot->most * i / 4;
    int y = y_of(plot, value);
    ppi_page_format(page,
                    "<path d=\"M%d %d H%d\" stroke=\"#ddd\"/>"
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.*f</text>\n",
                    LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4,
                    plot->most < 100 ? 2 : 0, value);
  }
  ppi_page_format(page,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">batch, "
                  "doubling</text>"
                  "<text x=\"%d\" y=\"18\">items/s</text>\n",
                  (LEFT + WIDTH) / 2, HEIGHT - 8, LEFT - 60);
}

static void put_point(const ppi_batch_try *one, const scale *plot, bool is_knee,
                      ppi_page *page) {
  double rate = one->survived ? ppi_batch_throughput(one) : 0;
  int x = x_of(plot, one->batch), y = y_of(plot, rate);
  const char *color = is_knee         ? "#d95f02"
                      : one->survived ? "#1b6ca8"
                                      : "#b00020";
  ppi_page_format(page,
                  "<circle cx=\"%d\" cy=\"%d\" r=\"5\" fill=\"%s\">"
                  "<title>%zu: ",
                  x, y, color, one->batch);
  ppi_compare_put_html(page, one->result);
  ppi_page_format(page, ", %.2f items/s</title></circle>\n", rate);
  if (is_knee)
    ppi_page_format(page,
                    "<text x=\"%d\" y=\"%d\" fill=\"%s\" "
                    "text-anchor=\"middle\">knee</text>\n",
                    x, y - 10, color);
}

// Puts each batch below its point, if the label before it leaves room.
static void put_labels(const ppi_batch_result *result, const scale *plot,
                       ppi_page *page) {
  const int room = 30;
  int last = -room;
  for (size_t i = 0; i < result->num_tries; i++) {
    int x = x_of(plot, result->tries[i].batch);
    if (x - last < room) continue;
    last = x;
    ppi_page_format(
        page, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%zu</text>\n", x,
        HEIGHT - BELOW + 18, result->tries[i].batch);
  }
}

static void put_line(const ppi_batch_result *result, const scale *plot,
                     ppi_page *page) {
  const char *next = "M";
  ppi_page_text(page, "<path fill=\"none\" stroke=\"#1b6ca8\" d=\"");
  for (size_t i = 0; i < result->num_tries; i++) {
    const ppi_batch_try *one = &result->tries[i];
    double rate = one->survived ? ppi_batch_throughput(one) : 0;
    if (rate <= 0) continue;
    ppi_page_format(page, "%s%d %d ", next, x_of(plot, one->batch),
                    y_of(plot, rate));
    next = "L";
  }
  ppi_page_text(page, "\"/>\n");
}

static void put_rows(const ppi_batch_result *result, ppi_page *page) {
  ppi_page_text(page,
                "<table><tr><th>Batch<th>Result<th>Items/s<th>P99 (ms)\n");
  for (size_t i = 0; i < result->num_tries; i++) {
    const ppi_batch_try *one = &result->tries[i];
    ppi_page_format(page, "<tr><td>%zu<td>", one->batch);
    ppi_compare_put_html(page, one->result);
    ppi_page_text(page, "<td>");
    if (one->num_runs)
      ppi_page_format(page, "%.2f<td>%.3f\n", ppi_batch_throughput(one),
                      (double)one->p99_ns / 1e6);
    else
      ppi_page_text(page, "<td>\n");
  }
  ppi_page_text(page, "</table>\n");
}

void ppi_batch_plot(const ppi_batch_result *result, ppi_page *page) {
  ppi_batch_curve curve;
  ppi_batch_curve_of(result->tries, result->num_tries, &curve);
  scale plot = {log2((double)result->tries[0].batch),
                log2((double)result->tries[result->num_tries - 1].batch),
                curve.fastest ? ppi_batch_throughput(curve.fastest) : 1};
  ppi_page_text(
      page,
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
      "<title>Items/s by batch</title>\n"
      "<style>body{font:14px sans-serif;margin:2em}svg{font-size:12px}"
      "td,th{padding:2px 12px;text-align:right}</style>\n<h1>Items/s by "
      "batch</h1>\n<p><code>");
  for (int i = 0; i < result->options->num_inputs; i++) {
    ppi_compare_put_html(page, result->options->inputs[i]);
    ppi_page_text(page, " ");
  }
  ppi_page_format(page,
                  "</code></p>\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" "
                  "role=\"img\" aria-label=\"Items a second by batch\">\n",
                  WIDTH, HEIGHT, WIDTH);
  put_axes(&plot, page);
  put_line(result, &plot, page);
  for (size_t i = 0; i < result->num_tries; i++)
    put_point(&result->tries[i], &plot, &result->tries[i] == curve.knee, page);
  put_labels(result, &plot, page);
  ppi_page_text(page, "</svg>\n");
  put_rows(result, page);
  ppi_page_text(page, "</html>\n");
}
