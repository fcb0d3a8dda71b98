// SPDX-License-Identifier: Apache-2.0
//
// Memory of one run by place: bytes allocated and freed by range, and the
// greatest level. One thread at a time.
#pragma once

#include "report/figures/figures.h"
#include "report/figures/low_water.h"
#include "report/parts/ids.h"
#include "report/spans/hold.h"
#include "report/spans/scope.h"

PPROF_BEGIN_C_

typedef struct ppi_memory_owner {
  uint32_t site;           // 0: none
  ppi_report_memory sums;  // without names
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
bool ppi_memory_level(ppi_memory *memory, const char *place,
                      const pprof_event *event, ppi_memory_change *out);
// ppi_memory_own takes the change that ppi_memory_level answered. `owner` is
// the site of the innermost range around it that ppi_memory_can_own; 0: none.
bool ppi_memory_own(ppi_memory *memory, const char *place, uint32_t owner,
                    const ppi_memory_change *change);
// ppi_memory_fill looks up the names of owners in `ids`.
bool ppi_memory_fill(const ppi_memory *memory, ppi_run_ids *ids,
                     ppi_figures *out);
void ppi_memory_clear(ppi_memory *memory);

// ---- what each range allocated ----

// All zero is the empty one.
typedef struct ppi_allocations {
  ppi_scopes scopes;  // changes, as points of two classes
  ppi_report_outside outside;
  // Of a sweep: points that may still have a range around them, and the lowest
  // start of the ranges taken.
  size_t num_left;
  uint64_t low_ns;
} ppi_allocations;

// ppi_allocations_add takes a change of the memory of `place`; reserved memory
// does not count.
bool ppi_allocations_add(ppi_allocations *allocations, const char *place,
                         uint64_t time_ns, int64_t bytes);

// ppi_allocations_prepare promises that all changes before `horizon_ns` are
// known, for the calls up to ppi_allocations_carry.
bool ppi_allocations_prepare(ppi_allocations *allocations, uint64_t horizon_ns);
static inline bool ppi_allocations_any(const ppi_allocations *allocations) {
  return allocations->scopes.num_before > 0;
}

// ppi_allocations_meet takes the ranges that begin before the horizon, from the
// last end backwards. If `is_whole`, the range has ended: `out` is the change
// in it, its two ends included.
bool ppi_allocations_meet(ppi_allocations *allocations,
                          const ppi_buffered *range, bool is_whole,
                          ppi_net_bytes *out);

// ppi_allocations_carry forgets the changes before the horizon, but keeps sums.
bool ppi_allocations_carry(ppi_allocations *allocations);
void ppi_allocations_clear(ppi_allocations *allocations);

PPROF_END_C_
