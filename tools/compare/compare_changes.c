// SPDX-License-Identifier: Apache-2.0
//
// Finds changes of a figure by binary segmentation (Scott and Knott, 1974). It
// splits the runs where both sides differ most, by Student's test with the
// union bound over all places and stages. Then it splits each side.
#include "compare/compare_changes.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "compare/compare_comparison.h"

// Two runs make no level: one of them may be an outlier.
enum { LEAST_RUNS = 3 };

typedef struct search {
  const ppi_past_run *runs;
  double tests;  // over which the error is shared
  ppi_change *changes;
  size_t num;
  double *scratch;  // room for all runs
} search;

typedef struct split {
  size_t at;
  double t, before, after;
} split;

static void sums_of(const ppi_past_run *runs, size_t num, double *out_mean,
                    double *out_squares) {
  double mean = 0, squares = 0;
  for (size_t i = 0; i < num; i++) {
    double off = runs[i].figure - mean;
    mean += off / (double)(i + 1);
    squares += off * (runs[i].figure - mean);
  }
  *out_mean = mean;
  *out_squares = squares;
}

static split split_at(const ppi_past_run *runs, size_t num, size_t at) {
  split out = {.at = at};
  double left, right, n = (double)at, m = (double)(num - at);
  sums_of(runs, at, &out.before, &left);
  sums_of(runs + at, num - at, &out.after, &right);
  // Clocks count whole ns, so equal figures have an error of 1e-6, not 0.
  double variance = (left + right) / (n + m - 2) + 1e-12;
  out.t = fabs(out.after - out.before) / sqrt(variance * (1 / n + 1 / m));
  return out;
}

static double median_of(const ppi_past_run *runs, size_t num, double *scratch) {
  for (size_t i = 0; i < num; i++) scratch[i] = runs[i].figure;
  return ppi_median_of(scratch, num);
}

// A few outliers move a mean but no median. If the median moved less, t shrinks
// by the same share.
static double sure_of(const search *all, const ppi_past_run *runs, size_t num,
                      const split *best) {
  double before = median_of(runs, best->at, all->scratch);
  double after = median_of(runs + best->at, num - best->at, all->scratch);
  double part = (after - before) / (best->after - best->before);
  return best->t * PPI_MIN(PPI_MAX(part, 0.0), 1.0);
}

static void look(search *all, size_t begin, size_t end) {
  const ppi_past_run *runs = all->runs + begin;
  size_t num = end - begin;
  split best = {.at = 0};
  for (size_t at = LEAST_RUNS; at + LEAST_RUNS <= num; at++) {
    if (runs[at].point == runs[at - 1].point) continue;
    split one = split_at(runs, num, at);
    if (one.t > best.t) best = one;
  }
  if (best.at == 0 || all->num == PPI_MOST_CHANGES) return;
  double p = 2 * all->tests *
             ppi_student_tail(sure_of(all, runs, num, &best), (double)num - 2);
  if (p >= PPI_COMPARE_ALPHA) return;
  look(all, begin, begin + best.at);
  if (all->num < PPI_MOST_CHANGES)
    all->changes[all->num++] =
        (ppi_change){runs[best.at].point, best.before, best.after, p};
  look(all, begin + best.at, end);
}

// The level of the runs between two changes.
static double level_of(const search *all, size_t num, size_t from, size_t to) {
  double sum = 0, n = 0;
  for (size_t i = 0; i < num; i++) {
    if (all->runs[i].point < from || all->runs[i].point >= to) continue;
    sum += all->runs[i].figure;
    n++;
  }
  return sum / n;
}

size_t ppi_changes_find(const ppi_past_run *runs, size_t num, size_t num_stages,
                        ppi_change out[PPI_MOST_CHANGES]) {
  search all = {
      .runs = runs,
      .changes = out,
      .scratch = ppi_tool_must(ppi_alloc((num + 1) * sizeof(double)))};
  size_t num_places = 0;
  for (size_t i = 1; i < num; i++)
    num_places += runs[i].point != runs[i - 1].point;
  all.tests = (double)(num_places * num_stages);
  look(&all, 0, num);
  ppi_free(all.scratch);
  for (size_t i = 0; i < all.num; i++) {
    size_t from = i ? out[i - 1].point : 0;
    size_t to = i + 1 < all.num ? out[i + 1].point : SIZE_MAX;
    out[i].before = level_of(&all, num, from, out[i].point);
    out[i].after = level_of(&all, num, out[i].point, to);
  }
  return all.num;
}
