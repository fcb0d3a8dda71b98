// SPDX-License-Identifier: Apache-2.0
//
// Builds the style torch: the table of torch.profiler's key_averages, of host
// ranges and of device work.
#include <limits.h>

#include "names/names.h"
#include "view/view_named.h"

enum { ROWS = 100, CELL_WIDTH = 12, NAME_WIDTH = 55 };

typedef struct totals {
  uint64_t host_ns, device_ns;  // of self times
} totals;

static bool is_device(const ppi_named *named) {
  return named->from && named->timed == &named->from->device;
}

static bool counts_for_device(const ppi_figures *figures, uint32_t category) {
  return !figures->runs_with_kernels || category == PPROF_CATEGORY_KERNEL ||
         category == PPROF_CATEGORY_MEMCPY || category == PPROF_CATEGORY_MEMSET;
}

static bool gather(const ppi_figures *figures, ppi_named_list *list,
                   totals *sums) {
  bool added = true;
  for (size_t i = 0; i < figures->num_names && added; i++) {
    const ppi_report_name *name = &figures->names[i];
    ppi_named host = ppi_named_ranges(name), device = ppi_named_device(name);
    if (host.host.n && name->category != PPROF_CATEGORY_PYTHON_OP) {
      sums->host_ns += host.self_ns;
      added = ppi_named_add(list, &host);
    }
    if (!device.calls || !added) continue;
    if (counts_for_device(figures, name->category))
      sums->device_ns += device.device.sum;
    added = ppi_named_add(list, &device);
  }
  if (!figures->outside.num || !added) return added;
  ppi_named outside = {
      .name = "[memory]",
      .category_name = ppi_category_name(PPROF_CATEGORY_MEMORY),
      .category = PPROF_CATEGORY_MEMORY,
      .calls = figures->outside.num,
      .memory = figures->outside.sums,
      .own_memory = figures->outside.sums};
  return ppi_named_add(list, &outside);
}

// torch names memory by the kind of its place.
// clang-format off
#define COLUMNS(each) \
  each(name, NULL, NULL, 0, 1, text(named->name)) \
  each(kind, NULL, NULL, 0, 2, text(is_device(named) ? "device" : "host")) \
  each(calls, NULL, NULL, 0, 3, count(named->calls)) \
  each(self_cpu, "ns", NULL, 0, 4, \
       if (on_host, ppi_cell_time(named->self_ns))) \
  each(self_cpu_ratio, "%", NULL, 0, 0, \
       if (on_host, ppi_cell_ratio((int64_t)named->self_ns, sums->host_ns))) \
  each(cpu_total, "ns", NULL, 0, 5, \
       if (on_host, ppi_cell_time(named->host.sum))) \
  each(cpu_total_ratio, "%", NULL, 0, 0, \
       if (on_host, ppi_cell_ratio((int64_t)named->host.sum, sums->host_ns))) \
  each(cpu_avg, "ns", NULL, 0, 6, \
       if (on_host, ppi_cell_average(&named->host))) \
  each(self_device, "ns", NULL, 0, 7, time(named->own_device_ns)) \
  each(self_device_ratio, "%", NULL, 0, 0, \
       ratio((int64_t)named->own_device_ns, sums->device_ns)) \
  each(device_total, "ns", NULL, 0, 8, time(named->device.sum)) \
  each(device_avg, "ns", NULL, 0, 0, \
       mean(ppi_spread_whole(&named->device).sum, named->calls)) \
  each(flops, NULL, NULL, 0, 0, \
       if (on_host || !named->from->host.n, ppi_named_flops(figures, named))) \
  each(cpu_memory, "B", NULL, 0, 0, \
       if (has_memory, ppi_cell_signed(named->memory.bytes[0]))) \
  each(self_cpu_memory, "B", NULL, 0, 0, \
       if (has_memory, ppi_cell_signed(named->own_memory.bytes[0]))) \
  each(device_memory, "B", NULL, 0, 0, \
       if (has_memory, ppi_cell_signed(named->memory.bytes[1]))) \
  each(self_device_memory, "B", NULL, 0, 0, \
       if (has_memory, ppi_cell_signed(named->own_memory.bytes[1])))
// clang-format on
PPI_VIEW_TABLE(torch, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);

// Narrower columns have no room for a letter.
static size_t width_of_names(const ppi_report_options *options) {
  enum { LEAST = 5 };
  if (options->name_width <= 0) return NAME_WIDTH;
  return options->name_width > LEAST ? (size_t)options->name_width : LEAST;
}

