// SPDX-License-Identifier: Apache-2.0
//
// Takes and gives back memory of definitions in the spool.
#include "names/names_area.h"

#include "spool/chunks.h"

#define SMALLEST ((uint64_t)sizeof(ppi_definition_record))
// Free neighbours are united once this part of the area has been given back, so
// that the cost is spread over many records; sooner where there is no other
// room.
#define UNITE_SHARE 8u

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

// The rest of the chunk from `cursor` on has no record.
static bool is_rest(const ppi_spool *spool, uint64_t cursor) {
  return -cursor % PPI_CHUNK_SIZE < SMALLEST
             ? cursor % PPI_CHUNK_SIZE != 0
             : record_at(spool, cursor)->size == 0;
}

// The place of the next record of `size` bytes. A record lies in one chunk. The
// rest of the previous chunk has a size of 0, or is too short for a record.
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

// ---- free records: those of one size are a list ----

// The links of a free record: places / 8, + 1; 0: none. No other code reads
// them.
static uint32_t *next_of(ppi_definition_record *record) {
  return &record->id;
}

static uint32_t *before_of(ppi_definition_record *record) {
  return &record->parent;
}

static ppi_definition_record *linked(const ppi_spool *spool, uint32_t link) {
  return record_at(spool, (uint64_t)(link - 1) * 8);
}

static void put_on_list(ppi_names_area *area, const ppi_spool *spool,
                        uint64_t at) {
  ppi_definition_record *record = record_at(spool, at);
  uint32_t list = record->size / 8, first = area->first[list];
  uint32_t link = (uint32_t)(at / 8) + 1;
  *next_of(record) = first;
  *before_of(record) = 0;
  if (first) *before_of(linked(spool, first)) = link;
  area->first[list] = link;
  area->any[list / 64] |= 1ull << list % 64;
  area->free_bytes += record->size;
}

static void take_off_list(ppi_names_area *area, const ppi_spool *spool,
                          uint64_t at) {
  ppi_definition_record *record = record_at(spool, at);
  uint32_t list = record->size / 8;
  uint32_t next = *next_of(record), before = *before_of(record);
  if (next) *before_of(linked(spool, next)) = before;
  *(before ? next_of(linked(spool, before)) : &area->first[list]) = next;
  if (!area->first[list]) area->any[list / 64] &= ~(1ull << list % 64);
  area->free_bytes -= record->size;
}

// One of the smallest of those that are large enough.
static bool find_listed(const ppi_names_area *area, uint64_t size,
                        uint64_t *out) {
  uint64_t list = size / 8, word = list / 64;
  uint64_t bits = area->any[word] & ~0ull << list % 64;
  while (!bits && ++word < PPI_NAMES_LISTS / 64) bits = area->any[word];
  if (!bits) return false;
  uint32_t link = area->first[word * 64 + (uint64_t)__builtin_ctzll(bits)];
  *out = (uint64_t)(link - 1) * 8;
  return true;
}

// Joins a free record with the free ones after it, by one store of its size. It
// is on no list meanwhile.
static void unite(ppi_names_area *area, const ppi_spool *spool, uint64_t at) {
  ppi_definition_record *record = record_at(spool, at);
  for (uint64_t next = at + record->size;
       next % PPI_CHUNK_SIZE != 0 && is_free(spool, next);
       next = at + record->size) {
    take_off_list(area, spool, next);
    __atomic_store_n(&record->size, record->size + record_at(spool, next)->size,
                     __ATOMIC_RELEASE);
  }
}

static void unite_all(ppi_names_area *area, const ppi_spool *spool) {
  const uint64_t end = spool->header->names_end;
  area->given = 0;
  for (uint64_t at = 0; at < end;) {
    if (is_rest(spool, at)) {
      at += -at % PPI_CHUNK_SIZE;
      continue;
    }
    if (is_free(spool, at)) {
      take_off_list(area, spool, at);
      unite(area, spool, at);
      put_on_list(area, spool, at);
    }
    at += record_at(spool, at)->size;
  }
}

// The rest is a record before the first one ends there.
static void split(ppi_names_area *area, const ppi_spool *spool, uint64_t at,
                  uint64_t size) {
  ppi_definition_record *record = record_at(spool, at);
  if (record->size - size < SMALLEST) return;
  ppi_definition_record *rest = record_at(spool, at + size);
  rest->kind = PPI_DEFINITION_FREE;
  rest->size = record->size - (uint32_t)size;
  __atomic_store_n(&record->size, (uint32_t)size, __ATOMIC_RELEASE);
  put_on_list(area, spool, at + size);
}

// Called before a write there. A reader that copies the area meanwhile checks
// that the number has stayed, so it never has a partial record.
static ppi_definition_record *begin_change(ppi_spool *spool, uint64_t at) {
  uint64_t *changes = &spool->header->names_changes;
  __atomic_store_n(changes, *changes + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  return record_at(spool, at);
}

static bool find_free(ppi_names_area *area, const ppi_spool *spool,
                      uint64_t size, uint64_t *out) {
  if (!find_listed(area, size, out)) return false;
  take_off_list(area, spool, *out);
  split(area, spool, *out, size);
  return true;
}

// Uniting gains nothing until `least` bytes have been given back.
static bool find_united(ppi_names_area *area, const ppi_spool *spool,
                        uint64_t size, uint64_t least, uint64_t *out) {
  if (area->free_bytes < size || area->given < least) return false;
  unite_all(area, spool);
  return find_free(area, spool, size, out);
}

ppi_definition_record *ppi_names_area_take(ppi_names_area *area,
                                           ppi_spool *spool, uint64_t size,
                                           bool again, uint64_t *out_place) {
  const uint64_t share = spool->header->names_end / UNITE_SHARE;
  if (again && (find_free(area, spool, size, out_place) ||
                find_united(area, spool, size, share, out_place)))
    return begin_change(spool, *out_place);
  if (find_end(spool, size, out_place)) {
    ppi_definition_record *record = record_at(spool, *out_place);
    record->size = (uint32_t)size;
    return record;
  }
  // Names are given back many at a time: one pass serves all of them.
  if (again && find_united(area, spool, size, 1, out_place))
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
  // Pairs with the acquire of threads that walk the names.
  __atomic_store_n(&header->names_end, end, __ATOMIC_RELEASE);
  // Records must not take the last chunk from names that are still to come.
  if (end % PPI_CHUNK_SIZE >= PPI_CHUNK_SIZE / 2)
    take_chunk(spool, place / PPI_CHUNK_SIZE + 1);
  return false;
}

void ppi_names_area_give(ppi_names_area *area, ppi_spool *spool,
                         uint64_t place) {
  ppi_definition_record *record = record_at(spool, place);
  area->given += record->size;
  __atomic_store_n(&record->kind, (uint32_t)PPI_DEFINITION_FREE,
                   __ATOMIC_RELEASE);
  unite(area, spool, place);
  put_on_list(area, spool, place);
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
