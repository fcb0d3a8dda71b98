// SPDX-License-Identifier: Apache-2.0
//
// Sorting many items by a number, in time that grows as they do.
#pragma once

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
// The number that has this rank once sorted, from 0. The numbers get lost.
uint64_t ppi_number_at(uint64_t *numbers, size_t num, size_t rank);

// The number of values below `limit` among `num` sorted ones at a distance of
// `size` bytes; and up to it.
static inline size_t ppi_count_below(const uint64_t *first, size_t num,
                                     size_t size, uint64_t limit) {
  size_t low = 0;
  while (low < num) {
    size_t middle = low + (num - low) / 2;
    if (first[middle * (size / sizeof *first)] < limit)
      low = middle + 1;
    else
      num = middle;
  }
  return low;
}
static inline size_t ppi_count_up_to(const uint64_t *first, size_t num,
                                     size_t size, uint64_t limit) {
  return limit == UINT64_MAX ? num
                             : ppi_count_below(first, num, size, limit + 1);
}

// ppi_first answers the first of sorted items that does not come before `key`;
// `num`: all do.
size_t ppi_first(const void *key, const void *items, size_t num, size_t size,
                 int (*compare)(const void *key, const void *item));

PPROF_END_C_
