// SPDX-License-Identifier: Apache-2.0
//
// Adds the launches of a stage to the tree: kernels, copies and sets by name.
#include <stdlib.h>

#include "base/mem.h"
#include "names/names.h"
#include "report/figures/path_rows.h"
#include "view/tree_rows.h"

// The usual number of names below a stage.
enum { USUAL_TOP = 5 };

bool ppi_tree_is_work(const ppi_report_path *path) {
  static const uint32_t categories[] = {
      PPROF_CATEGORY_KERNEL, PPROF_CATEGORY_MEMCPY, PPROF_CATEGORY_MEMSET};
  bool is = false;
  for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
    is |= strcmp(path->category_name, ppi_category_name(categories[i])) == 0;
  return is && path->on_device;
}

static const char *why_idle(const ppi_device_use *use) {
  static const char *const words[] = {[PPI_GAP_NOT_LAUNCHED] = "not launched",
                                      [PPI_GAP_LAUNCH] = "launching",
                                      [PPI_GAP_QUEUED] = "queued"};
  int most = 0;
  for (int i = 1; i < PPI_NUM_GAPS; i++)
    if (use->gap_ns[i] > use->gap_ns[most]) most = i;
  return words[most];
}

// The busy time of all devices, summed.
static uint64_t all_busy(const ppi_figures *figures) {
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < figures->num_devices; i++)
    sum_ns += figures->devices[i].busy_ns;
  return sum_ns;
}

void ppi_tree_put_use(ppi_cell *cells, const ppi_figures *figures,
                      const ppi_report_path *path) {
  const ppi_device_use *use = &path->use;
  uint64_t idle_ns = ppi_device_use_idle(use);
  if (!use->launches) return;
  if (path->events_ns) cells[PPI_TREE_events] = ppi_cell_time(path->events_ns);
  for (int i = 0; i < PPI_NUM_GAPS; i++)
    cells[PPI_TREE_idle_not_launched + i] = ppi_cell_time(use->gap_ns[i]);
  cells[PPI_TREE_kernels] = ppi_cell_count(use->kernels);
  if (use->by_wait) cells[PPI_TREE_by_wait] = ppi_cell_count(use->by_wait);
  cells[PPI_TREE_launches] = ppi_cell_count(use->launches);
  cells[PPI_TREE_busy] = ppi_cell_time(use->busy_ns);
  cells[PPI_TREE_busy_share] =
      ppi_cell_ratio((int64_t)use->busy_ns, all_busy(figures));
  cells[PPI_TREE_span] = ppi_cell_time(use->spans.sum);
  cells[PPI_TREE_idle_share] = ppi_cell_ratio((int64_t)idle_ns, use->spans.sum);
  if (idle_ns) cells[PPI_TREE_idle_cause] = ppi_cell_text(why_idle(use));
  cells[PPI_TREE_launch_delay_p50] = ppi_cell_quantile(&use->delays, 50);
  cells[PPI_TREE_launch_delay_p99] = ppi_cell_quantile(&use->delays, 99);
  if (!use->copies) return;
  cells[PPI_TREE_copies] = ppi_cell_count(use->copies);
  cells[PPI_TREE_copied] = ppi_cell_count(use->copied_bytes);
  cells[PPI_TREE_copy_rate] = ppi_cell_rate(use->copied_bytes, use->copy_ns);
}

// ---- by name ----

typedef struct work_name {
  const char *name;
  const ppi_report_path *first;  // of the paths of this name
  size_t num;
  ppi_spread spread;
  uint64_t busy_ns;
} work_name;

typedef struct work_names {
  work_name *items;
  size_t num, capacity;
} work_names;

static const char *shown_name(ppi_view *view, const ppi_report_path *path,
                              const ppi_report_options *options) {
  bool is_kernel = strcmp(path->category_name,
                          ppi_category_name(PPROF_CATEGORY_KERNEL)) == 0;
  return is_kernel ? ppi_view_kernel_name(view, path->name, options)
                   : path->name;
}

static bool add_name(work_names *names, const char *name,
                     const ppi_report_path *path) {
  work_name *at = names->items, *end = at + names->num;
  while (at < end && strcmp(at->name, name) != 0) at++;
  if (at == end) {
    if (!PPI_ROOM(names->items, names->capacity, names->num + 1)) return false;
    at = &names->items[names->num++];
    *at = (work_name){.name = name, .first = path};
  }
  at->num++;
  ppi_spread_merge(&at->spread, &path->spread);
  at->busy_ns += path->wall_ns;
  return true;
}

// The paths inside a path follow it.
static bool gather(ppi_view *view, const ppi_figures *figures,
                   const ppi_report_options *options, const ppi_report_path *up,
                   work_names *out) {
  uint32_t level = up ? up->level + 1 : 1;
  const ppi_report_path *end = figures->paths + figures->num_paths;
  for (const ppi_report_path *at = up ? up + 1 : figures->paths; at < end;
       at++) {
    if (!ppi_path_row_is_in(at, up)) break;
    if (at->level != level || !ppi_tree_is_work(at)) continue;
    if (!add_name(out, shown_name(view, at, options), at)) return false;
  }
  return true;
}

