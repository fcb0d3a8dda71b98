// SPDX-License-Identifier: Apache-2.0
//
// A view is a table of typed cells made from a report's figures. Its rows and
// columns are in one file and end in its ppi_view_kind; the writers know no
// view by name.
#pragma once

#include "report/report.h"
#include "view/report_options.h"

PPROF_BEGIN_C_

typedef enum ppi_cell_kind {
  PPI_CELL_NONE = 0,    // does not apply: `-` in tables, null in JSON
  PPI_CELL_UNRESOLVED,  // below the clock error: `n/r`, null in JSON
  PPI_CELL_TEXT,
  PPI_CELL_COUNT,
  PPI_CELL_TIME,    // value / divisor nanoseconds
  PPI_CELL_RATIO,   // 100 * value / divisor percent
  PPI_CELL_RATE,    // value / divisor GB/s
  PPI_CELL_WHOLE,   // number, without decimals
  PPI_CELL_DECIMAL  // number
} ppi_cell_kind;

typedef struct ppi_cell {
  ppi_cell_kind kind;
  const char *text;  // the report's, the view's, or static
  union {
    int64_t value;
    double number;
  };
  uint64_t divisor;
  bool at_max;         // a percentile of so few calls that it is their maximum
  signed char rounds;  // as an integer: < 0 down, > 0 up, 0 to the nearest
} ppi_cell;

ppi_cell ppi_cell_text(const char *text);
ppi_cell ppi_cell_count(uint64_t count);
ppi_cell ppi_cell_signed(int64_t count);
ppi_cell ppi_cell_time(uint64_t ns);
ppi_cell ppi_cell_unresolved(void);
ppi_cell ppi_cell_mean(uint64_t sum_ns, uint64_t n);
// ppi_cell_average, ppi_cell_most and ppi_cell_least leave out ranges that were
// cut.
ppi_cell ppi_cell_average(const ppi_spread *spread);
ppi_cell ppi_cell_most(const ppi_spread *spread);
ppi_cell ppi_cell_least(const ppi_spread *spread);
// ppi_cell_deviation is the deviation of a sample, to the nearest ns; none
// below two values.
ppi_cell ppi_cell_deviation(const ppi_spread *spread);
// ppi_cell_quantile is the quantile of nearest rank; none for no values.
ppi_cell ppi_cell_quantile(const ppi_histogram *histogram, unsigned percent);
// ppi_cell_rank is the quantile's rank among `n` sorted values, from 1 on.
uint64_t ppi_cell_rank(uint64_t n, unsigned percent);
ppi_cell ppi_cell_whole(double number);
ppi_cell ppi_cell_decimal(double number);
ppi_cell ppi_cell_rate(uint64_t bytes, uint64_t ns);  // none for no time
// ppi_cell_ratio: 0 of 0 is 0; anything else of 0 is none.
ppi_cell ppi_cell_ratio(int64_t part, uint64_t whole);
// ppi_cell_share is the ratio of the spread's sum.
ppi_cell ppi_cell_share(const ppi_spread *spread, uint64_t base_ns);
// Values of PPI_VIEW_TABLE: the cell, or none; the cell as it is.
#define ppi_cell_if(is_there, cell) ((is_there) ? (cell) : (ppi_cell){0})
#define ppi_cell_as(cell) (cell)
// ppi_cell_is_ratio also answers the value.
bool ppi_cell_is_ratio(const ppi_cell *cell, double *out_percent);

typedef struct ppi_column {
  const char *name;  // snake_case
  const char *unit;  // "ns", "%"; NULL: none
} ppi_column;

// How tables show a column. Paddle's layout joins cells by ` / `. Its column is
// as wide as its widest text, but at least `width`.
typedef struct ppi_layout {
  const char *heading;  // NULL: not in the layout; "": joins the one before
  unsigned char width;
  unsigned char brief;  // from 1 on: its place where not all have room
} ppi_layout;

