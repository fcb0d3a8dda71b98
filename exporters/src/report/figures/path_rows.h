// SPDX-License-Identifier: Apache-2.0
//
// Paths of stages as rows: each is a name and the row that it lies in. The rows
// are a tree in preorder. Siblings are sorted by name, category name and side.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// The order of siblings.
int ppi_path_row_order(const ppi_report_path *a, const ppi_report_path *b);
// ppi_path_row_up answers the row around; NULL at the root.
static inline const ppi_report_path *ppi_path_row_up(
    const ppi_figures *figures, const ppi_report_path *path) {
  return path->up ? &figures->paths[path->up - 1] : NULL;
}
// ppi_path_row_is_in answers whether `path`, which stands behind `up`, lies in
// it, where all rows between the two do. NULL: the root.
static inline bool ppi_path_row_is_in(const ppi_report_path *path,
                                      const ppi_report_path *up) {
  return !up || path->level > up->level;
}

// ppi_path_rows_add adds the rows that `figures` lacks, without their figures.
// `rows` are such a tree of which name, category_name, level and on_device
// count. `out_places` has room for `num`: the place of each row, or NULL.
// Errors: NO_MEMORY, nothing was added.
pprof_status ppi_path_rows_add(ppi_figures *figures,
                               const ppi_report_path *rows, size_t num,
                               size_t *out_places);
// ppi_path_rows_merge adds the figures, too.
pprof_status ppi_path_rows_merge(ppi_figures *into, const ppi_figures *from);
void ppi_path_rows_clear(ppi_figures *figures);

PPROF_END_C_
