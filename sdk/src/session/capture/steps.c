// SPDX-License-Identifier: Apache-2.0
//
// Steps: pprof_step on the program's threads, and the range of the step that is
// open, which windows begin and cut, too.
#include "base/masked.h"
#include "mark/emit.h"
#include "mark/pending.h"
#include "session/capture/windows.h"
#include "session/state/current.h"

static void count_lost(void) {
  __atomic_fetch_add(&ppi_recorder_in_force.spool.header->lost, 1,
                     __ATOMIC_RELAXED);
}

// Of a program that never called pprof_step the range is listed as open, but it
// becomes a record only when the program ends it.
void ppi_step_open(pprof_session *session, uint64_t now) {
  ppi_steps *steps = &session->steps;
  ppi_slot_ref ref;
  steps->range = ppi_range_open(NULL, 0, steps->site, now);
  if (!ppi_range_find(steps->range, &ref)) {
    if (steps->called) count_lost();
    return;
  }
  ref.slot->is_step = 1;
  ref.slot->provisional = !steps->called;
  steps->is_cut = now != steps->start_ticks;
  if (steps->called && ppi_recorder_in_force.emits)
    ppi_emit_step(steps->site, steps->number, true);
}

static void end_step(ppi_steps *steps, uint64_t now, uint64_t items,
                     bool is_cut) {
  ppi_slot_ref ref;
  if (ppi_recorder_in_force.emits) ppi_emit_step(0, 0, false);
  if (!steps->range || !ppi_range_find(steps->range, &ref)) return;
  steps->range = 0;
  if (!ppi_slot_end(&ref)) return;
  ref.slot->end = now;
  if (is_cut || steps->is_cut) ref.slot->flags |= PPROF_FLAG_CLIPPED;
  ref.slot->value = (double)steps->number;
  ref.slot->work.items = (double)items;
  ref.slot->has_work = items != 0;
  ref.slot->provisional = 0;
  ppi_slot_ended(&ref);
}

// A program that never called pprof_step has no steps: what has ended and is
// provisional still is no record. Its slot is the collector's to free.
static void drop_step(ppi_steps *steps, uint64_t now) {
  ppi_slot_ref ref;
  if (!steps->range || !ppi_range_find(steps->range, &ref)) return;
  steps->range = 0;
  if (!ppi_slot_end(&ref)) return;
  ref.slot->end = now;
  ppi_slot_ended(&ref);
}

void ppi_step_cut(pprof_session *session, uint64_t now) {
  if (session->steps.called)
    end_step(&session->steps, now, 0, true);
  else
    drop_step(&session->steps, now);
}

static void next_step(pprof_session *session, uint64_t num_items) {
  ppi_steps *steps = &session->steps;
  uint64_t now = ppi_clock_ticks();
  steps->called = true;
  end_step(steps, now, num_items, false);
  steps->number++;
  steps->start_ticks = now;
  ppi_windows_step(session);
  if (ppi_windows_move(session, now, false)) ppi_emit_settle(steps->epoch);
  if (steps->phase.phase == PPI_PHASE_RECORD && !steps->range)
    ppi_step_open(session, now);
}

void pprof_step(uint64_t num_items) {
  ppi_thread *thread;
  // Of a process that sleeps, the first marker.
  if (!pprof_session_current() && ppi_begin_marker(&thread, PPI_BEGINS))
    ppi_leave(thread);
  pprof_session *session = pprof_session_current();
  if (!session) return;
  thread = ppi_thread_self;
  if (!thread) thread = ppi_thread_attach();
  // Busy as in any marker: a stop waits for this step, and a step inside a
  // signal handler that interrupted a marker is left out.
  if (!thread || ppi_is_inside(thread)) return;
  ppi_stand(thread);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE)) {
    session = pprof_session_current();
    ppi_calm before;
    ppi_lock_masked(&session->steps.mutex, &before);
    if (session->steps.is_live) next_step(session, num_items);
    ppi_unlock_masked(&session->steps.mutex, &before);
  }
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
}
