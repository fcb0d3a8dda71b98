// SPDX-License-Identifier: Apache-2.0
//
// Where the time goes of what a run is made of: requests, or else steps, or
// else the run. Every moment counts once, so that the rows add up to the total.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/answer_line.h"
#include "view/findings_text.h"
#include "view/fit.h"
#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(INSIDE, "inside", NULL) \
  each(WHERE, "where", NULL) \
  each(TIME, "time_avg", "ns") \
  each(SHARE, "share", "%") \
  each(P50, "p50", "ns") \
  each(P99, "p99", "ns") \
  each(MOST, "max", "ns") \
  each(CALLS, "calls_avg", NULL) \
  each(TOTAL, "total", "ns") \
  each(ALL_CALLS, "calls", NULL)
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const ppi_table_column table_columns[] = {
    {"Name", 15, NAME, 1},      {"Where", 8, WHERE, 1}, {"Time", 8, TIME, 1},
    {"Share (%)", 9, SHARE, 1}, {"P50", 8, P50, 1},     {"P99", 8, P99, 1},
    {"Max", 8, MOST, 1},        {"Calls", 8, CALLS, 1},
};

// Below so many units the greatest one stands for P99.
#define FEW 100
// In the usual width; what a page has beyond it, or lacks, goes to names.
enum { NAME_WIDTH = 26, LEAST_NAME = 12, WHERE_WIDTH = 18, LEAST_WHERE = 8 };

// ---- rows ----

typedef struct ordered_row {
  const ppi_answer_row *row;
  uint64_t stage_ns;  // of the row that it is a part of, or its own
} ordered_row;

static int compare_rows(const void *left, const void *right) {
  const ordered_row *a = left, *b = right;
  if (a->stage_ns != b->stage_ns) return a->stage_ns > b->stage_ns ? -1 : 1;
  int order = strcmp(a->row->name, b->row->name);
  if (order == 0)
    order = (a->row->where > b->row->where) - (a->row->where < b->row->where);
  if (order == 0) order = strcmp(a->row->device, b->row->device);
  if (order != 0) return order;
  // The stage comes before its parts.
  if (!*a->row->child != !*b->row->child) return *a->row->child ? 1 : -1;
  if (a->row->total_ns != b->row->total_ns)
    return a->row->total_ns > b->row->total_ns ? -1 : 1;
  return strcmp(a->row->child, b->row->child);
}

static bool is_part_of(const ppi_answer_row *part,
                       const ppi_answer_row *stage) {
  return part->where == stage->where && strcmp(part->name, stage->name) == 0 &&
         strcmp(part->device, stage->device) == 0;
}

// Rows lie by name, where and device, the stage before its parts.
static ordered_row *order_rows(const ppi_answer *answer) {
  ordered_row *rows = ppi_alloc((answer->num_rows + 1) * sizeof *rows);
  const ppi_answer_row *stage = NULL;
  for (size_t i = 0; rows && i < answer->num_rows; i++) {
    const ppi_answer_row *row = &answer->rows[i];
    if (!*row->child) stage = row;
    bool has_stage = stage && is_part_of(row, stage);
    rows[i] = (ordered_row){row, has_stage ? stage->total_ns : row->total_ns};
  }
  if (rows && answer->num_rows > 1)
    qsort(rows, answer->num_rows, sizeof *rows, compare_rows);
  return rows;
}

static const char *name_of(ppi_view *view, const ppi_answer_row *row,
                           ppi_base_kind base) {
  if (row->where == PPI_WHERE_QUEUE)
    return ppi_view_text(view, "queueing for %s", row->device);
  if (row->where == PPI_WHERE_BETWEEN)
    return base == PPI_BASE_WALL ? "outside of stages" : "between stages";
  return *row->child ? row->child : row->name;
}

