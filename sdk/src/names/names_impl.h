// SPDX-License-Identifier: Apache-2.0
//
// The inside of a session's names, for names.c and for names_old.c, which takes
// ids back.
#pragma once

#include <pthread.h>

#include "names/names_area.h"
#include "names/shapes.h"
#include "names/site_filter.h"

#define PPI_NAMES_TABLE (2 * PPI_MAX_SITES)

// States of an id. STAYS: it is kept forever. LEAVES: it has left the table.
// `HELD`: it leaves, but a record or thread still has it.
enum { PPI_ID_STAYS = 1, PPI_ID_LEAVES = 2, PPI_ID_HELD = 4 };

struct ppi_names {
  ppi_spool *spool;
  pthread_mutex_t mutex;
  uint32_t num_sites;  // ids given out so far; atomic
  uint32_t other;      // id of `<other>`, 0 until needed
  uint64_t categories_defined[PPI_MAX_CATEGORIES / 64 + 2];
  uint64_t table[PPI_NAMES_TABLE];  // {hash:32, id:32}, 0 = empty
  // By id: the offset of the site's record in the spool, 0: not published.
  uint64_t offsets[PPI_MAX_SITES + 2];
  ppi_site_filter *filter;               // the newest; NULL: none
  uint64_t verdicts[PPI_MAX_SITES + 2];  // {filter's version:32, verdict:32}
  // Where names are stored as hashes, the sites' own names, each at the place
  // of its record in the area.
  char *clear;
  uint64_t clear_size;
  uint64_t places[PPI_MAX_SITES + 2];  // by id: where in the area it lies
  ppi_names_area area;
  uint8_t states[PPI_MAX_SITES + 2];  // by id: PPI_ID_..., atomic
  uint32_t uses[PPI_MAX_SITES + 2];   // by id: the latest round, atomic
  uint32_t round;                     // atomic
  uint32_t generation;                // atomic
  uint32_t free_ids[PPI_MAX_SITES];
  uint32_t num_free;  // of these
  // The room at the last time that ids were taken back.
  uint32_t ids_then;
  uint64_t bytes_then;
  bool was_cut_short;    // a marker had the lock: more names are old
  uint32_t pause_until;  // a round
  ppi_shapes *shapes;    // NULL: nothing folds
  // Ids with records that took the place of others or began to fold, in their
  // order.
  uint32_t again[PPI_MAX_SITES];
  uint64_t num_again;  // ever; the newest are in `again`
};

// ppi_names_record answers what is published of an id, or NULL.
static inline const ppi_definition_record *ppi_names_record(
    const struct ppi_names *names, uint32_t id) {
  // Pairs with the release in show_site.
  uint64_t offset = __atomic_load_n(&names->offsets[id], __ATOMIC_ACQUIRE);
  return offset ? (const void *)(names->spool->base + offset) : NULL;
}
// ppi_names_given answers the name as the program gave it.
static inline const char *ppi_names_given(const struct ppi_names *names,
                                          uint32_t id) {
  return names->clear ? names->clear + names->places[id]
                      : ppi_names_record(names, id)->name;
}
