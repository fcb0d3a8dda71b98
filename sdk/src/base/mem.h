// SPDX-License-Identifier: Apache-2.0
//
// All heap use goes through here, so that a test can make the n-th allocation
// fail. Never called from the record path in its steady state.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

void *ppi_alloc(size_t size);        // zeroed; NULL when out of memory
void *ppi_alloc_lines(size_t size);  // the same, on a line of the cache
void *ppi_realloc(void *memory, size_t size);
void ppi_free(void *memory);
// PPI_FREE_ALL frees each of its arguments.
#define PPI_FREE_ALL(...)                    \
  ppi_free_all((void *const[]){__VA_ARGS__}, \
               sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void ppi_free_all(void *const *memories, size_t num);
char *ppi_strdup(const char *text);
// ppi_set_text replaces `*to` by a copy of `text`; false: no memory, unchanged.
bool ppi_set_text(char **to, const char *text);

// ppi_grow makes room for `need` items of `item_size` bytes in `items` (which
// may be NULL). It returns the array, with *capacity raised, or NULL, leaving
// `items` as it was.
void *ppi_grow(void *items, size_t *capacity, size_t need, size_t item_size);

// PPI_ROOM does so in place: true, with `items` and `capacity` raised, or false
// with both as they were. Where there is room it calls nothing.
#define PPI_ROOM(items, capacity, need) \
  (((items) && (need) <= (capacity)) || \
   ppi_room(&(items), &(capacity), need, sizeof *(items)))
bool ppi_room(void *items, size_t *capacity, size_t need, size_t item_size);
// PPI_PUSH appends a value to `num` items; false: no memory, nothing changed.
#define PPI_PUSH(items, num, capacity, ...)        \
  (PPI_ROOM(items, capacity, (size_t)(num) + 1) && \
   ((items)[(num)++] = __VA_ARGS__, true))
// PPI_REACH makes `num` at least `need`; more items are zero.
#define PPI_REACH(items, num, capacity, need) \
  ((need) <= (num) ||                         \
   ppi_reach(&(items), &(num), &(capacity), need, sizeof *(items)))
bool ppi_reach(void *items, size_t *num, size_t *capacity, size_t need,
               size_t item_size);

// Tests: the n-th allocation from now (1 = the next) and all later ones fail;
// 0 ends that.
void ppi_mem_fail_at(uint64_t n);

PPROF_END_C_
