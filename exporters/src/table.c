// SPDX-License-Identifier: Apache-2.0
//
// Views as text tables in Paddle's layout: left-aligned columns two blanks
// apart, rules of dashes, titles centred in dashes. Lines carry no trailing
// blanks.
#include <string.h>

#include "mem.h"
#include "view.h"

enum { MAX_COLUMNS = 16 };

static void put_cell(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit) {
  double percent;
  switch (cell->kind) {
    case PPI_CELL_NONE:
      ppi_page_text(page, "-");
      break;
    case PPI_CELL_UNRESOLVED:
      ppi_page_text(page, "n/r");
      break;
    case PPI_CELL_TEXT:
      ppi_page_visible(page, cell->text);
      break;
    case PPI_CELL_COUNT:
      ppi_page_format(page, "%lld", (long long)cell->value);
      break;
    case PPI_CELL_TIME:
      ppi_page_time(page, (double)cell->value / (double)cell->divisor, unit);
      break;
    case PPI_CELL_RATIO:
      if (ppi_cell_is_ratio(cell, &percent)) ppi_page_fixed(page, percent, 2);
      break;
    case PPI_CELL_RATE:
      ppi_page_fixed(page, (double)cell->value / (double)cell->divisor, 2);
      break;
  }
}

static void put_fused(ppi_page *page, const ppi_view *view, size_t row,
                      size_t column, ppi_time_unit unit) {
  const ppi_table_column *layout = &view->kind->table_columns[column];
  const ppi_cell *cells =
      view->cells + row * view->kind->num_columns + layout->first_cell;
  if (column == 0) ppi_page_repeat(page, ' ', view->rows[row].indent);
  for (size_t i = 0; i < layout->num_cells; i++) {
    if (i) ppi_page_text(page, " / ");
    put_cell(page, &cells[i], unit);
  }
}

typedef struct table_grid {
  ppi_page *page;
  const ppi_view *view;
  ppi_time_unit unit;
  size_t num, widths[MAX_COLUMNS], line_width;
} table_grid;

static void widen(size_t *width, size_t other) {
  if (other > *width) *width = other;
}

static void measure(table_grid *grid) {
  const ppi_view_kind *kind = grid->view->kind;
  ppi_page scratch = {0};
  grid->num = kind->num_table_columns;
  for (size_t i = 0; i < grid->num; i++) {
    grid->widths[i] = kind->table_columns[i].width;
    for (size_t k = 0; k < kind->num_sections; k++) {
      const char *heading = kind->sections[k].headings[i];
      widen(&grid->widths[i], ppi_page_width(heading, strlen(heading)));
    }
    for (size_t row = 0; row < grid->view->num_rows; row++) {
      scratch.len = 0;
      put_fused(&scratch, grid->view, row, i, grid->unit);
      widen(&grid->widths[i], ppi_page_width(scratch.bytes, scratch.len));
    }
    grid->line_width += grid->widths[i] + (i ? 2 : 0);
  }
  grid->page->failed |= scratch.failed;
  ppi_page_clear(&scratch);
}

static void put_centred(const table_grid *grid, const char *text) {
  size_t width = ppi_page_width(text, strlen(text));
  size_t dashes = grid->line_width > width ? grid->line_width - width : 0;
  ppi_page_repeat(grid->page, '-', dashes / 2);
  ppi_page_text(grid->page, text);
  ppi_page_repeat(grid->page, '-', dashes - dashes / 2);
  ppi_page_text(grid->page, "\n");
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

static void put_headings(const table_grid *grid,
                         const ppi_table_section *section) {
  put_rule(grid);
  for (size_t i = 0; i < grid->num; i++) {
    size_t start = grid->page->len;
    ppi_page_text(grid->page, section->headings[i]);
    pad(grid, start, i);
  }
  put_rule(grid);
  if (section->banner) put_centred(grid, section->banner);
}

static void put_section(const table_grid *grid, size_t section) {
  const ppi_view *view = grid->view;
  bool is_empty = true;
  for (size_t row = 0; row < view->num_rows; row++)
    is_empty &= view->rows[row].section != section;
  if (section > 0 && is_empty) return;
  put_headings(grid, &view->kind->sections[section]);
  for (size_t row = 0; row < view->num_rows; row++) {
    if (view->rows[row].section != section) continue;
    for (size_t i = 0; i < grid->num; i++) {
      size_t start = grid->page->len;
      put_fused(grid->page, view, row, i, grid->unit);
      pad(grid, start, i);
    }
  }
}

void ppi_table_put(ppi_page *page, const ppi_view *view, ppi_time_unit unit) {
  table_grid grid = {.page = page, .view = view, .unit = unit};
  measure(&grid);
  put_centred(&grid, view->kind->title);
  if (view->kind->has_time_unit)
    ppi_page_format(page, "Time unit: %s\n", ppi_time_unit_name(unit));
  for (size_t i = 0; i < view->kind->num_sections; i++) put_section(&grid, i);
  if (view->kind->end == PPI_TABLE_END_NONE) return;
  put_rule(&grid);
  if (view->kind->end == PPI_TABLE_END_RULE) return;
  ppi_page_text(page, "Note:\n");
  ppi_page_bytes(page, view->note.bytes, view->note.len);
  ppi_page_repeat(page, '-', grid.line_width);
  ppi_page_text(page, "\n");
}

static void put_markdown_cell(ppi_page *page, const ppi_cell *cell,
                              ppi_time_unit unit) {
  if (cell->kind == PPI_CELL_TEXT)
    ppi_page_markdown(page, cell->text);
  else
    put_cell(page, cell, unit);
}

void ppi_markdown_put(ppi_page *page, const ppi_view *view,
                      ppi_time_unit unit) {
  const ppi_view_kind *kind = view->kind;
  ppi_page_format(page, "## %s\n\n|", kind->title);
  for (size_t i = 0; i < kind->num_columns; i++) {
    const char *name = kind->columns[i].name, *its_unit = kind->columns[i].unit;
    bool is_time = its_unit && strcmp(its_unit, "ns") == 0;
    ppi_page_format(page, its_unit ? " %s (%s) |" : " %s |", name,
                    is_time ? ppi_time_unit_name(unit) : its_unit);
  }
  ppi_page_text(page, "\n|");
  for (size_t i = 0; i < kind->num_columns; i++)
    ppi_page_text(page, view->num_rows && view->cells[i].kind == PPI_CELL_TEXT
                            ? " --- |"
                            : " ---: |");
  ppi_page_text(page, "\n");
  for (size_t row = 0; row < view->num_rows; row++) {
    ppi_page_text(page, "|");
    for (size_t i = 0; i < kind->num_columns; i++) {
      ppi_page_text(page, " ");
      put_markdown_cell(page, &view->cells[row * kind->num_columns + i], unit);
      ppi_page_text(page, " |");
    }
    ppi_page_text(page, "\n");
  }
  if (view->note.len) ppi_page_text(page, "\n");
  ppi_page_bytes(page, view->note.bytes, view->note.len);
}
