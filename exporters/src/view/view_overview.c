// SPDX-License-Identifier: Apache-2.0
//
// Builds the Overview: the union of the ranges of each event type, on the host
// and on devices.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view.h"

enum { HOST_PART, DEVICE_PART };

// clang-format off
#define COLUMNS(each) \
  each(EVENT_TYPE, "event_type", NULL) \
  each(PART, "part", NULL) \
  each(CALLS, "calls", NULL) \
  each(TIME, "time", "ns") \
  each(RATIO, "ratio", "%")
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const ppi_table_column host_table[] = {
    {"Event Type", 25, EVENT_TYPE, 1},
    {"Calls", 25, CALLS, 1},
    {"CPU Time", 25, TIME, 1},
    {"Ratio (%)", 25, RATIO, 1},
};
static const ppi_table_column device_table[] = {
    {"", 25, EVENT_TYPE, 1},
    {"Calls", 25, CALLS, 1},
    {"GPU Time", 25, TIME, 1},
    {"Ratio (%)", 25, RATIO, 1},
};

typedef struct line {
  const char *name;
  uint64_t calls, time_ns;
} line;

static int compare_lines(const void *left, const void *right) {
  const line *a = left, *b = right;
  if (a->time_ns != b->time_ns) return a->time_ns > b->time_ns ? -1 : 1;
  return strcmp(a->name, b->name);
}

// As Paddle has it, the first row of the host part stands out, and all others
// are indented under it.
static pprof_status add_part(ppi_view *view, const ppi_figures *figures,
                             size_t part, line *lines) {
  size_t num = 0;
  for (size_t i = 0; i < figures->num_categories; i++) {
    const ppi_report_category *from = &figures->categories[i];
    line next = {from->name, from->host_calls, from->host_ns};
    if (part == DEVICE_PART)
      next = (line){from->name, from->device_calls, from->device_ns};
    if (!next.calls) continue;
    if (part == HOST_PART) next.calls -= from->host_cut;
    lines[num++] = next;
  }
  if (num > 1) qsort(lines, num, sizeof *lines, compare_lines);
  for (size_t i = 0; i < num; i++) {
    size_t indent = part == HOST_PART && i == 0 ? 0 : 2;
    ppi_cell *cells = ppi_view_add_row(view, part, indent);
    if (!cells) return PPROF_STATUS_NO_MEMORY;
    cells[EVENT_TYPE] = ppi_cell_text(lines[i].name);
    cells[PART] = ppi_cell_text(part == HOST_PART ? "host" : "device");
    cells[CALLS] = ppi_cell_count(lines[i].calls);
    cells[TIME] = ppi_cell_time(lines[i].time_ns);
    cells[RATIO] = ppi_cell_ratio((int64_t)lines[i].time_ns, figures->base_ns);
  }
  return PPROF_STATUS_OK;
}

static pprof_status build_overview(const ppi_figures *figures,
                                   const ppi_report_options *options,
                                   ppi_view *out) {
  (void)options;
  line *lines = ppi_alloc((figures->num_categories + 1) * sizeof *lines);
  if (!lines) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = add_part(out, figures, HOST_PART, lines);
  if (status == PPROF_STATUS_OK)
    status = add_part(out, figures, DEVICE_PART, lines);
  ppi_free(lines);
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
  return status;
}

const ppi_view_kind ppi_view_overview = {
    .name = "overview",
    .title = "Overview Summary",
    PPI_VIEW_LAYOUT(columns, host_table),
    .second_columns = device_table,
    .has_time_unit = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build_overview,
};
