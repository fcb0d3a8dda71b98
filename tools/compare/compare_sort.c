// SPDX-License-Identifier: Apache-2.0
//
// Byte by byte from the least, as the bits of numbers are in the order of the
// numbers. Bytes that all samples share cost nothing: those of whole
// nanoseconds are half of the eight.
#include "compare/compare_sort.h"

#include <stdint.h>
#include <string.h>

enum { BYTES = 8, VALUES = 256 };

static uint64_t key_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

// Answers false where all samples have one byte.
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

void ppi_sort_samples(double *values, double *scratch, size_t n) {
  size_t counts[BYTES][VALUES] = {{0}};
  double *from = values, *to = scratch;
  for (size_t i = 0; i < n; i++) {
    uint64_t key = key_of(values[i]);
    for (int byte = 0; byte < BYTES; byte++)
      counts[byte][key >> 8 * byte & 0xff]++;
  }
  for (int byte = 0; byte < BYTES; byte++) {
    if (!make_places(counts[byte], n)) continue;
    for (size_t i = 0; i < n; i++)
      to[counts[byte][key_of(from[i]) >> 8 * byte & 0xff]++] = from[i];
    double *sorted = to;
    to = from;
    from = sorted;
  }
  if (n && from != values) memcpy(values, from, n * sizeof *values);
}
