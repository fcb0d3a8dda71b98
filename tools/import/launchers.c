// SPDX-License-Identifier: Apache-2.0
//
// Which row the profiler's own work lay on, without a look at every row.
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "import/launchers.h"

typedef struct launching {
  uint64_t num;
  uint32_t row;
} launching;

static int compare(const void *left, const void *right) {
  const launching *a = left, *b = right;
  if (a->num != b->num) return a->num > b->num ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static uint64_t end_of(const ppi_sweeper *sweeper, uint32_t row) {
  const ppi_open_row *open = &sweeper->rows[row];
  return open->num > 0 ? open->items[open->num - 1].record.end : 0;
}

static size_t list(const ppi_places *places, launching *out) {
  size_t num = 0;
  for (uint32_t i = 0; i < places->num_rows; i++) {
    const ppi_row *row = &places->rows[i];
    if (!row->is_python && row->num_launches > 0)
      out[num++] = (launching){row->num_launches, i};
  }
  qsort(out, num, sizeof *out, compare);
  return num;
}

static void fill(ppi_sweeper *sweeper, const launching *rows) {
  ppi_launchers *tree = &sweeper->launchers;
  for (size_t i = 0; i < tree->num; i++) {
    tree->rows[i] = rows[i].row;
    tree->leaf[rows[i].row] = (uint32_t)i + 1;
    tree->ends[tree->num_leaves + i] = end_of(sweeper, rows[i].row);
  }
  for (size_t i = tree->num_leaves; i-- > 1;)
    tree->ends[i] = PPI_MAX(tree->ends[2 * i], tree->ends[2 * i + 1]);
}

static bool make(ppi_sweeper *sweeper) {
  ppi_launchers *tree = &sweeper->launchers;
  const ppi_places *places = &sweeper->importer->places;
  launching *rows = ppi_alloc((places->num_rows + 1) * sizeof *rows);
  if (!rows) return false;
  tree->num = list(places, rows);
  tree->num_leaves = 1;
  while (tree->num_leaves < tree->num) tree->num_leaves *= 2;
  tree->rows = ppi_alloc((tree->num + 1) * sizeof *tree->rows);
  tree->leaf = ppi_alloc((places->num_rows + 1) * sizeof *tree->leaf);
  tree->ends = ppi_alloc(2 * tree->num_leaves * sizeof *tree->ends);
  bool is_made = tree->rows && tree->leaf && tree->ends;
  if (is_made)
    fill(sweeper, rows);
  else
    ppi_launchers_clear(tree);
  ppi_free(rows);
  return is_made;
}

bool ppi_launchers_find(ppi_sweeper *sweeper, uint64_t end, uint32_t *out) {
  ppi_launchers *tree = &sweeper->launchers;
  *out = PPI_NO_PLACE;
  if (!tree->ends && !make(sweeper)) return false;
  if (tree->ends[1] == 0 || tree->ends[1] < end) return true;
  size_t at = 1;
  while (at < tree->num_leaves)
    at = 2 * at + (tree->ends[2 * at] == 0 || tree->ends[2 * at] < end);
  *out = tree->rows[at - tree->num_leaves];
  return true;
}

void ppi_launchers_update(ppi_sweeper *sweeper, uint32_t row) {
  ppi_launchers *tree = &sweeper->launchers;
  if (!tree->ends || tree->leaf[row] == 0) return;
  size_t at = tree->num_leaves + tree->leaf[row] - 1;
  tree->ends[at] = end_of(sweeper, row);
  while ((at /= 2) > 0)
    tree->ends[at] = PPI_MAX(tree->ends[2 * at], tree->ends[2 * at + 1]);
}

void ppi_launchers_clear(ppi_launchers *launchers) {
  ppi_free(launchers->rows);
  ppi_free(launchers->leaf);
  ppi_free(launchers->ends);
  memset(launchers, 0, sizeof *launchers);
}
