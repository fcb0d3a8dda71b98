// SPDX-License-Identifier: Apache-2.0
//
// Prints the tables of the styles.
#include "view/view_aligned.h"

#include <string.h>

#include "view/grid.h"

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
