// SPDX-License-Identifier: Apache-2.0
//
// Sorts samples digit by digit from the least one, since the bits of the
// numbers have the order of the numbers. A digit that all samples share costs
// nothing. One sample is found digit by digit from the greatest one.
#include "compare/compare_sort.h"

#include <string.h>

enum { DIGIT = 11, NUM_DIGITS = 3, VALUES = 1 << DIGIT };

static uint32_t key_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 31 ? ~bits : bits | (uint32_t)1 << 31;
}

// Answers false if all samples share the digit.
static int make_places(size_t *counts, size_t n) {
  size_t place = 0;
  for (size_t i = 0; i < VALUES; i++) {
    size_t num = counts[i];
    if (num == n) return 0;
    counts[i] = place;
    place += num;
  }
  return 1;
}

void ppi_sort_samples(float *values, float *scratch, size_t n) {
  size_t counts[NUM_DIGITS][VALUES] = {{0}};
  float *from = values, *to = scratch;
  for (size_t i = 0; i < n; i++) {
    uint32_t key = key_of(values[i]);
    for (int digit = 0; digit < NUM_DIGITS; digit++)
      counts[digit][key >> DIGIT * digit & (VALUES - 1)]++;
  }
  for (int digit = 0; digit < NUM_DIGITS; digit++) {
    if (!make_places(counts[digit], n)) continue;
    for (size_t i = 0; i < n; i++) {
      uint32_t at = key_of(from[i]) >> DIGIT * digit & (VALUES - 1);
      to[counts[digit][at]++] = from[i];
    }
    float *sorted = to;
    to = from;
    from = sorted;
  }
  if (n && from != values) memcpy(values, from, n * sizeof *values);
}

static float value_of(uint32_t key) {
  uint32_t bits = key >> 31 ? key & ~((uint32_t)1 << 31) : ~key;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

float ppi_nth_sample(const float *values, size_t n, size_t at) {
  uint32_t found = 0;
  for (int digit = NUM_DIGITS - 1; digit >= 0; digit--) {
    size_t counts[VALUES] = {0};
    unsigned shift = (unsigned)(DIGIT * digit);
    // Above the digit, keys have to agree; of the first one there is nothing.
    uint64_t above = (uint64_t)found >> shift >> DIGIT;
    for (size_t i = 0; i < n; i++) {
      uint32_t key = key_of(values[i]);
      counts[key >> shift & (VALUES - 1)] +=
          (uint64_t)key >> shift >> DIGIT == above;
    }
    uint32_t value = 0;
    for (; at >= counts[value]; value++) at -= counts[value];
    found |= value << shift;
  }
  return value_of(found);
}
