// SPDX-License-Identifier: Apache-2.0
//
// Adds up and merges durations as spreads and histograms. One thread at a time
// per object.
#include "report/figures/histogram.h"

#include <string.h>

#include "base/mem.h"
#include "base/rank.h"
#include "base/sort.h"

enum { NUM_OCTAVES = 58, NUM_LINEAR = 128, NUM_STEPS = 64 };

void ppi_spread_merge(ppi_spread *into, const ppi_spread *from) {
  bool is_first = ppi_spread_calls(into) == 0;
  if (ppi_spread_calls(from) && (is_first || from->min < into->min))
    into->min = from->min;
  if (from->max > into->max) into->max = from->max;
  into->n += from->n;
  into->sum += from->sum;
  into->num_cut += from->num_cut;
  into->cut_sum += from->cut_sum;
  into->sum_squares += from->sum_squares;
}

// The value of a bucket: its middle, within the extremes.
static uint64_t value_of(const ppi_histogram *histogram, int octave, int step) {
  if (octave == 0) return (uint64_t)step;
  uint64_t middle =
      ((uint64_t)(NUM_STEPS + step) << octave) + ((uint64_t)1 << (octave - 1));
  return PPI_MIN(PPI_MAX(middle, histogram->min), histogram->max);
}

static int octave_size(int octave) {
  return octave == 0 ? NUM_LINEAR : NUM_STEPS;
}

static uint64_t *counts_of(ppi_histogram *histogram, int octave) {
  uint64_t **slot = &histogram->octaves[octave];
  if (!*slot) *slot = ppi_alloc((size_t)octave_size(octave) * sizeof **slot);
  return *slot;
}

static inline bool count_value(ppi_histogram *histogram, uint64_t value) {
  int octave = value < NUM_LINEAR ? 0 : 57 - __builtin_clzll(value);
  uint64_t *counts = counts_of(histogram, octave);
  if (counts) counts[octave ? value >> octave & (NUM_STEPS - 1) : value]++;
  return counts;
}

static bool use_buckets(ppi_histogram *histogram) {
  if (histogram->octaves) return true;
  histogram->octaves = ppi_alloc(NUM_OCTAVES * sizeof *histogram->octaves);
  if (!histogram->octaves) return false;
  for (uint64_t i = 0; i < histogram->n; i++) {
    if (!count_value(histogram, histogram->exact[i])) return false;
  }
  ppi_free(histogram->exact);
  histogram->exact = NULL;
  histogram->capacity = 0;
  return true;
}

bool ppi_histogram_add_slow(ppi_histogram *histogram, uint64_t value) {
  if (histogram->n < PPI_HISTOGRAM_EXACT) {
    if (!PPI_ROOM(histogram->exact, histogram->capacity,
                  (size_t)histogram->n + 1))
      return false;
    ppi_histogram_stretch(histogram, value);
    histogram->exact[histogram->n++] = value;
    return true;
  }
  if (!use_buckets(histogram) || !count_value(histogram, value)) return false;
  ppi_histogram_stretch(histogram, value);
  histogram->n++;
  return true;
}

static bool merge_buckets(ppi_histogram *into, const ppi_histogram *from) {
  for (int octave = 0; octave < NUM_OCTAVES; octave++) {
    const uint64_t *added = from->octaves[octave];
    uint64_t *counts = added ? counts_of(into, octave) : NULL;
    if (added && !counts) return false;
    for (int step = 0; added && step < octave_size(octave); step++)
      counts[step] += added[step];
  }
  if (into->n == 0 || from->min < into->min) into->min = from->min;
  into->max = PPI_MAX(into->max, from->max);
  into->n += from->n;
  return true;
}

bool ppi_histogram_merge(ppi_histogram *into, const ppi_histogram *from) {
  if (from->octaves) {
    return use_buckets(into) && merge_buckets(into, from);
  }
  for (uint64_t i = 0; i < from->n; i++)
    if (!ppi_histogram_add(into, from->exact[i])) return false;
  return true;
}

