// SPDX-License-Identifier: Apache-2.0
//
// Numbers for keys, from 0 in the order in which keys first come. One thread at
// a time.
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

// ppi_map_key_of makes the key of two texts; other texts have another key, very
// probably.
ppi_map_key ppi_map_key_of(const char *first, const char *second);
// ppi_map_number answers the number of `key`, map->num before the call if it is
// new; SIZE_MAX when out of memory.
size_t ppi_map_number(ppi_map *map, ppi_map_key key);
// ppi_map_find answers SIZE_MAX for an unknown key.
size_t ppi_map_find(const ppi_map *map, ppi_map_key key);
void ppi_map_clear(ppi_map *map);

PPROF_END_C_
