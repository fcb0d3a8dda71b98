// SPDX-License-Identifier: Apache-2.0
//
// Tables of ranges that are no stack frames: the process's wandering ranges and
// each device's ranges. A slot is begun, ended and published by one state
// word; the collector gives it its seq and frees it once it is kept.
#ifndef PPI_PENDING_H_
#define PPI_PENDING_H_

#include "mark.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_table_create lays a table out in `num_chunks` pool chunks; NULL when the
// pool has too few.
ppi_table *ppi_table_create(ppi_spool *spool, uint32_t lane, uint32_t device,
                            uint32_t num_chunks);

// A free list over a table's slots: {gen:32, index + 1:32}, lock-free.
static inline uint64_t ppi_list_word(uint64_t old, uint32_t first) {
  return ((old >> 32) + 1) << 32 | first;
}
uint32_t ppi_slots_take(ppi_table *table, uint64_t *list);  // index + 1, or 0
void ppi_slots_give(ppi_table *table, uint64_t *list, uint32_t index);

// pprof_range.id = {serial:16, gen:24, table:8, index + 1:16}.
typedef struct ppi_slot_ref {
  ppi_table *table;
  ppi_slot *slot;
  uint64_t *state;
  uint32_t gen;
  uint32_t index;
  uint32_t number;  // of the table
} ppi_slot_ref;
uint64_t ppi_range_id(uint32_t table, uint32_t gen, uint32_t index);
// False for 0, another session's, or an unknown table.
bool ppi_range_find(uint64_t id, ppi_slot_ref *out);

// ppi_slot_begin fills in what every such range has; the caller adds its own
// and publishes with ppi_slot_open, which answers the generation.
void ppi_slot_begin(ppi_slot *slot, const ppi_lane *lane, uint32_t site,
                    uint8_t kind);
uint32_t ppi_slot_open(ppi_table *table, uint32_t index);
// ppi_slot_end makes an open slot the caller's to finish (false: not open any
// more); ppi_slot_ended publishes it.
bool ppi_slot_end(const ppi_slot_ref *ref);
// ppi_slot_end_or_count does so for a marker of `lane`: a range that an edge
// has cut counts as begun before, any other that is not open as unmatched.
bool ppi_slot_end_or_count(ppi_lane *lane, const ppi_slot_ref *ref);
bool ppi_range_is_open(uint64_t id, ppi_slot_ref *out);
void ppi_slot_ended(const ppi_slot_ref *ref);
void ppi_slot_add_work(ppi_slot *slot, const ppi_work *amount);

// ppi_range_open begins a wandering range of lane `lane_id` at `start` ticks;
// 0 when there is no slot.
uint64_t ppi_range_open(const ppi_lane *lane, uint32_t lane_id, uint32_t site,
                        uint64_t start);

#ifdef __cplusplus
}
#endif

#endif  // PPI_PENDING_H_
