// SPDX-License-Identifier: Apache-2.0
//
// Builds the style nsys: kernels, copies, and ranges by their launches, under
// the columns of `nsys stats`.
#include <stdlib.h>
#include <string.h>

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
  uint64_t ops, busy_ns, host_ns, calls, levels, children;
  size_t path;           // the path of `calls`
  ppi_histogram merged;  // of several; else empty
} gpu_row;

typedef struct gpu_rows {
  gpu_row *items;
  size_t num, capacity;
} gpu_rows;

static bool add_gpu_row(gpu_rows *rows, const gpu_row *row) {
  if (!PPI_ROOM(rows->items, rows->capacity, rows->num + 1)) return false;
  rows->items[rows->num++] = *row;
  return true;
}

static int compare_names(const void *left, const void *right) {
  const gpu_row *a = left, *b = right;
  int order = strcmp(a->range, b->range);
  if (order == 0) order = strcmp(a->name, b->name);
  if (order == 0 && a->grid) order = strcmp(a->grid, b->grid);
  if (order == 0 && a->block) order = strcmp(a->block, b->block);
  return order;
}

static int compare_paths(const void *left, const void *right) {
  const gpu_row *a = left, *b = right;
  int order = compare_names(left, right);
  return order ? order : (a->path > b->path) - (a->path < b->path);
}

static int compare_times(const void *left, const void *right) {
  const gpu_row *a = left, *b = right;
  if (a->times.sum != b->times.sum) return a->times.sum > b->times.sum ? -1 : 1;
  return compare_names(left, right);
}

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

static ppi_cell share(const gpu_row *row, uint64_t base_ns) {
  return ppi_cell_ratio((int64_t)row->times.sum, base_ns);
}

// Bytes, which are counted as times are, in the unit that nsys shows.
static ppi_cell in_mb(ppi_cell bytes) {
  if (bytes.kind != PPI_CELL_TIME) return bytes;
  return ppi_cell_decimal((double)bytes.value / (double)bytes.divisor / 1e6);
}

#define CELL(name, value)                                      \
  static ppi_cell name(const gpu_row *row, uint64_t base_ns) { \
    (void)row, (void)base_ns;                                  \
    return value;                                              \
  }
CELL(total, ppi_cell_time(row->times.sum))
CELL(instances, ppi_cell_count(ppi_spread_calls(&row->times)))
CELL(average, ppi_cell_average(&row->times))
CELL(median,
     ppi_cell_quantile(row->merged.n ? &row->merged : row->histogram, 50))
CELL(least, ppi_cell_least(&row->times))
CELL(most, ppi_cell_most(&row->times))
CELL(deviation, ppi_cell_deviation(&row->times))
CELL(mb_total, in_mb(total(row, base_ns)))
CELL(mb_average, in_mb(average(row, base_ns)))
CELL(mb_median, in_mb(median(row, base_ns)))
CELL(mb_least, in_mb(least(row, base_ns)))
CELL(mb_most, in_mb(most(row, base_ns)))
CELL(mb_deviation, in_mb(deviation(row, base_ns)))
CELL(range, ppi_cell_text(row->range))
CELL(name, ppi_cell_text(row->name))
CELL(grid, ppi_cell_text(row->grid))
CELL(block, ppi_cell_text(row->block))
CELL(style, ppi_cell_text("PushPop"))  // no other range is around a launch
CELL(range_calls, ppi_cell_count(row->calls))
CELL(host_total, ppi_cell_time(row->host_ns))
CELL(busy, ppi_cell_time(row->busy_ns))
CELL(ops, ppi_cell_count(row->ops))
CELL(mean_ops, ppi_cell_mean(row->ops, row->times.n))
CELL(mean_level, ppi_cell_mean(row->levels, row->times.n))
CELL(mean_children, ppi_cell_mean(row->children, row->calls))
#undef CELL

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

// For each column: its heading, its value in a row, its writer for text.
// clang-format off
#define SPREAD(each, before)                                    \
  each(before "Avg (ns)", average, put_tenths)                  \
  each(before "Med (ns)", median, put_tenths)                   \
  each(before "Min (ns)", least, ppi_aligned_put_count)         \
  each(before "Max (ns)", most, ppi_aligned_put_count)          \
  each(before "StdDev (ns)", deviation, put_tenths)
