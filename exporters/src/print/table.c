// SPDX-License-Identifier: Apache-2.0
//
// Prints views as text tables in Paddle's layout: left-aligned columns, rules
// of dashes, titles centred in dashes. On a narrow page each cell has a column,
// and the least important ones are left out.

#include "print/printers.h"
#include "view/fit.h"
#include "view/grid.h"

enum { MAX_COLUMNS = 64, MORE_WIDTH = 10, FLOOR_OF_TEXTS = 24 };

// One table: rows `first` to `end` of the view, without their lines.
typedef struct table {
  ppi_page *page;
  const ppi_view *view;
  const ppi_report_options *options;
  size_t first, end;
  ppi_table_column layout[MAX_COLUMNS];
  ppi_grid_column columns[MAX_COLUMNS];
  ppi_page headings;
  ppi_grid grid;
  bool is_laid_out;  // as Paddle has it
} table;

static void put_cells(table *to, size_t row, size_t column) {
  ppi_page *page = &to->grid.text;
  const ppi_table_column *layout = &to->layout[column];
  const ppi_cell *cells = ppi_view_cells(to->view, row) + layout->first_cell;
  const ppi_view_row *shown = &to->view->rows[row];
  if (column == 0) ppi_page_repeat(page, ' ', shown->indent);
  if (column == 0 && shown->label && (to->is_laid_out || !cells[0].text)) {
    ppi_page_visible(page, shown->label);
    return;
  }
  for (size_t i = 0; i < layout->num_cells; i++) {
    // The mark takes a blank's place, so that columns stay as wide.
    if (i) ppi_page_text(page, cells[i - 1].at_max ? "*/ " : " / ");
    ppi_page_table_cell(page, &cells[i], ppi_page_visible,
                        to->options->time_unit);
  }
  if (cells[layout->num_cells - 1].at_max) ppi_page_text(page, "*");
}

// ---- columns ----

static ppi_cell_kind kind_of(const table *from, size_t column) {
  for (size_t row = from->first; row < from->end; row++)
    if (ppi_view_cells(from->view, row)[column].kind != PPI_CELL_NONE &&
        !from->view->rows[row].line)
      return ppi_view_cells(from->view, row)[column].kind;
  return PPI_CELL_NONE;
}

static void add_column(table *to, const ppi_table_column *layout,
                       const ppi_grid_column *column) {
  if (to->grid.num_columns == MAX_COLUMNS) return;
  to->layout[to->grid.num_columns] = *layout;
  to->columns[to->grid.num_columns++] = *column;
}

static void lay_out_one(table *to, const ppi_table_column *from,
                        bool is_narrow) {
  const char *const *seconds = to->view->kind->second_headings;
  const char *second = seconds ? seconds[to->grid.num_columns] : "";
  const ppi_grid_column column = {
      .heading = from->heading,
      .least = PPI_MAX(is_narrow ? 0 : from->width,
                       ppi_page_width(second, strlen(second))),
      .is_left = true,
      .floor = to->grid.num_columns ? 0 : PPI_FLOOR_OF_NAMES};
  add_column(to, from, &column);
}

// Sets the width of each column: Paddle's, or that of its texts.
static void lay_out(table *to, bool is_narrow) {
  const ppi_view *view = to->view;
  const ppi_layout *layout = view->kind->layout;
  const ppi_table_column more = {view->more, MORE_WIDTH, view->more_cell, 1};
  to->is_laid_out = true;
  to->grid.num_columns = 0;
  for (size_t i = 0; i < view->kind->num_table_columns; i++)
    lay_out_one(to, &view->kind->table_columns[i], is_narrow);
  for (size_t i = 0; layout && i < view->kind->num_columns; i++) {
    if (!layout[i].heading) continue;
    const ppi_table_column own = {layout[i].heading, layout[i].width, i, 1};
    if (*layout[i].heading)
      lay_out_one(to, &own, is_narrow);
    else
      to->layout[to->grid.num_columns - 1].num_cells++;
  }
  if (view->more) lay_out_one(to, &more, is_narrow);
}

// The name of a column, or its heading in the layout if it has one alone; NULL:
// it has none.
static const char *name_of(const ppi_view_kind *kind, size_t column) {
  const char *name = kind->columns[column].name;
  if (name || !kind->layout) return name;
  bool is_alone = column + 1 == kind->num_columns ||
                  !kind->layout[column + 1].heading ||
                  *kind->layout[column + 1].heading;
  name = kind->layout[column].heading;
  return is_alone && name && *name ? name : NULL;
}

