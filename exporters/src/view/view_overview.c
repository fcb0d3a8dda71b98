// SPDX-License-Identifier: Apache-2.0
//
// Builds the Overview: the union of the ranges of each event type, on the host
// and on devices.
#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(event_type, NULL, "Event Type", 25, 0, text(from->name)) \
  each(part, NULL, NULL, 0, 0, text(on_device ? "device" : "host")) \
  each(calls, NULL, "Calls", 25, 0, \
       count(on_device ? from->device_calls \
                       : from->host_calls - from->host_cut)) \
  each(time, "ns", "CPU Time", 25, 0, time(ns)) \
  each(ratio, "%", "Ratio (%)", 25, 0, ratio((int64_t)ns, *base_ns))
// clang-format on
PPI_VIEW_TABLE(overview, COLUMNS);
static const char *const device_headings[] = {"", "Calls", "GPU Time",
                                              "Ratio (%)"};

static bool rank_host(const void *item, ppi_ranked *out) {
  const ppi_report_category *from = item;
  out->key = from->host_ns;
  out->names[0] = from->name;
  return from->host_calls > 0;
}

static bool rank_device(const void *item, ppi_ranked *out) {
  const ppi_report_category *from = item;
  out->key = from->device_ns;
  out->names[0] = from->name;
  return from->device_calls > 0;
}

// As Paddle has it, the first row of the host part stands out, and all others
// are indented under it.
static void put_row(ppi_view *view, const ppi_report_category *from,
                    bool on_device, const uint64_t *base_ns) {
  size_t indent = view->num_rows || on_device ? 2 : 0;
  uint64_t ns = on_device ? from->device_ns : from->host_ns;
  ppi_cell *cells = ppi_view_add_row(view, on_device, indent);
  PPI_VIEW_PUT(COLUMNS, cells);
}

static void put_host(ppi_view *view, const void *item, const void *base_ns) {
  put_row(view, item, false, base_ns);
}

static void put_device(ppi_view *view, const void *item, const void *base_ns) {
  put_row(view, item, true, base_ns);
}

static void build_overview(const ppi_figures *figures,
                           const ppi_report_options *options, ppi_view *out) {
  (void)options;
  ppi_view_source part = {.items = figures->categories,
                          .num = figures->num_categories,
                          .size = sizeof *figures->categories,
                          .rank = rank_host,
                          .put = put_host,
                          .of = &figures->base_ns};
  ppi_view_put_sorted(out, &part);
  part.rank = rank_device;
  part.put = put_device;
  ppi_view_put_sorted(out, &part);
  if (!out->num_rows) out->reason = "no ranges";
  ppi_page_text(
      &out->note,
      "The time of an event type is the union of its ranges.\n"
      "CPU Time is over threads, GPU Time over streams and devices. What "
      "overlaps in one type counts once;\n"
      "types may contain each other, so ratios need not add up to 100.\n"
      "CPU Time is wall time: a thread may have waited in it. GPU Time is that "
      "of any device.\n");
  ppi_view_note_base(out, figures);
}

PPI_VIEW(overview, "Overview Summary", .second_headings = device_headings,
         .build = build_overview);
