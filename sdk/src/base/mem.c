// SPDX-License-Identifier: Apache-2.0
//
// Allocates all memory of the heap. The failure counter is for tests; it costs
// one relaxed load per allocation.
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static uint64_t fail_countdown;  // 0: never; 1: every one from now on

static bool must_fail(void) {
  uint64_t left = __atomic_load_n(&fail_countdown, __ATOMIC_RELAXED);
  if (left == 0) return false;
  if (left == 1) return true;
  __atomic_store_n(&fail_countdown, left - 1, __ATOMIC_RELAXED);
  return false;
}

void *ppi_alloc(size_t size) {
  return must_fail() ? NULL : calloc(1, size ? size : 1);
}

void *ppi_alloc_lines(size_t size) {
  size_t whole = (size + 63) / 64 * 64;
  void *memory = must_fail() ? NULL : aligned_alloc(64, whole);
  return memory ? memset(memory, 0, whole) : NULL;
}

void *ppi_realloc(void *memory, size_t size) {
  return must_fail() ? NULL : realloc(memory, size ? size : 1);
}

void ppi_free(void *memory) {
  free(memory);
}

void ppi_free_all(void *const *memories, size_t num) {
  for (size_t i = 0; i < num; i++) ppi_free(memories[i]);
}

char *ppi_strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = ppi_alloc(size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

bool ppi_set_text(char **to, const char *text) {
  if (*to && strcmp(*to, text) == 0) return true;
  char *copy = ppi_strdup(text);
  if (!copy) return false;
  ppi_free(*to);
  *to = copy;
  return true;
}

void *ppi_grow(void *items, size_t *capacity, size_t need, size_t item_size) {
  if (items && need <= *capacity) return items;
  size_t next = *capacity ? *capacity : 8;
  while (next < need) {
    if (next > SIZE_MAX / 2 / item_size) return NULL;
    next *= 2;
  }
  void *grown = ppi_realloc(items, next * item_size);
  if (grown) *capacity = next;
  return grown;
}

// Any pointer to objects may be copied as bytes.
bool ppi_room(void *items, size_t *capacity, size_t need, size_t item_size) {
  void *grown;
  memcpy(&grown, items, sizeof grown);
  grown = ppi_grow(grown, capacity, need, item_size);
  if (grown) memcpy(items, &grown, sizeof grown);
  return grown != NULL;
}

bool ppi_reach(void *items, size_t *num, size_t *capacity, size_t need,
               size_t item_size) {
  char *grown;
  if (!ppi_room(items, capacity, need, item_size)) return false;
  memcpy(&grown, items, sizeof grown);
  memset(grown + *num * item_size, 0, (need - *num) * item_size);
  *num = need;
  return true;
}

void ppi_mem_fail_at(uint64_t n) {
  __atomic_store_n(&fail_countdown, n, __ATOMIC_RELAXED);
}
