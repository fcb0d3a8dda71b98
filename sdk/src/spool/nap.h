// SPDX-License-Identifier: Apache-2.0
//
// The collector's long pauses while little comes. Whoever takes what only the
// collector gives back counts the pause down, and ends it long before all is
// taken.
#pragma once

#include "spool/spool.h"

PPROF_BEGIN_C_

// What may be taken in one pause, in parts: a sixteenth of these for a chunk,
// all of them for what cannot wait.
#define PPI_NAP_PARTS 1024u
#define PPI_NAP_CHUNK (PPI_NAP_PARTS / 16)

// ppi_nap_begin: the collector is about to wait for long. `end` wakes it; it
// answers false where it could not, and may be called by any marker.
void ppi_nap_begin(ppi_spool *spool, bool (*end)(void));
void ppi_nap_end(ppi_spool *spool);
void ppi_nap_count(ppi_spool *spool, uint32_t parts);
// ppi_nap_use counts `parts` down. Outside of a pause it reads one word.
static inline void ppi_nap_use(ppi_spool *spool, uint32_t parts) {
  if (PPI_UNLIKELY(__atomic_load_n(&spool->nap_left, __ATOMIC_RELAXED) > 0))
    ppi_nap_count(spool, parts);
}
// ppi_nap_of_slots: the parts of `num` slots of a table or pool of `all`. An
// eighth of them ends the pause.
static inline uint32_t ppi_nap_of_slots(uint32_t num, uint32_t all) {
  return all ? PPI_MIN(PPI_NAP_PARTS, PPI_NAP_PARTS * 8 * num / all)
             : PPI_NAP_PARTS;
}

PPROF_END_C_
