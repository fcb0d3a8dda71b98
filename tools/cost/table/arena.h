// SPDX-License-Identifier: Apache-2.0
//
// Memory that is given back all at once, with a bound. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_arena {
  struct ppi_arena_block *blocks;
  size_t room_bytes;  // that may still be taken
  bool failed;        // more was asked for than there is
} ppi_arena;

// ppi_arena_take answers zeroed memory; NULL, and failed, when there is none.
void *ppi_arena_take(ppi_arena *arena, size_t num, size_t size);
void ppi_arena_clear(ppi_arena *arena);

PPROF_END_C_
