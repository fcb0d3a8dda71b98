// SPDX-License-Identifier: Apache-2.0
//
// Writes the tree as text: the columns that fit, names cut in the middle.

#include "view/fit.h"
#include "view/grid.h"
#include "view/tree_rows.h"

// The columns in the order of display. On a narrow page the greatest rank is
// left out first: ranks[1] with kernels, else ranks[0]. NEVER: shown only if it
// is named.
typedef struct shown_column {
  const char *name;  // also that of --columns
  size_t cell;
  size_t ranks[2], width;
  void (*put)(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit);
} shown_column;
#define NEVER 99u

static void put_time(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit) {
  (void)unit;
  ppi_page_fitting_time(page, (double)cell->value / (double)cell->divisor);
}

static void put_time_in(ppi_page *page, const ppi_cell *cell,
                        ppi_time_unit unit) {
  ppi_page_three_time(page, (double)cell->value / (double)cell->divisor, unit);
}

static void put_count(ppi_page *page, const ppi_cell *cell,
                      ppi_time_unit unit) {
  ppi_page_table_cell(page, cell, ppi_page_visible, unit);
}

static void put_share(ppi_page *page, const ppi_cell *cell,
                      ppi_time_unit unit) {
  double percent = 0;
  (void)unit;
  if (!ppi_cell_is_ratio(cell, &percent)) return;
  ppi_page_fixed(page, percent, percent < 9.95 && percent > 0 ? 1 : 0);
  ppi_page_text(page, " %");
}

static void put_rate(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit) {
  bool is_rare = cell->number > 0 && cell->number < 0.001;
  (void)unit;
  ppi_page_rate(page, is_rare ? 3600 * cell->number : cell->number);
  ppi_page_text(page, is_rare ? "/h" : "");
}

static void put_word(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit) {
  (void)unit;
  ppi_page_text(page, cell->text);
}

static void put_bytes(ppi_page *page, const ppi_cell *cell,
                      ppi_time_unit unit) {
  (void)unit;
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = (double)cell->value;
  size_t i = 0;
  for (; value >= 999.5 && i + 1 < sizeof units / sizeof *units; i++)
    value /= 1000;
  ppi_page_three(page, value);
  ppi_page_format(page, " %s", units[i]);
}

static void put_copy_rate(ppi_page *page, const ppi_cell *cell,
                          ppi_time_unit unit) {
  (void)unit;
  ppi_page_three(page, (double)cell->value / (double)cell->divisor);
}

// clang-format off
#define SHOWN(each) \
  each("calls", calls, 0, 0, 8, put_count) \
  each("kernels", kernels, NEVER, 1, 9, put_count) \
  each("launches", launches, NEVER, 8, 10, put_count) \
  each("copies", copies, NEVER, 9, 8, put_count) \
  each("busy", busy, NEVER, 2, 9, put_time) \
  each("busy%", busy_share, NEVER, 3, 7, put_share) \
  each("total", total, 1, NEVER, 9, put_time) \
  each("wall", wall_share, 2, NEVER, 7, put_share) \
  each("self", self, 3, NEVER, 9, put_time) \
  each("avg", avg, 4, 4, 9, put_time) \
  each("std", std, 8, NEVER, 9, put_time) \
  each("p50", p50, 5, NEVER, 9, put_time) \
  each("p99", p99, 6, NEVER, 9, put_time) \
  each("span", span, NEVER, 10, 9, put_time) \
  each("idle", idle_share, NEVER, 5, 7, put_share) \
  each("because", idle_cause, NEVER, 6, 14, put_word) \
  each("delay", launch_delay_p50, NEVER, 7, 9, put_time) \
  each("delay-p99", launch_delay_p99, NEVER, 11, 11, put_time) \
  each("copied", copied, NEVER, 12, 9, put_bytes) \
  each("GB/s", copy_rate, NEVER, 13, 7, put_copy_rate) \
  each("by-wait", by_wait, NEVER, 15, 9, put_count) \
  each("events", events, NEVER, 14, 9, put_time) \
  each("device", device, 7, NEVER, 9, put_time) \
  each("items/s", rate_own, 9, NEVER, 9, put_rate) \
  each("user", user, 10, NEVER, 9, put_time) \
  each("sys", sys, 11, NEVER, 9, put_time) \
  each("run-queue", run_queue, 12, NEVER, 11, put_time) \
  each("max", max, 13, NEVER, 9, put_time)
