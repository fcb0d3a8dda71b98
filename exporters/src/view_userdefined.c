// SPDX-License-Identifier: Apache-2.0
//
// The UserDefined view: ranges that the program's author named.
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "view.h"

enum {
  NAME,
  CATEGORY,
  CALLS,
  HOST_TOTAL,
  DEVICE_TOTAL = HOST_TOTAL + 5,
  NUM_COLUMNS = DEVICE_TOTAL + 5
};

static const ppi_column columns[NUM_COLUMNS] = {
    {"name", NULL},        {"category", NULL},   {"calls", NULL},
    {"cpu_total", "ns"},   {"cpu_avg", "ns"},    {"cpu_max", "ns"},
    {"cpu_min", "ns"},     {"cpu_ratio", "%"},   {"device_total", "ns"},
    {"device_avg", "ns"},  {"device_max", "ns"}, {"device_min", "ns"},
    {"device_ratio", "%"},
};
static const ppi_table_column table_columns[] = {
    {0, NAME, 1}, {6, CALLS, 1}, {40, HOST_TOTAL, 5}, {40, DEVICE_TOTAL, 5}};
static const char *const headings[] = {
    "Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)",
    "GPU Total / Avg / Max / Min / Ratio(%)"};
static const ppi_table_section sections[] = {
    {headings, "Thread: All threads merged"}};

typedef struct line {
  const ppi_report_name *name;
  ppi_spread host;  // host ranges, and host sides of device ranges
} line;

static int compare_lines(const void *left, const void *right) {
  const line *a = left, *b = right;
  if (a->host.sum != b->host.sum) return a->host.sum > b->host.sum ? -1 : 1;
  int order = strcmp(a->name->name, b->name->name);
  return order ? order : strcmp(a->name->category_name, b->name->category_name);
}

static bool add_line(ppi_view *view, const ppi_figures *figures,
                     const line *from) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[NAME] = ppi_cell_text(from->name->name);
  cells[CATEGORY] = ppi_cell_text(from->name->category_name);
  cells[CALLS] = ppi_cell_count(from->host.n);
  ppi_view_put_spread(cells + HOST_TOTAL, &from->host, figures->base_ns);
  ppi_view_put_spread(cells + DEVICE_TOTAL, &from->name->inside,
                      figures->general_device_ns);
  return true;
}

static pprof_status build(const ppi_figures *figures, ppi_view *out) {
  line *lines = ppi_alloc((figures->num_names + 1) * sizeof *lines);
  if (!lines) return PPROF_STATUS_NO_MEMORY;
  size_t num = 0;
  for (size_t i = 0; i < figures->num_names; i++) {
    const ppi_report_name *name = &figures->names[i];
    if (name->category != PPROF_CATEGORY_USER_DEFINED &&
        name->category != PPROF_CATEGORY_PYTHON_USER_DEFINED)
      continue;
    lines[num] = (line){name, name->host};
    ppi_spread_merge(&lines[num++].host, &name->submit);
  }
  if (num > 1) qsort(lines, num, sizeof *lines, compare_lines);
  bool added = true;
  for (size_t i = 0; i < num && added; i++)
    added = add_line(out, figures, &lines[i]);
  ppi_free(lines);
  out->only_when_named = num == 0;
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_userdefined = {
    .name = "userdefined",
    .title = "UserDefined Summary",
    .columns = columns,
    .num_columns = NUM_COLUMNS,
    .table_columns = table_columns,
    .num_table_columns = 4,
    .sections = sections,
    .num_sections = 1,
    .has_time_unit = true,
    .end = PPI_TABLE_END_NONE,
    .build = build,
};
