// SPDX-License-Identifier: Apache-2.0
//
// Takes ids back from the names that were unused for longest.
#include "names/names_old.h"

#include <stdlib.h>

#include "names/name_hash.h"
#include "names/names_fold.h"
#include "names/names_impl.h"

// Ids handled under one hold of the lock.
#define AT_ONCE 64u
// Rounds until the next try, where no id could go.
#define PAUSE 256u

static uint8_t state_of(const ppi_names *names, uint32_t id) {
  return __atomic_load_n(&names->states[id], __ATOMIC_RELAXED);
}

void ppi_names_new_round(ppi_names *names) {
  __atomic_store_n(&names->round, names->round + 1, __ATOMIC_RELAXED);
}

void ppi_names_used(ppi_names *names, uint32_t site) {
  if (site <= PPI_MAX_SITES)
    __atomic_store_n(&names->uses[site], names->round, __ATOMIC_RELAXED);
}

static uint32_t ids_left(const ppi_names *names) {
  return PPI_MAX_SITES - names->num_sites + names->num_free;
}

// A thread stopped in a marker may have the lock for long: the collector tries
// again later.
static bool try_lock(ppi_names *names) {
  return pthread_mutex_trylock(&names->mutex) == 0;
}

bool ppi_names_are_crowded(ppi_names *names) {
  if ((int32_t)(names->round - names->pause_until) < 0) return false;
  if (!try_lock(names)) return false;
  bool are =
      ids_left(names) <= names->ids_then / 2 ||
      ppi_names_area_left(&names->area, names->spool) <= names->bytes_then / 2;
  pthread_mutex_unlock(&names->mutex);
  return are;
}

// {how many rounds ago it was used:32, id:32}
static uint64_t old[PPI_MAX_SITES];  // one collector per process

static int compare_older_first(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x < y) - (x > y);
}

static uint32_t num_sites(const ppi_names *names) {
  return __atomic_load_n(&names->num_sites, __ATOMIC_RELAXED);
}

static uint32_t list_old(ppi_names *names) {
  uint32_t num = 0;
  for (uint32_t id = 1, end = num_sites(names); id <= end; id++) {
    if (state_of(names, id) != 0 || !ppi_names_record(names, id)) continue;
    uint32_t used = __atomic_load_n(&names->uses[id], __ATOMIC_RELAXED);
    old[num++] = (uint64_t)(names->round - used) << 32 | id;
  }
  qsort(old, num, sizeof *old, compare_older_first);
  return num;
}

static uint32_t place_of(const ppi_names *names, uint32_t id) {
  const char *text = ppi_names_given(names, id);
  uint32_t category = ppi_names_record(names, id)->parent;
  uint32_t hash = (uint32_t)ppi_names_hash(text, strlen(text), category);
  uint64_t entry = (uint64_t)hash << 32 | id;
  uint32_t at = hash % PPI_NAMES_TABLE;
  while (names->table[at] && names->table[at] != entry)
    at = (at + 1) % PPI_NAMES_TABLE;
  return at;
}

// Moves up entries after a removed one that lookups would miss. A concurrent
// lookup may miss one, and repeats with the mutex.
static void take_out(ppi_names *names, uint32_t hole) {
  for (uint32_t at = hole;;) {
    at = (at + 1) % PPI_NAMES_TABLE;
    uint64_t entry = names->table[at];
    if (!entry) break;
    uint32_t home = (uint32_t)(entry >> 32) % PPI_NAMES_TABLE;
    if ((at - home) % PPI_NAMES_TABLE < (at - hole) % PPI_NAMES_TABLE) continue;
    __atomic_store_n(&names->table[hole], entry, __ATOMIC_RELEASE);
    hole = at;
  }
  __atomic_store_n(&names->table[hole], 0, __ATOMIC_RELEASE);
}

static void retire(ppi_names *names, uint32_t id) {
  uint32_t at = place_of(names, id);
  if (state_of(names, id) != 0 || !names->table[at]) return;
  ppi_names_unlearn(names, id);
  __atomic_fetch_or(&names->states[id], PPI_ID_LEAVES, __ATOMIC_RELAXED);
  take_out(names, at);
}

// An id that another part keeps by now is a site's forever.
static bool leaves(const ppi_names *names, uint32_t id) {
  return (state_of(names, id) & (PPI_ID_LEAVES | PPI_ID_STAYS)) ==
         PPI_ID_LEAVES;
}

bool ppi_names_leaves(const ppi_names *names, uint32_t id) {
  return id <= PPI_MAX_SITES && leaves(names, id);
}

uint32_t ppi_names_retire(ppi_names *names) {
  uint32_t num = (list_old(names) + 1) / 2, i = 0;
  while (i < num && try_lock(names)) {
    for (uint32_t k = 0; k < AT_ONCE && i < num; k++, i++)
      retire(names, (uint32_t)old[i]);
    pthread_mutex_unlock(&names->mutex);
  }
  names->was_cut_short = i < num;
  __atomic_store_n(&names->generation, names->generation + 1, __ATOMIC_RELEASE);
  uint32_t all = 0;
  for (uint32_t id = 1, end = num_sites(names); id <= end; id++)
    all += leaves(names, id);
  if (!all) names->pause_until = names->round + PAUSE;
  return all;
}

uint32_t ppi_names_generation(const ppi_names *names) {
  return __atomic_load_n(&names->generation, __ATOMIC_ACQUIRE);
}

void ppi_names_hold(ppi_names *names, uint32_t id) {
  if (ppi_names_leaves(names, id))
    __atomic_fetch_or(&names->states[id], PPI_ID_HELD, __ATOMIC_RELAXED);
}

static void give(ppi_names *names, uint32_t id) {
  ppi_names_area_give(&names->area, names->spool, names->places[id]);
  names->verdicts[id] = names->offsets[id] = 0;
  names->free_ids[names->num_free++] = id;
  __atomic_store_n(&names->states[id], 0, __ATOMIC_RELAXED);
}

bool ppi_names_give(ppi_names *names, void (*forget)(uint32_t id)) {
  const uint32_t end = num_sites(names);
  for (uint32_t id = 1; id <= end; id++) {
    if (!leaves(names, id) || state_of(names, id) & PPI_ID_HELD) continue;
    forget(id);
    if (!try_lock(names)) return false;
    give(names, id);
    pthread_mutex_unlock(&names->mutex);
  }
  if (!try_lock(names)) return false;
  names->ids_then = names->was_cut_short ? UINT32_MAX : ids_left(names);
  names->bytes_then = ppi_names_area_left(&names->area, names->spool);
  pthread_mutex_unlock(&names->mutex);
  for (uint32_t id = 1; id <= end; id++)
    __atomic_fetch_and(&names->states[id], (uint8_t)~PPI_ID_HELD,
                       __ATOMIC_RELAXED);
  return true;
}
