// SPDX-License-Identifier: Apache-2.0
//
// The rows of the tree: stages, and the launches in them.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

// clang-format off
#define PPI_TREE_COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(CALLS, "calls", NULL) \
  each(TOTAL, "total", "ns") \
  each(WALL, "wall_share", "%") \
  each(SELF, "self", "ns") \
  each(AVG, "avg", "ns") \
  each(P50, "p50", "ns") \
  each(P99, "p99", "ns") \
  each(STD, "std", "ns") \
  each(MOST, "max", "ns") \
  each(DEVICE, "device", "ns") \
  each(RATE, "rate_own", "1/s") \
  each(USER, "user", "ns") \
  each(SYS, "sys", "ns") \
  each(QUEUE, "run_queue", "ns") \
  each(WALL_NS, "wall", "ns") \
  each(KERNELS, "kernels", NULL) \
  each(COPIES, "copies", NULL) \
  each(LAUNCHES, "launches", NULL) \
  each(BUSY, "busy", "ns") \
  each(BUSY_SHARE, "busy_share", "%") \
  each(SPAN, "span", "ns") \
  each(IDLE, "idle_share", "%") \
  each(WHY, "idle_cause", NULL) \
  each(DELAY, "launch_delay_p50", "ns") \
  each(LATE, "launch_delay_p99", "ns") \
  each(COPIED, "copied", "B") \
  each(COPY_RATE, "copy_rate", "GB/s") \
  each(EVENTS, "events", "ns") \
  each(NOT_LAUNCHED, "idle_not_launched", "ns") \
  each(LAUNCHING, "idle_launching", "ns") \
  each(QUEUED, "idle_queued", "ns") \
  each(LEVEL, "level", NULL) \
  each(WHERE, "where", NULL) \
  each(CATEGORY, "category", NULL) \
  each(PATH, "path", NULL) \
  each(UNTIMED, "untimed", NULL) \
  each(BY_WAIT, "by_wait", NULL)
// clang-format on
#define PPI_TREE_CELL(cell, name, unit) PPI_TREE_##cell,
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
pprof_status ppi_tree_add_work(ppi_view *view, const ppi_figures *figures,
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
