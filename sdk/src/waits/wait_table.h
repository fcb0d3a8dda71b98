// SPDX-License-Identifier: Apache-2.0
//
// Addresses of awaited objects, for lookups by unlocks and signals.
#pragma once

#include "pprof/base.h"

// Objects that a thread has waited for, four to a set. A key is an address, 0:
// none.
#define PPI_WAIT_OBJECTS 2048u
#define PPI_WAIT_WAYS 4u
typedef struct pprof_wait_table_ {
  uint32_t on;    // atomic: waits are recorded
  uint32_t idle;  // atomic: waits for input from outside, too
  uintptr_t keys[PPI_WAIT_OBJECTS] __attribute__((aligned(64)));
} pprof_wait_table_;

// The first key of the set of an address.
static inline uint32_t ppi_wait_set(uintptr_t address) {
  uint64_t hash = (uint64_t)(address >> 3) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(hash >> 40) % (PPI_WAIT_OBJECTS / PPI_WAIT_WAYS) *
         PPI_WAIT_WAYS;
}
#define PPI_WAIT_UNKNOWN UINT32_MAX
static inline uint32_t ppi_wait_find(const pprof_wait_table_ *table,
                                     const volatile void *address) {
  uint32_t set = ppi_wait_set((uintptr_t)address);
  for (uint32_t i = set; i < set + PPI_WAIT_WAYS; i++)
    if (__atomic_load_n(&table->keys[i], __ATOMIC_RELAXED) ==
        (uintptr_t)address)
      return i;
  return PPI_WAIT_UNKNOWN;
}
