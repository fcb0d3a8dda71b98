// SPDX-License-Identifier: Apache-2.0
//
// Builds the Device view: how busy the processors and the devices were.
#include <string.h>

#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(DEVICE, "device", NULL) \
  each(CALLS, "calls", NULL) \
  each(BUSY, "busy", "ns") \
  each(UTILIZATION, "utilization", "%")
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const ppi_table_column table_columns[] = {
    {"Device", 30, DEVICE, 1},
    {"Utilization (%)", 20, UTILIZATION, 1},
};

static bool add_cpu(ppi_view *view, const char *name, uint64_t busy,
                    uint64_t whole) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[DEVICE] = ppi_cell_text(name);
  if (whole) cells[UTILIZATION] = ppi_cell_ratio((int64_t)busy, whole);
  return true;
}

// Copies keep a device busy, too; the table has kernels alone, as Paddle does.
static void note_copies(ppi_view *view, const ppi_report_device *device) {
  if (device->active_ns == device->used_ns || !device->base_ns) return;
  ppi_page_visible(&view->note, device->name);
  ppi_page_text(&view->note, " with copies and sets: ");
  ppi_page_fixed(&view->note,
                 100.0 * (double)device->active_ns / (double)device->base_ns,
                 2);
  ppi_page_text(&view->note, " %.\n");
}

static bool add_device(ppi_view *view, const ppi_report_device *device) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[DEVICE] = ppi_cell_text(device->name);
  cells[CALLS] = ppi_cell_count(device->ranges + device->untimed);
  if (!device->ranges && device->untimed) return true;
  cells[BUSY] = ppi_cell_time(device->used_ns);
  cells[UTILIZATION] =
      ppi_cell_ratio((int64_t)device->used_ns, device->base_ns);
  return true;
}

static void note_missing(ppi_view *view, const ppi_figures *figures) {
  uint64_t untimed = figures->totals[PPI_TOTAL_NO_DEVICE_TIME];
  if (untimed)
    ppi_page_format(&view->note,
                    "Device time is missing for %llu device ranges.\n",
                    (unsigned long long)untimed);
  for (size_t i = 0; i < figures->num_notes; i++) {
    if (strcmp(figures->notes[i].key, "device") != 0) continue;
    ppi_page_text(&view->note, "Device time is missing: ");
    ppi_page_visible(&view->note, figures->notes[i].text);
    ppi_page_text(&view->note, "\n");
  }
}

static pprof_status build_device(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_view *out) {
  (void)options;
  const uint64_t *totals = figures->totals;
  uint64_t busy = totals[PPI_TOTAL_CPU_SYSTEM_BUSY_TICKS];
  uint64_t idle = totals[PPI_TOTAL_CPU_SYSTEM_IDLE_TICKS];
  bool added = add_cpu(out, "CPU(Process)", totals[PPI_TOTAL_CPU_PROCESS_NS],
                       totals[PPI_TOTAL_CPU_ELAPSED_NS]) &&
               add_cpu(out, "CPU(System)", busy, busy + idle);
  for (size_t i = 0; i < figures->num_devices && added; i++)
    added = add_device(out, &figures->devices[i]);
  if (!added) return PPROF_STATUS_NO_MEMORY;
  ppi_page_text(&out->note,
                "CPU(Process): CPU time of the process over elapsed time, at "
                "most 100 x cores.\n"
                "CPU(System): busy time of all cores of the machine over busy "
                "and idle time.\n");
  if (figures->num_devices)
    ppi_page_text(&out->note,
                  "A device: the union of its ranges over all streams over "
                  "the ratio base. A range's time\n"
                  "is that between two events on its stream: it includes gaps "
                  "between the launches inside.\n"
                  "With kernel records it is the union of kernels. What lies "
                  "outside the ratio base does not count.\n");
  if (figures->num_devices && figures->num_inputs > 1)
    ppi_page_text(&out->note,
                  "A device's ratio base is that of the processes that use "
                  "it.\n");
  ppi_view_note_base(out, figures);
  for (size_t i = 0; i < figures->num_devices; i++)
    note_copies(out, &figures->devices[i]);
  note_missing(out, figures);
  return PPROF_STATUS_OK;
}

const ppi_view_kind ppi_view_device = {
    .name = "device",
    .title = "Device Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    .end = PPI_TABLE_END_NOTE,
    .build = build_device,
};
