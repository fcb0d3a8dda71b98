// SPDX-License-Identifier: Apache-2.0
//
// Sorting and nesting: depth says which open range of its thread a range lies
// in, times say which of them are open.
#include "report/table/table_nest.h"

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

typedef struct columns {
  uint64_t *start_ns, *end_ns;
  uint32_t *name, *thread, *parent, *flags, *served, *on_device, *used;
  void *memory;
} columns;

// Outer ranges come first, device ranges behind what they may lie in.
static int compare_rows(const void *left, const void *right) {
  const ppi_table_row *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  bool a_works = a->on_device != PPI_NO_RANGE;
  bool b_works = b->on_device != PPI_NO_RANGE;
  if (a_works != b_works) return a_works ? 1 : -1;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

static uint64_t start_of(const void *item) {
  return ((const ppi_table_row *)item)->start_ns;
}

// Rows in the order of time become threads in a row: each keeps its order.
static bool gather_threads(ppi_table_fill *fill, size_t num) {
  size_t threads = fill->ids.num_threads;
  size_t *places = ppi_alloc((threads + 1) * sizeof *places);
  ppi_table_row *rows = ppi_alloc(fill->rows_capacity * sizeof *rows);
  if (!places || !rows) {
    ppi_free(places);
    ppi_free(rows);
    return false;
  }
  for (size_t i = 0; i < num; i++) places[fill->rows[i].thread + 1]++;
  for (size_t i = 0; i < threads; i++) places[i + 1] += places[i];
  for (size_t i = 0; i < num; i++)
    rows[places[fill->rows[i].thread]++] = fill->rows[i];
  for (size_t i = num; i < fill->num_rows; i++) rows[i] = fill->rows[i];
  ppi_free(places);
  ppi_free(fill->rows);
  fill->rows = rows;
  return true;
}

// Those that begin before `until_ns` come first, in any order.
static size_t divide(ppi_table_fill *fill, uint64_t until_ns) {
  size_t num = 0;
  for (size_t i = 0; i < fill->num_rows; i++) {
    if (fill->rows[i].start_ns >= until_ns) continue;
    ppi_table_row row = fill->rows[num];
    fill->rows[num++] = fill->rows[i];
    fill->rows[i] = row;
  }
  return num;
}

static bool is_nested(const ppi_table_row *row) {
  return !(row->flags & PPI_RANGE_LOOSE) && row->on_device == PPI_NO_RANGE;
}

// Of the ranges that may be open when `row` begins, the innermost one.
static uint32_t around_work(const ppi_table_row *rows, uint32_t top,
                            const ppi_table_row *row) {
  while (top != PPI_NO_RANGE && rows[top].end_ns <= row->start_ns &&
         rows[top].start_ns < row->start_ns)
    top = rows[top].parent;
  return top;
}

// A range lies in the last one of lesser depth that has not ended, a device
// range in the one that submitted it.
static void find_parents(ppi_table_row *rows, size_t num) {
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

static bool make_columns(const ppi_table_row *rows, size_t num, columns *out) {
  char *memory =
      ppi_alloc((num + 1) * (2 * sizeof(uint64_t) + 7 * sizeof(uint32_t)));
  if (!memory) return false;
  uint64_t *longs = (uint64_t *)(void *)memory;
  uint32_t *words = (uint32_t *)(void *)(longs + 2 * num);
  *out = (columns){longs,           longs + num,     words,
                   words + num,     words + 2 * num, words + 3 * num,
                   words + 4 * num, words + 5 * num, words + 6 * num,
                   memory};
  for (size_t i = 0; i < num; i++) {
    out->start_ns[i] = rows[i].start_ns;
    out->end_ns[i] = rows[i].end_ns;
    out->name[i] = rows[i].name;
    out->thread[i] = rows[i].thread;
    out->parent[i] = rows[i].parent;
    out->flags[i] = rows[i].flags;
    out->served[i] = rows[i].served;
    out->on_device[i] = rows[i].on_device;
    out->used[i] = rows[i].used;
  }
  return true;
}

static pprof_status hand_over(ppi_table_fill *fill, size_t num,
                              uint64_t until_ns) {
  columns by;
  if (!make_columns(fill->rows, num, &by)) return PPROF_STATUS_NO_MEMORY;
  const ppi_range_table table = {.num = num,
                                 .start_ns = by.start_ns,
                                 .end_ns = by.end_ns,
                                 .name = by.name,
                                 .thread = by.thread,
                                 .parent = by.parent,
                                 .flags = by.flags,
                                 .served = by.served,
                                 .on_device = by.on_device,
                                 .used = by.used,
                                 .flow_lists = fill->flow_lists,
                                 .flows = fill->flows,
                                 .devices = fill->devices,
                                 .cpus = fill->cpus,
                                 .from_ns = fill->told_ns,
                                 .to_ns = until_ns};
  pprof_status status = fill->reader(fill->context, &table, &fill->ids);
  ppi_free(by.memory);
  return status;
}

pprof_status ppi_table_nest(ppi_table_fill *fill, uint64_t until_ns,
                            size_t *out_told) {
  size_t num = divide(fill, until_ns);
  *out_told = num;
  ppi_sort(fill->rows, num, sizeof *fill->rows, start_of, compare_rows);
  if (num && !gather_threads(fill, num)) return PPROF_STATUS_NO_MEMORY;
  find_parents(fill->rows, num);
  return hand_over(fill, num, until_ns);
}
