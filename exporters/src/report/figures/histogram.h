// SPDX-License-Identifier: Apache-2.0
//
// Durations as integers: count, sums and extremes (a spread), and log-linear
// buckets (a histogram). Adding and merging in any order gives equal results.
#pragma once

#include "base/base.h"
#include "report/figures/carry.h"

PPROF_BEGIN_C_

// A report's functions answer a bool: without memory it is false.
static inline pprof_status ppi_or_no_memory(bool done) {
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

// A cut range has only a part of its time and is no call. It counts in `n`,
// `sum`, `num_cut` and `cut_sum`, not in the others.
typedef struct ppi_spread {
  uint64_t n, sum, num_cut, cut_sum;
  uint64_t min, max;  // 0 while all are cut
  unsigned __int128 sum_squares;
} ppi_spread;

static inline uint64_t ppi_spread_calls(const ppi_spread *spread) {
  return spread->n - spread->num_cut;
}

static inline void ppi_spread_add(ppi_spread *spread, uint64_t value) {
  if (spread->n == spread->num_cut || value < spread->min) spread->min = value;
  if (value > spread->max) spread->max = value;
  spread->n++;
  spread->sum += value;
  spread->sum_squares += (unsigned __int128)value * value;
}

static inline void ppi_spread_add_cut(ppi_spread *spread, uint64_t value) {
  spread->n++;
  spread->sum += value;
  spread->num_cut++;
  spread->cut_sum += value;
}

static inline void ppi_spread_add_either(ppi_spread *spread, uint64_t value,
                                         bool is_cut) {
  if (PPI_UNLIKELY(is_cut))
    ppi_spread_add_cut(spread, value);
  else
    ppi_spread_add(spread, value);
}

// ppi_spread_whole answers `spread` without cut ranges.
static inline ppi_spread ppi_spread_whole(const ppi_spread *spread) {
  ppi_spread whole = *spread;
  whole.n -= spread->num_cut;
  whole.sum -= spread->cut_sum;
  whole.num_cut = whole.cut_sum = 0;
  return whole;
}

void ppi_spread_merge(ppi_spread *into, const ppi_spread *from);

// Up to PPI_HISTOGRAM_EXACT values are kept exactly; more values go into
// buckets. Only their number decides. Each value below 128 has a bucket; each
// power of two above has 64. A bucket's middle is within 1/128 of its values.
// The extremes stay exact, and no answer lies outside them. All zero is the
// empty histogram.
#define PPI_HISTOGRAM_EXACT 256
typedef struct ppi_histogram {
  uint64_t n, min, max;
  uint64_t *exact;
  size_t capacity;
  uint64_t **octaves;
} ppi_histogram;

// ppi_histogram_stretch sets the extremes before `value` is counted.
static inline void ppi_histogram_stretch(ppi_histogram *histogram,
                                         uint64_t value) {
  if (value < histogram->min || histogram->n == 0) histogram->min = value;
  if (value > histogram->max) histogram->max = value;
}

bool ppi_histogram_add_slow(ppi_histogram *histogram, uint64_t value);

// Octave 0 has a bucket for each value below 128. Octave k >= 1 divides
// [2^(k+6), 2^(k+7)) into 64 equal steps. NULL: ppi_histogram_add_slow makes
// the value's bucket, if it needs one.
static inline uint64_t *ppi_histogram_bucket(const ppi_histogram *histogram,
                                             uint64_t value) {
  uint64_t **octaves = histogram->octaves;
  if (PPI_UNLIKELY(!octaves)) return NULL;
  if (value < 128) return octaves[0] ? &octaves[0][value] : NULL;
  int octave = 57 - __builtin_clzll(value);
  uint64_t *counts = octaves[octave];
  return counts ? &counts[(value >> octave) & 63] : NULL;
}
static inline bool ppi_histogram_add(ppi_histogram *histogram, uint64_t value) {
  uint64_t *bucket = ppi_histogram_bucket(histogram, value);
  if (!bucket) return ppi_histogram_add_slow(histogram, value);
  ++*bucket;
  ppi_histogram_stretch(histogram, value);
  histogram->n++;
  return true;
}
bool ppi_histogram_merge(ppi_histogram *into, const ppi_histogram *from);
// ppi_histogram_move leaves `from` empty.
bool ppi_histogram_move(ppi_histogram *into, ppi_histogram *from);
// ppi_histogram_at answers the value at a rank, clamped to [1, n]; 0: empty.
// base/rank.h finds ranks. ppi_histogram_quantile answers the value at a
// quantile, rounded to millionths.
uint64_t ppi_histogram_at(const ppi_histogram *histogram, uint64_t rank);
uint64_t ppi_histogram_quantile(const ppi_histogram *histogram, double q);
// ppi_histogram_each calls `see` with each value, or each bucket's middle, and
// the number of values.
void ppi_histogram_each(const ppi_histogram *histogram,
                        void (*see)(void *context, uint64_t value,
                                    uint64_t num),
                        void *context);
void ppi_histogram_clear(ppi_histogram *histogram);
// ppi_histogram_carry: equal histograms have equal bytes.
void ppi_histogram_carry(ppi_carry *carry, ppi_histogram *histogram);

PPROF_END_C_