// clang-format on
#define SHOWN_COLUMN(name, cell, rank, kernels, width, put) \
  {name, PPI_TREE_##cell, {rank, kernels}, width, put},
#define SHOWN_NAME(name, cell, rank, kernels, width, put) "|" name
static const shown_column shown[] = {SHOWN(SHOWN_COLUMN)};
enum {
  NUM_SHOWN = sizeof shown / sizeof *shown,
  USUAL_NAME = 28,
  KERNEL_NAME = 36,
  DEEPEST = 10
};

static size_t find_column(const char *name, size_t len) {
  size_t i = 0;
  while (i < NUM_SHOWN && (strlen(shown[i].name) != len ||
                           memcmp(shown[i].name, name, len) != 0))
    i++;
  return i;
}

const char *ppi_tree_columns(void) {
  return &("" SHOWN(SHOWN_NAME))[1];
}

bool ppi_tree_wants_use(const char *names) {
  for (const char *at = names; at; at = strchr(at, ',')) {
    if (*at == ',') at++;
    size_t column = find_column(at, strcspn(at, ","));
    if (column < NUM_SHOWN && shown[column].ranks[0] == NEVER) return true;
  }
  return false;
}

typedef struct tree_text {
  ppi_page *page;
  const ppi_view *view;
  const ppi_report_options *options;
  ppi_grid_column columns[NUM_SHOWN + 1];
  size_t taken[NUM_SHOWN];  // columns behind the name
  ppi_grid grid;
  bool all_few;  // the column p99 is the greatest of all rows
} tree_text;

static bool has_any(const tree_text *text, size_t column) {
  if (shown[column].cell == PPI_TREE_max && text->all_few) return false;
  for (size_t row = 0; row < text->view->num_rows; row++)
    if (ppi_view_cells(text->view, row)[shown[column].cell].kind !=
        PPI_CELL_NONE)
      return true;
  return shown[column].cell == PPI_TREE_p99;
}

// A row deeper than DEEPEST stands there, and its level before its name.
static void put_branch(ppi_page *page, const ppi_view *view, size_t row) {
  size_t indent = view->rows[row].indent;
  if (!indent) return;
  ppi_page_repeat(page, ' ', 2 * (PPI_MIN(indent, DEEPEST) - 1));
  ppi_page_text(page, "\u2514\u2500 ");
  if (indent > DEEPEST) ppi_page_format(page, "(%zu) ", indent);
}

static void put_name(ppi_page *page, const tree_text *text, size_t row) {
  const ppi_cell *cells = ppi_view_cells(text->view, row);
  put_branch(page, text->view, row);
  if (*cells[PPI_TREE_where].text == 'k') ppi_page_text(page, "\u00b7 ");
  ppi_page_visible(page, cells[PPI_TREE_name].text);
  if (*cells[PPI_TREE_where].text != 'd') return;
  ppi_cell untimed = cells[PPI_TREE_untimed];
  if (untimed.kind == PPI_CELL_NONE)
    ppi_page_text(page, " (device)");
  else if (untimed.value == cells[PPI_TREE_calls].value)
    ppi_page_text(page, " (device, no times)");
  else
    ppi_page_format(page, " (device, %lld without a time)",
                    (long long)untimed.value);
}

static void take(tree_text *text, size_t at, size_t rank) {
  bool is_most = shown[at].cell == PPI_TREE_p99 && text->all_few;
  if (text->grid.num_columns > NUM_SHOWN) return;
  text->taken[text->grid.num_columns - 1] = at;
  // Two of its columns are the gap.
  text->columns[text->grid.num_columns++] =
      (ppi_grid_column){.heading = is_most ? "max" : shown[at].name,
                        .name = shown[at].name,
                        .least = shown[at].width - 2,
                        .rank = rank};
}

static void take_named(tree_text *text) {
  size_t rank = 1;
  for (const char *at = text->options->columns;; at++) {
    size_t len = strcspn(at, ",");
    size_t column = find_column(at, len);
    if (column < NUM_SHOWN) take(text, column, rank++);
    at += len;
    if (!*at) return;
  }
}

static void choose(tree_text *text) {
  bool has_kernels = text->options->has_kernels;
  text->all_few = true;
  for (size_t row = 0; row < text->view->num_rows; row++)
    text->all_few &=
        ppi_view_cells(text->view, row)[PPI_TREE_p99].kind == PPI_CELL_NONE;
  text->grid = (ppi_grid){.columns = text->columns,
                          .num_columns = 1,
                          .has_full_names = text->options->has_full_names};
  text->columns[0] =
      (ppi_grid_column){.heading = text->options->is_flat ? "name" : "path",
                        .floor = has_kernels ? KERNEL_NAME : USUAL_NAME,
                        .is_left = true};
  if (text->options->columns) take_named(text);
  for (size_t i = 0; i < NUM_SHOWN && !text->options->columns; i++)
    if (shown[i].ranks[has_kernels] != NEVER && has_any(text, i))
      take(text, i, shown[i].ranks[has_kernels] + 1);
}

static void put_cell(tree_text *text, size_t row, size_t column) {
  const ppi_cell *cells = ppi_view_cells(text->view, row);
  const ppi_cell *cell = &cells[shown[column].cell];
  bool is_most =
      shown[column].cell == PPI_TREE_p99 && cell->kind == PPI_CELL_NONE;
  if (is_most) cell = &cells[PPI_TREE_max];
  bool in_unit = text->options->has_time_unit && shown[column].put == put_time;
  if (cell->kind == PPI_CELL_NONE)
    ppi_page_text(&text->grid.text, "-");
  else
    (in_unit ? put_time_in : shown[column].put)(&text->grid.text, cell,
                                                text->options->time_unit);
  if (is_most && !text->all_few) ppi_page_text(&text->grid.text, "*");
}

static bool is_taken(const tree_text *text, size_t cell) {
  for (size_t i = 1; i < text->grid.num_columns; i++)
    if (shown[text->taken[i - 1]].cell == cell && !text->columns[i].is_out)
      return true;
  return false;
}

static bool has_deeper(const ppi_view *view) {
  for (size_t row = 0; row < view->num_rows; row++)
    if (view->rows[row].indent > DEEPEST) return true;
  return false;
}

static void put_note(const tree_text *text) {
  ppi_page line = {0};
  ppi_page_bytes(&line, text->view->note.bytes, text->view->note.len);
  if (is_taken(text, PPI_TREE_rate_own))
    ppi_page_text(&line,
                  " items/s: or calls where no items are stated, by own time "
                  "after warm-up.");
  if (is_taken(text, PPI_TREE_user) || is_taken(text, PPI_TREE_rate_own))
    ppi_page_text(&line, text->options->is_flat
                             ? ""
                             : " A rate and CPU times are known by name: one "
                               "that stands in several places has them in "
                               "--flat.");
  if (!line.failed) ppi_page_wrapped(text->page, line.bytes, 0);
  text->page->failed |= line.failed;
  ppi_page_clear(&line);
  if (!text->all_few && is_taken(text, PPI_TREE_p99))
    ppi_page_text(text->page,
                  "*: the greatest: fewer than 100 calls have no p99.\n");
  if (has_deeper(text->view))
    ppi_page_text(text->page, "(n): the row is n levels deep.\n");
}

static void put_part(ppi_page *line, const char *what, int64_t ns) {
  if (!ns) return;
  ppi_page_format(line, "%s ", what);
  ppi_page_fitting_time(line, (double)ns);
}

// Writes the difference if events and kernels timed the same stage, and its
// reasons. A reason is time between the events without a kernel of the stage.
static void put_apart(const tree_text *text, size_t row) {
  const ppi_cell *cells = ppi_view_cells(text->view, row);
  if (cells[PPI_TREE_events].kind == PPI_CELL_NONE) return;
  static const char *const gaps[] = {", not launched", ", launching",
                                     ", queued"};
  ppi_page line = {0};
  int64_t rest = (int64_t)cells[PPI_TREE_events].value -
                 (int64_t)cells[PPI_TREE_busy].value;
  ppi_page_visible(&line, cells[PPI_TREE_name].text);
  ppi_page_text(&line, ": ");
  ppi_page_fitting_time(&line, (double)cells[PPI_TREE_events].value);
  ppi_page_text(&line, " between events: kernels ");
  ppi_page_fitting_time(&line, (double)cells[PPI_TREE_busy].value);
  for (int i = 0; i < PPI_NUM_GAPS; i++) {
    int64_t ns = (int64_t)cells[PPI_TREE_idle_not_launched + i].value;
    put_part(&line, gaps[i], ns);
    rest -= ns;
  }
  put_part(&line,
           rest > 0 ? ", before the first and behind the last"
                    : ", of that outside of these events",
           rest > 0 ? rest : -rest);
  if (!line.failed) ppi_page_wrapped(text->page, line.bytes, 2);
  text->page->failed |= line.failed;
  ppi_page_clear(&line);
}

static void put_table(tree_text *text) {
  ppi_grid *grid = &text->grid;
  choose(text);
  for (size_t row = 0; row < text->view->num_rows; row++)
    for (size_t i = 0; i < grid->num_columns; i++) {
      if (i == 0)
        put_name(&grid->text, text, row);
      else
        put_cell(text, row, text->taken[i - 1]);
      ppi_grid_end_cell(grid);
    }
  ppi_grid_fit(
      grid, text->options->is_wide ? SIZE_MAX : ppi_page_columns(text->page));
  ppi_grid_put_prefix(text->page, grid);
  ppi_grid_put_headings(text->page, grid);
  for (size_t row = 0; row < text->view->num_rows; row++)
    ppi_grid_put_row(text->page, grid, row);
}

void ppi_tree_put_text(ppi_page *page, const ppi_view *view,
                       const ppi_report_options *options) {
  tree_text text = {.page = page, .view = view, .options = options};
  put_table(&text);
  ppi_page_text(page, "\n");
  put_note(&text);
  for (size_t row = 0; row < view->num_rows && options->has_kernels; row++)
    put_apart(&text, row);
  ppi_grid_put_left_out(page, &text.grid);
  ppi_grid_clear(&text.grid);
}
