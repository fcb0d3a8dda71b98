// SPDX-License-Identifier: Apache-2.0
//
// Which thread uses which slots of the process's table of ranges. A thread that
// begins ranges gets groups of neighbours, and its used slots return to it. So
// two threads do not write the same cache lines in turns.
#pragma once

#include "mark/slots.h"
#include "mark/thread.h"

PPROF_BEGIN_C_

// ppi_range_slots_begin makes all slots free; before there is an epoch.
void ppi_range_slots_begin(void);
// ppi_range_slot_give: the collector.
void ppi_range_slot_give(ppi_table *table, uint32_t index);
// ppi_range_slot_refill finds a slot where the thread has none, and further
// ones for its block; `thread` NULL: one slot, for no thread.
uint32_t ppi_range_slot_refill(ppi_table *table, ppi_thread *thread);

// Slots are fetched a few ranges before they are used: the collector, on
// another processor, had them last. ppi_range_slot_fetch fetches the next one.
#define PPI_RANGES_AHEAD 4
static inline __attribute__((always_inline)) void ppi_range_slot_fetch(
    const ppi_table *table, ppi_thread *thread) {
  uint32_t ahead = thread->range_ahead;
  if (!ahead) return;
  const ppi_slot *slot =
      ppi_table_slot(ppi_recorder_in_force.spool.base, table, ahead - 1);
  __builtin_prefetch(slot, 1);
  __builtin_prefetch(slot->flows, 1);
  __builtin_prefetch(&table->states[ahead - 1], 1);
  thread->range_ahead =
      __atomic_load_n(&table->next_free[ahead - 1], __ATOMIC_RELAXED);
}

// ppi_range_slot_take answers index + 1, 0: there is none left. Only the busy
// thread itself calls it and changes its block.
static inline uint32_t ppi_range_slot_take(ppi_table *table,
                                           ppi_thread *thread) {
  uint32_t taken = thread->range_slot;
  if (PPI_UNLIKELY(taken == 0 ||
                   thread->ranges_serial != ppi_recorder_in_force.serial))
    return ppi_range_slot_refill(table, thread);
  thread->range_slot =
      __atomic_load_n(&table->next_free[taken - 1], __ATOMIC_RELAXED);
  ppi_range_slot_fetch(table, thread);
  return taken;
}

PPROF_END_C_
