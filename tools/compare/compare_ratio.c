// SPDX-License-Identifier: Apache-2.0
#include "compare/compare_ratio.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "compare/compare_sort.h"

// `scratch` has room for n.
static double *sorted_of(const ppi_runs *runs, size_t n, double *scratch) {
  double *sorted = ppi_alloc((n + 1) * sizeof *sorted);
  if (!sorted || n == 0) return sorted;
  memcpy(sorted, runs->values, n * sizeof *sorted);
  ppi_sort_samples(sorted, scratch, n);
  return sorted;
}

// The value of nearest rank; what lies beyond all samples nobody knows.
static double level_at(const double *sorted, size_t n, double share) {
  double rank = ceil(share * (double)n - 1e-9);
  if (rank < 1) return 0;
  return rank > (double)n ? INFINITY : sorted[(size_t)rank - 1];
}

static double figure_of(const double *sorted, size_t n, ppi_metric metric) {
  double sum = 0;
  if (metric != PPI_METRIC_MEAN)
    return level_at(sorted, n, ppi_metric_share(metric));
  for (size_t i = 0; i < n; i++) sum += sorted[i];
  return sum / (double)n;
}

bool ppi_estimate_of(const ppi_runs *runs, ppi_metric metric,
                     ppi_estimate *out) {
  size_t n = ppi_runs_count(runs);
  *out = (ppi_estimate){.n = n};
  if (n == 0) return true;
  if (metric == PPI_METRIC_MEAN) {  // whole ns: in any order the same
    out->value = figure_of(runs->values, n, metric);
    return true;
  }
  double *scratch = ppi_alloc(n * sizeof *scratch);
  double *sorted = scratch ? sorted_of(runs, n, scratch) : NULL;
  if (sorted) out->value = figure_of(sorted, n, metric);
  ppi_free(scratch);
  ppi_free(sorted);
  return sorted != NULL;
}

// What each call adds to the figure: itself, or whether it lies below a level.
static ppi_runs fill_series(ppi_ratio_side *side, ppi_metric metric,
                            double share) {
  bool is_mean = metric == PPI_METRIC_MEAN;
  double level = is_mean ? 0 : level_at(side->sorted, side->n, share);
  for (size_t i = 0; i < side->n; i++) {
    double value = side->runs.values[i];
    side->series[i] = is_mean ? value / side->value
                              : ((value < level) + (value <= level)) * 0.5;
  }
  return (ppi_runs){side->series, side->runs.ends, side->runs.num_runs};
}

static void add_mixture(ppi_ratio *ratio, const double levels[2]) {
  bool is_mean = ratio->metric == PPI_METRIC_MEAN;
  ppi_dependence both[2];
  double times[2];
  for (int i = 0; i < 2; i++) {
    ppi_ratio_side *side = &ratio->sides[i];
    const ppi_runs series = fill_series(side, ratio->metric, levels[i]);
    ppi_dependence_of(&series, ratio->num_models, side->each, &both[i]);
    // The clock counts whole ns.
    double step = is_mean ? 1 / side->value : 0;
    for (size_t m = 0; m < ratio->num_models; m++)
      both[i].variances[m] += step * step / 12;
  }
  ppi_mixture_of(both, ratio->num_models,
                 &ratio->mixtures[ratio->num_mixtures++], times);
  for (int i = 0; i < 2; i++) {
    ppi_ratio_side *side = &ratio->sides[i];
    double independent = (double)side->n / times[i];
    side->independent = PPI_MIN(side->independent, independent);
  }
}

// Of a percentile it is known. Of a mean, what befell one side may befall the
// other: a few calls cannot be surer than many that saw a rare event.
static void fill_variances(ppi_ratio *ratio) {
  double share = ppi_metric_share(ratio->metric), sum = 0, n = 0;
  for (int i = 0; i < 2; i++) {
    ppi_ratio_side *side = &ratio->sides[i];
    side->each = share * (1 - share);
    if (ratio->metric == PPI_METRIC_MEAN) {
      const ppi_runs series = fill_series(side, ratio->metric, 0);
      side->each = ppi_variance_within(&series);
    }
    sum += (double)side->n * side->each;
    n += (double)side->n;
  }
  for (int i = 0; i < 2; i++)
    ratio->sides[i].each = PPI_MAX(ratio->sides[i].each, sum / n);
}

bool ppi_ratio_open(ppi_ratio *ratio, const ppi_runs *a, const ppi_runs *b,
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
    side->series = ppi_alloc((n + 1) * sizeof *side->series);
    if (side->series) side->sorted = sorted_of(runs[i], n, side->series);
    if (!side->sorted) return false;
    side->value = figure_of(side->sorted, n, metric);
    for (size_t begin = 0, k = 0; k < runs[i]->num_runs; k++) {
      longest = PPI_MAX(longest, runs[i]->ends[k] - begin);
      begin = runs[i]->ends[k];
    }
  }
  ratio->num_models = ppi_num_models(longest);
  fill_variances(ratio);
  add_mixture(ratio, levels);
  ppi_ratio_side *sides = ratio->sides;
  double of_a = 1 / sides[0].independent, of_b = 1 / sides[1].independent;
  sides[0].part = of_a / (of_a + of_b);
  sides[1].part = of_b / (of_a + of_b);
  return true;
}

void ppi_ratio_close(ppi_ratio *ratio) {
  for (int i = 0; i < 2; i++) {
    ppi_free(ratio->sides[i].sorted);
    ppi_free(ratio->sides[i].series);
  }
  ratio->num_mixtures = 0;
}

// The levels where A and B would meet after so great a rise of B over A.
static void levels_at(const ppi_ratio *ratio, double distance,
                      double out_shares[2]) {
  double share = ppi_metric_share(ratio->metric);
  out_shares[0] = share - distance * ratio->sides[0].part;
  out_shares[1] = share + distance * ratio->sides[1].part;
}

double ppi_ratio_at(const ppi_ratio *ratio, double distance) {
  const ppi_ratio_side *a = &ratio->sides[0], *b = &ratio->sides[1];
  double shares[2], seen = b->value / a->value;
  if (ratio->metric == PPI_METRIC_MEAN) return seen * exp(distance);
  if (!(distance > 0 || distance < 0)) return seen;
  levels_at(ratio, distance, shares);
  // The clock counts whole ns.
  double half = distance > 0 ? 0.5 : -0.5;
  double below = level_at(a->sorted, a->n, shares[0]) - half;
  double above = level_at(b->sorted, b->n, shares[1]) + half;
  if (above <= 0 || isinf(below)) return 0;
  return below > 0 ? above / below : INFINITY;
}

// How far the ratio seen lies beyond `bound`, which is between it and 1.
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
    tail = PPI_MAX(tail, ppi_mixture_tail(&ratio->mixtures[i],
                                          PPI_MIXTURE_WORST, distance));
  return PPI_MIN(2 * tail, 1.0);
}

double ppi_ratio_reach(const ppi_ratio *ratio, ppi_mixture_kind kind,
                       double p) {
  double reach = 0;
  for (size_t i = 0; i < ratio->num_mixtures; i++)
    reach = PPI_MAX(reach, ppi_mixture_reach(&ratio->mixtures[i], kind, p));
  return reach;
}
