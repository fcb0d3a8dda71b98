// SPDX-License-Identifier: Apache-2.0
//
// Builds the Interference view: stages that ran at the same time on a device,
// and how much each slowed down.

#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 15, 1, text(pair->name)) \
  each(other, NULL, "Beside", 15, 2, text(pair->other)) \
  each(device, NULL, "Device", 10, 3, text(pair->device)) \
  each(calls, NULL, "Calls", 6, 0, count(alone->num_calls)) \
  each(overlap, "ns", "Overlap / Ratio(%)", 20, 4, time(pair->shared_ns)) \
  each(overlap_ratio, "%", "", 0, 5, \
       ratio((int64_t)pair->shared_ns, alone->shared_ns)) \
  each(calls_alone, NULL, "Alone Calls / Avg", 19, 0, \
       count(alone->num_measured)) \
  each(alone_avg, "ns", "", 0, 6, \
       mean(alone->measured_ns, alone->num_measured)) \
  each(calls_beside, NULL, "Beside Calls / Avg", 19, 0, \
       count(pair->num_measured)) \
  each(beside_avg, "ns", "", 0, 7, \
       mean(pair->measured_ns, pair->num_measured)) \
  each(slowdown, NULL, "Slowdown", 8, 8, as(slowdown(alone, pair)))
// clang-format on
PPI_VIEW_TABLE(interference, COLUMNS);

static ppi_cell slowdown(const ppi_report_interference *alone,
                         const ppi_report_interference *pair) {
  enum { FEW = 3 };
  if (alone->num_measured < FEW || pair->num_measured < FEW ||
      alone->measured_ns == 0)
    return ppi_cell_unresolved();
  return ppi_cell_decimal(
      (double)pair->measured_ns / (double)pair->num_measured /
      ((double)alone->measured_ns / (double)alone->num_measured));
}

static void add_pair(ppi_view *view, const ppi_report_interference *alone,
                     const ppi_report_interference *pair) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COLUMNS, cells);
}

static void put_note(ppi_view *view) {
  ppi_page_text(&view->note,
                "Overlap: the time in which ranges of both ran on the device, "
                "on different streams. Its ratio is of the time in\n"
                "which the first one ran. Alone: calls that no range of "
                "another stream met. Beside: calls that met the other, for\n"
                "half of their time or more, and no third. Neither holds cold "
                "calls. Slowdown: the average beside over the average\n"
                "alone; n/r, not resolvable, with less than three calls of "
                "either. Kernels and copies of a trace are no stages.\n");
}

static void build_interference(const ppi_figures *figures,
                               const ppi_report_options *options,
                               ppi_view *out) {
  const ppi_report_interference *alone = NULL;
  for (size_t i = 0; i < figures->num_interference; i++) {
    const ppi_report_interference *row = &figures->interference[i];
    if (row->other[0])
      add_pair(out, alone, row);
    else
      alone = row;
  }
  put_note(out);
  out->only_when_named = out->num_rows == 0;
  if (out->num_rows == 0 && options->views)
    out->reason = figures->num_interference
                      ? "no two stages ran on a device at the same time"
                      : "no device ranges with times";
}

PPI_VIEW(interference, "Interference Summary", .build = build_interference);
