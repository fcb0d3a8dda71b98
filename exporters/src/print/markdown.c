// SPDX-License-Identifier: Apache-2.0
//
// Views as Markdown: one table each, with all columns of the CSV; marks stand
// for that of the marks.
#include <string.h>

#include "print/printers.h"

// A column of texts is aligned left; its first cell may be missing.
static bool is_text(const ppi_view *view, size_t column) {
  for (size_t row = 0; row < view->num_rows; row++) {
    ppi_cell_kind kind =
        view->cells[row * view->kind->num_columns + column].kind;
    if (kind != PPI_CELL_NONE) return kind == PPI_CELL_TEXT;
  }
  return false;
}

static void put_headings(ppi_page *page, const ppi_view *view,
                         ppi_time_unit unit) {
  const ppi_view_kind *kind = view->kind;
  ppi_page_text(page, "|");
  for (size_t i = 0; i < kind->num_columns; i++) {
    const char *name = kind->columns[i].name, *its_unit = kind->columns[i].unit;
    bool is_time = its_unit && strcmp(its_unit, "ns") == 0;
    ppi_page_format(page, its_unit ? " %s (%s) |" : " %s |", name,
                    is_time ? ppi_time_unit_name(unit) : its_unit);
  }
  ppi_page_text(page, "\n|");
  for (size_t i = 0; i < kind->num_columns; i++)
    ppi_page_text(page, is_text(view, i) ? " --- |" : " ---: |");
  ppi_page_text(page, "\n");
}

void ppi_markdown_put(ppi_page *page, const ppi_view *view,
                      ppi_time_unit unit) {
  const ppi_view_kind *kind = view->kind;
  ppi_page_format(page, "## %s\n\n", kind->title);
  put_headings(page, view, unit);
  bool has_marks = false;
  for (size_t row = 0; row < view->num_rows; row++) {
    ppi_page_text(page, "|");
    for (size_t i = 0; i < kind->num_columns; i++) {
      const ppi_cell *cell = &view->cells[row * kind->num_columns + i];
      ppi_page_text(page, " ");
      ppi_page_table_cell(page, cell, ppi_page_markdown, unit);
      ppi_page_text(page, cell->at_max ? "* |" : " |");
      has_marks |= cell->at_max;
    }
    ppi_page_text(page, "\n");
  }
  if (view->note.len || has_marks) ppi_page_text(page, "\n");
  ppi_page_bytes(page, view->note.bytes, view->note.len);
  if (has_marks) ppi_page_text(page, PPI_AT_MAX_NOTE);
}
