// SPDX-License-Identifier: Apache-2.0
//
// Writes the answer as text: one table for each answer, below the line of what
// ran.
#include "view/answer_text.h"

#include <stdint.h>
#include <string.h>

#include "view/fit.h"
#include "view/grid.h"
#include "view/wrapped.h"

enum { PPI_ANSWER_COLUMNS(PPI_COLUMN_CELL) NUM_COLUMNS };

enum { MOST_COLUMNS = 8 };

enum { ENOUGH_FOR_UNITS = 96 };

typedef struct answer_text {
  ppi_page *page;
  const ppi_view *view;
  const ppi_report_options *options;
  ppi_time_unit unit;
  size_t from, total;  // rows of one answer
  ppi_grid_column columns[MOST_COLUMNS];
  size_t cells[MOST_COLUMNS];
  ppi_page calls;  // heading of the calls
  ppi_grid grid;
} answer_text;

static const ppi_cell *cells_of(const ppi_view *view, size_t row) {
  return view->cells + row * NUM_COLUMNS;
}

static bool are_of_one(const ppi_view *view, size_t a, size_t b) {
  const ppi_cell *left = &cells_of(view, a)[OF],
                 *right = &cells_of(view, b)[OF];
  return left->kind == PPI_CELL_NONE || left->text == right->text;
}

size_t ppi_answer_total(const ppi_view *view, size_t from) {
  size_t total = from;
  while (total + 1 < view->num_rows && are_of_one(view, from, total + 1))
    total++;
  return total;
}

static const ppi_cell *total_of(const answer_text *text) {
  return cells_of(text->view, text->total);
}

static bool has_ranks(const answer_text *text) {
  return total_of(text)[LONGEST].kind != PPI_CELL_NONE;
}

// ---- cells ----

// Text on the left gets an extra blank after a column of numbers.
static void put_calls(ppi_page *page, const ppi_cell *cell) {
  double calls = cell->number;
  bool is_whole = calls == (double)(uint64_t)calls;
  ppi_page_text(page, " ");
  if (is_whole)
    ppi_page_fixed(page, calls, 0);
  else
    ppi_page_three(page, calls);
}

static void put_share(ppi_page *page, const ppi_cell *cell) {
  double percent = 0;
  ppi_cell_is_ratio(cell, &percent);
  ppi_page_fixed(page, percent, 0);
  ppi_page_text(page, " %");
}

static void put_cell(const answer_text *text, ppi_page *page, size_t row,
                     size_t cell) {
  const ppi_cell *cells = cells_of(text->view, row), *at = &cells[cell];
  bool is_equal = cells[RANK_MOST].value <= cells[RANK_LEAST].value;
  if (cell == NAME && text->view->rows[row].indent)
    ppi_page_text(page, "\u2514\u2500 ");
  if (at->kind == PPI_CELL_TEXT && !(cell == LONGEST && is_equal))
    ppi_page_visible(page, at->text);
  else if (at->kind == PPI_CELL_TIME)
    ppi_page_three_time(page, (double)at->value / (double)at->divisor,
                        text->unit);
  else if (at->kind == PPI_CELL_RATIO)
    put_share(page, at);
  else if (at->kind == PPI_CELL_DECIMAL)
    put_calls(page, at);
}

// ---- columns ----

static void take(answer_text *to, size_t cell, ppi_grid_column column) {
  const char *asked = to->options->columns;
  bool is_name = cell == NAME || cell == WHERE;
  column.is_out = asked && !is_name &&
                  !ppi_names_have(asked, to->view->kind->columns[cell].name);
  if (column.is_out) column.rank = 0;
  to->cells[to->grid.num_columns] = cell;
  to->columns[to->grid.num_columns++] = column;
}

// One run has no percentiles.
static void choose(answer_text *to) {
  const ppi_cell *total = total_of(to);
  const char *unit = to->view->unit;
  bool is_run = total[P50].kind == PPI_CELL_NONE;
  bool has_p99 = total[P99].kind != PPI_CELL_NONE;
  to->grid = (ppi_grid){.columns = to->columns};
  take(to, NAME,
       (ppi_grid_column){"", .least = 26, .floor = 12, .is_left = true});
  take(to, WHERE,
       (ppi_grid_column){"", .least = 18, .floor = 8, .is_left = true});
  take(to, TIME, (ppi_grid_column){ppi_time_unit_name(to->unit), .least = 7});
  take(to, SHARE, (ppi_grid_column){"share", .least = 6, .rank = 1});
  if (has_ranks(to)) {
    take(to, RANK_LEAST, (ppi_grid_column){"min", .least = 7, .rank = 4});
    take(to, RANK_MEDIAN, (ppi_grid_column){"median", .least = 7, .rank = 5});
    take(to, RANK_MOST, (ppi_grid_column){"max", .least = 7, .rank = 2});
    take(to, LONGEST,
         (ppi_grid_column){"longest", .rank = 3, .floor = 8, .is_left = true});
    return;
  }
  if (!is_run) {
    take(to, P50, (ppi_grid_column){"p50", .least = 7, .rank = 3});
    take(to, has_p99 ? P99 : MOST,
         (ppi_grid_column){has_p99 ? "p99" : "max", .least = 7, .rank = 2});
  }
  // The title names the unit, too; names need the room more.
  bool is_short = is_run || (!to->options->is_wide &&
                             ppi_page_columns(to->page) < ENOUGH_FOR_UNITS);
  ppi_page_format(&to->calls, is_short ? " calls" : " calls a%s %s",
                  *unit == 'i' ? "n" : "", unit);
  take(to, CALLS,
       (ppi_grid_column){to->calls.failed ? "" : to->calls.bytes,
                         .name = "calls", .rank = 6, .is_left = true});
}

