// SPDX-License-Identifier: Apache-2.0
//
// Statistics of durations in the order they were measured. Such samples are
// autocorrelated: a slow call is followed by slow ones. What takes them for
// independent finds changes where there are none. Pure functions; random
// numbers come from a seed alone.
#ifndef PPI_COMPARE_STATS_H_
#define PPI_COMPARE_STATS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ppi_student_tail is P(T > t); ppi_student_quantile the t whose tail is `p`.
double ppi_student_tail(double t, double degrees);
double ppi_student_quantile(double p, double degrees);

// How a series depends on itself. The time is n over the number of independent
// samples that tell as much about the mean: the greater of a flat-top window's
// and an AR(1) model's estimate, from 1 to n / 4. The block length is that of
// Politis and White (2004, corrected 2009) for circular blocks, but no less
// than n^(1/3).
typedef struct ppi_dependence {
  double time;
  double block_time;  // as much of `time` as blocks of this length see
  size_t block_len;
} ppi_dependence;
ppi_dependence ppi_dependence_of(const double *values, size_t n);

typedef enum ppi_metric {
  PPI_METRIC_MEAN = 0,
  PPI_METRIC_P50,
  PPI_METRIC_P90,
  PPI_METRIC_P99,
  PPI_NUM_METRICS
} ppi_metric;
const char *ppi_metric_name(ppi_metric metric);
bool ppi_metric_find(const char *name, size_t len, ppi_metric *out);
// ppi_metric_need is how many independent samples it takes for a claim.
size_t ppi_metric_need(ppi_metric metric);

// Samples of one stage, in runs: a run's samples are in the order of time.
// Runs are independent of each other, and may differ by more than their own
// samples say.
typedef struct ppi_runs {
  const double *values;  // ns, one run behind the other
  const size_t *ends;    // of each run in `values`
  size_t num_runs;
} ppi_runs;

// ppi_runs_count is how many values there are.
size_t ppi_runs_count(const ppi_runs *runs);

// An estimate of a metric. `log_error` is the standard error of its logarithm,
// from a block bootstrap in each run and from how far the runs differ.
typedef struct ppi_estimate {
  size_t n;
  double independent;  // samples that would tell as much
  double value;        // ns; percentiles are those of nearest rank
  double log_error, degrees;
} ppi_estimate;
// False when out of memory.
bool ppi_estimate_of(const ppi_runs *runs, ppi_metric metric, uint64_t seed,
                     ppi_estimate *out);

// Mann-Whitney's test of whether B's samples tend to be greater than A's, ties
// corrected, the numbers of samples reduced to the independent ones. Of a
// metric p90 or p99 it looks at which samples are above the percentile of all.
typedef struct ppi_rank_test {
  double shift;  // P(B > A) + P(B = A) / 2, so 0.5 is no difference
  double p;      // two-sided
} ppi_rank_test;
bool ppi_rank_test_of(const ppi_runs *a, const ppi_runs *b, ppi_metric metric,
                      ppi_rank_test *out);

// ppi_holm corrects p-values of `n` tests in place: with a threshold of alpha
// on the results, any false alarm at all has a chance of at most alpha.
// `scratch` has room for n.
void ppi_holm(double *p, size_t n, size_t *scratch);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COMPARE_STATS_H_
