// SPDX-License-Identifier: Apache-2.0
//
// Decides which parts of a spool recover trusts. It works on a private copy,
// into which it reads chunks as it reaches them. Invalid lanes and tables are
// removed from the header's lists, so that later users need no checks.
#pragma once

#include "base/base.h"
#include "spool/spool.h"

// Chunks that recover adds to its copy for what it writes itself.
#define PPI_SALVAGE_CHUNKS 64u

// ppi_salvage_take makes part of a pool chunk this caller's, one bit for the
// size of a lane; false: no chunk, or already taken.
PPI_STATIC_ASSERT(PPI_LANES_PER_CHUNK == 8, "a bit each");
static inline bool ppi_salvage_take(const ppi_spool_header *header,
                                    uint8_t *taken, uint64_t chunk,
                                    uint8_t part) {
  if (chunk < header->pool_first || chunk >= header->num_chunks ||
      taken[chunk] & part)
    return false;
  taken[chunk] |= part;
  return true;
}
static inline bool ppi_salvage_take_lane(const ppi_spool_header *header,
                                         uint8_t *taken, uint64_t number) {
  return ppi_salvage_take(header, taken, number / PPI_LANES_PER_CHUNK,
                          (uint8_t)(1u << number % PPI_LANES_PER_CHUNK));
}
// The number of a table's chunks of slots; false: the table is damaged.
static inline bool ppi_salvage_table_chunks(const ppi_table *table,
                                            uint32_t *out) {
  *out = table->num_slots / (uint32_t)PPI_SLOTS_PER_TABLE_CHUNK;
  return *out <= PPI_TABLE_CHUNKS &&
         table->num_slots % (uint32_t)PPI_SLOTS_PER_TABLE_CHUNK == 0;
}

// ppi_salvage_check_header: INVALID, VERSION or CORRUPT with a message.
pprof_status ppi_salvage_check_header(const ppi_spool *spool, const char *path,
                                      pprof_error *error);
// ppi_salvage_check goes through names, lanes and tables, and makes the pool
// the PPI_SALVAGE_CHUNKS behind the file's own.
pprof_status ppi_salvage_check(ppi_spool *spool);