// ---- the title ----

// "Where a request's 124 ms go"; short: "A request's 124 ms".
static void put_title(const answer_text *text, ppi_page *title, bool is_short) {
  const ppi_cell *total = total_of(text);
  const char *unit = text->view->unit;
  bool has_name = total[OF].kind != PPI_CELL_NONE;
  bool is_one = total[P50].kind == PPI_CELL_NONE && has_name;
  bool is_the = is_one || strcmp(unit, "run") == 0;
  const char *article = is_the ? "the" : *unit == 'i' ? "an" : "a";
  if (has_name) {
    ppi_page_visible(title, total[OF].text);
    ppi_page_text(title, is_short ? ": " : ": where ");
  } else if (is_short) {
    article = is_the ? "The" : *unit == 'i' ? "An" : "A";
  } else {
    ppi_page_text(title, "Where ");
  }
  ppi_page_format(title, "%s %s's ", article, unit);
  ppi_page_fitting_time(
      title, (double)total[TIME].value / (double)total[TIME].divisor);
  ppi_page_text(title, is_short ? "" : " go");
}

// The title stands above the names, in place of their headings.
static void put_heading(const answer_text *text) {
  ppi_page title = {0}, line = {0}, headings = {0};
  size_t room = text->columns[0].width + 2 + text->columns[1].width;
  put_title(text, &title, false);
  if (!title.failed && ppi_page_width(title.bytes, title.len) > room) {
    title.len = 0;
    put_title(text, &title, true);
  }
  ppi_grid_put_headings(&headings, &text->grid);
  if (!title.failed && !headings.failed) {
    ppi_page_fit(&line, title.bytes, room);
    ppi_page_bytes(&line, headings.bytes + room, headings.len - room - 1);
  }
  if (!line.failed && line.len) ppi_page_strong(text->page, line.bytes);
  ppi_page_text(text->page, "\n");
  text->page->failed |= title.failed || line.failed || headings.failed;
  ppi_page_clear(&title);
  ppi_page_clear(&line);
  ppi_page_clear(&headings);
}

// The rows from `text->from` on, up to their total.
static void put_table(answer_text *text, const ppi_report_options *options) {
  const ppi_cell *total = total_of(text);
  ppi_grid *grid = &text->grid;
  text->unit = options->has_time_unit
                   ? options->time_unit
                   : ppi_time_unit_of((double)total[TIME].value /
                                      (double)total[TIME].divisor);
  choose(text);
  for (size_t row = text->from; row <= text->total; row++)
    for (size_t i = 0; i < grid->num_columns; i++) {
      put_cell(text, &grid->text, row, text->cells[i]);
      ppi_grid_end_cell(grid);
    }
  ppi_grid_fit(grid,
               options->is_wide ? SIZE_MAX : ppi_page_columns(text->page));
  ppi_page_text(text->page, "\n");
  ppi_grid_put_prefix(text->page, grid);
  put_heading(text);
  for (size_t row = 0; row <= text->total - text->from; row++)
    ppi_grid_put_row(text->page, grid, row);
  ppi_grid_put_left_out(text->page, grid);
  if (has_ranks(text))
    ppi_page_wrapped(text->page,
                     "min, median and max are over the averages of ranks; for "
                     "each rank: --by rank",
                     0);
  ppi_page_clear(&text->calls);
  ppi_grid_clear(grid);
}

void ppi_answer_put_text(ppi_page *page, const ppi_view *view,
                         const ppi_report_options *options) {
  answer_text text = {.page = page, .view = view, .options = options};
  ppi_page_wrapped_lines(page, &view->note);
  for (size_t at = 0; at < view->num_rows; at = text.total + 1) {
    text.from = at;
    text.total = ppi_answer_total(view, at);
    put_table(&text, options);
  }
}