// As in torch: a name of 52 characters or more is cut to 52 and gets "...".
static void add_row(ppi_view *view, const ppi_figures *figures,
                    const ppi_named *named, const totals *sums,
                    size_t name_width) {
  bool on_host = !is_device(named), has_memory = figures->num_places > 0;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COLUMNS, cells);
  ppi_view_last_row(view)->label = ppi_view_shorten(
      view, named->name, strlen(named->name), name_width - 4, name_width - 3);
}

// As torch chooses them: s from a second on, ms from a millisecond on, else us.
static void put_ns(ppi_page *page, double ns,
                   const ppi_report_options *options) {
  static const double scales[] = {1e6, 1, 1e3, 1e9};
  ppi_time_unit unit = options->time_unit;
  if (!options->has_time_unit)
    unit = ns >= 1e9 ? PPI_TIME_S : ns >= 1e6 ? PPI_TIME_MS : PPI_TIME_US;
  ppi_page_fixed(page, ns / scales[unit], 3);
  ppi_page_text(page, ppi_time_unit_name(unit));
}

static void put_totals(ppi_page *page, const totals *sums,
                       const ppi_report_options *options) {
  ppi_page_text(page, "Self CPU time total: ");
  put_ns(page, (double)sums->host_ns, options);
  ppi_page_text(page, "\n");
  if (!sums->device_ns) return;
  ppi_page_text(page, "Self CUDA time total: ");
  put_ns(page, (double)sums->device_ns, options);
  ppi_page_text(page, "\n");
}

static void build_torch(const ppi_figures *figures,
                        const ppi_report_options *options, ppi_view *out) {
  ppi_named_list list = {0};
  totals sums = {0};
  ppi_sort_key key = ppi_sort_key_of(options);
  out->note.failed |= !gather(figures, &list, &sums);
  size_t num =
      ppi_named_order(&list, key == PPI_SORT_NONE ? PPI_SORT_SELF : key,
                      options->top == LONG_MIN ? ROWS : options->top);
  for (size_t i = 0; i < num && !out->note.failed; i++)
    add_row(out, figures, &list.items[i], &sums, width_of_names(options));
  ppi_named_clear(&list);
  put_totals(&out->note, &sums, options);
  if (!out->num_rows) out->reason = "no ranges";
}

// An empty cell is zero, as in torch.
static void put_time(ppi_page *page, const ppi_cell *cell,
                     const ppi_aligned *table) {
  bool is_time = cell->kind == PPI_CELL_TIME;
  put_ns(page, is_time ? (double)cell->value / (double)cell->divisor : 0,
         table->options);
}

static void put_percent(ppi_page *page, const ppi_cell *cell,
                        const ppi_aligned *table) {
  double percent = 0;
  (void)table;
  ppi_cell_is_ratio(cell, &percent);
  ppi_page_fixed(page, percent, 2);
  ppi_page_text(page, "%");
}

// As torch writes sizes: in units of 1024 from one of them on.
static void put_memory(ppi_page *page, const ppi_cell *cell,
                       const ppi_aligned *table) {
  static const char *const units[] = {" B", " KB", " MB", " GB"};
  double bytes = cell->kind == PPI_CELL_COUNT ? (double)cell->value : 0;
  size_t unit = 0;
  (void)table;
  for (; unit < 3 && (bytes >= 1024 || bytes <= -1024); unit++) bytes /= 1024;
  ppi_page_fixed(page, bytes, unit ? 2 : 0);
  ppi_page_text(page, units[unit]);
}

static const ppi_aligned_column host_columns[] = {
    {"Name", CELL_name, 0, false, ppi_aligned_put_name},
    {"Self CPU %", CELL_self_cpu_ratio, CELL_WIDTH, false, put_percent},
    {"Self CPU", CELL_self_cpu, CELL_WIDTH, false, put_time},
    {"CPU total %", CELL_cpu_total_ratio, CELL_WIDTH, false, put_percent},
    {"CPU total", CELL_cpu_total, CELL_WIDTH, false, put_time},
    {"CPU time avg", CELL_cpu_avg, CELL_WIDTH, false, put_time}};
static const ppi_aligned_column device_columns[] = {
    {"Self CUDA", CELL_self_device, CELL_WIDTH, false, put_time},
    {"Self CUDA %", CELL_self_device_ratio, CELL_WIDTH, false, put_percent},
    {"CUDA total", CELL_device_total, CELL_WIDTH, false, put_time},
    {"CUDA time avg", CELL_device_avg, CELL_WIDTH, false, put_time}};
