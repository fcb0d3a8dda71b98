// SPDX-License-Identifier: Apache-2.0
//
// Tables of slots for ranges that are no stack frames, and the free lists over
// their slots.
#pragma once

#include "spool/spool.h"

PPROF_BEGIN_C_

// ppi_table_create lays out a table. Its slots take `num_chunks` pool chunks,
// or fewer where the pool has no more, and at most `max_chunks`; NULL when it
// has not even two.
ppi_table *ppi_table_create(ppi_spool *spool, uint32_t lane, uint32_t device,
                            uint32_t num_chunks, uint32_t max_chunks);
// ppi_table_grow adds a chunk of slots; false where there is none. Lock-free.
bool ppi_table_grow(ppi_spool *spool, ppi_table *table);

// A free list over a table's slots: {gen:32, index + 1:32}, lock-free.
static inline uint64_t ppi_list_word(uint64_t old, uint32_t first) {
  return ((old >> 32) + 1) << 32 | first;
}
uint32_t ppi_slots_take(ppi_table *table, uint64_t *list);  // index + 1, or 0
void ppi_slots_give(ppi_table *table, uint64_t *list, uint32_t index);
// ppi_slot_exclude counts the slot of a range that goes nowhere and makes it
// FREE, before it is given: a kill at any moment finds it counted once.
// Collector.
void ppi_slot_exclude(ppi_table *table, uint32_t index);

// The free slots of a few threads; most often of one.
#define PPI_STOCKS 64u
typedef struct ppi_stock {
  uint64_t list;  // as ppi_slots_take has it
} __attribute__((aligned(64))) ppi_stock;

PPROF_END_C_
