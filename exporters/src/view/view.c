// SPDX-License-Identifier: Apache-2.0
//
// Fills the cells and rows of views, and writes a cell in each format.
#include "view/view.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rank.h"
#include "view/fit.h"
#include "view/grid.h"

static int64_t to_signed(uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static ppi_cell integer(ppi_cell_kind kind, int64_t value, uint64_t divisor) {
  return (ppi_cell){.kind = kind, .value = value, .divisor = divisor};
}

ppi_cell ppi_cell_text(const char *text) {
  return (ppi_cell){.kind = PPI_CELL_TEXT, .text = text};
}

ppi_cell ppi_cell_count(uint64_t count) {
  return integer(PPI_CELL_COUNT, to_signed(count), 1);
}

ppi_cell ppi_cell_signed(int64_t count) {
  return integer(PPI_CELL_COUNT, count, 1);
}

ppi_cell ppi_cell_time(uint64_t ns) {
  return integer(PPI_CELL_TIME, to_signed(ns), 1);
}

ppi_cell ppi_cell_unresolved(void) {
  return (ppi_cell){.kind = PPI_CELL_UNRESOLVED};
}

ppi_cell ppi_cell_mean(uint64_t sum_ns, uint64_t n) {
  if (n == 0) return (ppi_cell){0};
  return integer(PPI_CELL_TIME, to_signed(sum_ns), n);
}

ppi_cell ppi_cell_rate(uint64_t bytes, uint64_t ns) {
  if (ns == 0) return (ppi_cell){0};
  return integer(PPI_CELL_RATE, to_signed(bytes), ns);
}

ppi_cell ppi_cell_whole(double number) {
  return (ppi_cell){.kind = PPI_CELL_WHOLE, .number = number};
}

ppi_cell ppi_cell_decimal(double number) {
  return (ppi_cell){.kind = PPI_CELL_DECIMAL, .number = number};
}

ppi_cell ppi_cell_ratio(int64_t part, uint64_t whole) {
  if (whole == 0 && part != 0) return (ppi_cell){0};
  return integer(PPI_CELL_RATIO, part, whole ? whole : 1);
}

ppi_cell ppi_cell_share(const ppi_spread *spread, uint64_t base_ns) {
  return ppi_cell_ratio(to_signed(spread->sum), base_ns);
}

bool ppi_cell_is_ratio(const ppi_cell *cell, double *out_percent) {
  if (cell->kind != PPI_CELL_RATIO) return false;
  *out_percent = (double)cell->value / (double)cell->divisor * 100.0;
  return true;
}

// The square root, rounded down, bit by bit.
static uint64_t root(unsigned __int128 square) {
  uint64_t found = 0;
  for (int bit = 63; bit >= 0; bit--) {
    unsigned __int128 next = found | (uint64_t)1 << bit;
    if (next * next <= square) found = (uint64_t)next;
  }
  return found;
}

ppi_cell ppi_cell_average(const ppi_spread *spread) {
  const ppi_spread whole = ppi_spread_whole(spread);
  return ppi_cell_mean(whole.sum, whole.n);
}

static bool is_all_cut(const ppi_spread *spread) {
  return spread->n && spread->n == spread->num_cut;
}

ppi_cell ppi_cell_most(const ppi_spread *spread) {
  return is_all_cut(spread) ? (ppi_cell){0} : ppi_cell_time(spread->max);
}

ppi_cell ppi_cell_least(const ppi_spread *spread) {
  return is_all_cut(spread) ? (ppi_cell){0} : ppi_cell_time(spread->min);
}

// The variance is (n * sum of squares - sum^2) / (n * (n - 1)). Its root is r
// to the nearest when (2r - 1)^2 <= 4 * variance < (2r + 1)^2. Integers
// therefore give it exactly, as long as the product fits.
ppi_cell ppi_cell_deviation(const ppi_spread *spread) {
  typedef unsigned __int128 wide;
  const ppi_spread whole = ppi_spread_whole(spread);
  if (whole.n < 2) return (ppi_cell){0};
  wide n = whole.n, sum = whole.sum, squares, fourfold;
  if (!__builtin_mul_overflow(n, spread->sum_squares, &squares) &&
      !__builtin_mul_overflow(squares - sum * sum, (wide)4, &fourfold))
    return ppi_cell_time(root(fourfold / (n * (n - 1))) / 2 +
                         root(fourfold / (n * (n - 1))) % 2);
  long double mean = (long double)sum / (long double)n;
  long double variance =
      ((long double)spread->sum_squares - mean * (long double)sum) /
      (long double)(n - 1);
  return ppi_cell_time(variance > 0 ? (uint64_t)(sqrtl(variance) + 0.5L) : 0);
}

uint64_t ppi_cell_rank(uint64_t n, unsigned percent) {
  return ppi_rank_of(n, percent * PPI_RANK_PERCENT);
}

ppi_cell ppi_cell_quantile(const ppi_histogram *histogram, unsigned percent) {
  if (!histogram || !histogram->n) return (ppi_cell){0};
  uint64_t rank = ppi_cell_rank(histogram->n, percent);
  ppi_cell cell = ppi_cell_time(ppi_histogram_at(histogram, rank));
  cell.at_max = rank == histogram->n;
  return cell;
}

bool ppi_view_put_at_max(const ppi_view *view, size_t row, ppi_page *out) {
  const ppi_view_kind *kind = view->kind;
  bool any = false;
  for (size_t i = 0; i < kind->num_columns; i++) {
    if (!view->cells[row * kind->num_columns + i].at_max) continue;
    ppi_page_format(out, any ? " %s" : "%s", kind->columns[i].name);
    any = true;
  }
  return any;
}

size_t ppi_view_rank(const ppi_view_kind *kind, size_t column) {
  if (column == 0) return 0;
  return kind->layout[column].brief ? kind->layout[column].brief
                                    : UCHAR_MAX + column;
}

void ppi_view_put_columns(const ppi_view_kind *kind, ppi_page *out) {
  for (size_t i = 0; i < kind->num_columns; i++)
    if (kind->columns[i].name)
      ppi_page_format(out, out->len ? "|%s" : "%s", kind->columns[i].name);
}

static bool has_room(ppi_view *view, size_t num_rows) {
  return PPI_ROOM(view->rows, view->rows_capacity, num_rows) &&
         PPI_ROOM(view->cells, view->cells_capacity,
                  num_rows * view->kind->num_columns);
}

bool ppi_view_begin(ppi_view *view, const ppi_view_kind *kind) {
  *view = (ppi_view){.kind = kind};
  return has_room(view, 1);
}

ppi_cell *ppi_view_add_row(ppi_view *view, size_t section, size_t indent) {
  size_t num = view->kind->num_columns;
  if (!has_room(view, view->num_rows + 1)) {
    view->note.failed = true;
    if (!view->num_rows) return NULL;
    view->num_rows--;
  }
  ppi_cell *cells = view->cells;
  cells += view->num_rows * num;
  memset(cells, 0, num * sizeof *cells);
  view->rows[view->num_rows++] =
      (ppi_view_row){.section = section, .indent = indent};
  return cells;
}

static int compare_ranked(const void *left, const void *right) {
  const ppi_ranked *a = left, *b = right;
  if (a->key != b->key) return a->key > b->key ? -1 : 1;
  int order = 0;
  for (size_t i = 0; i < 3 && a->names[i] && order == 0; i++)
    order = strcmp(a->names[i], b->names[i]);
  return order;
}

void ppi_view_put_sorted(ppi_view *view, const ppi_view_source *from) {
  ppi_ranked *rows = ppi_alloc((from->num + 1) * sizeof *rows);
  size_t num = 0;
  view->note.failed |= !rows;
  for (size_t i = 0; i < from->num && rows; i++) {
    const void *item = (const char *)from->items + i * from->size;
    rows[num] = (ppi_ranked){.item = item, .of = from->of};
    num += from->rank(item, &rows[num]);
  }
  if (num > 1) qsort(rows, num, sizeof *rows, compare_ranked);
  if (from->top > 0) num = PPI_MIN(num, (size_t)from->top);
  for (size_t i = 0; i < num && !view->note.failed; i++)
    from->put(view, rows[i].item, from->of);
  ppi_free(rows);
}

void ppi_view_move_row(ppi_view *view, size_t to, size_t from) {
  view->rows[to] = view->rows[from];
  memmove(ppi_view_cells(view, to), ppi_view_cells(view, from),
          view->kind->num_columns * sizeof *view->cells);
}

ppi_view_row *ppi_view_last_row(ppi_view *view) {
  return &view->rows[view->num_rows - 1];
}

const char *ppi_view_text(ppi_view *view, const char *format, ...) {
  bool has_place =
      PPI_ROOM(view->texts, view->texts_capacity, view->num_texts + 1);
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int len = vsnprintf(NULL, 0, format, arguments);
  char *text = len < 0 || !has_place ? NULL : ppi_alloc((size_t)len + 1);
  if (text) vsnprintf(text, (size_t)len + 1, format, again);
  va_end(again);
  va_end(arguments);
  if (text) view->texts[view->num_texts++] = text;
  view->note.failed |= !text;
  return text ? text : "";
}

const char *ppi_view_shorten(ppi_view *view, const char *name, size_t len,
                             size_t width, size_t kept) {
  if (ppi_page_width(name, len) <= width)
    return ppi_view_text(view, "%.*s", (int)len, name);
  len = ppi_fit_bytes(name, len, kept);
  return ppi_view_text(view, "%.*s...", (int)len, name);
}

const char *ppi_view_kernel_name(ppi_view *view, const char *name,
                                 const ppi_report_options *options) {
  if (options->has_full_names) return name;
  ppi_page page = {0};
  ppi_kernel_name_short(&page, name);
  view->note.failed |= page.failed;
  const char *text = ppi_view_text(view, "%.*s", (int)page.len, page.bytes);
  ppi_page_clear(&page);
  return text;
}

void ppi_view_note_base(ppi_view *view, const ppi_figures *figures) {
  const char *base = !figures->runs_without_steps ? "the union of the steps"
                     : !figures->runs_with_steps
                         ? "the length of the recorded windows (no steps)"
                         : "the union of the steps, and the length of the "
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
  for (size_t i = 0; i < view->num_texts; i++) ppi_free(view->texts[i]);
  PPI_FREE_ALL(view->texts, view->rows, view->cells);
  ppi_page_clear(&view->note);
  *view = (ppi_view){0};
}

// ---- whole nanoseconds that add up ----

typedef struct rounded {
  ppi_cell *cell;
  uint64_t ns;  // remainder of rounding down, by the divisor
} rounded;

PPI_ORDER(compare_rests, rounded, PPI_DOWN(ns) PPI_UP(cell))

void ppi_view_add_up(ppi_view *view, size_t first, size_t column) {
  size_t num = 0, width = view->kind->num_columns, total = view->num_rows - 1;
  const ppi_cell *sum = &view->cells[total * width + column];
  if (sum->kind != PPI_CELL_TIME) return;
  rounded *rests = ppi_alloc((total - first + 1) * sizeof *rests);
  view->note.failed |= !rests;
  if (!rests) return;
  uint64_t left = ((uint64_t)sum->value + sum->divisor / 2) / sum->divisor;
  for (size_t i = first; i < total; i++) {
    ppi_cell *cell = &view->cells[i * width + column];
    if (view->rows[i].indent || cell->kind != PPI_CELL_TIME) continue;
    rests[num++] = (rounded){cell, (uint64_t)cell->value % cell->divisor};
    left -= (uint64_t)cell->value / cell->divisor;
  }
  if (num > 1) qsort(rests, num, sizeof *rests, compare_rests);
  for (size_t i = 0; i < num; i++) rests[i].cell->rounds = i < left ? 1 : -1;
  ppi_free(rests);
}

// The nearest integer, for the mean of integers. Rounding up or down is for
// values that are not negative.
void ppi_page_integer(ppi_page *page, const ppi_cell *cell) {
  int64_t value = cell->value, divisor = (int64_t)cell->divisor;
  int64_t whole = value / divisor, rest = value % divisor;
  bool is_up = cell->rounds ? cell->rounds > 0 : rest >= divisor - rest;
  if (rest > 0 && is_up) whole++;
  if (rest < 0 && -rest >= divisor + rest) whole--;
  ppi_page_format(page, "%lld", (long long)whole);
}

void ppi_page_cell(ppi_page *page, const ppi_cell *cell,
                   void (*put_text)(ppi_page *, const char *),
                   const char *none) {
  double percent;
  switch (cell->kind) {
    case PPI_CELL_NONE:
    case PPI_CELL_UNRESOLVED:
      ppi_page_text(page, none);
      break;
    case PPI_CELL_TEXT:
      put_text(page, cell->text);
      break;
    case PPI_CELL_COUNT:
    case PPI_CELL_TIME:
      ppi_page_integer(page, cell);
      break;
    case PPI_CELL_RATIO:
      if (ppi_cell_is_ratio(cell, &percent)) ppi_page_short(page, percent);
      break;
    case PPI_CELL_RATE:
      ppi_page_short(page, (double)cell->value / (double)cell->divisor);
      break;
    case PPI_CELL_WHOLE:
      ppi_page_fixed(page, cell->number, 0);
      break;
    case PPI_CELL_DECIMAL:
      ppi_page_short(page, cell->number);
      break;
  }
}

// Two decimal places; a value that would be 0.00 has three digits.
static void put_decimal(ppi_page *page, double value) {
  bool is_tiny = value > 0 && value < 0.005;
  ppi_page_fixed(page, value, is_tiny ? ppi_page_decimals(value, 2) : 2);
}

void ppi_page_table_cell(ppi_page *page, const ppi_cell *cell,
                         void (*put_text)(ppi_page *, const char *),
                         ppi_time_unit unit) {
  double percent;
  switch (cell->kind) {
    case PPI_CELL_UNRESOLVED:
      ppi_page_text(page, "n/r");
      break;
    case PPI_CELL_TIME:
      ppi_page_time(page, (double)cell->value / (double)cell->divisor, unit);
      break;
    case PPI_CELL_RATIO:
      if (ppi_cell_is_ratio(cell, &percent)) ppi_page_fixed(page, percent, 2);
      break;
    case PPI_CELL_RATE:
      put_decimal(page, (double)cell->value / (double)cell->divisor);
      break;
    case PPI_CELL_DECIMAL:
      put_decimal(page, cell->number);
      break;
    default:
      ppi_page_cell(page, cell, put_text, "-");
  }
}

// ---- keys of order ----

typedef struct key_name {
  ppi_report_style style;
  ppi_sort_key key;
  const char *name, *other;  // `other`: the framework's name; or NULL
} key_name;

// Each style's keys: each(key, name, other).
// clang-format off
#define PADDLE_KEYS(each) \
  each(HOST_TOTAL, "cpu-total", "CPUTotal") \
  each(HOST_MEAN, "cpu-avg", "CPUAvg") \
  each(HOST_MAX, "cpu-max", "CPUMax") \
  each(HOST_MIN, "cpu-min", "CPUMin") \
  each(DEVICE_TOTAL, "gpu-total", "GPUTotal") \
  each(DEVICE_MEAN, "gpu-avg", "GPUAvg") \
  each(DEVICE_MAX, "gpu-max", "GPUMax") \
  each(DEVICE_MIN, "gpu-min", "GPUMin") \
  each(SELF, "self", NULL) \
  each(P50, "p50", NULL) \
  each(P90, "p90", NULL) \
  each(P99, "p99", NULL) \
  each(STD, "std", NULL) \
  each(CALLS, "calls", NULL)
#define TORCH_KEYS(each) \
  each(HOST_MEAN, "cpu_time", NULL) \
  each(DEVICE_MEAN, "cuda_time", "device_time") \
  each(HOST_TOTAL, "cpu_time_total", NULL) \
  each(DEVICE_TOTAL, "cuda_time_total", "device_time_total") \
  each(SELF, "self_cpu_time_total", NULL) \
  each(SELF_DEVICE, "self_cuda_time_total", "self_device_time_total") \
  each(MEMORY, "cpu_memory_usage", NULL) \
  each(OWN_MEMORY, "self_cpu_memory_usage", NULL) \
  each(DEVICE_MEMORY, "cuda_memory_usage", "device_memory_usage") \
  each(OWN_DEVICE_MEMORY, "self_cuda_memory_usage", "self_device_memory_usage") \
  each(CALLS, "count", NULL)
#define NSYS_KEYS(each) \
  each(HOST_TOTAL, "total", NULL) \
  each(HOST_MEAN, "avg", NULL) \
  each(P50, "med", NULL) \
  each(HOST_MIN, "min", NULL) \
  each(HOST_MAX, "max", NULL) \
  each(STD, "std", NULL) \
  each(CALLS, "instances", NULL)
#define TREE_KEYS(each) \
  each(HOST_TOTAL, "total", NULL) \
  each(WALL, "wall", NULL) \
  each(SELF, "self", NULL) \
  each(HOST_MEAN, "avg", NULL) \
  each(STD, "std", NULL) \
  each(P50, "p50", NULL) \
  each(P99, "p99", NULL) \
  each(HOST_MAX, "max", NULL) \
  each(DEVICE_TOTAL, "device", NULL) \
  each(CALLS, "calls", NULL)
#define TREE(key, name, other) {PPI_STYLE_TREE, PPI_SORT_##key, name, other},
#define PADDLE(key, name, other) {PPI_STYLE_PADDLE, PPI_SORT_##key, name, other},
#define TORCH(key, name, other) {PPI_STYLE_TORCH, PPI_SORT_##key, name, other},
#define NSYS(key, name, other) {PPI_STYLE_NSYS, PPI_SORT_##key, name, other},
#define LISTED(key, name, other) "|" name
// clang-format on

static const key_name key_names[] = {PADDLE_KEYS(PADDLE) TORCH_KEYS(TORCH)
                                         NSYS_KEYS(NSYS) TREE_KEYS(TREE)};

static ppi_sort_key find(ppi_report_style style, const char *name) {
  for (size_t i = 0; i < sizeof key_names / sizeof *key_names; i++) {
    const key_name *at = &key_names[i];
    if (at->style == style && (strcmp(at->name, name) == 0 ||
                               (at->other && strcmp(at->other, name) == 0)))
      return at->key;
  }
  return PPI_SORT_NONE;
}

bool ppi_sort_is_known(ppi_report_style style, const char *key) {
  return find(style, key) != PPI_SORT_NONE;
}

const char *ppi_sort_keys(ppi_report_style style) {
  static const char *const lists[] = {[PPI_STYLE_PADDLE] = PADDLE_KEYS(LISTED),
                                      [PPI_STYLE_TORCH] = TORCH_KEYS(LISTED),
                                      [PPI_STYLE_NSYS] = NSYS_KEYS(LISTED),
                                      [PPI_STYLE_ANSWER] = "|none",
                                      [PPI_STYLE_TREE] = TREE_KEYS(LISTED)};
  return lists[style] + 1;
}

ppi_sort_key ppi_sort_key_of(const ppi_report_options *options) {
  return options->sort ? find(options->style, options->sort) : PPI_SORT_NONE;
}

ppi_cell ppi_cell_key(ppi_sort_key key, const ppi_spread *spread,
                      const ppi_histogram *times) {
  switch (key) {
    case PPI_SORT_HOST_MEAN:
    case PPI_SORT_DEVICE_MEAN:
      return ppi_cell_average(spread);
    case PPI_SORT_HOST_MAX:
    case PPI_SORT_DEVICE_MAX:
      return ppi_cell_most(spread);
    case PPI_SORT_HOST_MIN:
    case PPI_SORT_DEVICE_MIN:
      return ppi_cell_least(spread);
    case PPI_SORT_P50:
      return ppi_cell_quantile(times, 50);
    case PPI_SORT_P90:
      return ppi_cell_quantile(times, 90);
    case PPI_SORT_P99:
      return ppi_cell_quantile(times, 99);
    case PPI_SORT_STD:
      return ppi_cell_deviation(spread);
    case PPI_SORT_CALLS:
      return ppi_cell_count(ppi_spread_calls(spread));
    default:
      return ppi_cell_time(spread->sum);
  }
}

int ppi_cell_compare(ppi_sort_key key, const ppi_cell *left,
                     const ppi_cell *right) {
  bool is_none[] = {left->kind == PPI_CELL_NONE, right->kind == PPI_CELL_NONE};
  if (is_none[0] || is_none[1]) return is_none[0] - is_none[1];
  __int128 a = (__int128)left->value * (__int128)right->divisor;
  __int128 b = (__int128)right->value * (__int128)left->divisor;
  bool is_minimum = key == PPI_SORT_HOST_MIN || key == PPI_SORT_DEVICE_MIN;
  int order = a < b ? 1 : a > b ? -1 : 0;
  return is_minimum ? -order : order;
}

// ---- tables of the styles ----

static void put_cell(ppi_page *page, const ppi_aligned *table, size_t row,
                     size_t column, bool is_whole) {
  const ppi_view *view = table->view;
  const ppi_aligned_column *shown = &table->columns[column];
  const ppi_cell *cell =
      &view->cells[row * view->kind->num_columns + shown->cell];
  if (shown->cell == 0 && view->rows[row].label && is_whole)
    ppi_page_visible(page, view->rows[row].label);
  else
    shown->put(page, cell, table);
}

static bool is_shown(const ppi_aligned *table,
                     const ppi_aligned_column *column) {
  const char *asked = table->options->columns;
  return !asked || column->put == ppi_aligned_put_name ||
         ppi_names_have(asked, table->view->kind->columns[column->cell].name);
}

void ppi_aligned_put(ppi_page *page, const ppi_aligned *table) {
  ppi_grid_column columns[PPI_ALIGNED_MOST];
  ppi_grid grid = {.columns = columns, .indent = table->indent};
  bool is_whole = table->options->is_wide;
  size_t from_of[PPI_ALIGNED_MOST];
  for (size_t i = 0; i < table->num_columns; i++) {
    const ppi_aligned_column *from = &table->columns[i];
    if (!is_shown(table, from)) continue;
    from_of[grid.num_columns] = i;
    columns[grid.num_columns++] = (ppi_grid_column){
        .heading = from->heading,
        .name = table->view->kind->columns[from->cell].name,
        .least =
            is_whole || from->put != ppi_aligned_put_name ? from->width : 0,
        .floor = from->put == ppi_aligned_put_name ? PPI_FLOOR_OF_NAMES : 0,
        .rank = from->put == ppi_aligned_put_name
                    ? 0
                    : ppi_view_rank(table->view->kind, from->cell),
        .is_left = from->is_left};
  }
  for (size_t row = 0; row < table->view->num_rows; row++)
    for (size_t i = 0; i < grid.num_columns; i++) {
      put_cell(&grid.text, table, row, from_of[i], is_whole);
      ppi_grid_end_cell(&grid);
    }
  ppi_grid_fit(&grid, is_whole ? SIZE_MAX : ppi_page_columns(page));
  ppi_grid_put_prefix(page, &grid);
  if (table->is_framed) ppi_grid_put_rule(page, &grid);
  ppi_grid_put_headings(page, &grid);
  ppi_grid_put_rule(page, &grid);
  for (size_t row = 0; row < table->view->num_rows; row++)
    ppi_grid_put_row(page, &grid, row);
  if (table->is_framed) ppi_grid_put_rule(page, &grid);
  ppi_grid_put_left_out(page, &grid);
  ppi_grid_clear(&grid);
}

void ppi_aligned_put_name(ppi_page *page, const ppi_cell *cell,
                          const ppi_aligned *table) {
  (void)table;
  ppi_page_visible(page, cell->text);
}

void ppi_aligned_put_count(ppi_page *page, const ppi_cell *cell,
                           const ppi_aligned *table) {
  (void)table;
  ppi_page_cell(page, cell, ppi_page_visible, "-");
}
