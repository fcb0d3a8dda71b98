// SPDX-License-Identifier: Apache-2.0
//
// What all views share: the list of them, cells and rows, and the way from a
// report and a list of names to a stream.
#include "view.h"

#include <string.h>

#include "mem.h"
#include "pprof/export.h"

extern const ppi_view_kind ppi_view_device, ppi_view_overview, ppi_view_model,
    ppi_view_userdefined, ppi_view_queue, ppi_view_messages;

static const ppi_view_kind *const view_kinds[] = {&ppi_view_device,
                                                  &ppi_view_overview,
                                                  &ppi_view_model,
                                                  &ppi_view_userdefined,
                                                  &ppi_view_queue,
                                                  &ppi_view_messages,
                                                  NULL};

enum { NUM_VIEWS = sizeof view_kinds / sizeof *view_kinds - 1 };

const ppi_view_kind *const *ppi_view_kinds(void) {
  return view_kinds;
}

static int64_t to_signed(uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

ppi_cell ppi_cell_text(const char *text) {
  return (ppi_cell){PPI_CELL_TEXT, text, 0, 1};
}

ppi_cell ppi_cell_count(uint64_t count) {
  return (ppi_cell){PPI_CELL_COUNT, NULL, to_signed(count), 1};
}

ppi_cell ppi_cell_time(uint64_t ns) {
  return (ppi_cell){PPI_CELL_TIME, NULL, to_signed(ns), 1};
}

ppi_cell ppi_cell_unresolved(void) {
  return (ppi_cell){PPI_CELL_UNRESOLVED, NULL, 0, 1};
}

ppi_cell ppi_cell_mean(uint64_t sum_ns, uint64_t n) {
  if (n == 0) return (ppi_cell){0};
  return (ppi_cell){PPI_CELL_TIME, NULL, to_signed(sum_ns), n};
}

ppi_cell ppi_cell_rate(uint64_t bytes, uint64_t ns) {
  if (ns == 0) return (ppi_cell){0};
  return (ppi_cell){PPI_CELL_RATE, NULL, to_signed(bytes), ns};
}

ppi_cell ppi_cell_ratio(int64_t part, uint64_t whole) {
  if (whole == 0 && part != 0) return (ppi_cell){0};
  return (ppi_cell){PPI_CELL_RATIO, NULL, part, whole ? whole : 1};
}

bool ppi_cell_is_ratio(const ppi_cell *cell, double *out_percent) {
  if (cell->kind != PPI_CELL_RATIO) return false;
  *out_percent = (double)cell->value / (double)cell->divisor * 100.0;
  return true;
}

ppi_cell *ppi_view_add_row(ppi_view *view, size_t section, size_t indent) {
  size_t num = view->kind->num_columns;
  ppi_view_row *rows = ppi_grow(view->rows, &view->rows_capacity,
                                view->num_rows + 1, sizeof *rows);
  if (!rows) return NULL;
  view->rows = rows;
  ppi_cell *cells = ppi_grow(view->cells, &view->cells_capacity,
                             (view->num_rows + 1) * num, sizeof *cells);
  if (!cells) return NULL;
  view->cells = cells;
  cells += view->num_rows * num;
  memset(cells, 0, num * sizeof *cells);
  view->rows[view->num_rows++] = (ppi_view_row){section, indent};
  return cells;
}

void ppi_view_put_spread(ppi_cell *cells, const ppi_spread *spread,
                         uint64_t base_ns) {
  cells[0] = ppi_cell_time(spread->sum);
  cells[1] = ppi_cell_mean(spread->sum, spread->n);
  cells[2] = ppi_cell_time(spread->max);
  cells[3] = ppi_cell_time(spread->min);
  cells[4] = ppi_cell_ratio(to_signed(spread->sum), base_ns);
}

void ppi_view_note_base(ppi_view *view, const ppi_figures *figures) {
  const char *base = !figures->runs_without_steps ? "the union of ProfileStep"
                     : !figures->runs_with_steps
                         ? "the length of the recorded windows (no ProfileStep)"
                         : "the union of ProfileStep, and the length of the "
                           "windows where there is none";
  ppi_page_format(&view->note, "Ratio base: %s, ", base);
  ppi_page_fixed(&view->note, (double)figures->base_ns / 1e6, 2);
  ppi_page_text(&view->note, " ms.\n");
  if (figures->num_inputs > 1)
    ppi_page_format(&view->note,
                    "Times are united within each process and then summed "
                    "over %zu processes.\n",
                    figures->num_inputs);
}

void ppi_view_clear(ppi_view *view) {
  ppi_free(view->rows);
  ppi_free(view->cells);
  ppi_page_clear(&view->note);
  *view = (ppi_view){0};
}

static bool is_named(const char *names, const char *name) {
  size_t len = strlen(name);
  for (const char *at = names; at; at = strchr(at, ',')) {
    if (*at == ',') at++;
    if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
      return true;
  }
  return false;
}

static bool all_are_known(const char *names) {
  for (const char *at = names;; at++) {
    size_t len = strcspn(at, ",");
    bool known = false;
    for (size_t i = 0; i < NUM_VIEWS; i++)
      known |= strlen(view_kinds[i]->name) == len &&
               strncmp(view_kinds[i]->name, at, len) == 0;
    if (!known) return false;
    at += len;
    if (*at == '\0') return true;
  }
}

static pprof_status build_views(const ppi_figures *figures, const char *names,
                                ppi_view *views, size_t *out_num) {
  for (size_t i = 0; i < NUM_VIEWS; i++) {
    const ppi_view_kind *kind = view_kinds[i];
    if (names && !is_named(names, kind->name)) continue;
    ppi_view *view = &views[*out_num];
    *view = (ppi_view){.kind = kind};
    ++*out_num;
    pprof_status status = kind->build(figures, view);
    if (status != PPROF_STATUS_OK) return status;
    if (view->note.failed) return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

static void put_for_people(ppi_page *page, const ppi_figures *figures,
                           const ppi_view *views, size_t num_views,
                           const ppi_report_options *options,
                           ppi_report_format format) {
  for (size_t i = 0; i < num_views; i++) {
    if (views[i].only_when_named && !options->views) continue;
    if (format == PPI_FORMAT_TABLE)
      ppi_table_put(page, &views[i], options->time_unit);
    else
      ppi_markdown_put(page, &views[i], options->time_unit);
    ppi_page_text(page, "\n");
  }
  ppi_identity_put(page, figures, options->time_unit);
  ppi_trust_put(page, figures, options->time_unit);
}

static void put_csv(ppi_page *page, const ppi_view *views, size_t num_views) {
  for (size_t i = 0; i < num_views; i++) {
    if (i) ppi_page_text(page, "\n");
    ppi_csv_put(page, &views[i], num_views > 1);
  }
}

pprof_status ppi_report_write(const pprof_report *report,
                              const ppi_report_options *options,
                              ppi_report_format format, FILE *out) {
  if (!report || !out) return PPROF_STATUS_INVALID;
  if (options->views && !all_are_known(options->views))
    return PPROF_STATUS_INVALID;
  const ppi_figures *figures = ppi_report_figures(report);
  if (!figures) return PPROF_STATUS_BUSY;
  ppi_view views[NUM_VIEWS];
  ppi_page page = {0};
  size_t num = 0;
  pprof_status status = build_views(figures, options->views, views, &num);
  if (status == PPROF_STATUS_OK) {
    if (format == PPI_FORMAT_JSON)
      ppi_json_put(&page, figures, views, num);
    else if (format == PPI_FORMAT_CSV)
      put_csv(&page, views, num);
    else
      put_for_people(&page, figures, views, num, options, format);
    status = ppi_page_write(&page, out);
  }
  for (size_t i = 0; i < num; i++) ppi_view_clear(&views[i]);
  return status;
}

pprof_status pprof_report_write_table(const pprof_report *report,
                                      const char *views, FILE *out) {
  ppi_report_options options = {.views = views};
  return ppi_report_write(report, &options, PPI_FORMAT_TABLE, out);
}

pprof_status pprof_report_write_json(const pprof_report *report,
                                     const char *views, FILE *out) {
  ppi_report_options options = {.views = views};
  return ppi_report_write(report, &options, PPI_FORMAT_JSON, out);
}

pprof_status pprof_report_write_csv(const pprof_report *report,
                                    const char *views, FILE *out) {
  ppi_report_options options = {.views = views};
  return ppi_report_write(report, &options, PPI_FORMAT_CSV, out);
}
