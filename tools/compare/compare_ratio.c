// SPDX-License-Identifier: Apache-2.0
//
// Estimates the ratio of a figure in B to that in A, with its error.
#include "compare/compare_ratio.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "compare/compare_sort.h"

enum { MOST_PARTS = 8, CALLS_OF_A_PART = 6, RANGES_OF_A_CHANGE = 2 };

static float *sorted_of(const ppi_runs *runs, size_t n) {
  float *sorted = ppi_realloc(NULL, (2 * n + 1) * sizeof *sorted), *fit;
  ppi_tool_must(sorted);
  if (n == 0) return sorted;
  memcpy(sorted, runs->values, n * sizeof *sorted);
  ppi_sort_samples(sorted, sorted + n, n);
  fit = ppi_realloc(sorted, n * sizeof *sorted);
  return fit ? fit : sorted;
}

// The number of values up to the one of nearest rank.
static double rank_of(size_t n, double share) {
  return ceil(share * (double)n - 1e-9);
}

// The value of nearest rank; beyond all samples it is unknown.
static double level_at(const float *sorted, size_t n, double share) {
  double rank = rank_of(n, share);
  if (rank < 1) return 0;
  return rank > (double)n ? INFINITY : sorted[(size_t)rank - 1];
}

// The same of samples in any order.
static double level_in(const float *values, size_t n, double share) {
  double rank = rank_of(n, share);
  if (rank < 1) return 0;
  return rank > (double)n ? INFINITY
                          : ppi_nth_sample(values, n, (size_t)rank - 1);
}

static double mean_of(const ppi_runs *runs, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += runs->values[i];
  return sum / (double)n;
}

bool ppi_runs_take_time(const ppi_runs *runs, ppi_metric metric) {
  size_t n = ppi_runs_count(runs), num = 0;
  for (size_t i = 0; i < n; i++) num += runs->values[i] > 0;
  double share = ppi_metric_share(metric);
  return share > 0 ? (double)(n - num) < rank_of(n, share) : num > 0;
}

ppi_estimate ppi_estimate_of(const ppi_runs *runs, ppi_metric metric) {
  size_t n = ppi_runs_count(runs);
  double share = ppi_metric_share(metric);
  if (n == 0) return (ppi_estimate){.n = 0};
  if (share == 0) return (ppi_estimate){.n = n, .value = mean_of(runs, n)};
  return (ppi_estimate){.n = n, .value = level_in(runs->values, n, share)};
}

static ppi_series series_of(const ppi_ratio_side *side, ppi_metric metric,
                            double share) {
  if (metric == PPI_METRIC_MEAN)
    return (ppi_series){.runs = side->runs, .mean = side->value};
  double level = level_at(side->sorted, side->n, share);
  return (ppi_series){.runs = side->runs, .level = (float)level};
}

static void add_mixture(ppi_ratio *ratio, const double levels[2]) {
  bool is_mean = ratio->metric == PPI_METRIC_MEAN;
  ppi_dependence both[2];
  double times[2];
  for (int i = 0; i < 2; i++) {
    ppi_ratio_side *side = &ratio->sides[i];
    const ppi_series series = series_of(side, ratio->metric, levels[i]);
    ppi_dependence_of(&series, ratio->models.all, side->each, &both[i]);
    // The clock counts whole ns.
    double step = is_mean ? 1 / side->value : 0;
    for (size_t m = 0; m < ratio->models.all; m++)
      both[i].variances[m] += step * step / 12;
  }
  ppi_mixture_of(both, ratio->models, &ratio->mixtures[ratio->num_mixtures++],
                 times);
  for (int i = 0; i < 2; i++) {
    ppi_ratio_side *side = &ratio->sides[i];
    double independent = (double)side->n / times[i];
    side->independent = PPI_MIN(side->independent, independent);
  }
}

// The variance of a percentile is known. The variance of a mean is at least
// that of both sides together: a rare event on one side may happen on the
// other, too.
static void fill_variances(ppi_ratio *ratio) {
  double share = ppi_metric_share(ratio->metric), sum = 0, n = 0;
  for (int i = 0; i < 2; i++) {
    ppi_ratio_side *side = &ratio->sides[i];
    side->each = share * (1 - share);
    if (ratio->metric == PPI_METRIC_MEAN) {
      const ppi_series series = series_of(side, ratio->metric, 0);
      side->each = ppi_variance_within(&series);
    }
    sum += (double)side->n * side->each;
    n += (double)side->n;
  }
  for (int i = 0; i < 2; i++)
    ratio->sides[i].each = PPI_MAX(ratio->sides[i].each, sum / n);
}

// Raises `range` to the distance of the medians of a run's parts, in
// logarithms.
static void add_range(const float *values, size_t n, double *range) {
  size_t num = PPI_MIN(n / CALLS_OF_A_PART, (size_t)MOST_PARTS);
  double low = INFINITY, high = 0;
  for (size_t i = 0; i < num; i++) {
    size_t begin = i * n / num, end = (i + 1) * n / num;
    double median = level_in(values + begin, end - begin, 0.5);
    low = PPI_MIN(low, median);
    high = PPI_MAX(high, median);
  }
  if (num && low > 0) *range = PPI_MAX(*range, log(high / low));
}

