// SPDX-License-Identifier: Apache-2.0
//
// Builds the Perf view: costs of a step and of its data, and the speed, over
// whole steps after the warm-up.

#include "view/fit.h"
#include "view/view.h"

#define COLUMNS(each)                                           \
  each(name, NULL, NULL, 0, 0) each(unit, NULL, NULL, 0, 0)     \
      each(calls, NULL, NULL, 0, 0) each(avg, NULL, NULL, 0, 0) \
          each(max, NULL, NULL, 0, 0) each(min, NULL, NULL, 0, 0)
PPI_VIEW_TABLE(perf, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);
enum { LINE_WIDTH = 100, CELL_WIDTH = 15 };

enum { READER, BATCH, SPEED, RATIO, NUM_ROWS };

// The unit stands in the row, so that no format may scale it.
static ppi_cell as_number(ppi_cell time) {
  if (time.kind == PPI_CELL_TIME) time.kind = PPI_CELL_COUNT;
  return time;
}

static void add_cost(ppi_view *view, const char *name,
                     const ppi_spread *spread) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  cells[CELL_name] = ppi_cell_text(name);
  cells[CELL_unit] = ppi_cell_text("ns");
  cells[CELL_calls] = ppi_cell_count(ppi_spread_calls(spread));
  if (!spread->n) return;
  cells[CELL_avg] = as_number(ppi_cell_average(spread));
  cells[CELL_max] = as_number(ppi_cell_most(spread));
  cells[CELL_min] = as_number(ppi_cell_least(spread));
}

static ppi_cell a_second(double items, uint64_t ns) {
  return ns ? ppi_cell_decimal(items * 1e9 / (double)ns) : (ppi_cell){0};
}

// Items a second where every step states its items, else steps a second.
static void add_speed(ppi_view *view, const ppi_report_perf *perf) {
  bool has_items = perf->num_stated == perf->batch.n;
  double items = (double)perf->items / PPI_PERF_ITEM;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  cells[CELL_name] = ppi_cell_text("ips");
  cells[CELL_unit] = ppi_cell_text(has_items ? "samples/s" : "steps/s");
  cells[CELL_calls] = ppi_cell_count(perf->batch.n);
  cells[CELL_avg] =
      a_second(has_items ? items : (double)perf->batch.n, perf->batch.sum);
  cells[CELL_max] = has_items ? ppi_cell_decimal(perf->speed_max)
                              : a_second(1, perf->batch.min);
  cells[CELL_min] = has_items ? ppi_cell_decimal(perf->speed_min)
                              : a_second(1, perf->batch.max);
}

static void add_ratio(ppi_view *view, const ppi_report_perf *perf) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  cells[CELL_name] = ppi_cell_text("reader_ratio");
  cells[CELL_unit] = ppi_cell_text("%");
  cells[CELL_calls] = ppi_cell_count(ppi_spread_calls(&perf->reader));
  if (perf->reader.n)
    cells[CELL_avg] =
        ppi_cell_ratio((int64_t)perf->reader.sum, perf->batch.sum);
}

// The steps and the windows are not the same time.
static void put_note(ppi_view *view, const ppi_figures *figures,
                     const ppi_report_options *options) {
  const ppi_report_perf *perf = &figures->perf;
  if (options->views && !strchr(options->views, ',')) return;
  ppi_page_format(&view->note,
                  "Note: %llu of %llu whole steps from start to stop, without "
                  "the first %d of a run. The other tables\n"
                  "cover the recorded windows, ",
                  (unsigned long long)perf->batch.n,
                  (unsigned long long)perf->num_steps, PPI_PERF_WARM_UP);
  ppi_page_time(&view->note, (double)figures->wall_ns, options->time_unit);
  ppi_page_format(&view->note, " %s: do not mix their figures.\n",
                  ppi_time_unit_name(options->time_unit));
}

