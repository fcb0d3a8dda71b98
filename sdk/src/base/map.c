// SPDX-License-Identifier: Apache-2.0
//
// Maps keys to numbers by open addressing, at most half full.
#include "base/map.h"

#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"

ppi_map_key ppi_map_key_of(const char *first, const char *second) {
  uint8_t hash[32];
  ppi_map_key key = {0, 0};
  ppi_sha256(first, strlen(first), hash);
  memcpy(&key.high, hash, sizeof key.high);
  ppi_sha256(second, strlen(second), hash);
  memcpy(&key.low, hash, sizeof key.low);
  return key;
}

static size_t slot_of(const ppi_map *map, ppi_map_key key) {
  uint64_t hash = key.low ^ key.high * 0x9e3779b97f4a7c15u;
  hash *= 0xbf58476d1ce4e5b9u;
  size_t slot = (size_t)(hash ^ hash >> 32);
  for (;; slot++) {
    slot &= map->num_slots - 1;
    if (!map->slots[slot]) return slot;
    const ppi_map_key *other = &map->keys[map->slots[slot] - 1];
    if (other->high == key.high && other->low == key.low) return slot;
  }
}

static bool make_room(ppi_map *map) {
  if (map->num >= UINT32_MAX / 4) return false;
  if (!PPI_ROOM(map->keys, map->capacity, map->num + 1)) return false;
  if (2 * (map->num + 1) <= map->num_slots) return true;
  size_t num_slots = map->num_slots ? 2 * map->num_slots : 16;
  uint32_t *slots = ppi_alloc(num_slots * sizeof *slots);
  if (!slots) return false;
  ppi_free(map->slots);
  map->slots = slots;
  map->num_slots = num_slots;
  for (size_t i = 0; i < map->num; i++)
    slots[slot_of(map, map->keys[i])] = (uint32_t)i + 1;
  return true;
}

size_t ppi_map_find(const ppi_map *map, ppi_map_key key) {
  uint32_t found = map->num_slots ? map->slots[slot_of(map, key)] : 0;
  return found ? found - 1 : SIZE_MAX;
}

size_t ppi_map_number(ppi_map *map, ppi_map_key key) {
  size_t found = ppi_map_find(map, key);
  if (found != SIZE_MAX) return found;
  if (!make_room(map)) return SIZE_MAX;
  map->keys[map->num] = key;
  map->slots[slot_of(map, key)] = (uint32_t)map->num + 1;
  return map->num++;
}

void ppi_map_clear(ppi_map *map) {
  ppi_free(map->keys);
  ppi_free(map->slots);
  *map = (ppi_map){0};
}
