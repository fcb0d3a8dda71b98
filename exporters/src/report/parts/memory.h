// SPDX-License-Identifier: Apache-2.0
//
// Memory of one run by place: bytes allocated and freed by range, and the
// greatest level. One thread at a time.
#pragma once

#include "report/figures/low_water.h"
#include "report/parts/ids.h"

PPROF_BEGIN_C_

typedef struct ppi_memory_owner {
  uint32_t site;  // 0: none
  bool is_reserved;
  uint64_t allocations, frees, allocated_bytes, freed_bytes;
} ppi_memory_owner;

typedef struct ppi_memory_place {
  char *name;
  ppi_memory_owner *owners;  // by site, is_reserved
  size_t num_owners, owners_capacity;
  bool is_known[2];
  uint64_t peak_bytes[2];
  ppi_low_water lows[2];
} ppi_memory_place;

// All zero is the empty one.
typedef struct ppi_memory {
  ppi_memory_place *places;  // by name
  size_t num_places, places_capacity;
  ppi_memory_place others;
} ppi_memory;

// One allocation or free, until the range around it is known.
typedef struct ppi_memory_change {
  int64_t bytes;
  bool is_reserved;
} ppi_memory_change;

// ppi_memory_level takes a counter of category Memory, named `place`. `out` is
// the change for ppi_memory_own, once its owner is known; 0 bytes: none.
pprof_status ppi_memory_level(ppi_memory *memory, const char *place,
                              const pprof_event *event, ppi_memory_change *out);
// ppi_memory_own takes the change that ppi_memory_level answered. `owner` is
// the site of the innermost range around it that ppi_memory_can_own; 0: none.
pprof_status ppi_memory_own(ppi_memory *memory, const char *place,
                            uint32_t owner, const ppi_memory_change *change);
// ppi_memory_fill looks up the names of owners in `ids`.
pprof_status ppi_memory_fill(const ppi_memory *memory, ppi_run_ids *ids,
                             ppi_figures *out);
void ppi_memory_clear(ppi_memory *memory);

PPROF_END_C_