// The one with more values stays: the order of a merge does not matter.
bool ppi_histogram_move(ppi_histogram *into, ppi_histogram *from) {
  const ppi_histogram other = *from;
  if (other.n > into->n) {
    *from = *into;
    *into = other;
  }
  bool done = ppi_histogram_merge(into, from);
  ppi_histogram_clear(from);
  return done;
}

static uint64_t exact_at(const ppi_histogram *histogram, uint64_t rank) {
  for (uint64_t i = 0; i < histogram->n; i++) {
    uint64_t below = 0, equal = 0;
    for (uint64_t k = 0; k < histogram->n; k++) {
      below += histogram->exact[k] < histogram->exact[i];
      equal += histogram->exact[k] == histogram->exact[i];
    }
    if (below < rank && rank <= below + equal) return histogram->exact[i];
  }
  return 0;
}

uint64_t ppi_histogram_at(const ppi_histogram *histogram, uint64_t rank) {
  if (histogram->n == 0) return 0;
  rank = PPI_MIN(PPI_MAX(rank, 1), histogram->n);
  if (!histogram->octaves) return exact_at(histogram, rank);
  if (rank == 1) return histogram->min;
  if (rank == histogram->n) return histogram->max;
  for (int octave = 0; octave < NUM_OCTAVES; octave++) {
    if (!histogram->octaves[octave]) continue;
    for (int step = 0; step < octave_size(octave); step++) {
      uint64_t n = histogram->octaves[octave][step];
      if (rank <= n) return value_of(histogram, octave, step);
      rank -= n;
    }
  }
  return 0;
}

uint64_t ppi_histogram_quantile(const ppi_histogram *histogram, double q) {
  uint32_t ppm = (uint32_t)(q * PPI_RANK_ALL + 0.5);
  return ppi_histogram_at(histogram, ppi_rank_of(histogram->n, ppm));
}

void ppi_histogram_each(const ppi_histogram *histogram,
                        void (*see)(void *context, uint64_t value,
                                    uint64_t num),
                        void *context) {
  if (!histogram->octaves) {
    for (uint64_t i = 0; i < histogram->n; i++)
      see(context, histogram->exact[i], 1);
    return;
  }
  for (int octave = 0; octave < NUM_OCTAVES; octave++) {
    const uint64_t *counts = histogram->octaves[octave];
    for (int step = 0; counts && step < octave_size(octave); step++)
      if (counts[step])
        see(context, value_of(histogram, octave, step), counts[step]);
  }
}

void ppi_histogram_clear(ppi_histogram *histogram) {
  for (int octave = 0; histogram->octaves && octave < NUM_OCTAVES; octave++)
    ppi_free(histogram->octaves[octave]);
  ppi_free(histogram->octaves);
  ppi_free(histogram->exact);
  *histogram = (ppi_histogram){0};
}

// Values come in any order.
static void carry_exact(ppi_carry *carry, ppi_histogram *histogram) {
  uint64_t sorted[PPI_HISTOGRAM_EXACT], *values = sorted;
  size_t num = histogram->exact ? (size_t)histogram->n : 0;
  if (num) memcpy(sorted, histogram->exact, num * sizeof *sorted);
  ppi_sort_numbers(sorted, num);
  ppi_carry_items(carry, carry->reads ? &histogram->exact : &values, &num,
                  sizeof *values);
}

void ppi_histogram_carry(ppi_carry *carry, ppi_histogram *histogram) {
  size_t num = histogram->octaves ? NUM_OCTAVES : 0;
  ppi_carry_words(carry, &histogram->n, sizeof histogram->n);
  ppi_carry_words(carry, &histogram->min, sizeof histogram->min);
  ppi_carry_words(carry, &histogram->max, sizeof histogram->max);
  carry_exact(carry, histogram);
  ppi_carry_room(carry, &histogram->octaves, &num, sizeof *histogram->octaves);
  for (size_t i = 0; i < num; i++)
    ppi_carry_maybe(carry, &histogram->octaves[i],
                    (size_t)octave_size((int)i) * sizeof(uint64_t));
}
