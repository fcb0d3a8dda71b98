// SPDX-License-Identifier: Apache-2.0
//
// Sorts rows and finds their parents. Times give the open ranges of a thread,
// and depth selects the parent among them.
#include "report/table/table_nest.h"

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

// Outer ranges come first, and device ranges after host ranges. Of two ranges
// with equal start and depth, the empty one comes first.
static int compare_rows(const void *left, const void *right) {
  const ppi_table_row *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  bool a_works = a->on_device != PPI_NO_RANGE;
  bool b_works = b->on_device != PPI_NO_RANGE;
  if (a_works != b_works) return a_works ? 1 : -1;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static uint64_t start_of(const void *item) {
  return ((const ppi_table_row *)item)->start_ns;
}

// Sorts rows by thread and begin; rows that begin at `until_ns` or later come
// last.
pprof_status ppi_table_order(ppi_table_row **rows, size_t num,
                             uint32_t num_threads, uint64_t until_ns,
                             size_t *out_num) {
  size_t *places = ppi_alloc(((size_t)num_threads + 1) * sizeof *places);
  ppi_table_row *from = *rows;
  ppi_table_row *to = ppi_realloc(NULL, (num + 1) * sizeof *to);
  if (!places || !to) {
    ppi_free(places);
    ppi_free(to);
    return PPROF_STATUS_NO_MEMORY;
  }
  for (size_t i = 0; i < num; i++)
    if (from[i].start_ns < until_ns) places[from[i].thread + 1]++;
  for (size_t i = 0; i < num_threads; i++) places[i + 1] += places[i];
  size_t later = *out_num = places[num_threads];
  for (size_t i = 0; i < num; i++) {
    bool is_reported = from[i].start_ns < until_ns;
    to[is_reported ? places[from[i].thread]++ : later++] = from[i];
  }
  for (size_t i = 0, first = 0; i < num_threads; first = places[i++])
    ppi_sort(to + first, places[i] - first, sizeof *to, start_of, compare_rows);
  ppi_free(places);
  ppi_free(from);
  *rows = to;
  return PPROF_STATUS_OK;
}

static bool is_nested(const ppi_table_row *row) {
  return !(row->flags & PPI_RANGE_LOOSE) && row->on_device == PPI_NO_RANGE;
}

// The innermost range that may be open when `row` begins.
static uint32_t around_work(const ppi_table_row *rows, uint32_t top,
                            const ppi_table_row *row) {
  while (top != PPI_NO_RANGE && rows[top].end_ns <= row->start_ns &&
         rows[top].start_ns < row->start_ns)
    top = rows[top].parent;
  return top;
}

// A range's parent is the last range of lesser depth that has not ended. A
// device range's parent is the range that submitted it.
void ppi_table_nest(ppi_table_row *rows, size_t num) {
  uint32_t top = PPI_NO_RANGE;
  for (size_t i = 0; i < num; i++) {
    ppi_table_row *row = &rows[i];
    if (!i || rows[i - 1].thread != row->thread) top = PPI_NO_RANGE;
    row->parent = PPI_NO_RANGE;
    if (row->flags & PPI_RANGE_LOOSE) continue;
    if (!is_nested(row)) {
      row->parent = around_work(rows, top, row);
      continue;
    }
    while (top != PPI_NO_RANGE &&
           (rows[top].depth >= row->depth || rows[top].end_ns < row->start_ns))
      top = rows[top].parent;
    row->parent = top;
    top = (uint32_t)i;
  }
}
