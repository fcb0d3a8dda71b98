// SPDX-License-Identifier: Apache-2.0
//
// Ranges that are no stack frames: the process's cross-thread ranges and each
// device's ranges. A slot is begun, ended and published by one state word; the
// collector gives it its seq and frees it once it is kept.
#pragma once

#include "mark/mark.h"
#include "mark/slots.h"

PPROF_BEGIN_C_

// pprof_range.id = {serial:16, gen:24, emitted:1, last:1, cpu:1, table:5, index
// + 1:16}. LAST: a rule waits for its end (capture.h). CPU: its thread's CPU
// use is measured (cpu_mark.h). A range that is not recorded has an id only
// where LAST is set: {serial, site:24, 0, 1, PPI_NO_TABLE, 1}.
#define PPI_RANGE_EMITTED (1ull << 23)
#define PPI_RANGE_LAST (1ull << 22)
#define PPI_RANGE_CPU (1ull << 21)
#define PPI_RANGE_APART (PPI_RANGE_EMITTED | PPI_RANGE_LAST | PPI_RANGE_CPU)
#define PPI_NO_TABLE 31u
PPI_STATIC_ASSERT(PPI_MAX_TABLES <= PPI_NO_TABLE, "a number fits");
typedef struct ppi_slot_ref {
  ppi_table *table;
  ppi_slot *slot;
  uint64_t *state;
  uint32_t gen;
  uint32_t index;
  uint32_t number;  // of the table
} ppi_slot_ref;
// Whether the slot's range is of this kind; after its end, whether the slot's
// present range is.
static inline bool ppi_slot_is_of(const ppi_slot_ref *ref, uint8_t kind) {
  return __atomic_load_n(&ref->slot->kind, __ATOMIC_RELAXED) == kind;
}
static inline uint64_t ppi_range_id(uint32_t table, uint32_t gen,
                                    uint32_t index) {
  uint64_t serial = ppi_recorder_in_force.serial & 0xffff;
  return serial << 48 | (uint64_t)(gen & 0xffffff) << 24 |
         (uint64_t)table << 16 | (index + 1);
}
// False for 0, another session's, or an unknown table.
bool ppi_range_find(uint64_t id, ppi_slot_ref *out);
uint64_t ppi_range_unrecorded(uint32_t site);
// ppi_range_end_unrecorded ends an unrecorded range; false: the id is of a
// recorded one.
bool ppi_range_end_unrecorded(uint64_t id);

// ppi_slot_begin fills in the common fields of a range. The caller adds its own
// and publishes with ppi_slot_open, which answers the generation.
void ppi_slot_begin(ppi_slot *slot, const ppi_lane *lane, uint32_t site,
                    uint8_t kind);
uint32_t ppi_slot_open(ppi_table *table, uint32_t index);
// ppi_slot_end lets the caller finish an open slot (false: it is not open);
// ppi_slot_ended publishes it.
bool ppi_slot_end(const ppi_slot_ref *ref);
// ppi_slot_end_or_count is ppi_slot_end for a marker of `lane`. A range that an
// edge cut counts as begun before, any other that is not open as unmatched.
bool ppi_slot_end_or_count(ppi_lane *lane, const ppi_slot_ref *ref);
// ppi_slot_take_cut takes back one of the edges' cuts of a slot's ranges;
// false: there is none.
bool ppi_slot_take_cut(ppi_slot *slot);
bool ppi_range_is_open(uint64_t id, ppi_slot_ref *out);
static inline void ppi_slot_ended(const ppi_slot_ref *ref) {
  __atomic_store_n(ref->state, PPI_STATE(0, ref->gen, PPI_SLOT_ENDED),
                   __ATOMIC_RELEASE);
}
// ppi_slot_ended_slow is ppi_slot_ended for an id with EMITTED, LAST or CPU.
void ppi_slot_ended_slow(const ppi_slot_ref *ref, uint64_t id);
void ppi_slot_add_work(ppi_slot *slot, const ppi_work *amount);

// ppi_range_begin begins one of this site now, or counts it lost or excluded.
uint64_t ppi_range_begin(ppi_lane *lane, uint32_t site);
// ppi_range_begin_of begins a range of that request, or of none for 0: a whole
// marker.
uint64_t ppi_range_begin_of(pprof_site *site, uint64_t request);
// ppi_range_open begins a range of no thread at `start` ticks; 0 when there is
// no slot.
uint64_t ppi_range_open(uint32_t site, uint64_t start);

PPROF_END_C_
