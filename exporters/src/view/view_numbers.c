// SPDX-License-Identifier: Apache-2.0
//
// The Numbers view: what stood in names that folded.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(PLACE, "place", NULL) \
  each(NUM, "names", NULL) \
  each(MIN, "min", NULL) \
  each(MAX, "max", NULL) \
  each(MEAN, "avg", NULL) \
  each(SUM, "sum", NULL)
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const size_t brief[] = {NAME, PLACE, NUM, MIN, MAX, SUM};
static const ppi_table_column table_columns[] = {
    {"Name", 15, NAME, 1},           {"{}", 3, PLACE, 1}, {"Names", 6, NUM, 1},
    {"Min / Max / Avg", 20, MIN, 3}, {"Sum", 10, SUM, 1},
};

static bool has_any(const ppi_report_name *name) {
  for (size_t i = 0; i < PPROF_MOST_NUMBERS; i++)
    if (name->numbers.at[i].n) return true;
  return false;
}

static int compare_names(const void *left, const void *right) {
  const ppi_report_name *a = *(const ppi_report_name *const *)left;
  const ppi_report_name *b = *(const ppi_report_name *const *)right;
  if (a->host.sum != b->host.sum) return a->host.sum > b->host.sum ? -1 : 1;
  int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->category_name, b->category_name);
}

static bool add_row(ppi_view *view, const char *name, size_t place,
                    const ppi_number_sums *from) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[NAME] = ppi_cell_text(name);
  cells[PLACE] = ppi_cell_count(place + 1);
  cells[NUM] = ppi_cell_count(from->n);
  cells[MIN] = ppi_cell_count(from->min);
  cells[MAX] = ppi_cell_count(from->max);
  cells[MEAN] = ppi_cell_decimal((double)from->sum / (double)from->n);
  cells[SUM] = ppi_cell_count(from->sum);
  return true;
}

static pprof_status build(const ppi_figures *figures,
                          const ppi_report_options *options, ppi_view *out) {
  (void)options;
  const ppi_report_name **names =
      ppi_alloc((figures->num_names + 1) * sizeof *names);
  if (!names) return PPROF_STATUS_NO_MEMORY;
  size_t num = 0;
  bool added = true;
  for (size_t i = 0; i < figures->num_names; i++)
    if (has_any(&figures->names[i])) names[num++] = &figures->names[i];
  if (num > 1) qsort(names, num, sizeof *names, compare_names);
  for (size_t i = 0; i < num && added; i++)
    for (size_t k = 0; k < PPROF_MOST_NUMBERS && added; k++)
      if (names[i]->numbers.at[k].n)
        added = add_row(out, names[i]->name, k, &names[i]->numbers.at[k]);
  ppi_free(names);
  if (num == 0)
    out->reason = "no name with numbers folded; see docs/nvtx.md";
  else
    ppi_page_text(&out->note,
                  "The first four numbers in names that folded, by their "
                  "places. Each number of a list has a place.\n");
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_numbers = {
    .name = "numbers",
    .title = "Numbers Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .only_with_rows = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build,
};
