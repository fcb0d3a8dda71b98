// SPDX-License-Identifier: Apache-2.0
//
// Tests whether two programs differ: Student's test of the logarithms of their
// runs' figures. If only the runs of both sides show how far runs differ, the
// error is the larger of Welch's (1947) and Student's, with Welch's degrees.
#include "compare/compare_programs.h"

#include <math.h>

#include "base/base.h"
#include "compare/compare_ratio.h"

enum { MOST_RUNS = 1000 };

// The figures of some runs, in logarithms.
typedef struct run_figures {
  size_t num;
  double mean, squares, least, most;
} run_figures;

static void add_figure(run_figures *figures, double value) {
  double off = value - figures->mean;
  if (figures->num == 0) figures->least = figures->most = value;
  figures->num++;
  figures->mean += off / (double)figures->num;
  figures->squares += off * (value - figures->mean);
  figures->least = PPI_MIN(figures->least, value);
  figures->most = PPI_MAX(figures->most, value);
}

static run_figures figures_of(const ppi_compare_stage *stage,
                              ppi_metric metric) {
  size_t begin = 0;
  run_figures out = {.num = 0};
  for (size_t i = 0; stage && i < stage->num_runs; begin = stage->ends[i++]) {
    const size_t end = stage->ends[i] - begin;
    const ppi_runs run = {stage->values + begin, &end, 1};
    double value = ppi_estimate_of(&run, metric).value;
    if (value > 0) add_figure(&out, log(value));
  }
  return out;
}

void ppi_run_spread_add(ppi_run_spread *spread, const ppi_compare_stage *stage,
                        ppi_metric metric) {
  const run_figures figures = figures_of(stage, metric);
  if (figures.num < 2) return;
  spread->squares += figures.squares;
  spread->degrees += figures.num - 1;
  spread->largest = PPI_MAX(spread->largest, figures.most - figures.least);
}

bool ppi_programs_can_test(const ppi_comparison *comparison) {
  const ppi_compare_stage *a = comparison->stages[0];
  const ppi_compare_stage *b = comparison->stages[1];
  if (!a || !b || a->num_runs == 0 || b->num_runs == 0) return false;
  if (a->is_unresolved || b->is_unresolved) return false;
  return comparison->history.degrees || (a->num_runs > 1 && b->num_runs > 1);
}

// The error of the difference of both means, and its degrees of freedom. The
// clock counts whole ns, so equal runs still have an error.
static double error_of(const ppi_run_spread *history,
                       const run_figures sides[2], double *out_degrees) {
  double n = (double)sides[0].num, m = (double)sides[1].num;
  double least = exp(-2 * PPI_MIN(sides[0].mean, sides[1].mean)) / 12;
  if (history->degrees) {
    double degrees = (double)history->degrees + n + m - 2;
    double squares = history->squares + sides[0].squares + sides[1].squares;
    *out_degrees = degrees;
    return sqrt((squares / degrees + least) * (1 / n + 1 / m));
  }
  double of_a = (sides[0].squares / (n - 1) + least) / n;
  double of_b = (sides[1].squares / (m - 1) + least) / m;
  double both = of_a + of_b;
  *out_degrees = both * both / (of_a * of_a / (n - 1) + of_b * of_b / (m - 1));
  // A few runs that are alike by chance do not show how far runs differ, so
  // those of the other side count for both.
  double joined = (sides[0].squares + sides[1].squares) / (n + m - 2) + least;
  return sqrt(PPI_MAX(both, joined * (1 / n + 1 / m)));
}

// The fewest runs a side with which 9 of 10 measurements would find `change`.
static size_t runs_for(double change, double spread, size_t num_tests) {
  double alpha = PPI_COMPARE_ALPHA / 2 / (double)num_tests;
  size_t low = 1, high = MOST_RUNS;
  while (high - low > 1) {
    size_t runs = (low + high) / 2;
    double degrees = 2 * (double)(runs - 1);
    double sees = ppi_student_quantile(alpha, degrees) +
                  ppi_student_quantile(0.1, degrees);
    if (sees * spread * sqrt(2 / (double)runs) <= change)
      high = runs;
    else
      low = runs;
  }
  return high;
}