#define KERN_SUM(each)                                          \
  each("Time (%)", share, put_tenths)                           \
  each("Total Time (ns)", total, ppi_aligned_put_count)         \
  each("Instances", instances, ppi_aligned_put_count)           \
  SPREAD(each, "")                                              \
  each("Name", name, ppi_aligned_put_name)
#define KERN_GB_SUM(each)                                       \
  each("Time (%)", share, put_tenths)                           \
  each("Total Time (ns)", total, ppi_aligned_put_count)         \
  each("Instances", instances, ppi_aligned_put_count)           \
  SPREAD(each, "")                                              \
  each("GridXYZ", grid, ppi_aligned_put_name)                   \
  each("BlockXYZ", block, ppi_aligned_put_name)                 \
  each("Name", name, ppi_aligned_put_name)
#define API_SUM(each)                                           \
  each("Time (%)", share, put_tenths)                           \
  each("Total Time (ns)", total, ppi_aligned_put_count)         \
  each("Num Calls", instances, ppi_aligned_put_count)           \
  SPREAD(each, "")                                              \
  each("Name", name, ppi_aligned_put_name)
#define MEM_TIME_SUM(each)                                      \
  each("Time (%)", share, put_tenths)                           \
  each("Total Time (ns)", total, ppi_aligned_put_count)         \
  each("Count", instances, ppi_aligned_put_count)               \
  SPREAD(each, "")                                              \
  each("Operation", name, ppi_aligned_put_name)
#define MEM_SIZE_SUM(each)                                      \
  each("Total (MB)", mb_total, put_thousandths)                 \
  each("Count", instances, ppi_aligned_put_count)               \
  each("Avg (MB)", mb_average, put_thousandths)                 \
  each("Med (MB)", mb_median, put_thousandths)                  \
  each("Min (MB)", mb_least, put_thousandths)                   \
  each("Max (MB)", mb_most, put_thousandths)                    \
  each("StdDev (MB)", mb_deviation, put_thousandths)            \
  each("Operation", name, ppi_aligned_put_name)
#define PROJ_SUM(each)                                          \
  each("Range", range, ppi_aligned_put_name)                    \
  each("Style", style, ppi_aligned_put_name)                    \
  each("Total Proj Time (ns)", total, ppi_aligned_put_count)    \
  each("Total Range Time (ns)", host_total, ppi_aligned_put_count) \
  each("Range Instances", instances, ppi_aligned_put_count)     \
  SPREAD(each, "Proj ")                                         \
  each("Total GPU Ops", ops, ppi_aligned_put_count)             \
  each("Avg GPU Ops", mean_ops, put_tenths)                     \
  each("Avg Range Lvl", mean_level, put_tenths)                 \
  each("Avg Num Child", mean_children, put_tenths)              \
  each("Busy (ns)", busy, ppi_aligned_put_count)
#define NVTX_KERN_SUM(each)                                     \
  each("NVTX Range", range, ppi_aligned_put_name)               \
  each("Style", style, ppi_aligned_put_name)                    \
  each("NVTX Inst", range_calls, ppi_aligned_put_count)         \
  each("Kern Inst", instances, ppi_aligned_put_count)           \
  each("Total Time (ns)", total, ppi_aligned_put_count)         \
  SPREAD(each, "")                                              \
  each("Kernel Name", name, ppi_aligned_put_name)
// clang-format on

typedef ppi_cell get_fn(const gpu_row *row, uint64_t base_ns);
#define GET(heading, get, put) get,
#define COLUMN(heading, get, put) {heading, NULL},
#define SHOWN(heading, get, put) {heading, 0, 0, false, put},
#define TABLE(name, list)                                    \
  static get_fn *const name##_gets[] = {list(GET)};          \
  static const ppi_column name##_columns[] = {list(COLUMN)}; \
  static const ppi_aligned_column name##_shown[] = {list(SHOWN)};
