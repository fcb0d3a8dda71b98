// SPDX-License-Identifier: Apache-2.0
//
// Student's distribution, the dependence of a series on itself, metrics, and
// the correction for many tests.
#include "compare_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base_impl.h"

enum { MAX_LAGS = 512 };

// The continued fraction of the incomplete beta function (DLMF 8.17.22), by
// Lentz's method; converges quickly for x < (a + 1) / (a + b + 2).
static double beta_fraction(double a, double b, double x) {
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < tiny ? tiny : d);
  double product = d;
  for (int m = 1; m <= 300; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    const double steps[2] = {even, odd};
    double change = 1;
    for (int i = 0; i < 2; i++) {
      d = 1 + steps[i] * d;
      c = 1 + steps[i] / c;
      d = 1 / (fabs(d) < tiny ? tiny : d);
      c = fabs(c) < tiny ? tiny : c;
      change = c * d;
      product *= change;
    }
    if (fabs(change - 1) < 1e-14) break;
  }
  return product;
}

// The regularized incomplete beta function I_x(a, b).
static double beta_share(double a, double b, double x) {
  int sign;
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) -
                     lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double ppi_student_tail(double t, double degrees) {
  if (isinf(t)) return t > 0 ? 0 : 1;
  double half = beta_share(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
  return t >= 0 ? half : 1 - half;
}

double ppi_student_quantile(double p, double degrees) {
  double low = 0, high = 1;
  if (p > 0.5) return -ppi_student_quantile(1 - p, degrees);
  while (ppi_student_tail(high, degrees) > p && high < 1e12) high *= 2;
  for (int i = 0; i < 80; i++) {
    double middle = (low + high) / 2;
    if (ppi_student_tail(middle, degrees) > p)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

// Autocovariances 0 to num_lags - 1, divided by n.
static void autocovariances(const double *values, size_t n, size_t num_lags,
                            double *out) {
  double mean = 0;
  for (size_t i = 0; i < n; i++) mean += values[i];
  mean /= (double)n;
  for (size_t lag = 0; lag < num_lags; lag++) {
    double sum = 0;
    for (size_t i = lag; i < n; i++)
      sum += (values[i] - mean) * (values[i - lag] - mean);
    out[lag] = sum / (double)n;
  }
}

// The lag after which a few in a row are no more than noise (Politis and
// White's rule), doubled: how far the flat-top window reaches.
static size_t window_of(const double *covariances, size_t num_lags, size_t n) {
  double noise = 2 * sqrt(log10((double)n) / (double)n);
  size_t in_a_row = 5, quiet = 0, lag = 1;
  for (; lag < num_lags && quiet < in_a_row; lag++)
    quiet = fabs(covariances[lag]) < noise * covariances[0] ? quiet + 1 : 0;
  size_t last = lag - 1 - quiet;
  return PPI_MIN(2 * PPI_MAX(last, (size_t)1), num_lags - 1);
}

static double flat_top(double at) {
  return at <= 0.5 ? 1 : at >= 1 ? 0 : 2 * (1 - at);
}

// Of an AR(1) series; the estimate of its coefficient is too small by about
// (1 + 3 phi) / n.
static double model_time(const double *covariances, size_t n) {
  double phi = covariances[1] / covariances[0];
  phi += (1 + 3 * phi) / (double)n;
  phi = PPI_MIN(PPI_MAX(phi, 0.0), 0.99);
  return (1 + phi) / (1 - phi);
}

static double time_in_blocks(const double *covariances, size_t num_lags,
                             size_t block_len) {
  double time = 1;
  for (size_t lag = 1; lag < block_len && lag < num_lags; lag++)
    time += 2 * (1 - (double)lag / (double)block_len) * covariances[lag] /
            covariances[0];
  return PPI_MAX(time, 0.05);
}

static bool is_constant(const double *values, size_t n) {
  size_t i = 1;
  while (i < n && !(values[i] < values[0]) && !(values[i] > values[0])) i++;
  return i >= n;
}

ppi_dependence ppi_dependence_of(const double *values, size_t n) {
  double covariances[MAX_LAGS];
  ppi_dependence out = {1, 1, 1};
  if (n < 4 || is_constant(values, n)) return out;
  size_t root = (size_t)ceil(sqrt((double)n));
  size_t num_lags = PPI_MIN(PPI_MIN(3 * root + 6, n), (size_t)MAX_LAGS);
  autocovariances(values, n, num_lags, covariances);
  size_t reach = window_of(covariances, PPI_MIN(root + 6, num_lags), n);
  double spectrum = covariances[0], slope = 0;
  for (size_t lag = 1; lag <= reach; lag++) {
    double share = flat_top((double)lag / (double)reach) * covariances[lag];
    spectrum += 2 * share;
    slope += 2 * (double)lag * share;
  }
  // Deviations from the sample's own mean see less of it.
  double unseen = PPI_MIN(1.5 * (double)reach / (double)n, 0.5);
  double cube_root = cbrt((double)n), len = cube_root;
  if (spectrum > 0)
    len = cbrt(1.5 * slope * slope / (spectrum * spectrum)) * cube_root;
  double longest = ceil(PPI_MIN(3 * sqrt((double)n), (double)n / 3));
  out.block_len = (size_t)PPI_MIN(PPI_MAX(len, floor(cube_root)), longest);
  out.time = PPI_MAX(spectrum / covariances[0] / (1 - unseen),
                     model_time(covariances, n));
  out.time = PPI_MAX(PPI_MIN(out.time, (double)n / 4), 1.0);
  out.block_time = time_in_blocks(covariances, num_lags, out.block_len);
  return out;
}

// Fewer than nine, and the rank test's distribution is no longer known; of a
// percentile five must lie beyond it.
static const struct metric {
  const char *name;
  size_t need;
} metrics[PPI_NUM_METRICS] = {[PPI_METRIC_MEAN] = {"mean", 9},
                              [PPI_METRIC_P50] = {"p50", 9},
                              [PPI_METRIC_P90] = {"p90", 50},
                              [PPI_METRIC_P99] = {"p99", 500}};

const char *ppi_metric_name(ppi_metric metric) {
  return metrics[metric].name;
}

size_t ppi_metric_need(ppi_metric metric) {
  return metrics[metric].need;
}

bool ppi_metric_find(const char *name, size_t len, ppi_metric *out) {
  for (unsigned i = 0; i < PPI_NUM_METRICS; i++) {
    if (strlen(metrics[i].name) != len || memcmp(metrics[i].name, name, len))
      continue;
    *out = (ppi_metric)i;
    return true;
  }
  return false;
}

size_t ppi_runs_count(const ppi_runs *runs) {
  return runs->num_runs ? runs->ends[runs->num_runs - 1] : 0;
}

static int by_p(const void *a, const void *b, void *p) {
  double x = ((const double *)p)[*(const size_t *)a];
  double y = ((const double *)p)[*(const size_t *)b];
  return x < y ? -1 : x > y;
}

void ppi_holm(double *p, size_t n, size_t *scratch) {
  double least = 0;
  for (size_t i = 0; i < n; i++) scratch[i] = i;
  if (n > 1) qsort_r(scratch, n, sizeof *scratch, by_p, p);
  for (size_t i = 0; i < n; i++) {
    double corrected = PPI_MIN(p[scratch[i]] * (double)(n - i), 1.0);
    least = PPI_MAX(least, corrected);
    p[scratch[i]] = least;
  }
}
