// SPDX-License-Identifier: Apache-2.0
//
// The rows of the tree: stages, and the launches in them.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

// clang-format off
#define PPI_TREE_COLUMNS(each) \
  each(name, NULL, NULL, 0, 1) \
  each(calls, NULL, NULL, 0, 8) \
  each(total, "ns", NULL, 0, 9) \
  each(wall_share, "%", NULL, 0, 10) \
  each(self, "ns", NULL, 0, 11) \
  each(avg, "ns", NULL, 0, 12) \
  each(p50, "ns", NULL, 0, 14) \
  each(p99, "ns", NULL, 0, 15) \
  each(std, "ns", NULL, 0, 0) \
  each(max, "ns", NULL, 0, 0) \
  each(device, "ns", NULL, 0, 13) \
  each(rate_own, "1/s", NULL, 0, 0) \
  each(user, "ns", NULL, 0, 0) \
  each(sys, "ns", NULL, 0, 0) \
  each(run_queue, "ns", NULL, 0, 0) \
  each(wall, "ns", NULL, 0, 0) \
  each(kernels, NULL, NULL, 0, 3) \
  each(copies, NULL, NULL, 0, 0) \
  each(launches, NULL, NULL, 0, 0) \
  each(busy, "ns", NULL, 0, 4) \
  each(busy_share, "%", NULL, 0, 5) \
  each(span, "ns", NULL, 0, 0) \
  each(idle_share, "%", NULL, 0, 6) \
  each(idle_cause, NULL, NULL, 0, 7) \
  each(launch_delay_p50, "ns", NULL, 0, 0) \
  each(launch_delay_p99, "ns", NULL, 0, 0) \
  each(copied, "B", NULL, 0, 0) \
  each(copy_rate, "GB/s", NULL, 0, 0) \
  each(events, "ns", NULL, 0, 0) \
  each(idle_not_launched, "ns", NULL, 0, 0) \
  each(idle_launching, "ns", NULL, 0, 0) \
  each(idle_queued, "ns", NULL, 0, 0) \
  each(level, NULL, NULL, 0, 0) \
  each(where, NULL, NULL, 0, 2) \
  each(category, NULL, NULL, 0, 0) \
  each(path, NULL, NULL, 0, 0) \
  each(untimed, NULL, NULL, 0, 0) \
  each(by_wait, NULL, NULL, 0, 0)
// clang-format on
#define PPI_TREE_CELL(name, ...) PPI_TREE_##name,
typedef enum ppi_tree_cell {
  PPI_TREE_COLUMNS(PPI_TREE_CELL) PPI_TREE_NUM_COLUMNS
} ppi_tree_cell;
#undef PPI_TREE_CELL

// ppi_tree_is_work: a kernel, a copy or a set.
bool ppi_tree_is_work(const ppi_report_path *path);
// ppi_tree_put_use fills in the work of devices in a stage.
void ppi_tree_put_use(ppi_cell *cells, const ppi_figures *figures,
                      const ppi_report_path *path);
// ppi_tree_add_work adds a row for each name that `up` launched directly, by
// time. NULL: launches in no range, with a row above them.
void ppi_tree_add_work(ppi_view *view, const ppi_figures *figures,
                       const ppi_report_options *options,
                       const ppi_report_path *up, size_t level);

// ppi_tree_put_text is the `put_text` of the view.
void ppi_tree_put_text(ppi_page *page, const ppi_view *view,
                       const ppi_report_options *options);

// ppi_tree_columns lists the columns of its text: "calls|total|...".
const char *ppi_tree_columns(void);
// ppi_tree_wants_use: one of the columns shows the work of devices.
bool ppi_tree_wants_use(const char *names);

PPROF_END_C_