// A view's columns, each once: `list(each)` has, in order, each(name, unit,
// heading, width, brief, value). NULL stands for no unit or no heading. The
// value is a ppi_cell_ function without its prefix, of what the row's function
// knows: `time(queue->device_ns)`.
#define PPI_VIEW_TABLE(id, list)                                  \
  static const ppi_column id##_columns[] = {list(PPI_COLUMN_OF)}; \
  static const ppi_layout id##_layout[] = {list(PPI_LAYOUT_OF)}
#define PPI_COLUMN_OF(name, unit, ...) {#name, unit},
#define PPI_LAYOUT_OF(name, unit, heading, width, brief, ...) \
  {heading, width, brief},
// The cells' numbers, CELL_name, for views that need them.
#define PPI_VIEW_CELLS(list) enum { list(PPI_CELL_OF) NUM_COLUMNS }
#define PPI_CELL_OF(name, ...) CELL_##name,
// Fills the cells of a list, in its order.
#define PPI_VIEW_PUT(list, cells)   \
  do {                              \
    ppi_cell *next_cell_ = (cells); \
    list(PPI_PUT_CELL)              \
  } while (0)
#define PPI_PUT_CELL(name, unit, heading, width, brief, value) \
  *next_cell_++ = ppi_cell_##value;

// A column of a table in another order: one cell, or several joined.
typedef struct ppi_table_column {
  const char *heading;
  size_t width;
  size_t first_cell, num_cells;
} ppi_table_column;

typedef enum ppi_table_end {
  PPI_TABLE_END_NOTE = 0,  // rule, note, line of dashes
  PPI_TABLE_END_RULE,
  PPI_TABLE_END_NONE
} ppi_table_end;

typedef struct ppi_view ppi_view;
typedef struct ppi_view_kind {
  const char *name, *title;
  const ppi_column *columns;
  size_t num_columns;
  const ppi_layout *layout;  // of each column; NULL: only for CSV and JSON
  // The layout's headings for the rows in section 1; NULL: all rows are in
  // section 0.
  const char *const *second_headings;
  // For a table in another order of columns; NULL: see `layout`.
  const ppi_table_column *table_columns;
  size_t num_table_columns;
  bool has_quantiles;  // JSON and CSV say which are at_max
  // A print of all views leaves it out.
  bool named_only;
  bool only_with_rows;  // without rows the view is left out
  bool note_first;      // Markdown has the note, as it is, above the table
  ppi_table_end end;
  const void *own;  // for the kind's functions
  // Without memory the view's note fails.
  void (*build)(const ppi_figures *figures, const ppi_report_options *options,
                ppi_view *out);
  // Merges rows in tables and Markdown; NULL: none.
  void (*fold)(ppi_view *view, const ppi_report_options *options);
  // The view as a text of its own form; NULL: as a table of the layout above.
  void (*put_text)(ppi_page *page, const ppi_view *view,
                   const ppi_report_options *options);
} ppi_view_kind;

// The members of the kind of a PPI_VIEW_TABLE.
#define PPI_VIEW_OF(id, its_name, its_title)                     \
  .name = its_name, .title = its_title, .columns = id##_columns, \
  .num_columns = sizeof id##_columns / sizeof *id##_columns,     \
  .layout = id##_layout
// A report's view, with members that are not usual.
#define PPI_VIEW(id, its_title, ...)                                    \
  const ppi_view_kind ppi_view_##id = {PPI_VIEW_OF(id, #id, its_title), \
                                       __VA_ARGS__}

// With more columns, Markdown shows so many, those with a brief place in order,
// and no empty one.
#define PPI_BRIEF_MOST 8
// ppi_view_rank ranks a column for tables without room for all: 0 stays, others
// go from the greatest on.
size_t ppi_view_rank(const ppi_view_kind *kind, size_t column);
// ppi_view_put_columns appends the names of columns as "a|b".
void ppi_view_put_columns(const ppi_view_kind *kind, ppi_page *out);

// The other parts of a row in tables; all NULL for most rows. Texts are the
// report's, the view's, or static.
typedef struct ppi_view_row {
  size_t section, indent;
  const char *title;  // the row begins a table of its own
  const char
      *banner;        // stands above the row, in the middle of a line of dashes
  const char *line;   // stands above the headings, in place of the row
  const char *label;  // stands in place of the first cell
} ppi_view_row;