TABLE(kern_sum, KERN_SUM)
TABLE(kern_gb_sum, KERN_GB_SUM)
TABLE(api_sum, API_SUM)
TABLE(mem_time_sum, MEM_TIME_SUM)
TABLE(mem_size_sum, MEM_SIZE_SUM)
TABLE(proj_sum, PROJ_SUM)
TABLE(nvtx_kern_sum, NVTX_KERN_SUM)

// ---- rows ----

// Takes ownership of the rows.
static pprof_status put_rows(ppi_view *view, gpu_rows *rows, bool added,
                             get_fn *const *gets, long top) {
  uint64_t base_ns = 0;
  size_t most_rows = top > 0 ? (size_t)top : SIZE_MAX;
  added = added && merge_alike(rows);
  if (added && rows->num > 1)
    qsort(rows->items, rows->num, sizeof *rows->items, compare_times);
  for (size_t i = 0; i < rows->num; i++) base_ns += rows->items[i].times.sum;
  for (size_t i = 0; i < rows->num && i < most_rows && added; i++) {
    ppi_cell *cells = ppi_view_add_row(view, 0, 0);
    added = cells != NULL;
    for (size_t k = 0; cells && k < view->kind->num_columns; k++)
      cells[k] = gets[k](&rows->items[i], base_ns);
  }
  for (size_t i = 0; i < rows->num; i++)
    ppi_histogram_clear(&rows->items[i].merged);
  ppi_free(rows->items);
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
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

typedef gpu_row row_fn(const ppi_report_name *from);

static gpu_row device_row(const ppi_report_name *from) {
  return (gpu_row){.times = from->device, .histogram = &from->device_times};
}

static gpu_row host_row(const ppi_report_name *from) {
  return (gpu_row){.times = from->host, .histogram = &from->host_times};
}

static gpu_row size_row(const ppi_report_name *from) {
  return (gpu_row){.times = from->bytes, .histogram = &from->sizes};
}

static pprof_status build_names(const ppi_figures *figures,
                                const ppi_report_options *options,
                                ppi_view *out, is_fn *is, row_fn *row_of,
                                get_fn *const *gets) {
  gpu_rows rows = {0};
  bool added = true;
  for (size_t i = 0; i < figures->num_names && added; i++) {
    const ppi_report_name *from = &figures->names[i];
    gpu_row row = row_of(from);
    row.range = "";
    row.name = from->name;
    if (is(from->category) && row.times.n) added = add_gpu_row(&rows, &row);
  }
  return put_rows(out, &rows, added, gets, options->top);
}

static pprof_status build_kernels(const ppi_figures *figures,
                                  const ppi_report_options *options,
                                  ppi_view *out) {
  return build_names(figures, options, out, is_kernel, device_row,
                     kern_sum_gets);
}

static const char *three(ppi_view *view, const uint32_t *sizes) {
  return ppi_view_text(view, "%4u %4u %4u", sizes[0], sizes[1], sizes[2]);
}

static pprof_status build_shapes(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_view *out) {
  gpu_rows rows = {0};
  bool added = true;
  for (size_t i = 0; i < figures->num_shapes && added; i++) {
    const ppi_report_shape *from = &figures->shapes[i];
    const gpu_row row = {.range = "",
                         .name = from->name,
                         .grid = three(out, from->shape.grid),
                         .block = three(out, from->shape.block),
                         .times = from->spread,
                         .histogram = &from->times};
    added = row.grid && row.block && add_gpu_row(&rows, &row);
  }
  return put_rows(out, &rows, added, kern_gb_sum_gets, options->top);
}

static pprof_status build_api(const ppi_figures *figures,
                              const ppi_report_options *options,
                              ppi_view *out) {
  return build_names(figures, options, out, is_api, host_row, api_sum_gets);
}

static pprof_status build_copies(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_view *out) {
  return build_names(figures, options, out, is_copy, device_row,
                     mem_time_sum_gets);
}

static pprof_status build_sizes(const ppi_figures *figures,
                                const ppi_report_options *options,
                                ppi_view *out) {
  return build_names(figures, options, out, is_copy, size_row,
                     mem_size_sum_gets);
}

// Whether the path is a range: neither device work nor a runtime call.
static bool is_range(const ppi_report_path *path) {
  return !path->on_device &&
         strcmp(path->category_name,
                ppi_category_name(PPROF_CATEGORY_RUNTIME)) != 0;
}

// The paths inside a path follow it.
static pprof_status build_projections(const ppi_figures *figures,
                                      const ppi_report_options *options,
                                      ppi_view *out) {
  const ppi_report_path *end = figures->paths + figures->num_paths;
  gpu_rows rows = {0};
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
    added = add_gpu_row(&rows, &row);
  }
  return put_rows(out, &rows, added, proj_sum_gets, options->top);
}

