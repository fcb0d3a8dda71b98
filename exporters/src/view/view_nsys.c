// SPDX-License-Identifier: Apache-2.0
//
// Builds the style nsys: host ranges, as in `nsys stats -r nvtx_sum`.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view.h"
#include "view/view_named.h"

enum {
  TIME,
  TOTAL,
  INSTANCES,
  MEAN,
  MEDIAN,
  MIN,
  MAX,
  DEVIATION,
  STYLE,
  RANGE,
  NUM_COLUMNS
};

static const size_t brief[] = {TIME,   TOTAL, INSTANCES, MEAN,
                               MEDIAN, MIN,   MAX,       RANGE};
static const ppi_column columns[NUM_COLUMNS] = {
    [TIME] = {"Time (%)", NULL},       [TOTAL] = {"Total Time (ns)", NULL},
    [INSTANCES] = {"Instances", NULL}, [MEAN] = {"Avg (ns)", NULL},
    [MEDIAN] = {"Med (ns)", NULL},     [MIN] = {"Min (ns)", NULL},
    [MAX] = {"Max (ns)", NULL},        [DEVIATION] = {"StdDev (ns)", NULL},
    [STYLE] = {"Style", NULL},         [RANGE] = {"Range", NULL},
};

// NVTX calls cross-thread ranges start and end.
static const char *style_of(const ppi_report_name *name) {
  if (!name->num_async) return "PushPop";
  return name->num_async < name->host.n ? "PushPop+StartEnd" : "StartEnd";
}

static bool add_row(ppi_view *view, const ppi_named *named, uint64_t base_ns) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[TIME] = ppi_cell_ratio((int64_t)named->host.sum, base_ns);
  cells[TOTAL] = ppi_cell_time(named->host.sum);
  cells[INSTANCES] = ppi_cell_count(named->calls);
  cells[MEAN] = ppi_cell_average(&named->host);
  cells[MEDIAN] = ppi_named_key(named, PPI_SORT_P50);
  cells[MIN] = ppi_cell_least(&named->host);
  cells[MAX] = ppi_cell_most(&named->host);
  cells[DEVIATION] = ppi_named_key(named, PPI_SORT_STD);
  cells[STYLE] = ppi_cell_text(style_of(named->from));
  cells[RANGE] = ppi_cell_text(named->name);
  return true;
}

// NVTX does not know our categories: equal names of several categories are one.
// Runtime calls are not among its ranges: cuda_api_sum has them.
typedef struct shared_names {
  const ppi_report_name **names;  // by name
  size_t num;
  ppi_report_name *merged;  // of names in several categories
  size_t num_merged;
} shared_names;

static int compare_names(const void *left, const void *right) {
  const ppi_report_name *a = *(const ppi_report_name *const *)left;
  const ppi_report_name *b = *(const ppi_report_name *const *)right;
  return strcmp(a->name, b->name);
}

static bool sort_names(shared_names *shared, const ppi_figures *figures) {
  shared->names = ppi_alloc((figures->num_names + 1) * sizeof *shared->names);
  shared->merged =
      ppi_alloc((figures->num_names / 2 + 1) * sizeof *shared->merged);
  if (!shared->names || !shared->merged) return false;
  for (size_t i = 0; i < figures->num_names; i++)
    if (figures->names[i].host.n &&
        figures->names[i].category != PPROF_CATEGORY_RUNTIME)
      shared->names[shared->num++] = &figures->names[i];
  if (shared->num > 1)
    qsort(shared->names, shared->num, sizeof *shared->names, compare_names);
  return true;
}

static void clear_names(shared_names *shared) {
  for (size_t i = 0; i < shared->num_merged; i++)
    ppi_histogram_clear(&shared->merged[i].host_times);
  ppi_free(shared->merged);
  ppi_free(shared->names);
}

// Answers the name at *at, merged with equal names, and moves on; NULL when out
// of memory.
static const ppi_report_name *next_name(shared_names *shared, size_t *at) {
  const ppi_report_name *first = shared->names[(*at)++];
  if (*at == shared->num || strcmp(shared->names[*at]->name, first->name) != 0)
    return first;
  ppi_report_name *all = &shared->merged[shared->num_merged++];
  all->name = first->name;
  all->category_name = first->category_name;
  for (size_t i = *at - 1; i < shared->num; i++, *at = i) {
    const ppi_report_name *from = shared->names[i];
    if (strcmp(from->name, first->name) != 0) break;
    ppi_spread_merge(&all->host, &from->host);
    all->num_async += from->num_async;
    if (!ppi_histogram_merge(&all->host_times, &from->host_times)) return NULL;
  }
  return all;
}

static bool add_rows(ppi_view *view, shared_names *shared,
                     const ppi_report_options *options) {
  ppi_named_list list = {0};
  ppi_sort_key key = ppi_sort_key_of(options);
  uint64_t base_ns = 0;
  bool added = true;
  for (size_t i = 0; i < shared->num && added;) {
    const ppi_report_name *name = next_name(shared, &i);
    ppi_named named = name ? ppi_named_ranges(name) : (ppi_named){0};
    base_ns += named.host.sum;
    added = name && ppi_named_add(&list, &named);
  }
  if (key == PPI_SORT_NONE) key = PPI_SORT_HOST_TOTAL;
  size_t num = added ? ppi_named_order(&list, key, options->top) : 0;
  for (size_t i = 0; i < num && added; i++)
    added = add_row(view, &list.items[i], base_ns);
  ppi_named_clear(&list);
  return added;
}

static pprof_status build_nsys(const ppi_figures *figures,
                               const ppi_report_options *options,
                               ppi_view *out) {
  shared_names shared = {0};
  bool added = sort_names(&shared, figures) && add_rows(out, &shared, options);
  clear_names(&shared);
  if (!out->num_rows) out->reason = "no host ranges";
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
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

static const ppi_aligned_column shown[NUM_COLUMNS] = {
    {"Time (%)", TIME, 0, false, put_tenths},
    {"Total Time (ns)", TOTAL, 0, false, ppi_aligned_put_count},
    {"Instances", INSTANCES, 0, false, ppi_aligned_put_count},
    {"Avg (ns)", MEAN, 0, false, put_tenths},
    {"Med (ns)", MEDIAN, 0, false, put_tenths},
    {"Min (ns)", MIN, 0, false, ppi_aligned_put_count},
    {"Max (ns)", MAX, 0, false, ppi_aligned_put_count},
    {"StdDev (ns)", DEVIATION, 0, false, put_tenths},
    {"Style", STYLE, 0, true, ppi_aligned_put_name},
    {"Range", RANGE, 0, true, ppi_aligned_put_name},
};

static void put_text(ppi_page *page, const ppi_view *view,
                     const ppi_report_options *options) {
  const ppi_aligned table = {.view = view,
                             .options = options,
                             .columns = shown,
                             .num_columns = NUM_COLUMNS,
                             .indent = 1};
  ppi_page_format(page, " ** %s:\n\n", view->kind->title);
  ppi_aligned_put(page, &table);
}

const ppi_view_kind ppi_view_nsys = {
    .name = "nvtx_sum",
    .title = "NVTX Range Summary (nvtx_sum)",
    .columns = columns,
    .num_columns = NUM_COLUMNS,
    PPI_VIEW_BRIEF(brief),
    .build = build_nsys,
    .put_text = put_text,
};