struct ppi_view {
  const ppi_view_kind *kind;
  ppi_view_row *rows;
  ppi_cell *cells;  // kind->num_columns a row
  size_t num_rows, rows_capacity, cells_capacity;
  ppi_page note;
  char **texts;  // made by ppi_view_text
  size_t num_texts, texts_capacity;
  const char *reason;    // why the view is empty; NULL: it is not
  bool only_when_named;  // has too little to show in a table of all views
  const char *unit;      // unit that the times are of; NULL for most
  const char *more;      // heading of a further table column; NULL: none
  size_t more_cell;
};

// The five columns of a side's times: each(name, ...) for PPI_VIEW_TABLE. `b`
// to `b5` are their brief places.
// clang-format off
#define PPI_HOST_CELLS(each, b, b2, b3, b5, spread, base_ns) \
  each(cpu_total, "ns", "CPU Total / Avg / Max / Min / Ratio(%)", 40, b, \
       time((spread)->sum)) \
  each(cpu_avg, "ns", "", 0, b2, average(spread)) \
  each(cpu_max, "ns", "", 0, b3, most(spread)) \
  each(cpu_min, "ns", "", 0, 0, least(spread)) \
  each(cpu_ratio, "%", "", 0, b5, share(spread, base_ns))
#define PPI_DEVICE_CELLS(each, b, b2, b3, b5, spread, base_ns) \
  each(device_total, "ns", "GPU Total / Avg / Max / Min / Ratio(%)", 40, b, \
       time((spread)->sum)) \
  each(device_avg, "ns", "", 0, b2, average(spread)) \
  each(device_max, "ns", "", 0, b3, most(spread)) \
  each(device_min, "ns", "", 0, 0, least(spread)) \
  each(device_ratio, "%", "", 0, b5, share(spread, base_ns))
// clang-format on

