// SPDX-License-Identifier: Apache-2.0
//
// Builds the Numbers view: the numbers in names that folded. Builds the
// Counters view: the values of counters over time.

#include "view/view.h"

// clang-format off
#define NUMBERS(each) \
  each(name, NULL, "Name", 15, 1, text(name->name)) \
  each(place, NULL, "{}", 3, 2, count(i + 1)) \
  each(names, NULL, "Names", 6, 3, count(from->n)) \
  each(min, NULL, "Min / Max / Avg", 20, 4, count(from->min)) \
  each(max, NULL, "", 0, 5, count(from->max)) \
  each(avg, NULL, "", 0, 0, decimal((double)from->sum / (double)from->n)) \
  each(sum, NULL, "Sum", 10, 6, count(from->sum))
// clang-format on
PPI_VIEW_TABLE(numbers, NUMBERS);

static bool rank(const void *item, ppi_ranked *out) {
  const ppi_report_name *name = item;
  out->key = name->host.sum;
  out->names[0] = name->name;
  out->names[1] = name->category_name;
  return true;
}

static void put(ppi_view *view, const void *item, const void *of) {
  const ppi_report_name *name = item;
  (void)of;
  for (size_t i = 0; i < PPROF_MOST_NUMBERS; i++) {
    const ppi_number_sums *from = &name->numbers.at[i];
    if (!from->n) continue;
    ppi_cell *cells = ppi_view_add_row(view, 0, 0);
    PPI_VIEW_PUT(NUMBERS, cells);
  }
}

static void build_numbers(const ppi_figures *figures,
                          const ppi_report_options *options, ppi_view *out) {
  (void)options;
  const ppi_view_source names = {.items = figures->names,
                                 .num = figures->num_names,
                                 .size = sizeof *figures->names,
                                 .rank = rank,
                                 .put = put};
  ppi_view_put_sorted(out, &names);
  if (!out->num_rows)
    out->reason = "no name with numbers folded; see docs/nvtx.md";
  else
    ppi_page_text(&out->note,
                  "The first four numbers in names that folded, by their "
                  "places. Each number of a list has a place.\n");
}

PPI_VIEW(numbers, "Numbers Summary", .only_with_rows = true,
         .build = build_numbers);

// ---- counters ----

// clang-format off
#define COUNTERS(each) \
  each(name, NULL, "Name", 30, 1, text(work->name)) \
  each(category, NULL, NULL, 0, 0, text(work->category_name)) \
  each(values, NULL, "Values", 8, 2, count(gauge->n)) \
  each(min, NULL, "Min / Avg / Max", 24, 3, decimal(gauge->min)) \
  each(avg, NULL, "", 0, 4, decimal(avg)) \
  each(max, NULL, "", 0, 5, decimal(gauge->max)) \
  each(at_max, "%", "At Max (%)", 10, 6, \
       if (gauge->span_ns, \
           ppi_cell_ratio((int64_t)gauge->max_ns, gauge->span_ns))) \
  each(longest_at_max, "ns", "Longest / From", 20, 7, \
       if (has_longest, ppi_cell_time(gauge->longest_ns))) \
  each(longest_from, "ns", "", 0, 8, \
       if (has_longest, ppi_cell_time(gauge->longest_from)))
// clang-format on
PPI_VIEW_TABLE(counters, COUNTERS);

static void add_counter(ppi_view *view, const ppi_report_work *work,
                        const ppi_gauge *gauge) {
  if (!gauge->n) return;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  bool has_longest = gauge->span_ns && gauge->longest_ns;
  double avg = gauge->span_ns ? gauge->area / (double)gauge->span_ns
                              : gauge->sum / (double)gauge->n;
  PPI_VIEW_PUT(COUNTERS, cells);
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
static void build_counters(const ppi_figures *figures,
                           const ppi_report_options *options, ppi_view *out) {
  (void)options;
  for (int is_machine = 0; is_machine < 2; is_machine++)
    for (size_t i = 0, next; i < figures->num_work; i = next) {
      const ppi_report_work *work = &figures->work[i];
      ppi_gauge gauge = {0};
      next = sum_counter(figures, i, &gauge);
      bool is_of = (strcmp(work->category_name, PPI_CATEGORY_MACHINE) == 0) ==
                   is_machine;
      if (is_of) add_counter(out, work, &gauge);
    }
  if (out->num_rows)
    ppi_page_text(&out->note,
                  "Avg is over time: a value holds until the next one of its "
                  "thread. At max: share of that time with the\n"
                  "greatest value. Then its longest stretch, and its begin, "
                  "from the start of the run.\n");
  else
    out->reason = "no counter was recorded; see docs/markers.md";
}

PPI_VIEW(counters, "Counters Summary", .only_with_rows = true,
         .build = build_counters);
