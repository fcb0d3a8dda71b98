// SPDX-License-Identifier: Apache-2.0
//
// Computes Student's distribution, metrics, and the correction for many tests.
#include "compare/compare_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

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

// The regularized incomplete beta function I_x(a, b); `log_beta` is the
// logarithm of the complete one.
static double beta_share(double a, double b, double log_beta, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  double front = exp(a * log(x) + b * log1p(-x) - log_beta);
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

ppi_student ppi_student_of(double degrees) {
  int sign;
  double log_beta = lgamma_r(degrees / 2, &sign) + lgamma_r(0.5, &sign) -
                    lgamma_r(degrees / 2 + 0.5, &sign);
  return (ppi_student){degrees, log_beta};
}

double ppi_student_tail_of(const ppi_student *student, double t) {
  double degrees = student->degrees;
  if (isinf(t)) return t > 0 ? 0 : 1;
  double half = beta_share(degrees / 2, 0.5, student->log_beta,
                           degrees / (degrees + t * t)) /
                2;
  return t >= 0 ? half : 1 - half;
}

double ppi_student_tail(double t, double degrees) {
  const ppi_student student = ppi_student_of(degrees);
  return ppi_student_tail_of(&student, t);
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

// A mean of fewer than nine is hardly normal. Five samples must lie beyond a
// percentile.
static const struct metric {
  const char *name;
  double share;
  size_t need;
} metrics[PPI_NUM_METRICS] = {
    [PPI_METRIC_MEAN] = {"mean", 0, 9},
    [PPI_METRIC_P50] = {"p50", 0.50, 9},
    [PPI_METRIC_P90] = {"p90", 0.90, 50},
    [PPI_METRIC_P99] = {"p99", 0.99, 500},
    [PPI_METRIC_ENERGY] = {"energy", 0, 1},
    [PPI_METRIC_ENERGY_PER_ITEM] = {"energy_per_item", 0, 1}};

const char *ppi_metric_name(ppi_metric metric) {
  return metrics[metric].name;
}

size_t ppi_metric_need(ppi_metric metric) {
  return metrics[metric].need;
}

double ppi_metric_share(ppi_metric metric) {
  return metrics[metric].share;
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

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double ppi_median_of(double *values, size_t num) {
  qsort(values, num, sizeof *values, by_value);
  return (values[(num - 1) / 2] + values[num / 2]) / 2;
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
