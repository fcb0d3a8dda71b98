// SPDX-License-Identifier: Apache-2.0
//
// Builds the Interference view: stages that ran at the same time on a device,
// and how much each slowed down.
#include <string.h>

#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(OTHER, "other", NULL) \
  each(DEVICE, "device", NULL) \
  each(CALLS, "calls", NULL) \
  each(OVERLAP, "overlap", "ns") \
  each(OVERLAP_RATIO, "overlap_ratio", "%") \
  each(CALLS_ALONE, "calls_alone", NULL) \
  each(ALONE_MEAN, "alone_avg", "ns") \
  each(CALLS_BESIDE, "calls_beside", NULL) \
  each(BESIDE_MEAN, "beside_avg", "ns") \
  each(SLOWDOWN, "slowdown", NULL)
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const size_t brief[] = {NAME,        OTHER,         DEVICE,
                               OVERLAP,     OVERLAP_RATIO, ALONE_MEAN,
                               BESIDE_MEAN, SLOWDOWN};
static const ppi_table_column table_columns[] = {
    {"Name", 15, NAME, 1},
    {"Beside", 15, OTHER, 1},
    {"Device", 10, DEVICE, 1},
    {"Calls", 6, CALLS, 1},
    {"Overlap / Ratio(%)", 20, OVERLAP, 2},
    {"Alone Calls / Avg", 19, CALLS_ALONE, 2},
    {"Beside Calls / Avg", 19, CALLS_BESIDE, 2},
    {"Slowdown", 8, SLOWDOWN, 1},
};

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

static bool add_pair(ppi_view *view, const ppi_report_interference *alone,
                     const ppi_report_interference *pair) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[NAME] = ppi_cell_text(pair->name);
  cells[OTHER] = ppi_cell_text(pair->other);
  cells[DEVICE] = ppi_cell_text(pair->device);
  cells[CALLS] = ppi_cell_count(alone->num_calls);
  cells[OVERLAP] = ppi_cell_time(pair->shared_ns);
  cells[OVERLAP_RATIO] =
      ppi_cell_ratio((int64_t)pair->shared_ns, alone->shared_ns);
  cells[CALLS_ALONE] = ppi_cell_count(alone->num_measured);
  if (alone->num_measured)
    cells[ALONE_MEAN] = ppi_cell_mean(alone->measured_ns, alone->num_measured);
  cells[CALLS_BESIDE] = ppi_cell_count(pair->num_measured);
  if (pair->num_measured)
    cells[BESIDE_MEAN] = ppi_cell_mean(pair->measured_ns, pair->num_measured);
  cells[SLOWDOWN] = slowdown(alone, pair);
  return true;
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

static pprof_status build_interference(const ppi_figures *figures,
                                       const ppi_report_options *options,
                                       ppi_view *out) {
  const ppi_report_interference *alone = NULL;
  bool added = true;
  for (size_t i = 0; i < figures->num_interference && added; i++) {
    const ppi_report_interference *row = &figures->interference[i];
    if (row->other[0])
      added = add_pair(out, alone, row);
    else
      alone = row;
  }
  put_note(out);
  out->only_when_named = out->num_rows == 0;
  if (out->num_rows == 0 && options->views)
    out->reason = figures->num_interference
                      ? "no two stages ran on a device at the same time"
                      : "no device ranges with times";
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_interference = {
    .name = "interference",
    .title = "Interference Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build_interference,
};
