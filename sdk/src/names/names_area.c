// SPDX-License-Identifier: Apache-2.0
#include "names/names_area.h"

#include "spool/chunks.h"

#define SMALLEST ((uint64_t)sizeof(ppi_definition_record))
// A look for a free place goes past so many records where the end has room.
#define LOOKS 64u

// Takes chunk `k` of the names, where there is none yet.
static bool take_chunk(ppi_spool *spool, uint64_t k) {
  ppi_spool_header *header = spool->header;
  if (k >= header->names_size / PPI_CHUNK_SIZE) return false;
  if (header->names[k] == 0) header->names[k] = ppi_chunk_take(spool);
  return header->names[k] != 0;
}

static ppi_definition_record *record_at(const ppi_spool *spool,
                                        uint64_t offset) {
  uint8_t *chunk =
      ppi_spool_chunk(spool, spool->header->names[offset / PPI_CHUNK_SIZE]);
  return (void *)(chunk + offset % PPI_CHUNK_SIZE);
}

// What is left of the chunk from `cursor` on holds no record.
static bool is_rest(const ppi_spool *spool, uint64_t cursor) {
  return -cursor % PPI_CHUNK_SIZE < SMALLEST
             ? cursor % PPI_CHUNK_SIZE != 0
             : record_at(spool, cursor)->size == 0;
}

// Where the next record of `size` bytes goes. It lies in one chunk: what that
// leaves of the chunk before is marked by a size of 0, or too short for any.
static bool find_end(ppi_spool *spool, uint64_t size, uint64_t *out) {
  uint64_t end = spool->header->names_end;
  uint64_t left = -end % PPI_CHUNK_SIZE;
  *out = left < size ? end + left : end;
  if (!take_chunk(spool, *out / PPI_CHUNK_SIZE)) return false;
  if (*out != end) record_at(spool, end)->size = 0;
  return true;
}

static bool is_free(const ppi_spool *spool, uint64_t at) {
  return at < spool->header->names_end && !is_rest(spool, at) &&
         record_at(spool, at)->kind == PPI_DEFINITION_FREE;
}

// Free neighbours become one: one store of its size.
static uint64_t unite(const ppi_spool *spool, uint64_t at) {
  ppi_definition_record *record = record_at(spool, at);
  while ((at + record->size) % PPI_CHUNK_SIZE != 0 &&
         is_free(spool, at + record->size))
    __atomic_store_n(&record->size,
                     record->size + record_at(spool, at + record->size)->size,
                     __ATOMIC_RELEASE);
  return record->size;
}

// The rest is a record before the first one ends there.
static void split(const ppi_spool *spool, uint64_t at, uint64_t size) {
  ppi_definition_record *record = record_at(spool, at);
  if (record->size - size < SMALLEST) return;
  ppi_definition_record *rest = record_at(spool, at + size);
  rest->kind = PPI_DEFINITION_FREE;
  rest->size = record->size - (uint32_t)size;
  __atomic_store_n(&record->size, (uint32_t)size, __ATOMIC_RELEASE);
}

// Before anything is written there: who copies the area while this runs looks
// whether the number has stayed, so that it has no record in pieces.
static ppi_definition_record *begin_change(ppi_spool *spool, uint64_t at) {
  uint64_t *changes = &spool->header->names_changes;
  __atomic_store_n(changes, *changes + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  return record_at(spool, at);
}

// The first that is large enough, from where the last look ended, among at most
// `looks` records; one lap of all at the most.
static bool find_free(ppi_names_area *area, const ppi_spool *spool,
                      uint64_t size, uint64_t looks, uint64_t *out) {
  const uint64_t end = spool->header->names_end;
  uint64_t passed = 0;
  while (area->free_bytes >= size && looks-- > 0 && passed <= end) {
    uint64_t at = area->at < end ? area->at : 0;
    uint64_t taken = -at % PPI_CHUNK_SIZE;
    bool fits = false;
    if (!is_rest(spool, at)) {
      bool is_spare = is_free(spool, at);
      taken = is_spare ? unite(spool, at) : record_at(spool, at)->size;
      fits = is_spare && taken >= size;
    }
    if (fits) split(spool, at, size);
    if (fits) taken = record_at(spool, at)->size;
    area->at = at + taken;
    passed += taken;
    if (!fits) continue;
    area->free_bytes -= taken;
    *out = at;
    return true;
  }
  return false;
}

ppi_definition_record *ppi_names_area_take(ppi_names_area *area,
                                           ppi_spool *spool, uint64_t size,
                                           bool again, uint64_t *out_place) {
  if (again && find_free(area, spool, size, LOOKS, out_place))
    return begin_change(spool, *out_place);
  if (find_end(spool, size, out_place)) {
    ppi_definition_record *record = record_at(spool, *out_place);
    record->size = (uint32_t)size;
    return record;
  }
  if (again && find_free(area, spool, size, UINT64_MAX, out_place))
    return begin_change(spool, *out_place);
  return NULL;
}

bool ppi_names_area_publish(ppi_spool *spool, ppi_definition_record *record,
                            uint64_t place, uint32_t kind) {
  ppi_spool_header *header = spool->header;
  if (place < header->names_end) {
    record->number = header->names_changes;
    __atomic_store_n(&record->kind, kind, __ATOMIC_RELEASE);
    return true;
  }
  uint64_t end = place + record->size;
  record->kind = kind;
  // Pairs with the acquire of whoever walks the names.
  __atomic_store_n(&header->names_end, end, __ATOMIC_RELEASE);
  // Records must not take the last chunk from names that are still to come.
  if (end % PPI_CHUNK_SIZE >= PPI_CHUNK_SIZE / 2)
    take_chunk(spool, place / PPI_CHUNK_SIZE + 1);
  return false;
}

void ppi_names_area_give(ppi_names_area *area, ppi_spool *spool,
                         uint64_t place) {
  ppi_definition_record *record = record_at(spool, place);
  area->free_bytes += record->size;
  __atomic_store_n(&record->kind, (uint32_t)PPI_DEFINITION_FREE,
                   __ATOMIC_RELEASE);
}

uint64_t ppi_names_area_left(const ppi_names_area *area,
                             const ppi_spool *spool) {
  const ppi_spool_header *header = spool->header;
  return header->names_size - header->names_end + area->free_bytes;
}

static bool has_chunk(const ppi_spool *spool, uint64_t cursor) {
  uint64_t k = cursor / PPI_CHUNK_SIZE;
  uint32_t chunk = k < PPI_NAMES_CHUNKS ? spool->header->names[k] : 0;
  return chunk != 0 && chunk < spool->size / PPI_CHUNK_SIZE;
}

const ppi_definition_record *ppi_names_next(const ppi_spool *spool,
                                            uint64_t end, uint64_t *cursor) {
  uint64_t at = *cursor;
  if (at >= end || at % 8 || !has_chunk(spool, at)) return NULL;
  if (is_rest(spool, at)) at += -at % PPI_CHUNK_SIZE;
  if (at >= end || !has_chunk(spool, at)) return NULL;
  const ppi_definition_record *record = record_at(spool, at);
  uint64_t room = PPI_MIN(end - at, PPI_CHUNK_SIZE - at % PPI_CHUNK_SIZE);
  if (room < sizeof *record || record->size < sizeof *record ||
      record->size > room || record->size % 8)
    return NULL;
  *cursor = at + record->size;
  if (record->kind == PPI_DEFINITION_FREE) return record;
  if (record->size <= sizeof *record + (uint64_t)record->name_len ||
      record->name[record->name_len] != 0)
    return NULL;
  return record;
}