// A heading such as "share (%)"; the title has the unit of times.
static const char *heading_of(table *to, size_t at) {
  const ppi_column *column = &to->view->kind->columns[at];
  const char *name = name_of(to->view->kind, at);
  size_t start = to->headings.len;
  bool has_unit = column->unit && strcmp(column->unit, "ns") != 0;
  ppi_page_format(&to->headings, has_unit ? "%s (%s)" : "%s", name,
                  column->unit);
  ppi_page_repeat(&to->headings, '\0', 1);
  return to->headings.failed ? "" : to->headings.bytes + start;
}

static bool is_asked(const table *of, size_t column) {
  const char *asked = of->options->columns;
  const char *name = name_of(of->view->kind, column);
  return column == 0 || (name && ppi_names_have(asked, name));
}

static bool has_asked(const table *of) {
  for (size_t i = 1; of->options->columns && i < of->view->kind->num_columns;
       i++)
    if (is_asked(of, i)) return true;
  return false;
}

static void take_apart(table *to) {
  const ppi_view_kind *kind = to->view->kind;
  bool has_named = has_asked(to);
  to->is_laid_out = false;
  to->grid.num_columns = 0;
  // Reserves room for headings, which point into this page.
  for (size_t i = 0; i < kind->num_columns; i++)
    if (name_of(kind, i)) heading_of(to, i);
  to->headings.len = 0;
  for (size_t i = 0; i < kind->num_columns; i++) {
    if (!name_of(kind, i)) continue;
    bool is_text = kind_of(to, i) == PPI_CELL_TEXT || i == 0;
    bool is_shown =
        has_named ? is_asked(to, i) : i == 0 || kind_of(to, i) != PPI_CELL_NONE;
    const ppi_table_column layout = {NULL, 0, i, 1};
    const ppi_grid_column column = {.heading = heading_of(to, i),
                                    .name = name_of(kind, i),
                                    .is_left = is_text,
                                    .floor = i == 0    ? PPI_FLOOR_OF_NAMES
                                             : is_text ? FLOOR_OF_TEXTS
                                                       : 0,
                                    .rank = ppi_view_rank(kind, i)};
    if (is_shown) add_column(to, &layout, &column);
  }
}

static void fill(table *to) {
  ppi_grid_clear(&to->grid);
  for (size_t row = to->first; row < to->end; row++)
    for (size_t i = 0; i < to->grid.num_columns && !to->view->rows[row].line;
         i++) {
      put_cells(to, row, i);
      ppi_grid_end_cell(&to->grid);
    }
}

static void choose(table *to) {
  bool is_wide = to->options->is_wide;
  size_t most = is_wide ? SIZE_MAX : ppi_page_columns(to->page);
  lay_out(to, false);
  fill(to);
  if (ppi_grid_needs(&to->grid) > most) lay_out(to, true);
  if (ppi_grid_needs(&to->grid) > most || has_asked(to)) {
    take_apart(to);
    fill(to);
  }
  ppi_grid_fit(&to->grid, most);
}

// ---- lines ----

static void put_centred(const table *from, const char *text) {
  ppi_page visible = {0};
  ppi_page_visible(&visible, text);
  size_t width = ppi_page_width(visible.bytes, visible.len);
  size_t line = ppi_grid_width(&from->grid);
  size_t dashes = line > width ? line - width : 0;
  ppi_page_repeat(from->page, '-', dashes / 2);
  ppi_page_bytes(from->page, visible.bytes, visible.len);
  ppi_page_repeat(from->page, '-', dashes - dashes / 2);
  ppi_page_text(from->page, "\n");
  from->page->failed |= visible.failed;
  ppi_page_clear(&visible);
}

static void put_headings(table *to, size_t section) {
  const char *const *second = to->view->kind->second_headings;
  for (size_t i = 0; section && to->is_laid_out && i < to->grid.num_columns;
       i++)
    to->columns[i].heading = second[i];
  ppi_grid_put_rule(to->page, &to->grid);
  ppi_grid_put_headings(to->page, &to->grid);
  ppi_grid_put_rule(to->page, &to->grid);
}

