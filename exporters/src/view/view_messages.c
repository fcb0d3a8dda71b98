// SPDX-License-Identifier: Apache-2.0
//
// Builds the Messages view: communication by the size of its messages.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(CALLS, "calls", NULL) \
  each(BYTES_MIN, "message_bytes_min", NULL) \
  each(BYTES_MAX, "message_bytes_max", NULL) \
  each(BYTES_TOTAL, "bytes_total", NULL) \
  each(HOST_TOTAL, "cpu_total", "ns") \
  each(HOST_MEAN, "cpu_avg", "ns") \
  each(HOST_RATE, "cpu_rate", "GB/s") \
  each(DEVICE_TOTAL, "device_total", "ns") \
  each(DEVICE_MEAN, "device_avg", "ns") \
  each(DEVICE_RATE, "device_rate", "GB/s")
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const size_t brief[] = {NAME,         CALLS,      BYTES_MAX,
                               BYTES_TOTAL,  HOST_TOTAL, HOST_RATE,
                               DEVICE_TOTAL, DEVICE_RATE};
static const ppi_table_column table_columns[] = {
    {"Name", 15, NAME, 1},
    {"Calls", 6, CALLS, 1},
    {"Message Bytes Min / Max", 23, BYTES_MIN, 2},
    {"Bytes Total", 11, BYTES_TOTAL, 1},
    {"CPU Total / Avg / GB/s", 22, HOST_TOTAL, 3},
    {"GPU Total / Avg / GB/s", 22, DEVICE_TOTAL, 3},
};

static uint64_t total_bytes(const ppi_report_name *name) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < name->messages.num; i++)
    bytes += name->messages.rows[i].bytes.sum;
  return bytes;
}

static int compare_names(const void *left, const void *right) {
  const ppi_report_name *a = *(const ppi_report_name *const *)left;
  const ppi_report_name *b = *(const ppi_report_name *const *)right;
  uint64_t a_bytes = total_bytes(a), b_bytes = total_bytes(b);
  if (a_bytes != b_bytes) return a_bytes > b_bytes ? -1 : 1;
  return strcmp(a->name, b->name);
}

static bool add_row(ppi_view *view, const ppi_report_name *name,
                    const ppi_message_row *from) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[NAME] = ppi_cell_text(name->name);
  cells[CALLS] = ppi_cell_count(from->bytes.n - from->host.num_cut);
  cells[BYTES_MIN] = ppi_cell_count(from->bytes.min);
  cells[BYTES_MAX] = ppi_cell_count(from->bytes.max);
  cells[BYTES_TOTAL] = ppi_cell_count(from->bytes.sum);
  if (from->host.n) {
    cells[HOST_TOTAL] = ppi_cell_time(from->host.sum);
    cells[HOST_MEAN] = ppi_cell_average(&from->host);
    cells[HOST_RATE] = ppi_cell_rate(ppi_spread_whole(&from->host_bytes).sum,
                                     ppi_spread_whole(&from->host).sum);
  }
  if (!from->device.n) return true;
  cells[DEVICE_TOTAL] = ppi_cell_time(from->device.sum);
  cells[DEVICE_MEAN] = ppi_cell_mean(from->device.sum, from->device.n);
  cells[DEVICE_RATE] = ppi_cell_rate(from->device_bytes.sum, from->device.sum);
  return true;
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

static pprof_status build_messages(const ppi_figures *figures,
                                   const ppi_report_options *options,
                                   ppi_view *out) {
  const ppi_report_name **names =
      ppi_alloc((figures->num_names + 1) * sizeof *names);
  if (!names) return PPROF_STATUS_NO_MEMORY;
  size_t num = 0;
  bool by_power = false, added = true;
  for (size_t i = 0; i < figures->num_names; i++) {
    if (!figures->names[i].messages.num) continue;
    names[num++] = &figures->names[i];
    by_power |= figures->names[i].messages.by_power;
  }
  if (num > 1) qsort(names, num, sizeof *names, compare_names);
  for (size_t i = 0; i < num; i++)
    for (size_t k = 0; k < names[i]->messages.num && added; k++)
      added = add_row(out, names[i], &names[i]->messages.rows[k]);
  ppi_free(names);
  put_note(out, by_power);
  out->only_when_named = num == 0;
  if (num == 0 && options->views)
    out->reason = "no communication states how many bytes it moves";
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_messages = {
    .name = "messages",
    .title = "Messages Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build_messages,
};
