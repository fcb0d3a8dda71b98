// SPDX-License-Identifier: Apache-2.0
//
// Builds the Launch view: kernels by name and launch shape, and the share of a
// multiprocessor that they can fill.
#include <stdlib.h>

#include "base/mem.h"
#include "view/view_named.h"

enum { NAME_WIDTH = 40 };

// Kernels with equal names and equal launch shapes share a row.
typedef struct launch_row {
  const char *name;
  const ppi_report_shape *from;
  ppi_spread spread;
  ppi_histogram merged;  // of several; else empty
} launch_row;

typedef struct launch_rows {
  launch_row *items;
  size_t num;
} launch_rows;

PPI_ORDER(compare_keys, launch_row,
          PPI_BY_TEXT(name) PPI_BY(ppi_launch_shape_compare(&a->from->shape,
                                                            &b->from->shape)))

PPI_ORDER(compare_times, launch_row,
          PPI_DOWN(spread.sum) PPI_BY(compare_keys(a, b)))

static bool merge(launch_row *into, const launch_row *from) {
  if (!into->merged.n &&
      !ppi_histogram_merge(&into->merged, &into->from->times))
    return false;
  ppi_spread_merge(&into->spread, &from->spread);
  return ppi_histogram_merge(&into->merged, &from->from->times);
}

// Answers false when out of memory.
static bool gather(ppi_view *view, const ppi_figures *figures,
                   const ppi_report_options *options, launch_rows *rows) {
  rows->items = ppi_alloc((figures->num_shapes + 1) * sizeof *rows->items);
  if (!rows->items) return false;
  for (size_t i = 0; i < figures->num_shapes; i++) {
    const ppi_report_shape *from = &figures->shapes[i];
    rows->items[rows->num++] =
        (launch_row){.name = ppi_view_kernel_name(view, from->name, options),
                     .from = from,
                     .spread = from->spread};
  }
  if (rows->num > 1)
    qsort(rows->items, rows->num, sizeof *rows->items, compare_keys);
  size_t kept = 0, num = rows->num;
  bool done = true;
  for (size_t i = 0; i < num && done; i++) {
    launch_row *last = kept ? &rows->items[kept - 1] : NULL;
    if (last && compare_keys(last, &rows->items[i]) == 0)
      done = merge(last, &rows->items[i]);
    else
      rows->items[kept++] = rows->items[i];
  }
  rows->num = kept;
  if (kept > 1) qsort(rows->items, kept, sizeof *rows->items, compare_times);
  return done;
}

static const char *three(ppi_view *view, const uint32_t *sizes) {
  return ppi_view_text(view, "%ux%ux%u", sizes[0], sizes[1], sizes[2]);
}

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", NAME_WIDTH, 1, text(row->name)) \
  each(grid, NULL, "Grid", 9, 2, text(grid)) \
  each(block, NULL, "Block", 9, 3, text(block)) \
  each(registers, NULL, "Registers", 9, 0, \
       if (shape->registers, ppi_cell_count(shape->registers))) \
  each(shared_memory, "B", "Shared (B)", 10, 0, \
       if (shape->registers || shape->shared_bytes, \
           ppi_cell_count(shape->shared_bytes))) \
  each(occupancy, "%", "Occupancy(%) / Limited By", 25, 4, \
       if (limit, ppi_cell_decimal((double)shape->permyriad / 100))) \
  each(limited_by, NULL, "", 0, 5, if (limit, ppi_cell_text(limit))) \
  each(calls, NULL, "Calls", 6, 6, count(ppi_spread_calls(&row->spread))) \
  PPI_DEVICE_CELLS(each, 7, 8, 0, 0, &row->spread, base_ns) \
  each(device_p50, "ns", NULL, 0, 0, quantile(times, 50)) \
  each(device_p90, "ns", NULL, 0, 0, quantile(times, 90)) \
  each(device_p99, "ns", NULL, 0, 0, quantile(times, 99))
// clang-format on
PPI_VIEW_TABLE(launches, COLUMNS);

static void add_row(ppi_view *view, const launch_row *row, uint64_t base_ns) {
  const ppi_launch_shape *shape = &row->from->shape;
  const ppi_histogram *times = row->merged.n ? &row->merged : &row->from->times;
  const char *limit = ppi_occupancy_limit_name(shape->limit);
  const char *grid = three(view, shape->grid);
  const char *block = three(view, shape->block);
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COLUMNS, cells);
}

// The time of all kernels, with or without a launch shape.
static uint64_t kernel_time(const ppi_figures *figures) {
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < figures->num_names; i++)
    if (figures->names[i].category == PPROF_CATEGORY_KERNEL)
      sum_ns += figures->names[i].device.sum;
  return sum_ns;
}

static void build_launches(const ppi_figures *figures,
                           const ppi_report_options *options, ppi_view *out) {
  launch_rows rows = {0};
  size_t most = options->top > 0 ? (size_t)options->top : SIZE_MAX;
  if (!figures->num_shapes) out->reason = "no kernel says how it was launched";
  if (out->reason) return;
  out->note.failed |= !gather(out, figures, options, &rows);
  for (size_t i = 0; i < rows.num && i < most; i++)
    add_row(out, &rows.items[i], kernel_time(figures));
  for (size_t i = 0; i < rows.num; i++)
    ppi_histogram_clear(&rows.items[i].merged);
  ppi_free(rows.items);
  ppi_page_text(
      &out->note,
      "Occupancy: of a multiprocessor's warps those that such launches can "
      "fill, in theory, and what keeps\nthe next block out. Registers are of a "
      "thread, shared memory is of a block. Ratio: of all kernels.\n");
}

PPI_VIEW(launches, "Launch Summary", .has_quantiles = true, .named_only = true,
         .build = build_launches);
