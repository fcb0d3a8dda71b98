// SPDX-License-Identifier: Apache-2.0
//
// Finds items of arrays by key, and adds missing ones.
#include "report/figures/keyed.h"

#include <string.h>

#include "base/mem.h"

// Makes room at `place`.
static void *insert(const ppi_keyed_array *array, size_t place,
                    const void *item) {
  char **items = array->items;
  if (!ppi_room(items, array->capacity, *array->num + 1, array->size))
    return NULL;
  char *at = *items + place * array->size;
  memmove(at + array->size, at, (*array->num - place) * array->size);
  ++*array->num;
  return memcpy(at, item, array->size);
}

void *ppi_keyed_sorted(const ppi_keyed_array *array, const void *key,
                       int (*compare)(const void *left, const void *right)) {
  char **items = array->items;
  size_t low = 0, high = *array->num;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    char *item = *items + middle * array->size;
    int order = compare(item, key);
    if (order == 0) return item;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return insert(array, low, key);
}

void *ppi_keyed_mapped(const ppi_keyed_array *array, ppi_map *map,
                       ppi_map_key key, const void *fresh) {
  char **items = array->items;
  size_t at = ppi_map_number(map, key);
  if (at < *array->num) return *items + at * array->size;
  return at == *array->num ? insert(array, at, fresh) : NULL;
}