// A kernel has a row in every range around it: a deeply nested log would have
// paths times levels.
enum { MOST_ROWS = 65536 };

// A kernel counts for every range around its launch.
static pprof_status build_range_kernels(const ppi_figures *figures,
                                        const ppi_report_options *options,
                                        ppi_view *out) {
  const ppi_report_path *end = figures->paths + figures->num_paths;
  gpu_rows rows = {0};
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
      if (rows.num == MOST_ROWS) {
        ppi_page_text(&out->note, "Only the first 65536 rows are here.");
        return put_rows(out, &rows, added, nvtx_kern_sum_gets, options->top);
      }
      added = add_gpu_row(&rows, &row);
    }
  }
  return put_rows(out, &rows, added, nvtx_kern_sum_gets, options->top);
}

// ---- as a text ----

static void put_shown(ppi_page *page, const ppi_view *view,
                      const ppi_report_options *options,
                      const ppi_aligned_column *shown) {
  ppi_aligned_column placed[PPI_ALIGNED_MOST];
  const ppi_aligned table = {.view = view,
                             .options = options,
                             .columns = placed,
                             .num_columns = view->kind->num_columns,
                             .indent = 1};
  for (size_t i = 0; i < table.num_columns; i++) {
    placed[i] = shown[i];
    placed[i].cell = i;
    placed[i].is_left = shown[i].put == ppi_aligned_put_name;
  }
  ppi_page_format(page, " ** %s:\n\n", view->kind->title);
  ppi_aligned_put(page, &table);
}

// All columns but the deviation, with the name last; for ranges, the most
// important ones.
static const size_t name_last[] = {0, 1, 2, 3, 4, 5, 6, 8};
static const size_t launched[] = {0, 1, 2, 3, 5, 8, 9, 10};
static const size_t projected[] = {0, 2, 3, 4, 5, 6, 8, 14};
static const size_t all_of_sizes[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const size_t of_ranges[] = {0, 2, 3, 4, 5, 6, 8, 10};

#define VIEW(table, rows_of, id, heading, shown)                       \
  static void put_##table(ppi_page *page, const ppi_view *view,        \
                          const ppi_report_options *options) {         \
    put_shown(page, view, options, table##_shown);                     \
  }                                                                    \
  const ppi_view_kind ppi_view_nsys_##table = {                        \
      .name = id,                                                      \
      .title = heading " (" id ")",                                    \
      .columns = table##_columns,                                      \
      .num_columns = sizeof table##_columns / sizeof *table##_columns, \
      PPI_VIEW_BRIEF(shown),                                           \
      .only_with_rows = true,                                          \
      .build = rows_of,                                                \
      .put_text = put_##table,                                         \
  }
VIEW(kern_sum, build_kernels, "cuda_gpu_kern_sum", "CUDA GPU Kernel Summary",
     name_last);
VIEW(kern_gb_sum, build_shapes, "cuda_gpu_kern_gb_sum",
     "CUDA GPU Kernel/Grid/Block Summary", launched);
VIEW(api_sum, build_api, "cuda_api_sum", "CUDA API Summary", name_last);
VIEW(mem_time_sum, build_copies, "cuda_gpu_mem_time_sum",
     "CUDA GPU MemOps Summary (by Time)", name_last);
VIEW(mem_size_sum, build_sizes, "cuda_gpu_mem_size_sum",
     "CUDA GPU MemOps Summary (by Size)", all_of_sizes);
VIEW(proj_sum, build_projections, "nvtx_gpu_proj_sum",
     "NVTX GPU Projection Summary", projected);
VIEW(nvtx_kern_sum, build_range_kernels, "nvtx_kern_sum",
     "NVTX Range Kernel Summary", of_ranges);
