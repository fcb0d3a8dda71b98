// SPDX-License-Identifier: Apache-2.0
//
// A view is a table of typed cells made from a report's figures. Each lives in
// one file that ends in its ppi_view_kind; the writers know no view by name.
#ifndef PPI_VIEW_H_
#define PPI_VIEW_H_

#include "report.h"
#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ppi_cell_kind {
  PPI_CELL_NONE = 0,    // does not apply: `-` in tables, null in JSON
  PPI_CELL_UNRESOLVED,  // below the clock error: `n/r`, null in JSON
  PPI_CELL_TEXT,
  PPI_CELL_COUNT,
  PPI_CELL_TIME,   // value / divisor nanoseconds
  PPI_CELL_RATIO,  // 100 * value / divisor percent
  PPI_CELL_RATE    // value / divisor GB/s
} ppi_cell_kind;

typedef struct ppi_cell {
  ppi_cell_kind kind;
  const char *text;  // the report's, or static
  int64_t value;
  uint64_t divisor;
} ppi_cell;

ppi_cell ppi_cell_text(const char *text);
ppi_cell ppi_cell_count(uint64_t count);
ppi_cell ppi_cell_time(uint64_t ns);
ppi_cell ppi_cell_unresolved(void);
ppi_cell ppi_cell_mean(uint64_t sum_ns, uint64_t n);
ppi_cell ppi_cell_rate(uint64_t bytes, uint64_t ns);  // none for no time
// ppi_cell_ratio: 0 of 0 is 0; anything else of 0 is none.
ppi_cell ppi_cell_ratio(int64_t part, uint64_t whole);
// ppi_cell_is_ratio also answers the value.
bool ppi_cell_is_ratio(const ppi_cell *cell, double *out_percent);

typedef struct ppi_column {
  const char *name;  // snake_case
  const char *unit;  // "ns", "%"; NULL: none
} ppi_column;

// How Paddle lays the view out: a table column shows one cell, or several
// joined by ` / `; it is as wide as its widest text, but no less than `width`.
typedef struct ppi_table_column {
  size_t width;
  size_t first_cell, num_cells;
} ppi_table_column;

// Rows come in sections, each under headings of its own.
typedef struct ppi_table_section {
  const char *const *headings;
  const char *banner;  // a line of dashes with this in its middle; NULL: none
} ppi_table_section;

typedef enum ppi_table_end {
  PPI_TABLE_END_NONE = 0,
  PPI_TABLE_END_RULE,
  PPI_TABLE_END_NOTE  // rule, note, line of dashes
} ppi_table_end;

typedef struct ppi_view ppi_view;
typedef struct ppi_view_kind {
  const char *name, *title;
  const ppi_column *columns;
  size_t num_columns;
  const ppi_table_column *table_columns;
  size_t num_table_columns;
  const ppi_table_section *sections;
  size_t num_sections;
  bool has_time_unit;
  ppi_table_end end;
  pprof_status (*build)(const ppi_figures *figures, ppi_view *out);
} ppi_view_kind;

typedef struct ppi_view_row {
  size_t section, indent;
} ppi_view_row;

struct ppi_view {
  const ppi_view_kind *kind;
  ppi_view_row *rows;
  ppi_cell *cells;  // kind->num_columns a row
  size_t num_rows, rows_capacity, cells_capacity;
  ppi_page note;
  bool only_when_named;  // has too little to show in a table of all views
};

// ppi_view_add_row answers the new row's cells, all none, until the next call;
// NULL when out of memory.
ppi_cell *ppi_view_add_row(ppi_view *view, size_t section, size_t indent);
// ppi_view_put_spread fills total, mean, max, min and ratio.
void ppi_view_put_spread(ppi_cell *cells, const ppi_spread *spread,
                         uint64_t base_ns);
// ppi_view_note_base says what ratios are of.
void ppi_view_note_base(ppi_view *view, const ppi_figures *figures);
void ppi_view_clear(ppi_view *view);

typedef enum ppi_time_unit {
  PPI_TIME_MS = 0,
  PPI_TIME_NS,
  PPI_TIME_US,
  PPI_TIME_S
} ppi_time_unit;

typedef enum ppi_report_format {
  PPI_FORMAT_TABLE = 0,
  PPI_FORMAT_CSV,
  PPI_FORMAT_JSON,
  PPI_FORMAT_MARKDOWN
} ppi_report_format;

typedef struct ppi_report_options {
  const char *views;        // "overview,model"; NULL: all
  ppi_time_unit time_unit;  // of tables and Markdown
} ppi_report_options;

// ppi_report_write writes a finished report; pprof_report_write_* call it.
// Errors: BUSY before finish; INVALID for a view that is not there; IO.
pprof_status ppi_report_write(const pprof_report *report,
                              const ppi_report_options *options,
                              ppi_report_format format, FILE *out);

// ppi_view_kinds lists all views in the order they are printed; NULL ends it.
const ppi_view_kind *const *ppi_view_kinds(void);

// The writers; each appends to `page`.
void ppi_table_put(ppi_page *page, const ppi_view *view, ppi_time_unit unit);
void ppi_markdown_put(ppi_page *page, const ppi_view *view, ppi_time_unit unit);
void ppi_csv_put(ppi_page *page, const ppi_view *view, bool with_name);
void ppi_json_put(ppi_page *page, const ppi_figures *figures,
                  const ppi_view *views, size_t num_views);
void ppi_trust_put(ppi_page *page, const ppi_figures *figures,
                   ppi_time_unit unit);
void ppi_trust_put_json(ppi_page *page, const ppi_figures *figures);
void ppi_identity_put(ppi_page *page, const ppi_figures *figures,
                      ppi_time_unit unit);
void ppi_identity_put_json(ppi_page *page, const ppi_figures *figures);

// ppi_page_integer rounds a count or a mean time to the nearest integer.
void ppi_page_integer(ppi_page *page, const ppi_cell *cell);
void ppi_page_time(ppi_page *page, double ns, ppi_time_unit unit);
const char *ppi_time_unit_name(ppi_time_unit unit);

#ifdef __cplusplus
}
#endif

#endif  // PPI_VIEW_H_
