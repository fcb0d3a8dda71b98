// SPDX-License-Identifier: Apache-2.0
//
// Computes quantiles and the bounded form of a series.
#include "device_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double bench_quantiles[BENCH_QUANTILES] = {
    0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};

static void *grow(void *old, size_t bytes) {
  void *memory = realloc(old, bytes);
  if (memory) return memory;
  fprintf(stderr, "device: out of memory\n");
  exit(1);
}

void bench_values_reserve(bench_values *values, size_t capacity) {
  if (capacity <= values->capacity) return;
  values->at = grow(values->at, capacity * sizeof *values->at);
  memset(values->at + values->num, 0,
         (capacity - values->num) * sizeof *values->at);
  values->capacity = capacity;
}

void bench_values_add(bench_values *values, double value) {
  if (values->num == values->capacity)
    bench_values_reserve(values, values->capacity ? 2 * values->capacity : 256);
  values->at[values->num++] = value;
}

void bench_values_clear(bench_values *values) {
  free(values->at);
  *values = (bench_values){0};
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void bench_sort(double *values, size_t num) {
  if (num) qsort(values, num, sizeof *values, compare);
}

double bench_quantile_sorted(const double *sorted, size_t num, double q) {
  if (num == 0) return NAN;
  double rank = q * (double)(num - 1);
  size_t below = (size_t)rank;
  if (below + 1 >= num) return sorted[num - 1];
  double part = rank - (double)below;
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

static double *sorted_copy(const double *values, size_t num) {
  double *copy = grow(NULL, (num + 1) * sizeof *copy);
  if (num) memcpy(copy, values, num * sizeof *copy);
  bench_sort(copy, num);
  return copy;
}

double bench_quantile(const double *values, size_t num, double q) {
  double *copy = sorted_copy(values, num);
  double quantile = bench_quantile_sorted(copy, num, q);
  free(copy);
  return quantile;
}

double bench_median(const double *values, size_t num) {
  return bench_quantile(values, num, 0.5);
}

double bench_share_within(const double *values, size_t num, double limit) {
  size_t within = 0;
  for (size_t i = 0; i < num; i++) within += values[i] <= limit;
  return num ? (double)within / (double)num : NAN;
}

static void fill_bins(bench_series *series, const double *sorted, size_t num) {
  series->lowest = bench_quantile_sorted(sorted, num, 0.001);
  series->highest = bench_quantile_sorted(sorted, num, 0.999);
  double width = (series->highest - series->lowest) / BENCH_BINS;
  for (size_t i = 0; i < num; i++) {
    if (sorted[i] < series->lowest) {
      series->below++;
    } else if (sorted[i] > series->highest) {
      series->above++;
    } else {
      double bin = width > 0 ? (sorted[i] - series->lowest) / width : 0;
      series->bins[bin < BENCH_BINS ? (size_t)bin : BENCH_BINS - 1]++;
    }
  }
}

void bench_series_make(bench_series *series, const char *name, const char *unit,
                       const double *values, size_t num) {
  *series = (bench_series){.unit = unit, .num = num};
  snprintf(series->name, sizeof series->name, "%s", name);
  if (num <= BENCH_MAX_SAMPLES) {
    series->samples = grow(NULL, (num + 1) * sizeof *series->samples);
    if (num) memcpy(series->samples, values, num * sizeof *series->samples);
    return;
  }
  double *sorted = sorted_copy(values, num);
  for (size_t i = 0; i < BENCH_QUANTILES; i++)
    series->quantiles[i] =
        bench_quantile_sorted(sorted, num, bench_quantiles[i]);
  fill_bins(series, sorted, num);
  free(sorted);
}

void bench_series_clear(bench_series *series) {
  free(series->samples);
  series->samples = NULL;
}
