// SPDX-License-Identifier: Apache-2.0
//
// Tables of the styles: two blanks between columns, numbers on the right.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

typedef struct ppi_aligned ppi_aligned;
typedef struct ppi_aligned_column {
  const char *heading;
  size_t cell, width;  // the least width
  bool is_left;
  void (*put)(ppi_page *page, const ppi_cell *cell, const ppi_aligned *table);
} ppi_aligned_column;

struct ppi_aligned {
  const ppi_view *view;
  const ppi_report_options *options;
  const ppi_aligned_column *columns;
  size_t num_columns, indent;
  bool is_framed;  // rules above the headings and below the rows
  double scale;    // for `put`
};

#define PPI_ALIGNED_MOST 16  // columns
void ppi_aligned_put(ppi_page *page, const ppi_aligned *table);

// ppi_aligned_put_name, ppi_aligned_put_count: the `put` of most columns.
void ppi_aligned_put_name(ppi_page *page, const ppi_cell *cell,
                          const ppi_aligned *table);
void ppi_aligned_put_count(ppi_page *page, const ppi_cell *cell,
                           const ppi_aligned *table);

PPROF_END_C_
