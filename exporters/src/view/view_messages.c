// SPDX-License-Identifier: Apache-2.0
//
// Builds the Messages view: communication by the size of its messages.
#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 15, 1, text(name->name)) \
  each(calls, NULL, "Calls", 6, 2, count(from->bytes.n - from->host.num_cut)) \
  each(message_bytes_min, NULL, "Message Bytes Min / Max", 23, 0, \
       count(from->bytes.min)) \
  each(message_bytes_max, NULL, "", 0, 3, count(from->bytes.max)) \
  each(bytes_total, NULL, "Bytes Total", 11, 4, count(from->bytes.sum)) \
  each(cpu_total, "ns", "CPU Total / Avg / GB/s", 22, 5, \
       if (from->host.n, ppi_cell_time(from->host.sum))) \
  each(cpu_avg, "ns", "", 0, 0, average(&from->host)) \
  each(cpu_rate, "GB/s", "", 0, 6, \
       rate(ppi_spread_whole(&from->host_bytes).sum, \
            ppi_spread_whole(&from->host).sum)) \
  each(device_total, "ns", "GPU Total / Avg / GB/s", 22, 7, \
       if (from->device.n, ppi_cell_time(from->device.sum))) \
  each(device_avg, "ns", "", 0, 0, mean(from->device.sum, from->device.n)) \
  each(device_rate, "GB/s", "", 0, 8, \
       rate(from->device_bytes.sum, from->device.sum))
// clang-format on
PPI_VIEW_TABLE(messages, COLUMNS);

static uint64_t total_bytes(const ppi_report_name *name) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < name->messages.num; i++)
    bytes += name->messages.rows[i].bytes.sum;
  return bytes;
}

static bool rank(const void *item, ppi_ranked *out) {
  const ppi_report_name *name = item;
  out->key = total_bytes(name);
  out->names[0] = name->name;
  out->names[1] = name->category_name;
  return name->messages.num > 0;
}

static void put(ppi_view *view, const void *item, const void *of) {
  const ppi_report_name *name = item;
  (void)of;
  for (size_t i = 0; i < name->messages.num; i++) {
    const ppi_message_row *from = &name->messages.rows[i];
    ppi_cell *cells = ppi_view_add_row(view, 0, 0);
    PPI_VIEW_PUT(COLUMNS, cells);
  }
}

static void put_note(ppi_view *view, bool by_power) {
  ppi_page_text(&view->note,
                "Ranges of category Communication that state how many bytes "
                "they move, by that number.\n"
                "GB/s: bytes by the time of the ranges, 10^9 bytes a second. A "
                "call may return before its data\n"
                "have moved: its CPU rate is then no bandwidth.\n");
  if (by_power)
    ppi_page_format(&view->note,
                    "A name with more than %d different sizes has a row for "
                    "each power of two.\n",
                    PPI_MESSAGES_EXACT);
}

static void build_messages(const ppi_figures *figures,
                           const ppi_report_options *options, ppi_view *out) {
  const ppi_view_source names = {.items = figures->names,
                                 .num = figures->num_names,
                                 .size = sizeof *figures->names,
                                 .rank = rank,
                                 .put = put};
  bool by_power = false;
  for (size_t i = 0; i < figures->num_names; i++)
    by_power |= figures->names[i].messages.by_power;
  ppi_view_put_sorted(out, &names);
  put_note(out, by_power);
  out->only_when_named = !out->num_rows;
  if (!out->num_rows && options->views)
    out->reason = "no communication states how many bytes it moves";
}

PPI_VIEW(messages, "Messages Summary", .build = build_messages);
