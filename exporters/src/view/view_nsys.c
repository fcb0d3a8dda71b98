// SPDX-License-Identifier: Apache-2.0
//
// Builds the style nsys: host ranges, kernels, copies, and ranges by their
// launches, under the columns of `nsys stats`.
#include <stdlib.h>

#include "base/mem.h"
#include "names/names.h"
#include "report/figures/path_rows.h"
#include "view/view.h"

// The row of a path or name; rows with equal texts are merged.
typedef struct gpu_row {
  const char *range, *name;  // "": none
  const char *grid, *block;  // NULL: in no column
  ppi_spread times;
  const ppi_histogram *histogram;
  uint64_t ops, busy_ns, host_ns, calls, levels, children, num_async;
  size_t path;           // the path of `calls`
  ppi_histogram merged;  // of several; else empty
  ppi_cell key;
} gpu_row;

typedef struct gpu_rows {
  gpu_row *items;
  size_t num, capacity;
} gpu_rows;

static bool add_gpu_row(gpu_rows *rows, const gpu_row *row) {
  return PPI_PUSH(rows->items, rows->num, rows->capacity, *row);
}

static int compare_names(const void *left, const void *right) {
  const gpu_row *a = left, *b = right;
  int order = strcmp(a->range, b->range);
  if (order == 0) order = strcmp(a->name, b->name);
  if (order == 0 && a->grid) order = strcmp(a->grid, b->grid);
  if (order == 0 && a->block) order = strcmp(a->block, b->block);
  return order;
}

PPI_ORDER(compare_paths, gpu_row, PPI_BY(compare_names(a, b)) PPI_UP(path))

PPI_ORDER(compare_most, gpu_row,
          PPI_BY(ppi_cell_compare(PPI_SORT_NONE, &a->key, &b->key))
              PPI_BY(compare_names(a, b)))

PPI_ORDER(compare_least, gpu_row,
          PPI_BY(ppi_cell_compare(PPI_SORT_HOST_MIN, &a->key, &b->key))
              PPI_BY(compare_names(a, b)))

static bool merge_into(gpu_row *into, const gpu_row *from) {
  if (!into->merged.n && !ppi_histogram_merge(&into->merged, into->histogram))
    return false;
  ppi_spread_merge(&into->times, &from->times);
  into->ops += from->ops;
  into->busy_ns += from->busy_ns;
  into->host_ns += from->host_ns;
  into->calls += from->path == into->path ? 0 : from->calls;
  into->path = from->path;
  into->levels += from->levels;
  into->children += from->children;
  into->num_async += from->num_async;
  return ppi_histogram_merge(&into->merged, from->histogram);
}

// Answers false when out of memory.
static bool merge_alike(gpu_rows *rows) {
  size_t kept = 0;
  if (rows->num > 1)
    qsort(rows->items, rows->num, sizeof *rows->items, compare_paths);
  for (size_t i = 0; i < rows->num; i++) {
    gpu_row *last = kept ? &rows->items[kept - 1] : NULL;
    if (!last || compare_names(last, &rows->items[i]) != 0)
      rows->items[kept++] = rows->items[i];
    else if (!merge_into(last, &rows->items[i]))
      return false;
  }
  rows->num = kept;
  return true;
}

// ---- columns ----

// Bytes, which are counted as times are, in the unit that nsys shows.
static ppi_cell ppi_cell_mb(ppi_cell bytes) {
  if (bytes.kind != PPI_CELL_TIME) return bytes;
  return ppi_cell_decimal((double)bytes.value / (double)bytes.divisor / 1e6);
}

static const ppi_histogram *times_of(const gpu_row *row) {
  return row->merged.n ? &row->merged : row->histogram;
}

// NVTX calls cross-thread ranges start and end.
static const char *style_of(const gpu_row *row) {
  if (!row->num_async) return "PushPop";
  return row->num_async < row->times.n ? "PushPop+StartEnd" : "StartEnd";
}

static void put_tenths(ppi_page *page, const ppi_cell *cell,
                       const ppi_aligned *table) {
  double percent;
  (void)table;
  if (ppi_cell_is_ratio(cell, &percent))
    ppi_page_fixed(page, percent, 1);
  else if (cell->kind == PPI_CELL_TIME)
    ppi_page_fixed(page, (double)cell->value / (double)cell->divisor, 1);
  else
    ppi_page_text(page, "-");
}

static void put_thousandths(ppi_page *page, const ppi_cell *cell,
                            const ppi_aligned *table) {
  (void)table;
  if (cell->kind == PPI_CELL_DECIMAL)
    ppi_page_fixed(page, cell->number, 3);
  else
    ppi_page_text(page, "-");
}

