// SPDX-License-Identifier: Apache-2.0
#include "cost/table/scope.h"

#include <stdint.h>
#include <string.h>

#include "base/random.h"

struct ppi_scope_slot {
  const char *name;  // NULL: free
  void *value;
  uint64_t hash;
};

// Names come from whoever wrote the model, so that no one can know which of
// them meet.
static uint64_t hash_of(const char *name) {
  static uint64_t seed;
  if (!seed) seed = ppi_random64() | 1;
  uint64_t hash = seed;
  for (; *name; name++) {
    hash = (hash ^ (unsigned char)*name) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  hash *= seed;
  return hash ^ hash >> 32;
}

static struct ppi_scope_slot *slot_of(struct ppi_scope_slot *slots, size_t num,
                                      const char *name, uint64_t hash) {
  for (size_t i = hash & (num - 1);; i = (i + 1) & (num - 1)) {
    struct ppi_scope_slot *slot = &slots[i];
    if (!slot->name || (slot->hash == hash && strcmp(slot->name, name) == 0))
      return slot;
  }
}

static bool grow(ppi_scope *scope) {
  size_t num = scope->num_slots ? 2 * scope->num_slots : 16;
  struct ppi_scope_slot *slots =
      ppi_arena_take(scope->arena, num, sizeof *slots);
  if (!slots) return false;
  for (size_t i = 0; i < scope->num_slots; i++) {
    const struct ppi_scope_slot *from = &scope->slots[i];
    if (from->name) *slot_of(slots, num, from->name, from->hash) = *from;
  }
  scope->slots = slots;
  scope->num_slots = num;
  return true;
}

bool ppi_scope_put(ppi_scope *scope, const char *name, void *value) {
  if (2 * (scope->num + 1) > scope->num_slots && !grow(scope)) return false;
  uint64_t hash = hash_of(name);
  struct ppi_scope_slot *slot =
      slot_of(scope->slots, scope->num_slots, name, hash);
  if (!slot->name) scope->num++;
  *slot = (struct ppi_scope_slot){name, value, hash};
  return true;
}

void *ppi_scope_find(const ppi_scope *scope, const char *name) {
  uint64_t hash = hash_of(name);
  for (; scope; scope = scope->outer) {
    if (!scope->num_slots) continue;
    const struct ppi_scope_slot *slot =
        slot_of(scope->slots, scope->num_slots, name, hash);
    if (slot->name) return slot->value;
  }
  return NULL;
}
