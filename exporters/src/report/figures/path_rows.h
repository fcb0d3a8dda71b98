// SPDX-License-Identifier: Apache-2.0
//
// Paths of stages as rows: each row has a name and a parent row. The rows are a
// tree in preorder. Siblings are sorted by name, category name and side.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// The row's name among its siblings, and its level.
typedef struct ppi_path_key {
  const char *name, *category_name;
  uint32_t level;
  bool on_device;
} ppi_path_key;
static inline ppi_path_key ppi_path_row_key(const ppi_report_path *path) {
  ppi_path_key key = {path->name, path->category_name, path->level,
                      path->on_device};
  return key;
}
// The order of siblings.
int ppi_path_key_order(const ppi_path_key *a, const ppi_path_key *b);
// ppi_path_row_up answers the parent row; NULL at the root.
static inline const ppi_report_path *ppi_path_row_up(
    const ppi_figures *figures, const ppi_report_path *path) {
  return path->up ? &figures->paths[path->up - 1] : NULL;
}
// ppi_path_row_is_in answers whether `path`, a later row than `up`, lies in
// `up`. All rows between the two must lie in `up`. NULL: the root.
static inline bool ppi_path_row_is_in(const ppi_report_path *path,
                                      const ppi_report_path *up) {
  return !up || path->level > up->level;
}

// ppi_path_rows_add adds the rows that `figures` lacks, without their figures.
// `keys` is a tree in preorder. The keys get the figures' texts, and
// `out_places` the place of each of the `num` rows. False: no row was added.
bool ppi_path_rows_add(ppi_figures *figures, ppi_path_key *keys, size_t num,
                       size_t *out_places);
// ppi_path_row_sum adds the figures of a row to those of another one.
bool ppi_path_row_sum(ppi_report_path *into, const ppi_report_path *from);
// ppi_path_rows_merge adds the rows and their figures.
bool ppi_path_rows_merge(ppi_figures *into, const ppi_figures *from);
void ppi_path_rows_clear(ppi_figures *figures);
void ppi_path_rows_carry(ppi_carry *carry, ppi_figures *figures);

PPROF_END_C_
