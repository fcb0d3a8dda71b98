// SPDX-License-Identifier: Apache-2.0
//
// Views as text tables in Paddle's layout: left-aligned columns two blanks
// apart, rules of dashes, titles centred in dashes. Lines carry no trailing
// blanks.
#include <string.h>

#include "base/mem.h"
#include "print/printers.h"

enum { MAX_COLUMNS = 16, MORE_WIDTH = 10 };

// One table: rows `first` to `end` of the view.
typedef struct table_grid {
  ppi_page *page;
  const ppi_view *view;
  ppi_time_unit unit;
  size_t first, end;
  size_t num, widths[MAX_COLUMNS], line_width;
} table_grid;

static ppi_table_column layout_of(const ppi_view *view, size_t column) {
  if (column < view->kind->num_table_columns)
    return view->kind->table_columns[column];
  return (ppi_table_column){view->more, MORE_WIDTH, view->more_cell, 1};
}

static size_t num_sections(const ppi_view *view) {
  return view->kind->second_columns ? 2 : 1;
}

static const char *heading_of(const ppi_view *view, size_t section,
                              size_t column) {
  if (section > 0 && column < view->kind->num_table_columns)
    return view->kind->second_columns[column].heading;
  return layout_of(view, column).heading;
}

static void put_fused(ppi_page *page, const table_grid *grid, size_t row,
                      size_t column) {
  const ppi_view *view = grid->view;
  ppi_table_column layout = layout_of(view, column);
  const ppi_cell *cells =
      view->cells + row * view->kind->num_columns + layout.first_cell;
  if (column == 0) ppi_page_repeat(page, ' ', view->rows[row].indent);
  if (column == 0 && view->rows[row].label) {
    ppi_page_visible(page, view->rows[row].label);
    return;
  }
  for (size_t i = 0; i < layout.num_cells; i++) {
    // The mark takes a blank's place, so that columns stay as wide.
    if (i) ppi_page_text(page, cells[i - 1].at_max ? "*/ " : " / ");
    ppi_page_table_cell(page, &cells[i], ppi_page_visible, grid->unit);
  }
  if (cells[layout.num_cells - 1].at_max) ppi_page_text(page, "*");
}

static bool has_marks(const table_grid *grid) {
  const ppi_view *view = grid->view;
  for (size_t row = grid->first; row < grid->end; row++)
    for (size_t i = 0; i < grid->num; i++) {
      ppi_table_column layout = layout_of(view, i);
      for (size_t k = 0; k < layout.num_cells && !view->rows[row].line; k++)
        if (view->cells[row * view->kind->num_columns + layout.first_cell + k]
                .at_max)
          return true;
    }
  return false;
}

static void widen(size_t *width, size_t other) {
  if (other > *width) *width = other;
}

static void measure(table_grid *grid) {
  const ppi_view *view = grid->view;
  ppi_page scratch = {0};
  grid->num = view->kind->num_table_columns + (view->more ? 1 : 0);
  for (size_t i = 0; i < grid->num; i++) {
    grid->widths[i] = layout_of(view, i).width;
    for (size_t k = 0; k < num_sections(view); k++) {
      const char *heading = heading_of(view, k, i);
      widen(&grid->widths[i], ppi_page_width(heading, strlen(heading)));
    }
    for (size_t row = grid->first; row < grid->end; row++) {
      if (view->rows[row].line) continue;
      scratch.len = 0;
      put_fused(&scratch, grid, row, i);
      widen(&grid->widths[i], ppi_page_width(scratch.bytes, scratch.len));
    }
    grid->line_width += grid->widths[i] + (i ? 2 : 0);
  }
  grid->page->failed |= scratch.failed;
  ppi_page_clear(&scratch);
}

static void put_centred(const table_grid *grid, const char *text) {
  ppi_page visible = {0};
  ppi_page_visible(&visible, text);
  size_t width = ppi_page_width(visible.bytes, visible.len);
  size_t dashes = grid->line_width > width ? grid->line_width - width : 0;
  ppi_page_repeat(grid->page, '-', dashes / 2);
  ppi_page_bytes(grid->page, visible.bytes, visible.len);
  ppi_page_repeat(grid->page, '-', dashes - dashes / 2);
  ppi_page_text(grid->page, "\n");
  grid->page->failed |= visible.failed;
  ppi_page_clear(&visible);
}

