// SPDX-License-Identifier: Apache-2.0
//
// Keeps the greatest rows of each table for the page.
#include "html/page_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "view/tree_rows.h"

static ppi_cell *row_of(const ppi_view *view, size_t row) {
  return &view->cells[row * view->kind->num_columns];
}

// ---- the tree ----

static int64_t size_of(const ppi_cell *cells) {
  int64_t host = cells[PPI_TREE_total].kind ? cells[PPI_TREE_total].value : 0;
  int64_t device =
      cells[PPI_TREE_device].kind ? cells[PPI_TREE_device].value : 0;
  return PPI_MAX(host, device);
}

// A row's size is at least that of the rows inside it, which stand below.
// `inside` has, by level, the largest size without a parent so far.
static void list_sizes(const ppi_view *view, int64_t *sizes, int64_t *inside) {
  for (size_t i = view->num_rows; i-- > 0;) {
    size_t level = (size_t)row_of(view, i)[PPI_TREE_level].value;
    sizes[i] = PPI_MAX(size_of(row_of(view, i)), inside[level + 1]);
    inside[level + 1] = 0;
    inside[level] = PPI_MAX(inside[level], sizes[i]);
  }
}

static int compare_sizes(const void *left, const void *right) {
  const int64_t *a = left, *b = right;
  return (*a < *b) - (*a > *b);
}

// Marks the rows that stay; `sorted` has room for `num` sizes.
static void choose(const int64_t *sizes, size_t num, size_t most,
                   int64_t *sorted, bool *stays) {
  memcpy(sorted, sizes, num * sizeof *sizes);
  qsort(sorted, num, sizeof *sorted, compare_sizes);
  int64_t least = sorted[most - 1];
  size_t num_equal = most;  // rows of the least size that may stay
  for (size_t i = 0; i < most; i++) num_equal -= sorted[i] > least;
  for (size_t i = 0; i < num; i++) {
    bool is_equal = sizes[i] == least && num_equal > 0;
    num_equal -= is_equal;
    stays[i] = sizes[i] > least || is_equal;
  }
}

static void move_row(ppi_view *view, size_t to, size_t from) {
  view->rows[to] = view->rows[from];
  memmove(row_of(view, to), row_of(view, from),
          view->kind->num_columns * sizeof *view->cells);
}

static void keep(ppi_view *view, const bool *stays) {
  size_t num = 0;
  for (size_t i = 0; i < view->num_rows; i++)
    if (stays[i]) move_row(view, num++, i);
  view->num_rows = num;
}

static void trim_tree(ppi_view *view, size_t most) {
  size_t num = view->num_rows;
  for (size_t i = 0; i < num; i++)
    row_of(view, i)[PPI_TREE_path] = (ppi_cell){.kind = PPI_CELL_NONE};
  if (num <= most) return;
  // A row's level is at most the number of rows.
  int64_t *sizes = ppi_alloc((2 * num + 2) * sizeof *sizes);
  bool *stays = ppi_alloc(num * sizeof *stays);
  if (sizes && stays) {
    list_sizes(view, sizes, sizes + num);
    choose(sizes, num, most, sizes + num, stays);
    keep(view, stays);
  } else {
    view->note.failed = true;
  }
  ppi_free(sizes);
  ppi_free(stays);
}

// ---- all ----

static void note(ppi_page_rows *rows, const char *view, size_t num) {
  size_t at = 0;
  while (at < rows->num_views && strcmp(rows->left_out[at].view, view) != 0)
    at++;
  if (at == PPI_PAGE_ROWS_VIEWS || (!num && at == rows->num_views)) return;
  rows->left_out[at].view = view;
  rows->left_out[at].num = num;
  rows->num_views = PPI_MAX(rows->num_views, at + 1);
}

void ppi_page_rows_trim(void *of, void *context) {
  ppi_view *view = of;
  ppi_page_rows *rows = context;
  size_t num = view->num_rows;
  if (strcmp(view->kind->name, "tree") == 0) trim_tree(view, rows->most);
  if (view->num_rows > rows->most) {
    // The last row stays: it is the total, if there is one.
    move_row(view, rows->most - 1, num - 1);
    view->num_rows = rows->most;
  }
  note(rows, view->kind->name, num - view->num_rows);
}

void ppi_page_rows_put(ppi_page *page, const ppi_page_rows *rows) {
  ppi_page_text(page, "{");
  for (size_t i = 0; i < rows->num_views; i++)
    ppi_page_format(page, "%s\"%s\":%zu", i ? "," : "", rows->left_out[i].view,
                    rows->left_out[i].num);
  ppi_page_text(page, "}\n");
}