// How many runs a side would decide: enough for this change, or, if the change
// does not matter, enough for "the same".
static size_t more_runs(const ppi_comparison *comparison, double change,
                        double spread, size_t num_tests) {
  double margin = log1p(comparison->margin), least = PPI_MAX(margin / 2, 0.005);
  size_t have =
      PPI_MIN(comparison->stages[0]->num_runs, comparison->stages[1]->num_runs);
  size_t need =
      runs_for(PPI_MAX(fabs(fabs(change) - margin), least), spread, num_tests);
  if (need >= MOST_RUNS) return 0;
  return need > have ? need - have : 1;
}

void ppi_programs_test(ppi_comparison *comparison, size_t num_tests) {
  ppi_decision *out = &comparison->programs;
  run_figures sides[2];
  double degrees;
  out->p = 1;
  for (int i = 0; i < 2; i++)
    sides[i] = figures_of(comparison->stages[i], comparison->metric);
  out->is_tested =
      sides[0].num && sides[1].num &&
      (comparison->history.degrees || (sides[0].num > 1 && sides[1].num > 1));
  if (!out->is_tested) return;
  double error = error_of(&comparison->history, sides, &degrees);
  double change = sides[1].mean - sides[0].mean;
  double beyond = fabs(change) - log1p(comparison->margin);
  double alpha = PPI_COMPARE_ALPHA / 2 / (double)num_tests;
  double reach = error * ppi_student_quantile(PPI_COMPARE_ALPHA / 2, degrees);
  double sees = error * (ppi_student_quantile(alpha, degrees) +
                         ppi_student_quantile(0.1, degrees));
  out->ratio = exp(change);
  out->low = exp(change - reach);
  out->high = exp(change + reach);
  out->p_rank = 2 * ppi_student_tail(fabs(change) / error, degrees);
  if (beyond > 0 && fabs(change) > comparison->history.largest)
    out->p = PPI_MIN(2 * ppi_student_tail(beyond / error, degrees), 1.0);
  out->detectable = (1 + comparison->margin) * exp(sees) - 1;
  reach = error * ppi_student_quantile(PPI_COMPARE_ALPHA, degrees);
  if (fabs(change) + reach <= log1p(comparison->margin))
    out->verdict = PPI_VERDICT_SAME;
  double n = (double)sides[0].num, m = (double)sides[1].num;
  out->more_runs =
      more_runs(comparison, change, error / sqrt(1 / n + 1 / m), num_tests);
}

void ppi_programs_decide(ppi_comparison *comparison) {
  ppi_decision *out = &comparison->programs;
  if (!comparison->stages[0] || !comparison->stages[1])
    snprintf(out->reason, sizeof out->reason, "only in %c",
             comparison->stages[0] ? 'A' : 'B');
  else if (comparison->stages[0]->is_unresolved ||
           comparison->stages[1]->is_unresolved)
    snprintf(out->reason, sizeof out->reason, "n/r");
  else if (!out->is_tested)
    snprintf(out->reason, sizeof out->reason, "one run each");
  else if (out->p < PPI_COMPARE_ALPHA)
    out->verdict = out->ratio > 1 ? PPI_VERDICT_SLOWER : PPI_VERDICT_FASTER;
  else if (out->verdict == PPI_VERDICT_SAME)
    return;
  else if (out->more_runs == 0)
    snprintf(out->reason, sizeof out->reason, "too noisy to show any change");
  else
    snprintf(out->reason, sizeof out->reason, "%zu more run%s a side",
             out->more_runs, out->more_runs > 1 ? "s" : "");
}
