// SPDX-License-Identifier: Apache-2.0
#include "cost/table/arena.h"

#include <stdint.h>

#include "base/mem.h"

#define BLOCK_BYTES 65536u
#define ALIGN 16u

struct ppi_arena_block {
  struct ppi_arena_block *next;
  size_t used, size;
};
// The head's room, so that what follows is aligned.
enum { HEAD = (sizeof(struct ppi_arena_block) + ALIGN - 1) / ALIGN * ALIGN };

static void *fail(ppi_arena *arena) {
  arena->failed = true;
  return NULL;
}

void *ppi_arena_take(ppi_arena *arena, size_t num, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(num, size, &bytes) || bytes > SIZE_MAX / 2)
    return fail(arena);
  bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
  struct ppi_arena_block *block = arena->blocks;
  if (!block || block->size - block->used < bytes) {
    size_t need = bytes + HEAD > BLOCK_BYTES ? bytes + HEAD : BLOCK_BYTES;
    if (need > arena->room_bytes) return fail(arena);
    block = ppi_alloc(need);
    if (!block) return fail(arena);
    arena->room_bytes -= need;
    *block = (struct ppi_arena_block){arena->blocks, HEAD, need};
    arena->blocks = block;
  }
  void *memory = (char *)block + block->used;
  block->used += bytes;
  return memory;
}

void ppi_arena_clear(ppi_arena *arena) {
  while (arena->blocks) {
    struct ppi_arena_block *next = arena->blocks->next;
    ppi_free(arena->blocks);
    arena->blocks = next;
  }
}
