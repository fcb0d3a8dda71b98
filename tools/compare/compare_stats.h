// SPDX-License-Identifier: Apache-2.0
//
// Statistics of durations in the order of measurement. Such samples are
// autocorrelated: slow calls follow a slow call. A test that assumes
// independence finds changes where there are none. Pure functions.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_student_tail is P(T > t); ppi_student_quantile the t with a tail of `p`.
double ppi_student_tail(double t, double degrees);
// For many queries of one distribution.
typedef struct ppi_student {
  double degrees, log_beta;
} ppi_student;
ppi_student ppi_student_of(double degrees);
double ppi_student_tail_of(const ppi_student *student, double t);
double ppi_student_quantile(double p, double degrees);

// ppi_median_of orders the values, of which there is one at least.
double ppi_median_of(double *values, size_t num);

typedef enum ppi_metric {
  PPI_METRIC_MEAN = 0,
  PPI_METRIC_P50,
  PPI_METRIC_P90,
  PPI_METRIC_P99,
  PPI_METRIC_ENERGY,  // of a call, request, step or token, in nJ
  PPI_METRIC_ENERGY_PER_ITEM,
  PPI_NUM_METRICS
} ppi_metric;
static inline bool ppi_metric_is_energy(ppi_metric metric) {
  return metric >= PPI_METRIC_ENERGY;
}
const char *ppi_metric_name(ppi_metric metric);
bool ppi_metric_find(const char *name, size_t len, ppi_metric *out);
// ppi_metric_need is the number of independent samples that a claim needs;
// ppi_metric_share the share of samples below a percentile, 0 for the mean.
size_t ppi_metric_need(ppi_metric metric);
double ppi_metric_share(ppi_metric metric);

// Samples of one stage, in runs: a run's samples are in the order of time. Runs
// are independent of each other. They may differ by more than their samples
// show.
typedef struct ppi_runs {
  const float *values;  // ns or nJ, one run behind the other
  const size_t *ends;   // of each run in `values`
  size_t num_runs;
} ppi_runs;

// ppi_runs_count is how many values there are.
size_t ppi_runs_count(const ppi_runs *runs);

typedef struct ppi_estimate {
  size_t n;
  double independent;  // equivalent independent samples; 0: unknown yet
  double value;        // ns, or nJ; percentiles are those of nearest rank
} ppi_estimate;

// ppi_holm corrects p-values of `n` tests in place: with a threshold of alpha
// on the results, any false alarm at all has a chance of at most alpha.
// `scratch` has room for n.
void ppi_holm(double *p, size_t n, size_t *scratch);

PPROF_END_C_
