// SPDX-License-Identifier: Apache-2.0
#include "whatif/whatif_bootstrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/rank.h"

enum { MOST_TIMES = 1000, LEAST_TIMES = 200, MANY = 100000 };

static uint64_t times_of(size_t num) {
  return num > MANY ? LEAST_TIMES : MOST_TIMES;
}

// splitmix64, from a fixed seed.
static uint64_t next_random(uint64_t *state) {
  return ppi_mix(*state += 0x9e3779b97f4a7c15u);
}

// Which value comes next: the one behind the last, or the first of a block.
typedef struct picker {
  uint64_t state;
  size_t num, len, left, at;
} picker;

static picker pick_of(size_t num) {
  return (picker){.num = num, .len = (size_t)ceil(cbrt((double)num))};
}

static size_t pick(picker *from) {
  if (!from->left) {
    from->left = from->len;
    from->at = (size_t)(next_random(&from->state) % from->num);
  }
  from->left--;
  size_t at = from->at++;
  if (from->at == from->num) from->at = 0;
  return at;
}

static int by_value(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void interval_of(double *figures, uint64_t times, double *out_low,
                        double *out_high) {
  qsort(figures, (size_t)times, sizeof *figures, by_value);
  *out_low = figures[ppi_rank_of(times, PPI_RANK_ALL / 40) - 1];
  *out_high = figures[ppi_rank_of(times, PPI_RANK_ALL - PPI_RANK_ALL / 40) - 1];
}

bool ppi_whatif_bootstrap_mean(const double *values, size_t num,
                               double *out_low, double *out_high) {
  double figures[MOST_TIMES];
  const uint64_t times = times_of(num);
  if (num < PPI_WHATIF_LEAST) return false;
  picker from = pick_of(num);
  for (uint64_t i = 0; i < times; i++) {
    double sum = 0;
    from.left = 0;
    for (size_t k = 0; k < num; k++) sum += values[pick(&from)];
    figures[i] = sum / (double)num;
  }
  interval_of(figures, times, out_low, out_high);
  return true;
}

// Where `value` first is in order.
static size_t place_of(const double *sorted, size_t num, double value) {
  size_t low = 0;
  while (low < num) {
    size_t middle = low + (num - low) / 2;
    if (sorted[middle] < value)
      low = middle + 1;
    else
      num = middle;
  }
  return low;
}

bool ppi_whatif_bootstrap_rank(const double *values, size_t num,
                               uint32_t percent, const double *sorted,
                               size_t *scratch, double *out_low,
                               double *out_high) {
  double figures[MOST_TIMES];
  const uint64_t times = times_of(num);
  size_t *places = scratch, *counts = scratch + num;
  size_t rank = ppi_rank_of(num, percent * PPI_RANK_PERCENT);
  if (num < PPI_WHATIF_LEAST || rank == num) return false;
  for (size_t i = 0; i < num; i++) places[i] = place_of(sorted, num, values[i]);
  picker from = pick_of(num);
  for (uint64_t i = 0; i < times; i++) {
    size_t below = 0, at = 0;
    memset(counts, 0, num * sizeof *counts);
    from.left = 0;
    for (size_t k = 0; k < num; k++) counts[places[pick(&from)]]++;
    while ((below += counts[at]) < rank) at++;
    figures[i] = sorted[at];
  }
  interval_of(figures, times, out_low, out_high);
  return true;
}
