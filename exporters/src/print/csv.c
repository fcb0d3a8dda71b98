// SPDX-License-Identifier: Apache-2.0
//
// Prints views as CSV (RFC 4180 quoting, lines end in LF): integer nanoseconds,
// the unit appended to a column's name, and an empty field where a cell does
// not apply.
#include "print/printers.h"

void ppi_csv_put(ppi_page *page, const ppi_view *view, bool with_name) {
  const ppi_view_kind *kind = view->kind;
  if (with_name) ppi_page_format(page, "# view: %s\n", kind->name);
  for (size_t i = 0; i < kind->num_columns; i++) {
    const ppi_column *column = &kind->columns[i];
    ppi_page_format(page, "%s%s%s%s", i ? "," : "", column->name,
                    column->unit ? "_" : "", column->unit ? column->unit : "");
  }
  ppi_page_text(page, kind->has_quantiles ? "," PPI_AT_MAX "\n" : "\n");
  for (size_t row = 0; row < view->num_rows; row++) {
    for (size_t i = 0; i < kind->num_columns; i++) {
      if (i) ppi_page_text(page, ",");
      ppi_page_cell(page, &view->cells[row * kind->num_columns + i],
                    ppi_page_csv, "");
    }
    if (kind->has_quantiles) ppi_page_text(page, ",");
    if (kind->has_quantiles) ppi_view_put_at_max(view, row, page);
    ppi_page_text(page, "\n");
  }
}
