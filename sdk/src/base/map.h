// SPDX-License-Identifier: Apache-2.0
//
// Numbers given to keys in the order in which they first come, from 0. One
// thread at a time.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_map_key {
  uint64_t high, low;
} ppi_map_key;

// All zero is the empty map.
typedef struct ppi_map {
  ppi_map_key *keys;  // by number
  size_t num, capacity;
  uint32_t *slots;  // a number + 1; 0: free
  size_t num_slots;
} ppi_map;

// ppi_map_key_of is of two texts: others have another key, for all we know.
ppi_map_key ppi_map_key_of(const char *first, const char *second);
// ppi_map_number answers the number of `key`, map->num before the call if it is
// new; SIZE_MAX when out of memory.
size_t ppi_map_number(ppi_map *map, ppi_map_key key);
// ppi_map_find answers SIZE_MAX where that one would add the key.
size_t ppi_map_find(const ppi_map *map, ppi_map_key key);
void ppi_map_clear(ppi_map *map);

PPROF_END_C_