static void put_rule(const table_grid *grid) {
  for (size_t i = 0; i < grid->num; i++) {
    if (i) ppi_page_text(grid->page, "  ");
    ppi_page_repeat(grid->page, '-', grid->widths[i]);
  }
  ppi_page_text(grid->page, "\n");
}

// Pads what stands on the page since `start` to the width of `column`, and
// ends the line behind the last one.
static void pad(const table_grid *grid, size_t start, size_t column) {
  ppi_page *page = grid->page;
  if (page->failed) return;
  size_t width =
      page->bytes ? ppi_page_width(page->bytes + start, page->len - start) : 0;
  if (column + 1 < grid->num) {
    ppi_page_repeat(page, ' ', grid->widths[column] - width + 2);
    return;
  }
  while (page->len && page->bytes[page->len - 1] == ' ') page->len--;
  ppi_page_text(page, "\n");
}

static void put_headings(const table_grid *grid, size_t section) {
  put_rule(grid);
  for (size_t i = 0; i < grid->num; i++) {
    size_t start = grid->page->len;
    ppi_page_text(grid->page, heading_of(grid->view, section, i));
    pad(grid, start, i);
  }
  put_rule(grid);
}

static void put_row(const table_grid *grid, size_t row) {
  const ppi_view_row *shown = &grid->view->rows[row];
  if (shown->banner) put_centred(grid, shown->banner);
  for (size_t i = 0; i < grid->num; i++) {
    size_t start = grid->page->len;
    put_fused(grid->page, grid, row, i);
    pad(grid, start, i);
  }
}

static void put_section(const table_grid *grid, size_t section) {
  const ppi_view_row *rows = grid->view->rows;
  bool is_empty = true;
  for (size_t row = grid->first; row < grid->end; row++)
    is_empty &= rows[row].section != section || rows[row].line;
  if (section > 0 && is_empty) return;
  put_headings(grid, section);
  for (size_t row = grid->first; row < grid->end; row++)
    if (rows[row].section == section && !rows[row].line) put_row(grid, row);
}

static void put_grid(table_grid *grid) {
  const ppi_view *view = grid->view;
  ppi_page *page = grid->page;
  const char *title = view->kind->title;
  if (grid->first < grid->end && view->rows[grid->first].title)
    title = view->rows[grid->first].title;
  measure(grid);
  put_centred(grid, title);
  if (view->kind->has_time_unit)
    ppi_page_format(page, "Time unit: %s\n", ppi_time_unit_name(grid->unit));
  for (size_t row = grid->first; row < grid->end; row++)
    if (view->rows[row].line)
      ppi_page_format(page, "%s\n", view->rows[row].line);
  for (size_t i = 0; i < num_sections(view); i++) put_section(grid, i);
  const char *marks = has_marks(grid) ? PPI_AT_MAX_NOTE : "";
  if (view->kind->end != PPI_TABLE_END_NONE) put_rule(grid);
  if (view->kind->end == PPI_TABLE_END_NOTE) ppi_page_text(page, "Note:\n");
  if (view->kind->end == PPI_TABLE_END_NOTE)
    ppi_page_bytes(page, view->note.bytes, view->note.len);
  ppi_page_text(page, marks);
  if (view->kind->end != PPI_TABLE_END_NOTE) return;
  ppi_page_repeat(page, '-', grid->line_width);
  ppi_page_text(page, "\n");
}

void ppi_table_put(ppi_page *page, const ppi_view *view, ppi_time_unit unit) {
  size_t first = 0;
  do {
    size_t end = first + 1;
    while (end < view->num_rows && !view->rows[end].title) end++;
    if (end > view->num_rows) end = view->num_rows;
    table_grid grid = {
        .page = page, .view = view, .unit = unit, .first = first, .end = end};
    if (first) ppi_page_text(page, "\n");
    put_grid(&grid);
    first = end;
  } while (first < view->num_rows);
}