// The rows of a section; `at`: among those of the grid.
static void put_section(table *to, size_t section) {
  const ppi_view_row *rows = to->view->rows;
  bool is_open = section == 0;
  if (is_open) put_headings(to, section);
  for (size_t row = to->first, at = 0; row < to->end; row++) {
    if (rows[row].line) continue;
    if (rows[row].section == section) {
      if (!is_open) put_headings(to, section);
      is_open = true;
      if (rows[row].banner) put_centred(to, rows[row].banner);
      ppi_grid_put_row(to->page, &to->grid, at);
    }
    at++;
  }
}

static bool has_marks(const table *from) {
  for (size_t row = from->first; row < from->end; row++)
    for (size_t i = 0; i < from->grid.num_columns; i++)
      for (size_t k = 0;
           k < from->layout[i].num_cells && !from->columns[i].is_out &&
           !from->view->rows[row].line;
           k++)
        if (ppi_view_cells(from->view, row)[from->layout[i].first_cell + k]
                .at_max)
          return true;
  return false;
}

static void put_lines(const table *from, const ppi_page *text) {
  if (from->options->is_wide)
    ppi_page_bytes(from->page, text->bytes, text->len);
  else
    ppi_page_wrapped_lines(from->page, text);
}

static void put_end(const table *from) {
  const ppi_view *view = from->view;
  const char *marks = has_marks(from) ? PPI_AT_MAX_NOTE : "";
  ppi_page note = {0};
  if (view->kind->end != PPI_TABLE_END_NONE)
    ppi_grid_put_rule(from->page, &from->grid);
  ppi_grid_put_left_out(from->page, &from->grid);
  if (view->kind->end == PPI_TABLE_END_NOTE) {
    ppi_page_text(&note, "Note:\n");
    ppi_page_bytes(&note, view->note.bytes, view->note.len);
  }
  ppi_page_text(&note, marks);
  put_lines(from, &note);
  from->page->failed |= note.failed;
  ppi_page_clear(&note);
  if (view->kind->end != PPI_TABLE_END_NOTE) return;
  ppi_page_repeat(from->page, '-', ppi_grid_width(&from->grid));
  ppi_page_text(from->page, "\n");
}

// Only Paddle's own columns say in which unit times are.
static bool has_times(const ppi_view_kind *kind) {
  bool has_any = false;
  for (size_t i = 0; i < kind->num_columns; i++) {
    const char *unit = kind->columns[i].unit;
    bool is_shown = kind->layout ? kind->layout[i].heading != NULL : false;
    for (size_t k = 0; k < kind->num_table_columns; k++)
      is_shown |= i - kind->table_columns[k].first_cell <
                  kind->table_columns[k].num_cells;
    has_any |= is_shown && unit && strcmp(unit, "ns") == 0;
  }
  return has_any;
}

static void put_table(table *to) {
  const ppi_view *view = to->view;
  const char *title = view->kind->title;
  ppi_page lines = {0};
  if (to->first < to->end && view->rows[to->first].title)
    title = view->rows[to->first].title;
  choose(to);
  put_centred(to, title);
  if (has_times(view->kind))
    ppi_page_format(&lines, "Time unit: %s\n",
                    ppi_time_unit_name(to->options->time_unit));
  for (size_t row = to->first; row < to->end; row++)
    if (view->rows[row].line)
      ppi_page_format(&lines, "%s\n", view->rows[row].line);
  put_lines(to, &lines);
  ppi_grid_put_prefix(to->page, &to->grid);
  for (size_t i = 0; i < (view->kind->second_headings ? 2 : 1); i++)
    put_section(to, i);
  put_end(to);
  to->page->failed |= lines.failed || to->headings.failed;
  ppi_page_clear(&lines);
  ppi_page_clear(&to->headings);
  ppi_grid_clear(&to->grid);
}

void ppi_table_put(ppi_page *page, const ppi_view *view,
                   const ppi_report_options *options) {
  size_t first = 0;
  do {
    size_t end = first + 1;
    while (end < view->num_rows && !view->rows[end].title) end++;
    if (end > view->num_rows) end = view->num_rows;
    table one = {.page = page,
                 .view = view,
                 .options = options,
                 .first = first,
                 .end = end};
    one.grid.columns = one.columns;
    if (first) ppi_page_text(page, "\n");
    put_table(&one);
    first = end;
  } while (first < view->num_rows);
}
