// SPDX-License-Identifier: Apache-2.0
//
// Tables of the styles. Lines carry no trailing blanks.
#include "view/view_aligned.h"

#include <string.h>

static void put_cell(ppi_page *page, const ppi_aligned *table, size_t row,
                     size_t column) {
  const ppi_view *view = table->view;
  const ppi_aligned_column *shown = &table->columns[column];
  const ppi_cell *cell =
      &view->cells[row * view->kind->num_columns + shown->cell];
  if (shown->cell == 0 && view->rows[row].label) {
    ppi_page_visible(page, view->rows[row].label);
    return;
  }
  shown->put(page, cell, table);
}

static size_t width_of(const ppi_aligned *table, size_t column) {
  const ppi_aligned_column *shown = &table->columns[column];
  size_t width = strlen(shown->heading);
  ppi_page scratch = {0};
  if (shown->width > width) width = shown->width;
  for (size_t row = 0; row < table->view->num_rows; row++) {
    scratch.len = 0;
    put_cell(&scratch, table, row, column);
    size_t its = ppi_page_width(scratch.bytes, scratch.len);
    if (its > width) width = its;
  }
  ppi_page_clear(&scratch);
  return width;
}

enum { RULE = -2, HEADINGS = -1 };

static void put_content(ppi_page *page, const ppi_aligned *table, long row,
                        size_t column, size_t width) {
  if (row == RULE)
    ppi_page_repeat(page, '-', width);
  else if (row == HEADINGS)
    ppi_page_text(page, table->columns[column].heading);
  else
    put_cell(page, table, (size_t)row, column);
}

static void put_line(ppi_page *page, const ppi_aligned *table,
                     const size_t *widths, long row) {
  ppi_page scratch = {0};
  ppi_page_repeat(page, ' ', table->indent);
  for (size_t i = 0; i < table->num_columns; i++) {
    bool is_left = table->columns[i].is_left;
    bool is_last = i + 1 == table->num_columns;
    scratch.len = 0;
    put_content(&scratch, table, row, i, widths[i]);
    size_t blanks = widths[i] - ppi_page_width(scratch.bytes, scratch.len);
    if (!is_left) ppi_page_repeat(page, ' ', blanks);
    ppi_page_bytes(page, scratch.bytes, scratch.len);
    if (is_left && !is_last) ppi_page_repeat(page, ' ', blanks);
    ppi_page_text(page, is_last ? "\n" : "  ");
  }
  page->failed |= scratch.failed;
  ppi_page_clear(&scratch);
}

void ppi_aligned_put(ppi_page *page, const ppi_aligned *table) {
  size_t widths[PPI_ALIGNED_MOST];
  for (size_t i = 0; i < table->num_columns; i++)
    widths[i] = width_of(table, i);
  if (table->is_framed) put_line(page, table, widths, RULE);
  put_line(page, table, widths, HEADINGS);
  put_line(page, table, widths, RULE);
  for (size_t row = 0; row < table->view->num_rows; row++)
    put_line(page, table, widths, (long)row);
  if (table->is_framed) put_line(page, table, widths, RULE);
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
