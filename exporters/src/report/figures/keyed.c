// SPDX-License-Identifier: Apache-2.0
//
// Finds items of arrays by key, and adds missing ones.
#include "report/figures/keyed.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

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
  size_t at = ppi_first(key, *items, *array->num, array->size, compare);
  if (at < *array->num && compare(key, *items + at * array->size) == 0)
    return *items + at * array->size;
  return insert(array, at, key);
}

void *ppi_keyed_mapped(const ppi_keyed_array *array, ppi_map *map,
                       ppi_map_key key, const void *fresh) {
  char **items = array->items;
  size_t at = ppi_map_number(map, key);
  if (at < *array->num) return *items + at * array->size;
  return at == *array->num ? insert(array, at, fresh) : NULL;
}
