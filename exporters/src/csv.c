// SPDX-License-Identifier: Apache-2.0
//
// Views as CSV (RFC 4180 quoting, lines end in LF): integer nanoseconds, the
// unit appended to a column's name, nothing where a cell does not apply.
#include "view.h"

static void put_cell(ppi_page *page, const ppi_cell *cell) {
  double percent;
  switch (cell->kind) {
    case PPI_CELL_NONE:
    case PPI_CELL_UNRESOLVED:
      break;
    case PPI_CELL_TEXT:
      ppi_page_csv(page, cell->text);
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
  }
}

void ppi_csv_put(ppi_page *page, const ppi_view *view, bool with_name) {
  const ppi_view_kind *kind = view->kind;
  if (with_name) ppi_page_format(page, "# view: %s\n", kind->name);
  for (size_t i = 0; i < kind->num_columns; i++) {
    const ppi_column *column = &kind->columns[i];
    ppi_page_format(page, "%s%s%s%s", i ? "," : "", column->name,
                    column->unit ? "_" : "", column->unit ? column->unit : "");
  }
  ppi_page_text(page, "\n");
  for (size_t row = 0; row < view->num_rows; row++) {
    for (size_t i = 0; i < kind->num_columns; i++) {
      if (i) ppi_page_text(page, ",");
      put_cell(page, &view->cells[row * kind->num_columns + i]);
    }
    ppi_page_text(page, "\n");
  }
}