// Drops the long levels if the change is far larger than level changes within
// runs.
static void bound_models(ppi_ratio *ratio) {
  double seen = ratio->sides[1].value / ratio->sides[0].value, range = 0;
  for (int i = 0; i < 2; i++) {
    const ppi_runs *runs = &ratio->sides[i].runs;
    for (size_t begin = 0, k = 0; k < runs->num_runs; begin = runs->ends[k++])
      add_range(runs->values + begin, runs->ends[k] - begin, &range);
  }
  if (range > 0 && fabs(log(seen)) > RANGES_OF_A_CHANGE * range)
    ratio->models.all = ratio->models.usual;
}

void ppi_ratio_open(ppi_ratio *ratio, const ppi_runs *a, const ppi_runs *b,
                    ppi_metric metric) {
  const ppi_runs *const runs[] = {a, b};
  double share = ppi_metric_share(metric), levels[] = {share, share};
  size_t longest = 0;
  ratio->metric = metric;
  for (int i = 0; i < 2; i++) {
    ppi_ratio_side *side = &ratio->sides[i];
    size_t n = ppi_runs_count(runs[i]);
    *side = (ppi_ratio_side){.runs = *runs[i], .n = n};
    side->independent = (double)n;
    if (metric == PPI_METRIC_MEAN) {
      side->value = mean_of(runs[i], n);
    } else {
      side->sorted = sorted_of(runs[i], n);
      side->value = level_at(side->sorted, n, share);
    }
    for (size_t begin = 0, k = 0; k < runs[i]->num_runs; k++) {
      longest = PPI_MAX(longest, runs[i]->ends[k] - begin);
      begin = runs[i]->ends[k];
    }
  }
  ratio->models = ppi_models_for(longest);
  bound_models(ratio);
  fill_variances(ratio);
  add_mixture(ratio, levels);
  ppi_ratio_side *sides = ratio->sides;
  double of_a = 1 / sides[0].independent, of_b = 1 / sides[1].independent;
  sides[0].part = of_a / (of_a + of_b);
  sides[1].part = of_b / (of_a + of_b);
}

void ppi_ratio_close(ppi_ratio *ratio) {
  for (int i = 0; i < 2; i++) ppi_free(ratio->sides[i].sorted);
  ratio->num_mixtures = 0;
}

// The levels at which A and B would be equal after B rises by `distance`.
static void levels_at(const ppi_ratio *ratio, double distance,
                      double out_shares[2]) {
  double share = ppi_metric_share(ratio->metric);
  out_shares[0] = share - distance * ratio->sides[0].part;
  out_shares[1] = share + distance * ratio->sides[1].part;
}

// The rounding error of a call: the clock counts whole ns, and a float has 24
// bits.
static double half_step(double value) {
  return isinf(value) ? 0 : PPI_MAX(0.5, value * FLT_EPSILON / 2);
}

double ppi_ratio_at(const ppi_ratio *ratio, double distance) {
  const ppi_ratio_side *a = &ratio->sides[0], *b = &ratio->sides[1];
  double shares[2], seen = b->value / a->value;
  if (ratio->metric == PPI_METRIC_MEAN) return seen * exp(distance);
  if (!(distance > 0 || distance < 0)) return seen;
  levels_at(ratio, distance, shares);
  double below = level_at(a->sorted, a->n, shares[0]);
  double above = level_at(b->sorted, b->n, shares[1]);
  double sign = distance > 0 ? 1 : -1;
  below -= sign * half_step(below);
  above += sign * half_step(above);
  if (above <= 0 || isinf(below)) return 0;
  return below > 0 ? above / below : INFINITY;
}

// The distance from the measured ratio to `bound`, which lies between it and 1.
static double distance_to(const ppi_ratio *ratio, double seen, double bound) {
  double low = 0, high = 2, sign = seen > 1 ? -1 : 1;
  if (ratio->metric == PPI_METRIC_MEAN) return fabs(log(seen / bound));
  for (int i = 0; i < 50; i++) {
    double middle = (low + high) / 2;
    if (sign * (bound - ppi_ratio_at(ratio, sign * middle)) > 0)
      low = middle;
    else
      high = middle;
  }
  return high;
}

double ppi_ratio_p(ppi_ratio *ratio, double margin) {
  double seen = ppi_ratio_at(ratio, 0), tail = 0;
  double bound = seen > 1 ? 1 + margin : 1 / (1 + margin), shares[2];
  ratio->num_mixtures = 1;
  if (fabs(log(seen)) <= log1p(margin)) return 1;
  double distance = distance_to(ratio, seen, bound);
  if (ratio->metric != PPI_METRIC_MEAN) {
    levels_at(ratio, seen > 1 ? -distance : distance, shares);
    add_mixture(ratio, shares);
  }
  for (size_t i = 0; i < ratio->num_mixtures; i++)
    tail = PPI_MAX(tail, ppi_mixture_tail(&ratio->mixtures[i], distance));
  return PPI_MIN(2 * tail, 1.0);
}

double ppi_ratio_reach(const ppi_ratio *ratio, double p) {
  double reach = 0;
  for (size_t i = 0; i < ratio->num_mixtures; i++)
    reach = PPI_MAX(reach, ppi_mixture_reach(&ratio->mixtures[i], p));
  return reach;
}

double ppi_ratio_stays_for(const ppi_ratio *ratio) {
  double longest = 0;
  for (size_t i = 0; i < ratio->num_mixtures; i++)
    longest = PPI_MAX(longest, ratio->mixtures[i].stays_for);
  return longest;
}
