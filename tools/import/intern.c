// SPDX-License-Identifier: Apache-2.0
//
// Open addressing over texts in chunks that never move.
#include "import/intern.h"

#include <string.h>

#include "base/mem.h"
#include "json/hash.h"

static bool grow_buckets(ppi_intern *intern) {
  if ((intern->num_items + 1) * 2 <= intern->num_buckets) return true;
  size_t num = intern->num_buckets ? intern->num_buckets * 2 : 256;
  uint32_t *buckets = ppi_alloc(num * sizeof *buckets);
  if (!buckets) return false;
  for (size_t i = 0; i < intern->num_items; i++) {
    size_t at = intern->items[i].hash & (num - 1);
    while (buckets[at]) at = (at + 1) & (num - 1);
    buckets[at] = (uint32_t)i + 1;
  }
  ppi_free(intern->buckets);
  intern->buckets = buckets;
  intern->num_buckets = num;
  return true;
}

static char *keep_text(ppi_intern *intern, const char *text, size_t len) {
  size_t need = len + 1;
  if (need > intern->chunk_left) {
    size_t size = need > PPI_INTERN_CHUNK ? need : PPI_INTERN_CHUNK;
    if (!PPI_ROOM(intern->chunks, intern->chunks_capacity,
                  intern->num_chunks + 1))
      return NULL;
    char *chunk = ppi_realloc(NULL, size);
    if (!chunk) return NULL;
    intern->chunks[intern->num_chunks++] = chunk;
    intern->chunk_at = chunk;
    intern->chunk_left = size;
  }
  char *at = intern->chunk_at;
  memcpy(at, text, len);
  at[len] = '\0';
  intern->chunk_at += need;
  intern->chunk_left -= need;
  intern->num_bytes += need;
  return at;
}

static uint32_t hash_of(const char *text, size_t len) {
  return (uint32_t)(ppi_hash_bytes(7, text, len) >> 16);
}

static uint32_t find(const ppi_intern *intern, const char *text, size_t len,
                     uint32_t hash) {
  size_t mask = intern->num_buckets - 1, at = hash & mask;
  for (; intern->num_buckets && intern->buckets[at]; at = (at + 1) & mask) {
    const ppi_intern_item *item = &intern->items[intern->buckets[at] - 1];
    if (item->hash == hash && item->len == len &&
        memcmp(item->text, text, len) == 0)
      return intern->buckets[at];
  }
  return 0;
}

uint32_t ppi_intern_find(const ppi_intern *intern, const char *text,
                         size_t len) {
  return find(intern, text, len, hash_of(text, len));
}

uint32_t ppi_intern_id(ppi_intern *intern, const char *text, size_t len,
                       bool *out_is_new) {
  *out_is_new = false;
  uint32_t hash = hash_of(text, len), known = find(intern, text, len, hash);
  if (known) return known;
  if (intern->num_items >= intern->max_items ||
      intern->num_bytes + len + 1 > intern->max_bytes)
    return 0;
  intern->failed = true;
  if (!grow_buckets(intern)) return 0;
  if (!PPI_ROOM(intern->items, intern->items_capacity, intern->num_items + 1))
    return 0;
  char *kept = keep_text(intern, text, len);
  if (!kept) return 0;
  intern->failed = false;
  intern->items[intern->num_items++] =
      (ppi_intern_item){kept, (uint32_t)len, hash};
  size_t mask = intern->num_buckets - 1, at = hash & mask;
  for (; intern->buckets[at];) at = (at + 1) & mask;
  intern->buckets[at] = (uint32_t)intern->num_items;
  *out_is_new = true;
  return (uint32_t)intern->num_items;
}

const ppi_intern_item *ppi_intern_item_of(const ppi_intern *intern,
                                          uint32_t id) {
  return id > 0 && id <= intern->num_items ? &intern->items[id - 1] : NULL;
}

void ppi_intern_clear(ppi_intern *intern) {
  for (size_t i = 0; i < intern->num_chunks; i++) ppi_free(intern->chunks[i]);
  ppi_free(intern->chunks);
  ppi_free(intern->items);
  ppi_free(intern->buckets);
  *intern = (ppi_intern){0};
}