static const ppi_aligned_column memory_columns[] = {
    {"CPU Mem", CELL_cpu_memory, CELL_WIDTH, false, put_memory},
    {"Self CPU Mem", CELL_self_cpu_memory, CELL_WIDTH, false, put_memory}};
static const ppi_aligned_column device_memory_columns[] = {
    {"CUDA Mem", CELL_device_memory, CELL_WIDTH, false, put_memory},
    {"Self CUDA Mem", CELL_self_device_memory, CELL_WIDTH, false, put_memory}};
static const ppi_aligned_column calls_column = {
    "# of Calls", CELL_calls, CELL_WIDTH, false, ppi_aligned_put_count};

static void put_flops(ppi_page *page, const ppi_cell *cell,
                      const ppi_aligned *table) {
  if (cell->kind == PPI_CELL_WHOLE)
    ppi_page_fixed(page, cell->number / table->scale, 3);
  else
    ppi_page_text(page, "--");
}

// torch scales all FLOPs by the thousands that the least of them has.
static ppi_aligned_column flops_column(const ppi_view *view, double *scale) {
  static const char *const headings[] = {"Total FLOPs",  "Total KFLOPs",
                                         "Total MFLOPs", "Total GFLOPs",
                                         "Total TFLOPs", "Total PFLOPs"};
  enum { NUM_HEADINGS = sizeof headings / sizeof *headings };
  double least = 0;
  size_t thousands = 0;
  for (size_t row = 0; row < view->num_rows; row++) {
    const ppi_cell *cell = &view->cells[row * NUM_COLUMNS + CELL_flops];
    if (cell->kind == PPI_CELL_WHOLE && (!least || cell->number < least))
      least = cell->number;
  }
  for (*scale = 1; least >= *scale * 1e3 && thousands + 1 < NUM_HEADINGS;
       thousands++)
    *scale *= 1e3;
  return (ppi_aligned_column){.heading = least ? headings[thousands] : NULL,
                              .cell = CELL_flops,
                              .width = CELL_WIDTH,
                              .put = put_flops};
}

enum {
  NUM_HOST = sizeof host_columns / sizeof *host_columns,
  NUM_DEVICE = sizeof device_columns / sizeof *device_columns,
  NUM_MEMORY = 2,
  NUM_ALL = NUM_HOST + NUM_DEVICE + 2 * NUM_MEMORY + 2
};

// torch shows the memory of devices where any row took more than it gave back.
static bool has_more_than_none(const ppi_view *view, size_t cell) {
  for (size_t row = 0; row < view->num_rows; row++)
    if (view->cells[row * NUM_COLUMNS + cell].value > 0) return true;
  return false;
}

static bool has_memory(const ppi_view *view) {
  return view->num_rows && view->cells[CELL_cpu_memory].kind != PPI_CELL_NONE;
}

static void show(ppi_aligned *table, ppi_aligned_column *shown,
                 const ppi_aligned_column *more, size_t num) {
  memcpy(shown + table->num_columns, more, num * sizeof *more);
  table->num_columns += num;
}

static size_t name_width(const ppi_view *view, size_t most) {
  size_t width = 0;
  for (size_t row = 0; row < view->num_rows; row++) {
    const char *name = view->rows[row].label;
    size_t its = ppi_page_width(name, strlen(name)) + 4;
    if (its > width) width = its;
  }
  return width < most ? width : most;
}

static void put_text(ppi_page *page, const ppi_view *view,
                     const ppi_report_options *options) {
  ppi_aligned_column shown[NUM_ALL];
  ppi_aligned table = {
      .view = view, .options = options, .columns = shown, .is_framed = true};
  show(&table, shown, host_columns, NUM_HOST);
  shown[0].width = name_width(view, width_of_names(options));
  if (has_more_than_none(view, CELL_device_total))
    show(&table, shown, device_columns, NUM_DEVICE);
  if (has_memory(view)) show(&table, shown, memory_columns, NUM_MEMORY);
  if (has_more_than_none(view, CELL_self_device_memory))
    show(&table, shown, device_memory_columns, NUM_MEMORY);
  show(&table, shown, &calls_column, 1);
  shown[table.num_columns] = flops_column(view, &table.scale);
  if (shown[table.num_columns].heading) table.num_columns++;
  ppi_aligned_put(page, &table);
  ppi_page_bytes(page, view->note.bytes, view->note.len);
}

PPI_VIEW(torch, "Torch Summary", .build = build_torch, .put_text = put_text);