static const char *where_of(const ppi_answer_row *row) {
  switch (row->where) {
    case PPI_WHERE_DEVICE:
    case PPI_WHERE_QUEUE:
      return row->device;
    case PPI_WHERE_HOST:
      return "host";
    case PPI_WHERE_WAITING:
      return "waiting for others";
    case PPI_WHERE_BETWEEN:
      break;
  }
  return "";
}

static bool add_row(ppi_view *view, const ppi_answer *answer,
                    const ppi_answer_row *row, ppi_base_kind base) {
  const char *name = name_of(view, row, base);
  ppi_cell *cells = ppi_view_add_row(view, 0, *row->child != 0);
  if (!cells || !name) return false;
  cells[NAME] = ppi_cell_text(name);
  if (*row->child) cells[INSIDE] = ppi_cell_text(row->name);
  cells[WHERE] = ppi_cell_text(where_of(row));
  cells[TIME] = ppi_cell_mean(row->total_ns, answer->num_units);
  cells[SHARE] = ppi_cell_ratio((int64_t)row->total_ns, answer->total_ns);
  cells[TOTAL] = ppi_cell_time(row->total_ns);
  cells[MOST] = ppi_cell_time(row->max_ns);
  if (base != PPI_BASE_WALL) {
    cells[P50] = ppi_cell_time(ppi_answer_quantile(answer, row, 50));
    if (answer->num_units >= FEW)
      cells[P99] = ppi_cell_time(ppi_answer_quantile(answer, row, 99));
  }
  if (!row->calls) return true;
  cells[CALLS] =
      ppi_cell_decimal((double)row->calls / (double)answer->num_units);
  cells[ALL_CALLS] = ppi_cell_count(row->calls);
  return true;
}

static bool add_total(ppi_view *view, const ppi_answer *answer,
                      ppi_base_kind base) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[NAME] = ppi_cell_text("total");
  cells[WHERE] = ppi_cell_text("");
  cells[TIME] = ppi_cell_mean(answer->total_ns, answer->num_units);
  cells[SHARE] = ppi_cell_ratio((int64_t)answer->total_ns, answer->total_ns);
  cells[TOTAL] = ppi_cell_time(answer->total_ns);
  cells[MOST] = ppi_cell_time(answer->max_ns);
  if (base == PPI_BASE_WALL) return true;
  cells[P50] = ppi_cell_quantile(&answer->times, 50);
  if (answer->num_units >= FEW)
    cells[P99] = ppi_cell_quantile(&answer->times, 99);
  return true;
}

static pprof_status build(const ppi_figures *figures,
                          const ppi_report_options *options, ppi_view *out) {
  ppi_base_kind base = ppi_answer_base(figures);
  const ppi_answer *answer = &figures->answers[base];
  if (!answer->num_units || !answer->total_ns) {
    out->reason = "no time was recorded";
    return PPROF_STATUS_OK;
  }
  ordered_row *rows = order_rows(answer);
  bool added = rows != NULL;
  for (size_t i = 0; i < answer->num_rows && added; i++)
    if (rows[i].row->total_ns || rows[i].row->calls)
      added = add_row(out, answer, rows[i].row, base);
  ppi_free(rows);
  added = added && add_total(out, answer, base);
  out->unit = ppi_answer_unit(base);
  if (!added) return PPROF_STATUS_NO_MEMORY;
  ppi_answer_put_line(&out->note, figures, base);
  return ppi_findings_put(&out->note, figures, options->findings);
}

// ---- as a text ----

// Of more rows than so many, those below this share are shown as one.
#define LEAST_PERCENT 1
#define FEW_ROWS 12

typedef struct answer_text {
  ppi_page *page;
  const ppi_view *view;
  ppi_time_unit unit;
  size_t name_width, where_width;
} answer_text;

static const ppi_cell *total_of(const ppi_view *view) {
  return view->cells + (view->num_rows - 1) * NUM_COLUMNS;
}

static void put_time(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit) {
  ppi_page text = {0};
  if (cell->kind == PPI_CELL_TIME)
    ppi_page_three_time(&text, (double)cell->value / (double)cell->divisor,
                        unit);
  ppi_page_right(page, &text, 9);
  ppi_page_clear(&text);
}

