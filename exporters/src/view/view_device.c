// SPDX-License-Identifier: Apache-2.0
//
// Builds the Device view: how busy the processors and the devices were.

#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(device, NULL, "Device", 30, 0, text(name)) \
  each(calls, NULL, NULL, 0, 0, \
       if (device, ppi_cell_count(device->ranges + device->untimed))) \
  each(busy, "ns", NULL, 0, 0, if (device && has_time, ppi_cell_time(busy))) \
  each(utilization, "%", "Utilization (%)", 20, 0, \
       if (has_time, ppi_cell_ratio((int64_t)busy, whole)))
// clang-format on
PPI_VIEW_TABLE(device, COLUMNS);

// `device` NULL: processors.
static void add_row(ppi_view *view, const char *name,
                    const ppi_report_device *device, uint64_t busy,
                    uint64_t whole) {
  bool has_time = device ? device->ranges || !device->untimed : whole > 0;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COLUMNS, cells);
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

static void build_device(const ppi_figures *figures,
                         const ppi_report_options *options, ppi_view *out) {
  (void)options;
  const uint64_t *totals = figures->totals;
  uint64_t busy = totals[PPI_TOTAL_CPU_SYSTEM_BUSY_TICKS];
  uint64_t idle = totals[PPI_TOTAL_CPU_SYSTEM_IDLE_TICKS];
  add_row(out, "CPU(Process)", NULL, totals[PPI_TOTAL_CPU_PROCESS_NS],
          totals[PPI_TOTAL_CPU_ELAPSED_NS]);
  add_row(out, "CPU(System)", NULL, busy, busy + idle);
  for (size_t i = 0; i < figures->num_devices; i++) {
    const ppi_report_device *of = &figures->devices[i];
    add_row(out, of->name, of, of->used_ns, of->base_ns);
  }
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
}

PPI_VIEW(device, "Device Summary", .build = build_device);