static void build_perf(const ppi_figures *figures,
                       const ppi_report_options *options, ppi_view *out) {
  const ppi_report_perf *perf = &figures->perf;
  if (!perf->batch.n) {
    out->reason = "no whole steps: the program marked none";
    if (perf->num_steps)
      out->reason = ppi_view_text(
          out, "%llu whole steps: the first %d of a run are its warm-up",
          (unsigned long long)perf->num_steps, PPI_PERF_WARM_UP);
    return;
  }
  add_cost(out, "reader_cost", &perf->reader);
  add_cost(out, "batch_cost", &perf->batch);
  add_speed(out, perf);
  add_ratio(out, perf);
  put_note(out, figures, options);
}

// Centred as Paddle has it: an odd blank goes to the left.
static void put_centred(ppi_page *page, const ppi_page *text) {
  size_t blanks = text->len < CELL_WIDTH ? CELL_WIDTH - text->len : 0;
  ppi_page_repeat(page, ' ', blanks - blanks / 2);
  ppi_page_bytes(page, text->bytes, text->len);
  ppi_page_repeat(page, ' ', blanks / 2);
}

static void put_number(ppi_page *page, const ppi_cell *cell) {
  if (cell->kind == PPI_CELL_TEXT)
    ppi_page_text(page, cell->text);
  else if (cell->kind == PPI_CELL_COUNT)
    ppi_page_fixed(page, (double)cell->value / (double)cell->divisor / 1e9, 5);
  else if (cell->kind == PPI_CELL_DECIMAL)
    ppi_page_fixed(page, cell->number, 5);
  else
    ppi_page_text(page, "-");
}

static void put_line(ppi_page *page, const ppi_cell *cells) {
  static const size_t shown[] = {CELL_name, CELL_avg, CELL_max, CELL_min};
  ppi_page scratch = {0};
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
    scratch.len = 0;
    put_number(&scratch, &cells[shown[i]]);
    ppi_page_text(page, "| ");
    put_centred(page, &scratch);
    ppi_page_text(page, " ");
  }
  ppi_page_text(page, "|\n");
  page->failed |= scratch.failed;
  ppi_page_clear(&scratch);
}

static void put_text(ppi_page *page, const ppi_view *view,
                     const ppi_report_options *options) {
  const char *title = view->kind->title;
  size_t most = options->is_wide ? LINE_WIDTH : ppi_page_columns(page);
  size_t dashes = PPI_MIN(LINE_WIDTH, most) - strlen(title);
  const ppi_cell *rows[NUM_ROWS];
  for (size_t i = 0; i < NUM_ROWS; i++) rows[i] = view->cells + i * NUM_COLUMNS;
  double percent = 0;
  ppi_page_repeat(page, '=', dashes / 2);
  ppi_page_text(page, title);
  ppi_page_repeat(page, '=', dashes - dashes / 2);
  ppi_page_text(page, "\n");
  if (ppi_cell_is_ratio(&rows[RATIO][CELL_avg], &percent) && percent > 0) {
    ppi_page_text(page, "Reader Ratio: ");
    ppi_page_fixed(page, percent, 3);
    ppi_page_text(page, "%\n");
  }
  ppi_page_format(page, "Time Unit: s, IPS Unit: %s\n",
                  rows[SPEED][CELL_unit].text);
  const ppi_cell names[NUM_COLUMNS] = {[CELL_name] = ppi_cell_text(""),
                                       [CELL_avg] = ppi_cell_text("avg"),
                                       [CELL_max] = ppi_cell_text("max"),
                                       [CELL_min] = ppi_cell_text("min")};
  put_line(page, names);
  for (size_t i = READER; i <= SPEED; i++)
    if (rows[i][CELL_avg].kind != PPI_CELL_NONE) put_line(page, rows[i]);
  ppi_page_wrapped_lines(page, &view->note);
}

PPI_VIEW(perf, "Perf Summary", .build = build_perf, .put_text = put_text);