static void put_share(ppi_page *page, const ppi_cell *cell) {
  double percent = 0;
  ppi_page text = {0};
  if (ppi_cell_is_ratio(cell, &percent)) {
    ppi_page_fixed(&text, percent, 0);
    ppi_page_text(&text, " %");
  }
  ppi_page_right(page, &text, 8);
  ppi_page_clear(&text);
}

static void put_calls(ppi_page *page, const ppi_cell *cell) {
  if (cell->kind != PPI_CELL_DECIMAL) return;
  double calls = cell->number;
  bool is_whole = calls == (double)(uint64_t)calls;
  ppi_page_text(page, "   ");
  if (is_whole)
    ppi_page_fixed(page, calls, 0);
  else
    ppi_page_three(page, calls);
}

// One run has no percentiles.
static void put_quantiles(const answer_text *text, const ppi_cell *cells) {
  const ppi_cell *total = total_of(text->view);
  if (total[P50].kind == PPI_CELL_NONE) return;
  bool has_p99 = total[P99].kind != PPI_CELL_NONE;
  put_time(text->page, &cells[P50], text->unit);
  put_time(text->page, &cells[has_p99 ? P99 : MOST], text->unit);
}

static void put_row(const answer_text *text, size_t at) {
  ppi_page *page = text->page;
  const ppi_cell *cells = text->view->cells + at * NUM_COLUMNS;
  bool is_part = text->view->rows[at].indent != 0;
  if (is_part) ppi_page_text(page, "\u2514\u2500 ");
  ppi_page_fit(page, cells[NAME].text, text->name_width - (is_part ? 3 : 0));
  ppi_page_text(page, "  ");
  ppi_page_fit(page, cells[WHERE].text, text->where_width);
  put_time(page, &cells[TIME], text->unit);
  put_share(page, &cells[SHARE]);
  put_quantiles(text, cells);
  put_calls(page, &cells[CALLS]);
  while (page->len && page->bytes[page->len - 1] == ' ') page->len--;
  ppi_page_text(page, "\n");
}

static bool is_small(const ppi_view *view, size_t at) {
  double percent = 0;
  const ppi_cell *cells = view->cells + at * NUM_COLUMNS;
  return ppi_cell_is_ratio(&cells[SHARE], &percent) && percent < LEAST_PERCENT;
}

// The time of stages whose rows are not shown, parts are in them.
static void put_small(const answer_text *text) {
  ppi_page *page = text->page;
  const ppi_view *view = text->view;
  const ppi_cell *total = total_of(view);
  uint64_t ns = 0, num = 0;
  for (size_t i = 0; i + 1 < view->num_rows; i++) {
    if (view->rows[i].indent || !is_small(view, i)) continue;
    ns += (uint64_t)view->cells[i * NUM_COLUMNS + TOTAL].value;
    num++;
  }
  if (!num) return;
  ppi_page name = {0};
  ppi_page_format(&name, "%llu below %d %%", (unsigned long long)num,
                  LEAST_PERCENT);
  if (!name.failed)
    ppi_page_fit(page, name.bytes, text->name_width + 2 + text->where_width);
  ppi_page_clear(&name);
  ppi_cell time = ppi_cell_mean(ns, total[TIME].divisor);
  ppi_cell share = ppi_cell_ratio((int64_t)ns, (uint64_t)total[TOTAL].value);
  put_time(page, &time, text->unit);
  put_share(page, &share);
  ppi_page_text(page, "\n");
}