// For each column: its heading, its brief place, its writer for text, its value
// as in PPI_VIEW_TABLE.
// clang-format off
#define SPREAD(each, before, avg, med, min, max) \
  each(before "Avg (ns)", avg, tenths, average(&row->times)) \
  each(before "Med (ns)", med, tenths, quantile(times_of(row), 50)) \
  each(before "Min (ns)", min, count, least(&row->times)) \
  each(before "Max (ns)", max, count, most(&row->times)) \
  each(before "StdDev (ns)", 0, tenths, deviation(&row->times))
#define SUM(each, instances, med, max) \
  each("Time (%)", 1, tenths, share(&row->times, base_ns)) \
  each("Total Time (ns)", 2, count, time(row->times.sum)) \
  each(instances, 3, count, count(ppi_spread_calls(&row->times))) \
  SPREAD(each, "", 4, med, 6, max)
#define NVTX_SUM(each) \
  SUM(each, "Instances", 5, 7) \
  each("Style", 0, name, text(style_of(row))) \
  each("Range", 8, name, text(row->name))
#define KERN_SUM(each) \
  SUM(each, "Instances", 5, 7) \
  each("Name", 8, name, text(row->name))
#define KERN_GB_SUM(each) \
  SUM(each, "Instances", 0, 0) \
  each("GridXYZ", 7, name, text(row->grid)) \
  each("BlockXYZ", 8, name, text(row->block)) \
  each("Name", 9, name, text(row->name))
#define API_SUM(each) \
  SUM(each, "Num Calls", 5, 7) \
  each("Name", 8, name, text(row->name))
#define MEM_TIME_SUM(each) \
  SUM(each, "Count", 5, 7) \
  each("Operation", 8, name, text(row->name))
#define MEM_SIZE_SUM(each) \
  each("Total (MB)", 1, thousandths, mb(ppi_cell_time(row->times.sum))) \
  each("Count", 2, count, count(ppi_spread_calls(&row->times))) \
  each("Avg (MB)", 3, thousandths, mb(ppi_cell_average(&row->times))) \
  each("Med (MB)", 4, thousandths, mb(ppi_cell_quantile(times_of(row), 50))) \
  each("Min (MB)", 5, thousandths, mb(ppi_cell_least(&row->times))) \
  each("Max (MB)", 6, thousandths, mb(ppi_cell_most(&row->times))) \
  each("StdDev (MB)", 7, thousandths, mb(ppi_cell_deviation(&row->times))) \
  each("Operation", 8, name, text(row->name))
#define PROJ_SUM(each) \
  each("Range", 1, name, text(row->range)) \
  each("Style", 0, name, text("PushPop")) \
  each("Total Proj Time (ns)", 2, count, time(row->times.sum)) \
  each("Total Range Time (ns)", 3, count, time(row->host_ns)) \
  each("Range Instances", 4, count, count(ppi_spread_calls(&row->times))) \
  SPREAD(each, "Proj ", 5, 6, 0, 7) \
  each("Total GPU Ops", 0, count, count(row->ops)) \
  each("Avg GPU Ops", 0, tenths, mean(row->ops, row->times.n)) \
  each("Avg Range Lvl", 0, tenths, mean(row->levels, row->times.n)) \
  each("Avg Num Child", 0, tenths, mean(row->children, row->calls)) \
  each("Busy (ns)", 8, count, time(row->busy_ns))
#define NVTX_KERN_SUM(each) \
  each("NVTX Range", 1, name, text(row->range)) \
  each("Style", 0, name, text("PushPop")) \
  each("NVTX Inst", 2, count, count(row->calls)) \
  each("Kern Inst", 3, count, count(ppi_spread_calls(&row->times))) \
  each("Total Time (ns)", 4, count, time(row->times.sum)) \
  SPREAD(each, "", 5, 6, 0, 7) \
  each("Kernel Name", 8, name, text(row->name))
// clang-format on

typedef void fill_fn(ppi_cell *cells, const gpu_row *row, uint64_t base_ns);
#define put_name ppi_aligned_put_name
#define put_count ppi_aligned_put_count
#define COLUMN(heading, brief, put, value) {heading, NULL},
#define LAYOUT(heading, brief, put, value) {NULL, 0, brief},
#define SHOWN(heading, brief, put, value) {heading, 0, 0, false, put_##put},
#define VALUE(heading, brief, put, value) *cells++ = ppi_cell_##value;
#define TABLE(name, list)                                         \
  static const ppi_column name##_columns[] = {list(COLUMN)};      \
  static const ppi_layout name##_layout[] = {list(LAYOUT)};       \
  static const ppi_aligned_column name##_shown[] = {list(SHOWN)}; \
  static void name##_fill(ppi_cell *cells, const gpu_row *row,    \
                          uint64_t base_ns) {                     \
    (void)base_ns;                                                \
    list(VALUE)                                                   \
  }
