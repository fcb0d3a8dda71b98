// SPDX-License-Identifier: Apache-2.0
//
// The sites of names that are known at run time only. On the marking threads,
// between enter and leave.
#pragma once

#include "mark/thread.h"

// How the site of a name is looked up: `shorten` (NULL: none) answers how many
// bytes of a new name are kept, 0 for all.
typedef size_t (*ppi_shorten)(const char *name);
// ppi_mark_whole is a `shorten` that keeps all, and keeps the name from
// folding.
size_t ppi_mark_whole(const char *name);
uint32_t ppi_mark_look_up(const ppi_lane *lane, const char *name,
                          uint64_t style, ppi_shorten shorten);

// Each key has two places in a thread's cache, so that programs which use a
// quarter of it have room for nearly all of theirs.
static inline ppi_cached_name *ppi_name_place(ppi_cached_name *cache,
                                              uintptr_t key, uint32_t category,
                                              unsigned which) {
  uint64_t bits = (key ^ (uint64_t)category << 40) * 0x9e3779b97f4a7c15u;
  return &cache[(bits >> (which ? 40 : 52)) % PPI_NAME_CACHE];
}

static inline uint32_t ppi_cached_epoch(const ppi_cached_name *cached) {
  return __atomic_load_n(&cached->epoch, __ATOMIC_RELAXED);
}
// ppi_name_cache_drop removes names that left the session's table from a
// thread's cache. The collector calls it once the thread was outside of markers
// since then.
void ppi_name_cache_drop(ppi_name_cache *cache, const ppi_names *names);

// ppi_mark_name answers the site with this name in the lane's epoch. The
// address of a name is only a hint (its text may have changed, its library may
// be gone): the content decides. `style` is color << 32 | category.
static inline uint32_t ppi_mark_name(ppi_thread *thread, const ppi_lane *lane,
                                     const char *name, uint64_t style,
                                     ppi_shorten shorten) {
  uintptr_t key = (uintptr_t)name;
  const ppi_cached_name *cached =
      ppi_name_place(thread->names.by_address, key, (uint32_t)style, 0);
  if (cached->key != key)
    cached = ppi_name_place(thread->names.by_address, key, (uint32_t)style, 1);
  if (PPI_LIKELY(cached->key == key &&
                 ppi_cached_epoch(cached) ==
                     __atomic_load_n(&lane->stack_epoch, __ATOMIC_RELAXED) &&
                 cached->category == (uint32_t)style &&
                 cached->changes < PPI_NAME_CHANGES &&
                 strcmp(cached->text, name) == 0))
    return cached->id;
  return ppi_mark_look_up(lane, name, style, shorten);
}
