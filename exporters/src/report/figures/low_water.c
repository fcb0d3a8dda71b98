// SPDX-License-Identifier: Apache-2.0
//
// Keeps the lows of a memory level over time and finds growth in them.

#include "report/figures/low_water.h"

#include <math.h>

#include "base/base.h"

// ---- bins of time ----

static void widen(ppi_low_water *low) {
  uint64_t first = low->first >> 1;
  size_t num = 0;
  for (size_t i = 0; i < low->num_bins; i++) {
    size_t to = (size_t)(((low->first + i) >> 1) - first);
    uint64_t bytes = low->lows[i];
    low->lows[to] = to < num ? PPI_MIN(low->lows[to], bytes) : bytes;
    num = to + 1;
  }
  low->first = first;
  low->num_bins = num;
  low->shift++;
}

// Extends the bins to `first` ... `last`, both counted from time 0.
static void reach(ppi_low_water *low, uint64_t first, uint64_t last) {
  size_t more = (size_t)(low->first - first);
  for (size_t i = low->num_bins; more && i-- > 0;)
    low->lows[i + more] = low->lows[i];
  for (size_t i = 0; i < more; i++) low->lows[i] = UINT64_MAX;
  low->num_bins += more;
  low->first = first;
  while (last - first >= low->num_bins) low->lows[low->num_bins++] = UINT64_MAX;
}

void ppi_low_water_add(ppi_low_water *low, uint64_t time_ns, uint64_t bytes) {
  low->num_levels++;
  if (!low->num_bins) {
    low->first = time_ns;
    low->lows[low->num_bins++] = UINT64_MAX;
  }
  uint64_t at = time_ns >> low->shift, first, last;
  for (;; widen(low)) {
    at = time_ns >> low->shift;
    first = PPI_MIN(at, low->first);
    last = PPI_MAX(at, low->first + low->num_bins - 1);
    if (last - first < PPI_LOW_WATER_BINS) break;
  }
  reach(low, first, last);
  uint64_t *bin = &low->lows[at - first];
  *bin = PPI_MIN(*bin, bytes);
}

// ---- a line through the lows ----

typedef struct line {
  size_t n;
  double x, y, xx, xy, yy;  // sums
} line;

static void take(line *sums, double x, double y) {
  sums->n++;
  sums->x += x;
  sums->y += y;
  sums->xx += x * x;
  sums->xy += x * y;
  sums->yy += y * y;
}

// The slope in bytes a bin, and its standard error.
static double slope_of(const line *sums, double *out_error) {
  double n = (double)sums->n;
  double xx = sums->xx - sums->x * sums->x / n;
  double xy = sums->xy - sums->x * sums->y / n;
  double yy = sums->yy - sums->y * sums->y / n;
  double rest = yy - xy * xy / xx;
  *out_error = rest > 0 ? sqrt(rest / (n - 2) / xx) : 0;
  return xy / xx;
}

static uint64_t lowest(const ppi_low_water *low, size_t from, size_t to) {
  uint64_t bytes = UINT64_MAX;
  for (size_t i = from; i < to; i++) bytes = PPI_MIN(bytes, low->lows[i]);
  return bytes;
}

// Sums up the lows of bins `from` to `to` relative to the first low. Squares of
// full levels would lose precision.
static line line_of(const ppi_low_water *low, size_t from, size_t to,
                    size_t *out_first, size_t *out_last) {
  line sums = {0};
  *out_first = to;
  *out_last = from;
  for (size_t i = from; i < to; i++) {
    if (low->lows[i] == UINT64_MAX) continue;
    *out_first = PPI_MIN(*out_first, i);
    *out_last = i;
    take(&sums, (double)(i - from),
         (double)low->lows[i] - (double)low->lows[*out_first]);
  }
  return sums;
}

// Growth that continues has at least half of its overall slope at the end.
static bool levels_off(const ppi_low_water *low, size_t from, double slope) {
  size_t first, last;
  double error;
  const line end = line_of(low, from, low->num_bins, &first, &last);
  return end.n < 3 || 2 * slope_of(&end, &error) < slope;
}

ppi_growth ppi_low_water_growth(const ppi_low_water *low) {
  enum { LEAST_LEVELS = 100, LEAST_LOWS = 16 };
  const double errors = 4.14;  // of 99.9 %, with 14 degrees of freedom
  size_t from = low->num_bins / 4, third = (low->num_bins - from) / 3;
  size_t first, last;
  const line sums = line_of(low, from, low->num_bins, &first, &last);
  if (low->num_levels < LEAST_LEVELS || sums.n < LEAST_LOWS)
    return (ppi_growth){0};
  uint64_t lows[3] = {lowest(low, from, from + third),
                      lowest(low, from + third, from + 2 * third),
                      lowest(low, from + 2 * third, low->num_bins)};
  if (lows[0] >= lows[1] || lows[1] >= lows[2] || lows[2] == UINT64_MAX)
    return (ppi_growth){0};
  double error, slope = slope_of(&sums, &error), span = (double)(last - first);
  if (slope - errors * error <= 0 || levels_off(low, from + 2 * third, slope))
    return (ppi_growth){0};
  return (ppi_growth){.num_levels = low->num_levels,
                      .num_lows = sums.n,
                      .span_ns = (uint64_t)(last - first) << low->shift,
                      .low_bytes = (double)lows[0],
                      .bytes = slope * span,
                      .least_bytes = (slope - errors * error) * span};
}

void ppi_growth_merge(ppi_growth *into, const ppi_growth *from) {
  bool is_more =
      from->least_bytes > into->least_bytes ||
      (from->least_bytes == into->least_bytes && from->bytes > into->bytes);
  if (is_more) *into = *from;
}