// ppi_view_begin makes an empty view with room for a row; false: there is none.
bool ppi_view_begin(ppi_view *view, const ppi_view_kind *kind);
// ppi_view_add_row answers the new row's cells, all none, until the next call.
// Without memory it writes over the last row, and the view's note fails.
ppi_cell *ppi_view_add_row(ppi_view *view, size_t section, size_t indent);
// Sorted rows. Of items with equal keys, `names` decide, as far as there are
// any.
typedef struct ppi_ranked {
  const void *item, *of;  // the source's
  uint64_t key;           // the greatest comes first
  const char *names[3];
} ppi_ranked;
typedef struct ppi_view_source {
  const void *items;
  size_t num, size;  // of an item
  // Fills in the rest of `out`. False: the item has no row.
  bool (*rank)(const void *item, ppi_ranked *out);
  // Adds the item's rows.
  void (*put)(ppi_view *view, const void *item, const void *of);
  const void *of;
  long top;  // the most items; 0 or less: all
} ppi_view_source;
void ppi_view_put_sorted(ppi_view *view, const ppi_view_source *from);
// ppi_view_cells answers the cells of a row, until the next row is added.
static inline ppi_cell *ppi_view_cells(const ppi_view *view, size_t row) {
  return view->cells + row * view->kind->num_columns;
}
void ppi_view_move_row(ppi_view *view, size_t to, size_t from);
// ppi_view_last_row is the row that was added last.
ppi_view_row *ppi_view_last_row(ppi_view *view);
// ppi_view_text makes a text that lives as long as the view. Without memory it
// is empty, and the view's note fails.
const char *ppi_view_text(ppi_view *view, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// ppi_view_shorten makes a text of the first `len` bytes of `name`. Of more
// than `width` code points it keeps the first `kept` and appends "...".
const char *ppi_view_shorten(ppi_view *view, const char *name, size_t len,
                             size_t width, size_t kept);
// ppi_view_kernel_name is the name of a kernel as the options want it.
const char *ppi_view_kernel_name(ppi_view *view, const char *name,
                                 const ppi_report_options *options);
// ppi_view_put_at_max writes the names of the row's columns that are at_max,
// with blanks between; false: there are none.
bool ppi_view_put_at_max(const ppi_view *view, size_t row, ppi_page *out);
// The name of that column, and what `*` stands for in tables.
#define PPI_AT_MAX "at_max"
#define PPI_AT_MAX_NOTE                                                   \
  "*: the greatest of all: a P50 differs from it from 2 calls on, a P90 " \
  "from 10, a P99 from 100.\n"
// ppi_view_note_base notes the base of the ratios.
void ppi_view_note_base(ppi_view *view, const ppi_figures *figures);
void ppi_view_clear(ppi_view *view);

// Writes a cell for CSV and JSON, with equal numbers; `none` stands for no
// value.
void ppi_page_cell(ppi_page *page, const ppi_cell *cell,
                   void (*put_text)(ppi_page *, const char *),
                   const char *none);
// The same for tables and Markdown.
void ppi_page_table_cell(ppi_page *page, const ppi_cell *cell,
                         void (*put_text)(ppi_page *, const char *),
                         ppi_time_unit unit);
// ppi_view_add_up makes the mean times from row `first` on add up to the last
// row's in whole nanoseconds. It rounds the greatest remainders up, the others
// down. Indented rows are parts of others.
void ppi_view_add_up(ppi_view *view, size_t first, size_t column);
// ppi_page_integer rounds a count or a mean time as the cell says.
void ppi_page_integer(ppi_page *page, const ppi_cell *cell);

typedef enum ppi_sort_key {
  PPI_SORT_NONE = 0,
  PPI_SORT_HOST_TOTAL,
  PPI_SORT_HOST_MEAN,
  PPI_SORT_HOST_MAX,
  PPI_SORT_HOST_MIN,
  PPI_SORT_DEVICE_TOTAL,
  PPI_SORT_DEVICE_MEAN,
  PPI_SORT_DEVICE_MAX,
  PPI_SORT_DEVICE_MIN,
  PPI_SORT_SELF,
  PPI_SORT_P50,
  PPI_SORT_P90,
  PPI_SORT_P99,
  PPI_SORT_STD,
  PPI_SORT_CALLS,
  PPI_SORT_SELF_DEVICE,
  PPI_SORT_WALL,
  PPI_SORT_MEMORY,
  PPI_SORT_OWN_MEMORY,
  PPI_SORT_DEVICE_MEMORY,
  PPI_SORT_OWN_DEVICE_MEMORY
} ppi_sort_key;

// ppi_sort_is_known: `style` has the sort key. ppi_sort_keys lists its keys for
// messages, "cpu-total|cpu-avg|...".
bool ppi_sort_is_known(ppi_report_style style, const char *key);
const char *ppi_sort_keys(ppi_report_style style);

// ppi_sort_key_of is the caller's key, PPI_SORT_NONE without one.
ppi_sort_key ppi_sort_key_of(const ppi_report_options *options);
// ppi_cell_key is the value of such calls that `key` orders by: their total, if
// it is none of a spread.
ppi_cell ppi_cell_key(ppi_sort_key key, const ppi_spread *spread,
                      const ppi_histogram *times);
// ppi_cell_compare puts the greater value first, or the lesser one for a key
// that is a minimum. A cell that is none comes last.
int ppi_cell_compare(ppi_sort_key key, const ppi_cell *left,
                     const ppi_cell *right);

typedef struct ppi_aligned ppi_aligned;
typedef struct ppi_aligned_column {
  const char *heading;
  size_t cell, width;  // the least width
  bool is_left;
  void (*put)(ppi_page *page, const ppi_cell *cell, const ppi_aligned *table);
} ppi_aligned_column;

struct ppi_aligned {
  const ppi_view *view;
  const ppi_report_options *options;
  const ppi_aligned_column *columns;
  size_t num_columns, indent;
  bool is_framed;  // rules above the headings and below the rows
  double scale;    // for `put`
};

#define PPI_ALIGNED_MOST 16  // columns
void ppi_aligned_put(ppi_page *page, const ppi_aligned *table);

// ppi_aligned_put_name, ppi_aligned_put_count: the `put` of most columns.
void ppi_aligned_put_name(ppi_page *page, const ppi_cell *cell,
                          const ppi_aligned *table);
void ppi_aligned_put_count(ppi_page *page, const ppi_cell *cell,
                           const ppi_aligned *table);

PPROF_END_C_
