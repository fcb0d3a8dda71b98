// SPDX-License-Identifier: Apache-2.0
//
// Sorting many items by a number, in time that grows as they do.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_sort does what qsort does; `compare` goes by `key` first, which rises. It
// takes memory for the keys; where there is none, it is qsort. With NULL items
// of one key stay in their order; false: out of memory, nothing has moved.
bool ppi_sort(void *items, size_t num, size_t size,
              uint64_t (*key)(const void *item),
              int (*compare)(const void *left, const void *right));

typedef struct ppi_keyed {
  uint64_t key, value;
} ppi_keyed;
// By key, then value.
void ppi_sort_keyed(ppi_keyed *items, size_t num);
void ppi_sort_numbers(uint64_t *numbers, size_t num);

// PPI_BELOW answers how many items, sorted by `field`, are below `limit` in it;
// PPI_UP_TO: below or equal.
#define PPI_BELOW(items, num, field, limit) \
  ((num) ? ppi_below(&(items)->field, num, sizeof *(items), limit, false) : 0)
#define PPI_UP_TO(items, num, field, limit) \
  ((num) ? ppi_below(&(items)->field, num, sizeof *(items), limit, true) : 0)
static inline size_t ppi_below(const uint64_t *first, size_t num, size_t size,
                               uint64_t limit, bool with_equal) {
  size_t low = 0;
  while (low < num) {
    size_t middle = low + (num - low) / 2;
    uint64_t number = first[middle * (size / sizeof *first)];
    if (number < limit || (with_equal && number == limit))
      low = middle + 1;
    else
      num = middle;
  }
  return low;
}

PPROF_END_C_
