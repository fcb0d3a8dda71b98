// SPDX-License-Identifier: Apache-2.0
//
// Implements pprof_step on the program's threads.
#include "base/masked.h"
#include "mark/attach.h"
#include "mark/emit.h"
#include "session/capture/step_range.h"
#include "session/capture/windows.h"

static void next_step(pprof_session *session, uint64_t num_items) {
  ppi_steps *steps = &session->steps;
  uint64_t now = ppi_windows_now(&session->windows);
  steps->called = true;
  ppi_step_end(steps, now, num_items);
  steps->number++;
  steps->start_ticks = now;
  ppi_windows_step(session);
  if (ppi_windows_move(session, now, false))
    ppi_emit_settle(session->windows.epoch);
  if (session->windows.phase.phase == PPI_PHASE_RECORD && !steps->range)
    ppi_step_open(steps, now);
}

void pprof_step(uint64_t num_items) {
  ppi_thread *thread;
  // In a process that sleeps: the first marker.
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
    ppi_lock_masked(&session->windows.mutex, &before);
    if (session->windows.is_live) next_step(session, num_items);
    ppi_unlock_masked(&session->windows.mutex, &before);
  }
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
}