TABLE(nvtx_sum, NVTX_SUM)
TABLE(kern_sum, KERN_SUM)
TABLE(kern_gb_sum, KERN_GB_SUM)
TABLE(api_sum, API_SUM)
TABLE(mem_time_sum, MEM_TIME_SUM)
TABLE(mem_size_sum, MEM_SIZE_SUM)
TABLE(proj_sum, PROJ_SUM)
TABLE(nvtx_kern_sum, NVTX_KERN_SUM)

// ---- rows ----

// Only nvtx_sum has a choice of keys.
static void put_rows(ppi_view *view, gpu_rows *rows, fill_fn *fill,
                     const ppi_report_options *options) {
  uint64_t base_ns = 0;
  view->note.failed |= !merge_alike(rows);
  ppi_sort_key key =
      fill == nvtx_sum_fill ? ppi_sort_key_of(options) : PPI_SORT_NONE;
  size_t most_rows = options->top > 0 ? (size_t)options->top : SIZE_MAX;
  for (size_t i = 0; i < rows->num; i++) {
    base_ns += rows->items[i].times.sum;
    rows->items[i].key =
        ppi_cell_key(key, &rows->items[i].times, times_of(&rows->items[i]));
  }
  if (rows->num > 1)
    qsort(rows->items, rows->num, sizeof *rows->items,
          key == PPI_SORT_HOST_MIN ? compare_least : compare_most);
  for (size_t i = 0; i < rows->num && i < most_rows; i++)
    fill(ppi_view_add_row(view, 0, 0), &rows->items[i], base_ns);
}

typedef bool is_fn(uint32_t category);

static bool is_kernel(uint32_t category) {
  return category == PPROF_CATEGORY_KERNEL;
}

static bool is_copy(uint32_t category) {
  return category == PPROF_CATEGORY_MEMCPY || category == PPROF_CATEGORY_MEMSET;
}

static bool is_api(uint32_t category) {
  return category == PPROF_CATEGORY_RUNTIME;
}

// NVTX does not know our categories: equal names of several categories are one.
// cuda_api_sum has the runtime calls.
static bool is_nvtx(uint32_t category) {
  return !is_api(category);
}

typedef gpu_row row_fn(const ppi_report_name *from);

static gpu_row device_row(const ppi_report_name *from) {
  return (gpu_row){.times = from->device, .histogram = &from->device_times};
}

static gpu_row host_row(const ppi_report_name *from) {
  return (gpu_row){.times = from->host,
                   .histogram = &from->host_times,
                   .num_async = from->num_async};
}

static gpu_row size_row(const ppi_report_name *from) {
  return (gpu_row){.times = from->bytes, .histogram = &from->sizes};
}

// A table of the style. Most have a row for each name.
typedef struct nsys_table {
  const ppi_aligned_column *shown;
  fill_fn *fill;
  is_fn *is;
  row_fn *row_of;
  // Gathers other rows. False: out of memory.
  bool (*gather)(const ppi_figures *figures, ppi_view *view, gpu_rows *rows);
} nsys_table;

static bool gather_names(const ppi_figures *figures, const nsys_table *table,
                         gpu_rows *rows) {
  bool added = true;
  for (size_t i = 0; i < figures->num_names && added; i++) {
    const ppi_report_name *from = &figures->names[i];
    gpu_row row = table->row_of(from);
    row.range = "";
    row.name = from->name;
    if (table->is(from->category) && row.times.n)
      added = add_gpu_row(rows, &row);
  }
  return added;
}

static const char *three(ppi_view *view, const uint32_t *sizes) {
  return ppi_view_text(view, "%4u %4u %4u", sizes[0], sizes[1], sizes[2]);
}

static bool gather_shapes(const ppi_figures *figures, ppi_view *view,
                          gpu_rows *rows) {
  bool added = true;
  for (size_t i = 0; i < figures->num_shapes && added; i++) {
    const ppi_report_shape *from = &figures->shapes[i];
    const gpu_row row = {.range = "",
                         .name = from->name,
                         .grid = three(view, from->shape.grid),
                         .block = three(view, from->shape.block),
                         .times = from->spread,
                         .histogram = &from->times};
    added = add_gpu_row(rows, &row);
  }
  return added;
}

// Whether the path is a range: neither device work nor a runtime call.
static bool is_range(const ppi_report_path *path) {
  return !path->on_device &&
         strcmp(path->category_name,
                ppi_category_name(PPROF_CATEGORY_RUNTIME)) != 0;
}

