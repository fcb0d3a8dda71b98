// SPDX-License-Identifier: Apache-2.0
//
// Collects cross-thread ranges: ended ranges get their numbers on lane 0 and go
// to the sinks; edges end the ranges that they cut.
#include "session/collect/cross_thread.h"

#include "mark/emit.h"
#include "mark/range_slots.h"
#include "session/state/edges.h"

// CrossThread ranges: those begun before the last edge end there. Answers the
// slot's state afterwards.
static uint64_t cut_range(pprof_session *session, ppi_table *table, uint32_t i,
                          uint64_t state) {
  ppi_slot *slot = ppi_table_slot(ppi_recorder_in_force.spool.base, table, i);
  // The thread that begins a request may still set an earlier begin.
  uint64_t start = __atomic_load_n(&slot->start, __ATOMIC_RELAXED);
  if (start >= session->collect.cut_before || slot->is_step) return state;
  uint64_t ending = PPI_STATE(0, PPI_STATE_GEN(state), PPI_SLOT_ENDING);
  // Before the state, because an end that finds the state looks for it.
  __atomic_fetch_add(&slot->cut, 1, __ATOMIC_RELAXED);
  if (!__atomic_compare_exchange_n(&table->states[i], &state, ending, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    ppi_slot_take_cut(slot);
    return state;
  }
  uint64_t cut = session->collect.cut_before;
  slot->end = PPI_MAX(start, cut == UINT64_MAX ? session->stop_ticks : cut);
  slot->flags |= PPROF_FLAG_CLIPPED;
  if (ppi_recorder_in_force.emits) ppi_emit_end(0, i);
  state = PPI_STATE(0, PPI_STATE_GEN(state), PPI_SLOT_ENDED);
  __atomic_store_n(&table->states[i], state, __ATOMIC_RELEASE);
  return state;
}

static uint64_t state_at(const ppi_table *table, uint32_t index) {
  return __atomic_load_n(&table->states[index], __ATOMIC_RELAXED);
}

static void free_range(ppi_table *table, uint32_t index) {
  uint32_t gen = PPI_STATE_GEN(state_at(table, index));
  __atomic_store_n(&table->states[index], PPI_STATE(0, gen, PPI_SLOT_FREE),
                   __ATOMIC_RELEASE);
  ppi_range_slot_give(table, index);
}

// As records of lanes, ranges that began after a checkpoint's time wait.
static size_t list_ended(pprof_session *session, ppi_slot_order *list,
                         uint64_t until_ticks) {
  ppi_table *table = ppi_recorder_in_force.ranges;
  size_t num = 0;
  uint32_t num_slots = ppi_table_num_slots(table);
  for (uint32_t i = 0; i < num_slots; i++) {
    uint64_t state = __atomic_load_n(&table->states[i], __ATOMIC_ACQUIRE);
    if (PPI_STATE_OF(state) == PPI_SLOT_OPEN)
      state = cut_range(session, table, i, state);
    if (PPI_STATE_OF(state) != PPI_SLOT_ENDED) continue;
    const ppi_slot *slot =
        ppi_table_slot(ppi_recorder_in_force.spool.base, table, i);
    if (slot->provisional) {
      free_range(table, i);
      continue;
    }
    if (slot->start > until_ticks) continue;
    list[num++] = (ppi_slot_order){slot->end, i};
  }
  ppi_slots_sort(list, num);
  return num;
}

void ppi_cross_thread_drain(pprof_session *session, uint64_t until_ticks) {
  static ppi_slot_order list[PPI_TABLE_SLOTS];  // one collector per process
  ppi_table *table = ppi_recorder_in_force.ranges;
  ppi_drain *drain = &session->drain;
  size_t num = list_ended(session, list, until_ticks);
  if (num == 0) return;
  ppi_edges_see(session);
  // After the states, so that every site in the slots is defined.
  uint64_t names_end =
      __atomic_load_n(&drain->spool->header->names_end, __ATOMIC_ACQUIRE);
  ppi_session_keep_error(session, ppi_drain_definitions(drain, names_end));
  ppi_drain_begin(drain, table->lane, table->next_seq);
  for (size_t i = 0; i < num; i++) {
    uint32_t index = list[i].index;
    ppi_slot *slot = ppi_table_slot(drain->spool->base, table, index);
    pprof_status status = PPROF_STATUS_OK;
    bool delivered = ppi_drain_slot(drain, slot, &status);
    ppi_session_keep_error(session, status);
    if (!delivered) {
      ppi_slot_exclude(table, index);
      free_range(table, index);
      continue;
    }
    uint32_t gen = PPI_STATE_GEN(state_at(table, index));
    session->collect.range_seqs[table->next_seq % PPI_TABLE_SLOTS] = index;
    __atomic_store_n(&table->states[index],
                     PPI_STATE(table->next_seq, gen, PPI_SLOT_RESOLVED),
                     __ATOMIC_RELEASE);
    table->next_seq++;
  }
  ppi_session_keep_error(session, ppi_drain_flush(drain));
}

void ppi_cross_thread_free(pprof_session *session, uint64_t kept) {
  ppi_table *table = ppi_recorder_in_force.ranges;
  for (; table->kept < PPI_MIN(kept, table->next_seq); table->kept++)
    free_range(table,
               session->collect.range_seqs[table->kept % PPI_TABLE_SLOTS]);
}
