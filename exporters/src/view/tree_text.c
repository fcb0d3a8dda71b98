// SPDX-License-Identifier: Apache-2.0
//
// The tree as a text: the columns that fit, names cut in the middle.
#include <string.h>

#include "view/fit.h"
#include "view/tree_rows.h"
#include "view/view_tree.h"
#include "view/wrapped.h"

// The columns in the order in which they are shown; of those that the width has
// no room for the last by rank go first: [1] with kernels. NEVER: unless it is
// named.
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
  each("calls", CALLS, 0, 0, 8, put_count) \
  each("kernels", KERNELS, NEVER, 1, 9, put_count) \
  each("launches", LAUNCHES, NEVER, 8, 10, put_count) \
  each("copies", COPIES, NEVER, 9, 8, put_count) \
  each("busy", BUSY, NEVER, 2, 9, put_time) \
  each("busy%", BUSY_SHARE, NEVER, 3, 7, put_share) \
  each("total", TOTAL, 1, NEVER, 9, put_time) \
  each("wall", WALL, 2, NEVER, 7, put_share) \
  each("self", SELF, 3, NEVER, 9, put_time) \
  each("avg", AVG, 4, 4, 9, put_time) \
  each("std", STD, 8, NEVER, 9, put_time) \
  each("p50", P50, 5, NEVER, 9, put_time) \
  each("p99", P99, 6, NEVER, 9, put_time) \
  each("span", SPAN, NEVER, 10, 9, put_time) \
  each("idle", IDLE, NEVER, 5, 7, put_share) \
  each("because", WHY, NEVER, 6, 14, put_word) \
  each("delay", DELAY, NEVER, 7, 9, put_time) \
  each("delay-p99", LATE, NEVER, 11, 11, put_time) \
  each("copied", COPIED, NEVER, 12, 9, put_bytes) \
  each("GB/s", COPY_RATE, NEVER, 13, 7, put_copy_rate) \
  each("by-wait", BY_WAIT, NEVER, 15, 9, put_count) \
  each("events", EVENTS, NEVER, 14, 9, put_time) \
  each("device", DEVICE, 7, NEVER, 9, put_time) \
  each("items/s", RATE, 9, NEVER, 9, put_rate) \
  each("user", USER, 10, NEVER, 9, put_time) \
  each("sys", SYS, 11, NEVER, 9, put_time) \
  each("run-queue", QUEUE, 12, NEVER, 11, put_time) \
  each("max", MOST, 13, NEVER, 9, put_time)
