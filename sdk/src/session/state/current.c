// SPDX-License-Identifier: Apache-2.0
//
// Keeps the one session of the process, from start to stop.
#include "session/state/current.h"

static pprof_session *running;
static bool was_started;  // ever, in this process

pprof_session *pprof_session_current(void) {
  return __atomic_load_n(&running, __ATOMIC_ACQUIRE);
}

bool ppi_session_was_started(void) {
  return __atomic_load_n(&was_started, __ATOMIC_RELAXED);
}

void ppi_current_set(pprof_session *session) {
  if (session) __atomic_store_n(&was_started, true, __ATOMIC_RELAXED);
  __atomic_store_n(&running, session, __ATOMIC_RELEASE);
}

void ppi_current_in_forked_child(void) {
  was_started = false;
  ppi_current_set(NULL);
}
