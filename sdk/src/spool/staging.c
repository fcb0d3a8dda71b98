// SPDX-License-Identifier: Apache-2.0
//
// Implements the staging ring. The producer is a log writer on the collector's
// thread, the consumer its I/O thread; recover only walks.
#include "spool/staging.h"

#include <string.h>

// An entry never wraps. Where the bytes up to the ring's end do not hold it,
// they are skipped: marked by WRAP, or, when not even a marker fits, implied.
#define ENTRY_SIZE 16u
#define WRAP UINT32_MAX

typedef struct entry {
  uint32_t len, zero;
  uint64_t number;
} entry;

static uint64_t size_of(const ppi_staging *staging) {
  return __atomic_load_n(&staging->size, __ATOMIC_RELAXED);
}

static uint64_t padded(uint32_t len) {
  return ENTRY_SIZE + (((uint64_t)len + 7) & ~(uint64_t)7);
}

ppi_staging *ppi_staging_init(void *memory, uint64_t bytes) {
  if (bytes < sizeof(ppi_staging) + 2 * ENTRY_SIZE) return NULL;
  ppi_staging *staging = memory;
  memset(staging, 0, sizeof *staging);
  staging->size = (bytes - sizeof *staging) & ~(uint64_t)7;
  return staging;
}

bool ppi_staging_claim(ppi_staging *staging, const char *log_path) {
  size_t len = strlen(log_path);
  if (len >= sizeof staging->log_path) return false;
  uint32_t expected = 0;
  if (!__atomic_compare_exchange_n(&staging->claimed, &expected, 1, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  memcpy(staging->log_path, log_path, len + 1);
  return true;
}

// The place of an entry of `need` bytes in a ring filled up to `head`. *skip:
// unused bytes at the ring's end.
static bool place(const ppi_staging *staging, uint64_t head, uint64_t need,
                  uint64_t *skip) {
  uint64_t tail = __atomic_load_n(&staging->tail, __ATOMIC_ACQUIRE);
  uint64_t to_end = size_of(staging) - head % size_of(staging);
  *skip = to_end < need ? to_end : 0;
  return need <= size_of(staging) &&
         head - tail + *skip + need <= size_of(staging);
}

static entry *entry_at(ppi_staging *staging, uint64_t position) {
  return (entry *)(void *)(staging->ring + position % size_of(staging));
}

static void mark_skip(ppi_staging *staging, uint64_t head, uint64_t skip) {
  if (skip >= ENTRY_SIZE) entry_at(staging, head)->len = WRAP;
}

static uint64_t skip_at(const ppi_staging *staging, uint64_t position) {
  uint64_t offset = position % size_of(staging);
  uint64_t to_end = size_of(staging) - offset;
  if (to_end < ENTRY_SIZE) return to_end;
  uint32_t len;
  memcpy(&len, staging->ring + offset, sizeof len);
  return len == WRAP ? to_end : 0;
}

bool ppi_staging_put(ppi_staging *staging, const ppi_staging_block *blocks,
                     size_t num_blocks) {
  uint64_t head = staging->head, skip;
  for (size_t i = 0; i < num_blocks; i++) {
    uint64_t need = padded(blocks[i].len);
    if (!place(staging, head, need, &skip)) {
      staging->num_full++;
      return false;
    }
    mark_skip(staging, head, skip);
    entry *put = entry_at(staging, head + skip);
    *put = (entry){blocks[i].len, 0, blocks[i].number};
    memcpy(put + 1, blocks[i].bytes, blocks[i].len);
    head += skip + need;
  }
  // One store for all: recover finds the whole group or nothing of it. Pairs
  // with the acquire in peek and walk.
  __atomic_store_n(&staging->head, head, __ATOMIC_RELEASE);
  return true;
}

// Each byte between tail and head has the same place with either length, so one
// store changes it for all readers.
bool ppi_staging_double(ppi_staging *staging) {
  uint64_t size = size_of(staging);
  uint64_t tail = __atomic_load_n(&staging->tail, __ATOMIC_ACQUIRE);
  uint64_t lap = tail / size * size;
  if (lap % (2 * size) != 0 || staging->head - lap > size) return false;
  __atomic_store_n(&staging->size, 2 * size, __ATOMIC_RELEASE);
  return true;
}

// Reads the entry that `cursor` bytes after `tail` lead to; *after is the
// cursor behind it. Trusts nothing: the ring may come from a damaged spool.
static bool read_entry(const ppi_staging *staging, uint64_t tail,
                       uint64_t cursor, entry *out, const void **out_bytes,
                       uint64_t *after) {
  uint64_t used = __atomic_load_n(&staging->head, __ATOMIC_ACQUIRE) - tail;
  if (size_of(staging) < ENTRY_SIZE || used > size_of(staging) ||
      cursor >= used)
    return false;
  cursor += skip_at(staging, tail + cursor);
  uint64_t offset = (tail + cursor) % size_of(staging);
  if (cursor > used || used - cursor < ENTRY_SIZE ||
      size_of(staging) - offset < ENTRY_SIZE)
    return false;
  memcpy(out, staging->ring + offset, sizeof *out);
  uint64_t need = padded(out->len);
  if (need > used - cursor || need > size_of(staging) - offset) return false;
  *out_bytes = staging->ring + offset + ENTRY_SIZE;
  *after = cursor + need;
  return true;
}

bool ppi_staging_peek(const ppi_staging *staging, const void **out_bytes,
                      uint32_t *out_len, uint64_t *out_number) {
  entry found;
  uint64_t after;
  if (!read_entry(staging, staging->tail, 0, &found, out_bytes, &after))
    return false;
  *out_len = found.len;
  *out_number = found.number;
  return true;
}

uint64_t ppi_staging_after(const ppi_staging *staging) {
  entry found;
  const void *bytes;
  uint64_t after;
  if (!read_entry(staging, staging->tail, 0, &found, &bytes, &after))
    return staging->tail;
  return staging->tail + after;
}

void ppi_staging_release(ppi_staging *staging) {
  // Pairs with the acquire in place: the producer may overwrite the entry.
  __atomic_store_n(&staging->tail, ppi_staging_after(staging),
                   __ATOMIC_RELEASE);
}

bool ppi_staging_walk(const ppi_staging *staging, uint64_t *cursor,
                      const void **out_bytes, uint32_t *out_len,
                      uint64_t *out_number) {
  entry found;
  uint64_t after;
  uint64_t tail = __atomic_load_n(&staging->tail, __ATOMIC_ACQUIRE);
  if (!read_entry(staging, tail, *cursor, &found, out_bytes, &after))
    return false;
  *cursor = after;
  *out_len = found.len;
  *out_number = found.number;
  return true;
}
