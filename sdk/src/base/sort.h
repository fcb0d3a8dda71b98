// SPDX-License-Identifier: Apache-2.0
//
// Sorting many items by a number, in time that grows as they do.
#ifndef PPI_BASE_SORT_H_
#define PPI_BASE_SORT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ppi_sort does what qsort does; `compare` goes by `key` first, which rises. It
// takes memory for the items once more; where there is none, it is qsort.
void ppi_sort(void *items, size_t num, size_t size,
              uint64_t (*key)(const void *item),
              int (*compare)(const void *left, const void *right));

#ifdef __cplusplus
}
#endif

#endif  // PPI_BASE_SORT_H_
