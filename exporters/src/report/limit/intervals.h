// SPDX-License-Identifier: Apache-2.0
//
// Intervals of time in order, and values by rank.
#pragma once

#include "base/sort.h"

// The begin of a call, or its end, which sorts first.
typedef ppi_keyed ppi_border;
static inline ppi_border ppi_begin_border(uint64_t time_ns) {
  ppi_border border = {time_ns, 1};
  return border;
}
static inline ppi_border ppi_end_border(uint64_t time_ns) {
  ppi_border border = {time_ns, 0};
  return border;
}
static inline int ppi_border_change(const ppi_border *border) {
  return border->value ? 1 : -1;
}

#define PPI_NONE UINT32_MAX

typedef struct ppi_interval {
  uint64_t from_ns, to_ns;
} ppi_interval;

// Disjoint intervals in order, with the time before each.
typedef struct ppi_intervals {
  ppi_interval *items;
  uint64_t *before_ns;
  size_t num, capacity;
} ppi_intervals;

// Times in order.
typedef struct ppi_times {
  uint64_t *items;
  size_t num;
} ppi_times;

// ppi_interval_add appends an interval; ppi_intervals_measure is the time of
// all intervals before `time_ns`.
bool ppi_intervals_add(ppi_intervals *to, uint64_t from_ns, uint64_t to_ns);
bool ppi_intervals_unite(ppi_intervals *intervals);
uint64_t ppi_intervals_measure(const ppi_intervals *intervals,
                               uint64_t time_ns);
void ppi_intervals_clear(ppi_intervals *intervals);

// Whether item `index` of `num` is in a sample of `most` items. The sample is
// spread evenly and in step with no period.
static inline bool ppi_is_sampled(size_t index, size_t num, size_t most) {
  double turn = (double)index * 0.6180339887498949;
  turn -= (double)(size_t)turn;
  return num <= most || turn * (double)num < (double)most;
}

// The index of the greatest value; PPI_NONE: all are 0.
uint32_t ppi_limit_greatest(const double *values, size_t num);

// The value at quantile `part` of sorted values; 0 if there are none.
uint64_t ppi_quantile_of(const uint64_t *sorted, size_t num, double part);

typedef struct ppi_fit {
  double num, x, y, xx, xy, yy;
} ppi_fit;
void ppi_fit_add(ppi_fit *to, double x, double y);
// 0 where either does not vary.
double ppi_fit_correlation(const ppi_fit *of);