// clang-format on
#define SHOWN_COLUMN(name, cell, rank, kernels, width, put) \
  {name, PPI_TREE_##cell, {rank, kernels}, width, put},
#define SHOWN_NAME(name, cell, rank, kernels, width, put) "|" name
static const shown_column shown[] = {SHOWN(SHOWN_COLUMN)};
enum {
  NUM_SHOWN = sizeof shown / sizeof *shown,
  LEAST_NAME = 12,
  USUAL_NAME = 28,
  KERNEL_NAME = 36
};

static size_t find_column(const char *name, size_t len) {
  size_t i = 0;
  while (i < NUM_SHOWN && (strlen(shown[i].name) != len ||
                           memcmp(shown[i].name, name, len) != 0))
    i++;
  return i;
}

bool ppi_tree_knows(const char *names) {
  for (const char *at = names;; at++) {
    size_t len = strcspn(at, ",");
    if (find_column(at, len) == NUM_SHOWN) return false;
    at += len;
    if (!*at) return true;
  }
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
  size_t columns[NUM_SHOWN], num, name_width;
  bool all_few;  // the column p99 is the greatest of all rows
} tree_text;

static const ppi_cell *cells_of(const tree_text *text, size_t row) {
  return text->view->cells + row * PPI_TREE_NUM_COLUMNS;
}

static bool has_any(const tree_text *text, size_t column) {
  if (shown[column].cell == PPI_TREE_MOST && text->all_few) return false;
  for (size_t row = 0; row < text->view->num_rows; row++)
    if (cells_of(text, row)[shown[column].cell].kind != PPI_CELL_NONE)
      return true;
  return shown[column].cell == PPI_TREE_P99;
}

static void put_branch(ppi_page *page, const ppi_view *view, size_t row) {
  size_t indent = view->rows[row].indent;
  if (!indent) return;
  ppi_page_repeat(page, ' ', 2 * (indent - 1));
  ppi_page_text(page, "\u2514\u2500 ");
}

static void put_name(ppi_page *page, const tree_text *text, size_t row) {
  const ppi_cell *cells = cells_of(text, row);
  put_branch(page, text->view, row);
  if (*cells[PPI_TREE_WHERE].text == 'k') ppi_page_text(page, "\u00b7 ");
  ppi_page_visible(page, cells[PPI_TREE_NAME].text);
  if (*cells[PPI_TREE_WHERE].text != 'd') return;
  ppi_cell untimed = cells[PPI_TREE_UNTIMED];
  if (untimed.kind == PPI_CELL_NONE)
    ppi_page_text(page, " (device)");
  else if (untimed.value == cells[PPI_TREE_CALLS].value)
    ppi_page_text(page, " (device, no times)");
  else
    ppi_page_format(page, " (device, %lld without a time)",
                    (long long)untimed.value);
}

static size_t widest_name(const tree_text *text) {
  size_t widest = LEAST_NAME;
  ppi_page scratch = {0};
  for (size_t row = 0; row < text->view->num_rows; row++) {
    scratch.len = 0;
    put_name(&scratch, text, row);
    size_t width =
        scratch.failed ? 0 : ppi_page_width(scratch.bytes, scratch.len);
    if (width > widest) widest = width;
  }
  ppi_page_clear(&scratch);
  return widest;
}

static void take_named(tree_text *text) {
  for (const char *at = text->options->columns;; at++) {
    size_t len = strcspn(at, ",");
    size_t column = find_column(at, len);
    if (column < NUM_SHOWN && text->num < NUM_SHOWN)
      text->columns[text->num++] = column;
    at += len;
    if (!*at) return;
  }
}

// NUM_SHOWN: none has it.
static size_t of_rank(const tree_text *text, size_t rank) {
  size_t column = 0;
  while (column < NUM_SHOWN &&
         shown[column].ranks[text->options->has_kernels] != rank)
    column++;
  return column;
}

static void take_fitting(tree_text *text, size_t room) {
  bool fits[NUM_SHOWN] = {false};
  for (size_t rank = 0; rank < NUM_SHOWN; rank++) {
    size_t column = of_rank(text, rank);
    if (column == NUM_SHOWN || !has_any(text, column)) continue;
    if (room < shown[column].width) break;
    room -= shown[column].width;
    fits[column] = true;
  }
  for (size_t i = 0; i < NUM_SHOWN; i++)
    if (fits[i]) text->columns[text->num++] = i;
}

static void choose(tree_text *text) {
  size_t widest = widest_name(text), taken = 0;
  size_t width =
      text->options->is_wide ? SIZE_MAX : ppi_page_columns(text->page);
  size_t usual = text->options->has_kernels ? KERNEL_NAME : USUAL_NAME;
  size_t least = widest < usual ? widest : usual;
  text->all_few = true;
  for (size_t row = 0; row < text->view->num_rows; row++)
    text->all_few &= cells_of(text, row)[PPI_TREE_P99].kind == PPI_CELL_NONE;
  if (text->options->columns)
    take_named(text);
  else
    take_fitting(text, width > least ? width - least : 0);
  for (size_t i = 0; i < text->num; i++) taken += shown[text->columns[i]].width;
  text->name_width = width > taken + LEAST_NAME ? width - taken : LEAST_NAME;
  if (widest < text->name_width) text->name_width = widest;
}

static void put_cell(const tree_text *text, size_t row, size_t column) {
  const ppi_cell *cells = cells_of(text, row);
  const ppi_cell *cell = &cells[shown[column].cell];
  bool is_most =
      shown[column].cell == PPI_TREE_P99 && cell->kind == PPI_CELL_NONE;
  if (is_most) cell = &cells[PPI_TREE_MOST];
  ppi_page scratch = {0};
  bool in_unit = text->options->has_time_unit && shown[column].put == put_time;
  if (cell->kind == PPI_CELL_NONE)
    ppi_page_text(&scratch, "-");
  else
    (in_unit ? put_time_in : shown[column].put)(&scratch, cell,
                                                text->options->time_unit);
  if (is_most && !text->all_few) ppi_page_text(&scratch, "*");
  ppi_page_right(text->page, &scratch, shown[column].width);
  ppi_page_clear(&scratch);
}

static void put_headings(const tree_text *text) {
  ppi_page line = {0};
  ppi_page_fit(&line, text->options->is_flat ? "name" : "path",
               text->name_width);
  for (size_t i = 0; i < text->num; i++) {
    const shown_column *column = &shown[text->columns[i]];
    bool is_most = column->cell == PPI_TREE_P99 && text->all_few;
    ppi_page scratch = {0};
    ppi_page_text(&scratch, is_most ? "max" : column->name);
    ppi_page_right(&line, &scratch, column->width);
    ppi_page_clear(&scratch);
  }
  if (!line.failed) ppi_page_strong(text->page, line.bytes);
  text->page->failed |= line.failed;
  ppi_page_clear(&line);
  ppi_page_text(text->page, "\n");
}

static bool is_taken(const tree_text *text, size_t cell) {
  for (size_t i = 0; i < text->num; i++)
    if (shown[text->columns[i]].cell == cell) return true;
  return cell == PPI_TREE_MOST && text->all_few;
}

static void put_left_out(const tree_text *text) {
  ppi_page line = {0};
  for (size_t i = 0; i < NUM_SHOWN && !text->options->columns; i++) {
    if (is_taken(text, shown[i].cell) || !has_any(text, i)) continue;
    if (shown[i].ranks[text->options->has_kernels] == NEVER) continue;
    ppi_page_text(&line, line.len ? ", " : "No room for ");
    ppi_page_text(&line, shown[i].name);
  }
  if (line.len) {
    ppi_page_text(&line, ": --wide, or --columns A,B,...");
    if (!line.failed) ppi_page_wrapped(text->page, line.bytes, 0);
  }
  text->page->failed |= line.failed;
  ppi_page_clear(&line);
}

static void put_note(const tree_text *text) {
  ppi_page line = {0};
  ppi_page_bytes(&line, text->view->note.bytes, text->view->note.len);
  if (is_taken(text, PPI_TREE_RATE))
    ppi_page_text(&line,
                  " items/s: or calls where no items are stated, by own time "
                  "after warm-up.");
  if (is_taken(text, PPI_TREE_USER) || is_taken(text, PPI_TREE_RATE))
    ppi_page_text(&line, text->options->is_flat
                             ? ""
                             : " A rate and CPU times are known by name: one "
                               "that stands in several places has them in "
                               "--flat.");
  if (!line.failed) ppi_page_wrapped(text->page, line.bytes, 0);
  text->page->failed |= line.failed;
  ppi_page_clear(&line);
  if (!text->all_few && is_taken(text, PPI_TREE_P99))
    ppi_page_text(text->page,
                  "*: the greatest: fewer than 100 calls have no p99.\n");
}

static void put_part(ppi_page *line, const char *what, int64_t ns) {
  if (!ns) return;
  ppi_page_format(line, "%s ", what);
  ppi_page_fitting_time(line, (double)ns);
}

// Where events and kernels have timed the same stage, by how much they differ,
// and why: what of its events' time no kernel of its own ran.
static void put_apart(const tree_text *text, size_t row) {
  const ppi_cell *cells = cells_of(text, row);
  if (cells[PPI_TREE_EVENTS].kind == PPI_CELL_NONE) return;
  static const char *const gaps[] = {", not launched", ", launching",
                                     ", queued"};
  ppi_page line = {0};
  int64_t rest = (int64_t)cells[PPI_TREE_EVENTS].value -
                 (int64_t)cells[PPI_TREE_BUSY].value;
  ppi_page_visible(&line, cells[PPI_TREE_NAME].text);
  ppi_page_text(&line, ": ");
  ppi_page_fitting_time(&line, (double)cells[PPI_TREE_EVENTS].value);
  ppi_page_text(&line, " between events: kernels ");
  ppi_page_fitting_time(&line, (double)cells[PPI_TREE_BUSY].value);
  for (int i = 0; i < PPI_NUM_GAPS; i++) {
    int64_t ns = (int64_t)cells[PPI_TREE_NOT_LAUNCHED + i].value;
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

static bool is_kernel(const tree_text *text, size_t row) {
  return row < text->view->num_rows &&
         *cells_of(text, row)[PPI_TREE_WHERE].text == 'k';
}

// What the name looks like in its column.
static bool looks_like(const tree_text *text, size_t row, ppi_page *out) {
  ppi_page name = {0};
  put_name(&name, text, row);
  if (!name.failed) ppi_page_fit(out, name.bytes, text->name_width);
  out->failed |= name.failed;
  ppi_page_clear(&name);
  return !out->failed;
}

static size_t same_until(const tree_text *text, size_t row, size_t other) {
  ppi_page one = {0}, two = {0};
  size_t at = 0;
  put_name(&one, text, row);
  put_name(&two, text, other);
  while (!one.failed && !two.failed && at < one.len && at < two.len &&
         one.bytes[at] == two.bytes[at])
    at++;
  ppi_page_clear(&one);
  ppi_page_clear(&two);
  return at;
}

// Of thousands of kernels those around a row are compared with it.
enum { NEIGHBOURS = 64 };

// Where a kernel's name differs first from those of other kernels of its stage
// that look the same when they are cut; 0: none does.
static size_t differs_at(const tree_text *text, size_t row) {
  size_t from = row, at = 0;
  ppi_page own = {0};
  while (from > 0 && row - from < NEIGHBOURS && is_kernel(text, from - 1))
    from--;
  if (!is_kernel(text, row) || !looks_like(text, row, &own)) from = SIZE_MAX;
  for (; from != SIZE_MAX && from <= row + NEIGHBOURS && is_kernel(text, from);
       from++) {
    ppi_page other = {0};
    bool is_same = from != row && looks_like(text, from, &other) &&
                   other.len == own.len &&
                   memcmp(other.bytes, own.bytes, own.len) == 0;
    size_t same = is_same ? same_until(text, row, from) : 0;
    if (same && (!at || same < at)) at = same;
    ppi_page_clear(&other);
  }
  ppi_page_clear(&own);
  return at;
}

// Some characters before it, too: a number's first digits say nothing.
enum { BEFORE = 10, HEAD = 6 };

static void put_fitting_name(const tree_text *text, size_t row) {
  ppi_page name = {0};
  put_name(&name, text, row);
  size_t at = differs_at(text, row);
  size_t head = 2 * text->view->rows[row].indent + 3 + HEAD;
  if (at > BEFORE)
    ppi_page_fit_from(text->page, name.bytes, text->name_width, head,
                      at - BEFORE);
  else if (!name.failed)
    ppi_page_fit(text->page, name.bytes, text->name_width);
  text->page->failed |= name.failed;
  ppi_page_clear(&name);
}

void ppi_tree_put_text(ppi_page *page, const ppi_view *view,
                       const ppi_report_options *options) {
  tree_text text = {.page = page, .view = view, .options = options};
  choose(&text);
  put_headings(&text);
  for (size_t row = 0; row < view->num_rows; row++) {
    put_fitting_name(&text, row);
    for (size_t i = 0; i < text.num; i++) put_cell(&text, row, text.columns[i]);
    ppi_page_text(page, "\n");
  }
  ppi_page_text(page, "\n");
  put_note(&text);
  for (size_t row = 0; row < view->num_rows && options->has_kernels; row++)
    put_apart(&text, row);
  put_left_out(&text);
}
