// SPDX-License-Identifier: Apache-2.0
//
// A set of texts that gives each an id, with bounds on how many and how long
// all together.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PPI_INTERN_CHUNK (256u << 10)

typedef struct ppi_intern_item {
  const char *text;  // zero-terminated; may hold zeroes
  uint32_t len, hash;
} ppi_intern_item;

typedef struct ppi_intern {
  uint32_t max_items;
  size_t max_bytes;
  ppi_intern_item *items;  // id 1 is the first
  size_t num_items, items_capacity;
  uint32_t *buckets;  // ids; 0: none
  size_t num_buckets;
  char **chunks;
  size_t num_chunks, chunks_capacity;
  char *chunk_at;
  size_t chunk_left, num_bytes;
  bool failed;  // out of memory
} ppi_intern;

// ppi_intern_id answers the id of a text, which it adds; 0 when there is no
// room, or no memory (`failed`). *out_is_new: it was added.
uint32_t ppi_intern_id(ppi_intern *intern, const char *text, size_t len,
                       bool *out_is_new);
// ppi_intern_find answers 0 where that one would add the text.
uint32_t ppi_intern_find(const ppi_intern *intern, const char *text,
                         size_t len);
const ppi_intern_item *ppi_intern_item_of(const ppi_intern *intern,
                                          uint32_t id);
void ppi_intern_clear(ppi_intern *intern);