// The paths inside a path follow it.
static bool gather_projections(const ppi_figures *figures, ppi_view *view,
                               gpu_rows *rows) {
  const ppi_report_path *end = figures->paths + figures->num_paths;
  (void)view;
  bool added = true;
  for (const ppi_report_path *path = figures->paths; path < end && added;
       path++) {
    const ppi_device_use *use = &path->use;
    if (!use->spans.n || !is_range(path)) continue;
    gpu_row row = {.range = path->name,
                   .name = "",
                   .times = use->spans,
                   .histogram = &use->span_times,
                   .ops = use->kernels + use->copies,
                   .busy_ns = use->busy_ns,
                   .host_ns = use->host_ns,
                   .calls = path->spread.n,
                   .path = (size_t)(path - figures->paths),
                   .levels = (path->level - 1) * use->spans.n};
    for (const ppi_report_path *in = path + 1;
         in < end && ppi_path_row_is_in(in, path); in++)
      row.children +=
          in->level == path->level + 1 && is_range(in) ? in->spread.n : 0;
    added = add_gpu_row(rows, &row);
  }
  return added;
}

// A kernel has a row in every range around it: a deeply nested log would have
// paths times levels.
enum { MOST_ROWS = 65536 };

// A kernel counts for every range around its launch.
static bool gather_range_kernels(const ppi_figures *figures, ppi_view *view,
                                 gpu_rows *rows) {
  const ppi_report_path *end = figures->paths + figures->num_paths;
  bool added = true;
  for (const ppi_report_path *path = figures->paths; path < end; path++) {
    if (!path->use.kernels || !is_range(path)) continue;
    for (const ppi_report_path *in = path + 1;
         in < end && ppi_path_row_is_in(in, path) && added; in++) {
      if (!in->on_device ||
          strcmp(in->category_name, ppi_category_name(PPROF_CATEGORY_KERNEL)) !=
              0)
        continue;
      const gpu_row row = {.range = path->name,
                           .name = in->name,
                           .times = in->spread,
                           .histogram = &in->times,
                           .calls = path->spread.n,
                           .path = (size_t)(path - figures->paths)};
      if (rows->num == MOST_ROWS) {
        ppi_page_text(&view->note, "Only the first 65536 rows are here.");
        return added;
      }
      added = add_gpu_row(rows, &row);
    }
  }
  return added;
}

static void build_nsys(const ppi_figures *figures,
                       const ppi_report_options *options, ppi_view *out) {
  const nsys_table *table = out->kind->own;
  gpu_rows rows = {0};
  bool added = table->gather ? table->gather(figures, out, &rows)
                             : gather_names(figures, table, &rows);
  out->note.failed |= !added;
  if (added) put_rows(out, &rows, table->fill, options);
  for (size_t i = 0; i < rows.num; i++)
    ppi_histogram_clear(&rows.items[i].merged);
  ppi_free(rows.items);
  if (!out->num_rows && !out->kind->only_with_rows)
    out->reason = "no host ranges";
}

// ---- as a text ----

static void put_text(ppi_page *page, const ppi_view *view,
                     const ppi_report_options *options) {
  const nsys_table *own = view->kind->own;
  ppi_aligned_column placed[PPI_ALIGNED_MOST];
  const ppi_aligned table = {.view = view,
                             .options = options,
                             .columns = placed,
                             .num_columns = view->kind->num_columns,
                             .indent = 1};
  for (size_t i = 0; i < table.num_columns; i++) {
    placed[i] = own->shown[i];
    placed[i].cell = i;
    placed[i].is_left = own->shown[i].put == ppi_aligned_put_name;
  }
  ppi_page_format(page, " ** %s:\n\n", view->kind->title);
  ppi_aligned_put(page, &table);
}

#define VIEW(table, id, heading, always, ...)                                  \
  static const nsys_table table##_table = {                                    \
      .shown = table##_shown, .fill = table##_fill, __VA_ARGS__};              \
  const ppi_view_kind ppi_view_nsys_##table = {                                \
      PPI_VIEW_OF(table, id, heading " (" id ")"),                             \
      .only_with_rows = !(always), .own = &table##_table, .build = build_nsys, \
      .put_text = put_text}
VIEW(nvtx_sum, "nvtx_sum", "NVTX Range Summary", true, .is = is_nvtx,
     .row_of = host_row);
VIEW(kern_sum, "cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", false,
     .is = is_kernel, .row_of = device_row);
VIEW(kern_gb_sum, "cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary",
     false, .gather = gather_shapes);
VIEW(api_sum, "cuda_api_sum", "CUDA API Summary", false, .is = is_api,
     .row_of = host_row);
VIEW(mem_time_sum, "cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)",
     false, .is = is_copy, .row_of = device_row);
VIEW(mem_size_sum, "cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)",
     false, .is = is_copy, .row_of = size_row);
VIEW(proj_sum, "nvtx_gpu_proj_sum", "NVTX GPU Projection Summary", false,
     .gather = gather_projections);
VIEW(nvtx_kern_sum, "nvtx_kern_sum", "NVTX Range Kernel Summary", false,
     .gather = gather_range_kernels);