static void put_heading(const answer_text *text) {
  const ppi_view *view = text->view;
  const ppi_cell *total = total_of(view);
  bool is_run = total[P50].kind == PPI_CELL_NONE;
  bool has_p99 = total[P99].kind != PPI_CELL_NONE;
  ppi_page title = {0}, unit = {0}, line = {0};
  ppi_page_format(&title, "Where %s %s's ", is_run ? "the" : "a", view->unit);
  ppi_page_fitting_time(
      &title, (double)total[TIME].value / (double)total[TIME].divisor);
  ppi_page_text(&title, " go");
  if (!title.failed)
    ppi_page_fit(&line, title.bytes, text->name_width + 2 + text->where_width);
  ppi_page_text(&unit, ppi_time_unit_name(text->unit));
  ppi_page_right(&line, &unit, 9);
  ppi_page_text(&line, "   share");
  if (!is_run) ppi_page_format(&line, "      p50%9s", has_p99 ? "p99" : "max");
  ppi_page_text(&line, "   calls");
  if (!is_run) ppi_page_format(&line, " a %s", view->unit);
  if (!line.failed) ppi_page_strong(text->page, line.bytes);
  ppi_page_text(text->page, "\n");
  text->page->failed |= title.failed || line.failed;
  ppi_page_clear(&title);
  ppi_page_clear(&unit);
  ppi_page_clear(&line);
}

static size_t widest(const ppi_view *view, size_t column) {
  size_t most = 0;
  for (size_t i = 0; i < view->num_rows; i++) {
    const char *text = view->cells[i * NUM_COLUMNS + column].text;
    size_t width = ppi_page_width(text, strlen(text)) +
                   (column == NAME && view->rows[i].indent ? 3 : 0);
    if (width > most) most = width;
  }
  return most;
}

static size_t within(size_t least, size_t value, size_t most) {
  return value < least ? least : value > most ? most : value;
}

// What a page has beyond the usual width is for names that need it.
static size_t widen(size_t usual, size_t wanted, size_t *room) {
  size_t more = within(0, wanted > usual ? wanted - usual : 0, *room);
  *room -= more;
  return usual + more;
}

// What it lacks is taken from names, down to the least that says something.
static size_t shrink(size_t usual, size_t least, size_t *lack) {
  size_t less = within(0, usual - least, *lack);
  *lack -= less;
  return usual - less;
}

static void set_widths(answer_text *text, bool is_wide) {
  size_t width = ppi_page_columns(text->page), usual = PPI_PAGE_WIDTH;
  size_t room = is_wide ? SIZE_MAX : width > usual ? width - usual : 0;
  size_t lack = is_wide || width > usual ? 0 : usual - width;
  text->name_width = widen(NAME_WIDTH, widest(text->view, NAME), &room);
  text->where_width = widen(WHERE_WIDTH, widest(text->view, WHERE), &room);
  if (!lack) return;
  text->where_width = shrink(WHERE_WIDTH, LEAST_WHERE, &lack);
  text->name_width = shrink(NAME_WIDTH, LEAST_NAME, &lack);
}

static void put_text(ppi_page *page, const ppi_view *view,
                     const ppi_report_options *options) {
  const ppi_cell *total = total_of(view);
  ppi_time_unit unit = options->has_time_unit
                           ? options->time_unit
                           : ppi_time_unit_of((double)total[TIME].value /
                                              (double)total[TIME].divisor);
  bool shows_all =
      options->top == 0 || options->top == -1 || view->num_rows <= FEW_ROWS;
  answer_text text = {.page = page, .view = view, .unit = unit};
  set_widths(&text, options->is_wide);
  ppi_page_bytes(page, view->note.bytes, view->note.len);
  ppi_page_text(page, "\n");
  put_heading(&text);
  for (size_t i = 0; i + 1 < view->num_rows; i++)
    if (shows_all || !is_small(view, i)) put_row(&text, i);
  if (!shows_all) put_small(&text);
  put_row(&text, view->num_rows - 1);
}

const ppi_view_kind ppi_view_answer = {
    .name = "answer",
    .title = "Answer",
    PPI_VIEW_LAYOUT(columns, table_columns),
    .has_time_unit = true,
    .named_only = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build,
    .put_text = put_text,
};
