// SPDX-License-Identifier: Apache-2.0
//
// Statistics of the device benchmark: quantiles, and the bounded form of a
// series for the results.
#ifndef BENCH_DEVICE_STATS_H_
#define BENCH_DEVICE_STATS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_MAX_SAMPLES = 400, BENCH_QUANTILES = 12, BENCH_BINS = 40 };

// The quantiles kept of a series that is longer than BENCH_MAX_SAMPLES.
extern const double bench_quantiles[BENCH_QUANTILES];

// bench_values is a growing array.
typedef struct bench_values {
  double *at;
  size_t num, capacity;
} bench_values;

// These end the program when memory is out, as all of the benchmark does.
// Reserved memory is touched, so that it is resident from then on.
void bench_values_reserve(bench_values *values, size_t capacity);
void bench_values_add(bench_values *values, double value);
void bench_values_clear(bench_values *values);

void bench_sort(double *values, size_t num);
// Between the two nearest ranks, linearly; NAN of nothing.
double bench_quantile_sorted(const double *sorted, size_t num, double q);
// These leave the order of `values` alone.
double bench_quantile(const double *values, size_t num, double q);
double bench_median(const double *values, size_t num);
// The part of the values that is at most `limit`; NAN of nothing.
double bench_share_within(const double *values, size_t num, double limit);

// bench_series is a named series as the results hold it: all samples in their
// order, or quantiles and a histogram.
typedef struct bench_series {
  char name[40];
  const char *unit;
  size_t num;  // samples measured
  double *samples;
  double quantiles[BENCH_QUANTILES];
  // Bins of equal width over [lowest, highest), which hold all but the outer
  // 0.1 % of each side; those are counted in `below` and `above`.
  double lowest, highest;
  uint64_t bins[BENCH_BINS], below, above;
} bench_series;

void bench_series_make(bench_series *series, const char *name, const char *unit,
                       const double *values, size_t num);
void bench_series_clear(bench_series *series);

#ifdef __cplusplus
}
#endif

#endif  // BENCH_DEVICE_STATS_H_
