// SPDX-License-Identifier: Apache-2.0
//
// Builds the Kernel view: device ranges that are kernels, by name.
#include <string.h>

#include "view/view_named.h"

enum {
  NAME,
  CALLS,
  DEVICE_TOTAL,
  P50 = DEVICE_TOTAL + PPI_SPREAD_CELLS,
  NUM_COLUMNS = P50 + PPI_TIMES_CELLS
};
enum { NAME_WIDTH = 90 };

static const ppi_column columns[NUM_COLUMNS] = {{"name", NULL},
                                                {"calls", NULL},
                                                PPI_DEVICE_COLUMNS,
                                                PPI_TIMES_COLUMNS("device")};
static const size_t brief[] = {NAME,
                               CALLS,
                               DEVICE_TOTAL,
                               DEVICE_TOTAL + 1,
                               DEVICE_TOTAL + 2,
                               DEVICE_TOTAL + 4,
                               P50,
                               P50 + 2};
static const ppi_table_column table_columns[] = {
    {"Name", NAME_WIDTH, NAME, 1},
    {"Calls", 6, CALLS, 1},
    {PPI_DEVICE_HEADING, 40, DEVICE_TOTAL, PPI_SPREAD_CELLS},
};

static const ppi_named_layout layout = {
    .calls = CALLS, .device = DEVICE_TOTAL, .p50 = P50};

// The length of `name<template>` if `(arguments)` follow, else of the whole
// name.
static size_t without_arguments(const char *name) {
  size_t len = strlen(name);
  const char *close = strrchr(name, ')');
  const char *open = len > 1 ? strchr(name + 1, '<') : NULL;
  if (!close || !open) return len;
  for (const char *at = close; at > open + 1; at--)
    if (at[0] == '(' && at[-1] == '>') return (size_t)(at - name);
  return len;
}

static bool cut_name(ppi_view *view, const ppi_named_block *block,
                     const ppi_named *named, ppi_cell *cells) {
  (void)block;
  (void)cells;
  const char *label =
      ppi_view_shorten(view, named->name, without_arguments(named->name),
                       NAME_WIDTH, NAME_WIDTH - 3);
  ppi_view_last_row(view)->label = label;
  return label != NULL;
}

// The reason for a report without kernels.
static const char *why_none(const ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_devices; i++)
    if (figures->devices[i].ranges || figures->devices[i].untimed)
      return "no kernel records: device ranges are timed by pairs of events; "
             "see UserDefined and Queue";
  return "no kernel records: nothing was recorded on a device";
}

static pprof_status build_kernel(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_view *out) {
  ppi_named_block block = {.figures = figures,
                           .options = options,
                           .layout = &layout,
                           .order = PPI_SORT_DEVICE_TOTAL,
                           .finish_row = cut_name};
  bool added = true;
  for (size_t i = 0; i < figures->num_names && added; i++) {
    const ppi_report_name *name = &figures->names[i];
    if (name->category != PPROF_CATEGORY_KERNEL || !name->device.n) continue;
    ppi_named named = ppi_named_device(name);
    block.device_base += named.device.sum;
    added = ppi_named_add(&block.list, &named);
  }
  pprof_status status =
      added ? ppi_named_put(out, &block) : PPROF_STATUS_NO_MEMORY;
  ppi_named_clear(&block.list);
  if (!out->num_rows) out->reason = why_none(figures);
  return status;
}

const ppi_view_kind ppi_view_kernel = {
    .name = "kernel",
    .title = "Kernel Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .end = PPI_TABLE_END_RULE,
    .build = build_kernel,
};
