// SPDX-License-Identifier: Apache-2.0
//
// Builds the Launch view: kernels by name and launch shape, and the share of a
// multiprocessor that they can fill.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/fit.h"
#include "view/view_named.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(GRID, "grid", NULL) \
  each(BLOCK, "block", NULL) \
  each(REGISTERS, "registers", NULL) \
  each(SHARED, "shared_memory", "B") \
  each(OCCUPANCY, "occupancy", "%") \
  each(LIMIT, "limited_by", NULL) \
  each(CALLS, "calls", NULL) \
  each(TOTAL, "device_total", "ns") \
  each(MEAN, "device_avg", "ns") \
  each(MOST, "device_max", "ns") \
  each(LEAST, "device_min", "ns") \
  each(RATIO, "device_ratio", "%") \
  each(P50, "device_p50", "ns") \
  each(P90, "device_p90", "ns") \
  each(P99, "device_p99", "ns")
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
enum { NAME_WIDTH = 40 };
static const size_t brief[] = {NAME,  GRID,  BLOCK, OCCUPANCY,
                               LIMIT, CALLS, TOTAL, MEAN};
static const ppi_table_column table_columns[] = {
    {"Name", NAME_WIDTH, NAME, 1},
    {"Grid", 9, GRID, 1},
    {"Block", 9, BLOCK, 1},
    {"Registers", 9, REGISTERS, 1},
    {"Shared (B)", 10, SHARED, 1},
    {"Occupancy(%) / Limited By", 25, OCCUPANCY, 2},
    {"Calls", 6, CALLS, 1},
    {PPI_DEVICE_HEADING, 40, TOTAL, PPI_SPREAD_CELLS},
};

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

static int compare_keys(const void *left, const void *right) {
  const launch_row *a = left, *b = right;
  int order = strcmp(a->name, b->name);
  return order ? order
               : ppi_launch_shape_compare(&a->from->shape, &b->from->shape);
}

static int compare_times(const void *left, const void *right) {
  const launch_row *a = left, *b = right;
  if (a->spread.sum != b->spread.sum)
    return a->spread.sum > b->spread.sum ? -1 : 1;
  return compare_keys(left, right);
}

static const char *shown_name(ppi_view *view, const char *name,
                              const ppi_report_options *options) {
  if (options->has_full_names) return name;
  ppi_page page = {0};
  ppi_kernel_name_short(&page, name);
  const char *text =
      page.failed ? NULL
                  : ppi_view_text(view, "%.*s", (int)page.len, page.bytes);
  ppi_page_clear(&page);
  return text;
}

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
    const char *name = shown_name(view, from->name, options);
    if (!name) return false;
    rows->items[rows->num++] =
        (launch_row){.name = name, .from = from, .spread = from->spread};
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

static void put_occupancy(ppi_cell *cells, const ppi_launch_shape *shape) {
  const char *limit = ppi_occupancy_limit_name(shape->limit);
  if (!limit) return;
  cells[OCCUPANCY] = ppi_cell_decimal((double)shape->permyriad / 100);
  cells[LIMIT] = ppi_cell_text(limit);
}

static const char *three(ppi_view *view, const uint32_t *sizes) {
  return ppi_view_text(view, "%ux%ux%u", sizes[0], sizes[1], sizes[2]);
}

static bool add_row(ppi_view *view, const launch_row *row, uint64_t base_ns) {
  const ppi_launch_shape *shape = &row->from->shape;
  const ppi_histogram *times = row->merged.n ? &row->merged : &row->from->times;
  const char *grid = three(view, shape->grid);
  const char *block = three(view, shape->block);
  const char *label = ppi_view_shorten(view, row->name, strlen(row->name),
                                       NAME_WIDTH, NAME_WIDTH - 3);
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!grid || !block || !label || !cells) return false;
  ppi_view_last_row(view)->label = label;
  cells[NAME] = ppi_cell_text(row->name);
  cells[GRID] = ppi_cell_text(grid);
  cells[BLOCK] = ppi_cell_text(block);
  if (shape->registers) cells[REGISTERS] = ppi_cell_count(shape->registers);
  if (shape->registers || shape->shared_bytes)
    cells[SHARED] = ppi_cell_count(shape->shared_bytes);
  put_occupancy(cells, shape);
  cells[CALLS] = ppi_cell_count(ppi_spread_calls(&row->spread));
  ppi_view_put_spread(cells + TOTAL, &row->spread, base_ns);
  cells[P50] = ppi_cell_quantile(times, 50);
  cells[P90] = ppi_cell_quantile(times, 90);
  cells[P99] = ppi_cell_quantile(times, 99);
  return true;
}

// The time of all kernels, with or without a launch shape.
static uint64_t kernel_time(const ppi_figures *figures) {
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < figures->num_names; i++)
    if (figures->names[i].category == PPROF_CATEGORY_KERNEL)
      sum_ns += figures->names[i].device.sum;
  return sum_ns;
}

static pprof_status build_launches(const ppi_figures *figures,
                                   const ppi_report_options *options,
                                   ppi_view *out) {
  launch_rows rows = {0};
  size_t most = options->top > 0 ? (size_t)options->top : SIZE_MAX;
  if (!figures->details.shapes)
    out->reason = "the report was not asked to collect it before its run";
  else if (!figures->num_shapes)
    out->reason = "no kernel says how it was launched";
  if (out->reason) return PPROF_STATUS_OK;
  bool added = gather(out, figures, options, &rows);
  for (size_t i = 0; i < rows.num && i < most && added; i++)
    added = add_row(out, &rows.items[i], kernel_time(figures));
  for (size_t i = 0; i < rows.num; i++)
    ppi_histogram_clear(&rows.items[i].merged);
  ppi_free(rows.items);
  ppi_page_text(
      &out->note,
      "Occupancy: of a multiprocessor's warps those that such launches can "
      "fill, in theory, and what keeps\nthe next block out. Registers are of a "
      "thread, shared memory is of a block. Ratio: of all kernels.\n");
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_launches = {
    .name = "launches",
    .title = "Launch Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .named_only = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build_launches,
};