PPI_ORDER(compare_names, work_name, PPI_DOWN(spread.sum) PPI_BY_TEXT(name))

// ---- rows ----

static void add_row(ppi_view *view, const ppi_figures *figures,
                    const work_name *name, size_t level) {
  ppi_cell *cells = ppi_view_add_row(view, 0, level - 1);
  cells[PPI_TREE_name] = ppi_cell_text(name->name);
  cells[PPI_TREE_level] = ppi_cell_count(level);
  cells[PPI_TREE_where] = ppi_cell_text("kernel");
  cells[PPI_TREE_calls] = ppi_cell_count(ppi_spread_calls(&name->spread));
  cells[PPI_TREE_total] = ppi_cell_time(name->spread.sum);
  cells[PPI_TREE_busy] = ppi_cell_time(name->busy_ns);
  cells[PPI_TREE_busy_share] =
      ppi_cell_ratio((int64_t)name->busy_ns, all_busy(figures));
  cells[PPI_TREE_avg] = ppi_cell_average(&name->spread);
  cells[PPI_TREE_std] = ppi_cell_deviation(&name->spread);
  cells[PPI_TREE_max] = ppi_cell_most(&name->spread);
  if (!name->first) return;
  cells[PPI_TREE_category] = ppi_cell_text(name->first->category_name);
  if (name->num > 1) return;  // of several kernels
  cells[PPI_TREE_path] = ppi_cell_text(name->first->name);
  cells[PPI_TREE_p50] = ppi_cell_quantile(&name->first->times, 50);
  cells[PPI_TREE_p99] = ppi_cell_quantile(&name->first->times, 99);
}

static const char *const strays[PPI_NUM_STRAYS] = {
    [PPI_STRAY_NO_RANGE] = "(no range open)",
    [PPI_STRAY_GRAPH] = "(graph, no range open)",
    [PPI_STRAY_RANGE] = "(range not in the log)",
    [PPI_STRAY_LAUNCH] = "(launch not known)"};

static void add_stray(ppi_view *view, const ppi_figures *figures,
                      const work_name *row, size_t level) {
  ppi_cell *cells = ppi_view_add_row(view, 0, level - 1);
  cells[PPI_TREE_name] = ppi_cell_text(row->name);
  cells[PPI_TREE_level] = ppi_cell_count(level);
  cells[PPI_TREE_where] = ppi_cell_text("outside");
  cells[PPI_TREE_kernels] = ppi_cell_count(row->num);
  cells[PPI_TREE_busy] = ppi_cell_time(row->busy_ns);
  cells[PPI_TREE_busy_share] =
      ppi_cell_ratio((int64_t)row->busy_ns, all_busy(figures));
}

// Adds the launches outside of ranges; their reasons follow, unless all have
// the usual one.
static void add_outside(ppi_view *view, const ppi_figures *figures) {
  const ppi_report_kernels *kernels = &figures->kernels;
  work_name all = {.name = "(launched outside of ranges)"};
  for (size_t i = 0; i < PPI_NUM_STRAYS; i++) {
    all.num += kernels->num_stray[i];
    all.busy_ns += kernels->stray_ns[i];
  }
  add_stray(view, figures, &all, 1);
  if (all.num == kernels->num_stray[PPI_STRAY_NO_RANGE]) return;
  for (size_t i = 0; i < PPI_NUM_STRAYS; i++) {
    const work_name one = {.name = strays[i],
                           .num = kernels->num_stray[i],
                           .busy_ns = kernels->stray_ns[i]};
    if (one.num) add_stray(view, figures, &one, 2);
  }
}

static void add_rest(ppi_view *view, const ppi_figures *figures,
                     const work_names *names, size_t from, size_t level) {
  work_name rest = {0};
  for (size_t i = from; i < names->num; i++) {
    ppi_spread_merge(&rest.spread, &names->items[i].spread);
    rest.busy_ns += names->items[i].busy_ns;
  }
  rest.name = ppi_view_text(view, "(%zu more)", names->num - from);
  add_row(view, figures, &rest, level);
}

void ppi_tree_add_work(ppi_view *view, const ppi_figures *figures,
                       const ppi_report_options *options,
                       const ppi_report_path *up, size_t level) {
  work_names names = {0};
  view->note.failed |= !gather(view, figures, options, up, &names);
  size_t most = options->top > 0 ? (size_t)options->top : USUAL_TOP;
  if (options->top == 0 || options->top == -1 || names.num == most + 1)
    most = names.num;
  if (names.num > 1)
    qsort(names.items, names.num, sizeof *names.items, compare_names);
  if (!up && names.num) add_outside(view, figures);
  if (!up) level++;
  for (size_t i = 0; i < names.num && i < most; i++)
    add_row(view, figures, &names.items[i], level);
  if (names.num > most) add_rest(view, figures, &names, most, level);
  ppi_free(names.items);
}
