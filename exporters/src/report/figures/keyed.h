// SPDX-License-Identifier: Apache-2.0
//
// Arrays of items that are found by a key; a lookup adds a missing item.
#pragma once

#include "base/map.h"

// `items` is the address of the array. Both answer the item of `key`, valid
// until the next one is added; NULL: out of memory.
typedef struct ppi_keyed_array {
  void *items;
  size_t *num, *capacity;
  size_t size;  // of an item
} ppi_keyed_array;
#define PPI_KEYED(items, num, capacity) \
  (&(const ppi_keyed_array){&(items), &(num), &(capacity), sizeof *(items)})

// ppi_keyed_sorted keeps the order of `compare`; a new item is a copy of `key`.
void *ppi_keyed_sorted(const ppi_keyed_array *array, const void *key,
                       int (*compare)(const void *left, const void *right));
// ppi_keyed_mapped has the items by their number in `map`; a new one is a copy
// of `fresh`.
void *ppi_keyed_mapped(const ppi_keyed_array *array, ppi_map *map,
                       ppi_map_key key, const void *fresh);
