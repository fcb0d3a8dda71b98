// SPDX-License-Identifier: Apache-2.0
//
// The rows of tables that the page keeps: of many rows, the greatest.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

enum { PPI_PAGE_ROWS_VIEWS = 64 };

typedef struct ppi_page_rows {
  size_t most;  // rows of each view
  struct {
    const char *view;
    size_t num;  // rows that are not in the page
  } left_out[PPI_PAGE_ROWS_VIEWS];
  size_t num_views;
} ppi_page_rows;

// ppi_page_rows_trim removes and counts the rows beyond `most`; it is the
// `trim` of ppi_report_options. A row of the tree stays if a row inside it
// stays. Paths go: names and levels give them.
void ppi_page_rows_trim(void *view, void *rows);
// ppi_page_rows_put writes {"view": number of rows that were left out, ...}.
void ppi_page_rows_put(ppi_page *page, const ppi_page_rows *rows);

PPROF_END_C_
