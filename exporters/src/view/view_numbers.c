// SPDX-License-Identifier: Apache-2.0
//
// Builds the Numbers view: the numbers in names that folded. Builds the
// Counters view: the values of counters over time.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/figures/machine.h"
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

static pprof_status build_numbers(const ppi_figures *figures,
                                  const ppi_report_options *options,
                                  ppi_view *out) {
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
    .build = build_numbers,
};

// ---- counters ----

// clang-format off
#define COUNTER_COLUMNS(each) \
  each(COUNTER, "name", NULL) \
  each(CATEGORY, "category", NULL) \
  each(VALUES, "values", NULL) \
  each(LEAST, "min", NULL) \
  each(BY_TIME, "avg", NULL) \
  each(MOST, "max", NULL) \
  each(AT_MOST, "at_max", "%") \
  each(LONGEST, "longest_at_max", "ns") \
  each(LONGEST_FROM, "longest_from", "ns")
// clang-format on
enum { COUNTER_COLUMNS(PPI_COLUMN_CELL) NUM_COUNTER_COLUMNS };
static const ppi_column counter_columns[] = {COUNTER_COLUMNS(PPI_COLUMN_ROW)};
static const size_t counter_brief[] = {COUNTER, VALUES,  LEAST,   BY_TIME,
                                       MOST,    AT_MOST, LONGEST, LONGEST_FROM};
static const ppi_table_column counter_table[] = {
    {"Name", 30, COUNTER, 1},           {"Values", 8, VALUES, 1},
    {"Min / Avg / Max", 24, LEAST, 3},  {"At Max (%)", 10, AT_MOST, 1},
    {"Longest / From", 20, LONGEST, 2},
};

static bool add_counter(ppi_view *view, const ppi_report_work *work,
                        const ppi_gauge *gauge) {
  ppi_cell *cells = gauge->n ? ppi_view_add_row(view, 0, 0) : NULL;
  if (!cells) return gauge->n == 0;
  double avg = gauge->span_ns ? gauge->area / (double)gauge->span_ns
                              : gauge->sum / (double)gauge->n;
  cells[COUNTER] = ppi_cell_text(work->name);
  cells[CATEGORY] = ppi_cell_text(work->category_name);
  cells[VALUES] = ppi_cell_count(gauge->n);
  cells[LEAST] = ppi_cell_decimal(gauge->min);
  cells[BY_TIME] = ppi_cell_decimal(avg);
  cells[MOST] = ppi_cell_decimal(gauge->max);
  if (!gauge->span_ns) return true;
  cells[AT_MOST] = ppi_cell_ratio((int64_t)gauge->max_ns, gauge->span_ns);
  if (!gauge->longest_ns) return true;
  cells[LONGEST] = ppi_cell_time(gauge->longest_ns);
  cells[LONGEST_FROM] = ppi_cell_time(gauge->longest_from);
  return true;
}

// The values of one counter stand together, for each run and thread.
static size_t sum_counter(const ppi_figures *figures, size_t first,
                          ppi_gauge *out) {
  const ppi_report_work *work = &figures->work[first], *at = work;
  size_t next = first;
  do ppi_gauge_merge(out, &at->gauge);
  while (++next < figures->num_work && (at = &figures->work[next]) &&
         strcmp(at->name, work->name) == 0 &&
         strcmp(at->category_name, work->category_name) == 0);
  return next;
}

// The program's counters come before the machine's.
static pprof_status build_counters(const ppi_figures *figures,
                                   const ppi_report_options *options,
                                   ppi_view *out) {
  (void)options;
  bool added = true;
  for (int is_machine = 0; is_machine < 2; is_machine++)
    for (size_t i = 0, next; i < figures->num_work && added; i = next) {
      const ppi_report_work *work = &figures->work[i];
      ppi_gauge gauge = {0};
      next = sum_counter(figures, i, &gauge);
      bool is_of = (strcmp(work->category_name, PPI_CATEGORY_MACHINE) == 0) ==
                   is_machine;
      added = !is_of || add_counter(out, work, &gauge);
    }
  if (out->num_rows)
    ppi_page_text(&out->note,
                  "Avg is over time: a value holds until the next one of its "
                  "thread. At max: share of that time with the\n"
                  "greatest value. Then its longest stretch, and its begin, "
                  "from the start of the run.\n");
  else
    out->reason = "no counter was recorded; see docs/markers.md";
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_counters = {
    .name = "counters",
    .title = "Counters Summary",
    PPI_VIEW_LAYOUT(counter_columns, counter_table),
    PPI_VIEW_BRIEF(counter_brief),
    .has_time_unit = true,
    .only_with_rows = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build_counters,
};
