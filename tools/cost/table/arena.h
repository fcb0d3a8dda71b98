// SPDX-License-Identifier: Apache-2.0
//
// Memory that is given back all at once, with a bound. One thread at a time.
#ifndef PPI_COST_ARENA_H_
#define PPI_COST_ARENA_H_

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_arena {
  struct ppi_arena_block *blocks;
  size_t room_bytes;  // that may still be taken
  bool failed;        // more was asked for than there is
} ppi_arena;

// ppi_arena_take answers zeroed memory; NULL, and failed, when there is none.
void *ppi_arena_take(ppi_arena *arena, size_t num, size_t size);
void ppi_arena_clear(ppi_arena *arena);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_ARENA_H_
