// SPDX-License-Identifier: Apache-2.0
//
// The area of the spool in which definitions lie, each in one chunk. Its end
// only grows; a record that is given back is written over in its place, as a
// whole or in parts. A walk after a kill finds each record whole or free, at
// any moment. One writer at a time.
#pragma once

#include <string.h>

#include "spool/spool.h"

PPROF_BEGIN_C_

// How many of each there are at a time.
#define PPI_MAX_SITES 65536u
#define PPI_MAX_CATEGORIES 1024u

// A definition as it lies there, 8-aligned, NUL-terminated. Kinds are
// pprof_definition_kind and those below: NOTE's and INFO's name is the key and
// their second string the value; of one that is FREE nothing but the size
// counts.
enum {
  PPI_DEFINITION_INFO = 100,
  PPI_DEFINITION_NOTE = 101,
  PPI_DEFINITION_FREE = 102
};
typedef struct ppi_definition_record {
  uint32_t size;  // of the whole record
  uint32_t kind;
  uint32_t id, parent;
  uint64_t number;  // of a site: names_changes when it took another's place
  uint32_t color;
  uint32_t name_len;
  uint32_t fold;  // of a site: the site that it folds into; atomic. 0: none
  uint32_t reserved;
  char name[];  // name NUL [value NUL]
} ppi_definition_record;

// Sizes up to a chunk's.
#define PPI_NAMES_LISTS (PPI_CHUNK_SIZE / 8 + 64)

// All zero at first.
typedef struct ppi_names_area {
  uint64_t free_bytes;  // in records that were given back
  uint64_t given;       // bytes since free neighbours were looked for
  // By size / 8: the free records of that size, the first of them, and whether
  // there is one.
  uint32_t first[PPI_NAMES_LISTS];
  uint64_t any[PPI_NAMES_LISTS / 64];
} ppi_names_area;

// ppi_names_area_take answers room for `size` bytes, a multiple of 8, or NULL;
// it is no record yet. `again`: a place that was given back serves, too.
// *out_place is its offset in the area.
ppi_definition_record *ppi_names_area_take(ppi_names_area *area,
                                           ppi_spool *spool, uint64_t size,
                                           bool again, uint64_t *out_place);
// ppi_names_area_publish makes it a record. True: it took another's place, so a
// walk that has reached the end does not find it.
bool ppi_names_area_publish(ppi_spool *spool, ppi_definition_record *record,
                            uint64_t place, uint32_t kind);
void ppi_names_area_give(ppi_names_area *area, ppi_spool *spool,
                         uint64_t place);
// Bytes that records may still take, and all that there are.
uint64_t ppi_names_area_left(const ppi_names_area *area,
                             const ppi_spool *spool);

// ppi_names_next walks the published records: *cursor starts at 0; NULL at
// `end` bytes, or where a record does not fit. Free ones are among them.
const ppi_definition_record *ppi_names_next(const ppi_spool *spool,
                                            uint64_t end, uint64_t *cursor);
// The second string of a record of INFO or NOTE; NULL: it is damaged.
static inline const char *ppi_names_value(const ppi_definition_record *record) {
  const char *value = record->name + record->name_len + 1;
  size_t room = record->size - sizeof *record - record->name_len - 1;
  return (const char *)memchr(value, 0, room) ? value : NULL;
}

PPROF_END_C_
