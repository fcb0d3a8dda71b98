// SPDX-License-Identifier: Apache-2.0
//
// Wakes, stops and waits for the collector by one mutex and its conditions.
#include "session/state/wakeup.h"

#include "base/wait.h"

void ppi_wakeup_init(ppi_wakeup *wakeup) {
  pthread_mutex_init(&wakeup->mutex, NULL);
  ppi_wait_init(&wakeup->to_collector);
  ppi_wait_init(&wakeup->from_collector);
}

void ppi_wakeup_destroy(ppi_wakeup *wakeup) {
  pthread_mutex_destroy(&wakeup->mutex);
  pthread_cond_destroy(&wakeup->to_collector);
  pthread_cond_destroy(&wakeup->from_collector);
}

// Does not wait for the mutex: a marker in a signal handler may have
// interrupted its owner. The collector then looks one short wait later.
void ppi_wakeup_wake(ppi_wakeup *wakeup) {
  __atomic_store_n(&wakeup->is_woken, true, __ATOMIC_RELAXED);
  if (pthread_mutex_trylock(&wakeup->mutex) != 0) return;
  pthread_cond_signal(&wakeup->to_collector);
  pthread_mutex_unlock(&wakeup->mutex);
}

pprof_status ppi_wakeup_ask(ppi_wakeup *wakeup, uint32_t wait_ms) {
  const uint64_t deadline_ns = ppi_monotonic_ns() + wait_ms * 1000000ull;
  pthread_mutex_lock(&wakeup->mutex);
  uint64_t ticket = ++wakeup->asked;
  pthread_cond_signal(&wakeup->to_collector);
  pprof_status status = PPROF_STATUS_OK;
  while (wakeup->done < ticket && status == PPROF_STATUS_OK)
    if (!ppi_wait_until(&wakeup->from_collector, &wakeup->mutex, deadline_ns))
      status = PPROF_STATUS_BUSY;
  pthread_mutex_unlock(&wakeup->mutex);
  return status;
}

void ppi_wakeup_stop(ppi_wakeup *wakeup) {
  pthread_mutex_lock(&wakeup->mutex);
  wakeup->stop = true;
  pthread_cond_signal(&wakeup->to_collector);
  pthread_mutex_unlock(&wakeup->mutex);
}

bool ppi_wakeup_look(ppi_wakeup *wakeup, uint64_t *out_asked) {
  pthread_mutex_lock(&wakeup->mutex);
  *out_asked = wakeup->asked;
  bool stop = wakeup->stop;
  pthread_mutex_unlock(&wakeup->mutex);
  return stop;
}

void ppi_wakeup_answer(ppi_wakeup *wakeup, uint64_t asked) {
  pthread_mutex_lock(&wakeup->mutex);
  wakeup->done = asked;
  pthread_cond_broadcast(&wakeup->from_collector);
  pthread_mutex_unlock(&wakeup->mutex);
}

void ppi_wakeup_wait(ppi_wakeup *wakeup, uint64_t answered, uint64_t ns) {
  const uint64_t deadline_ns = ppi_monotonic_ns() + ns;
  pthread_mutex_lock(&wakeup->mutex);
  while (!wakeup->stop && wakeup->asked == answered &&
         !__atomic_load_n(&wakeup->is_woken, __ATOMIC_RELAXED))
    if (!ppi_wait_until(&wakeup->to_collector, &wakeup->mutex, deadline_ns))
      break;
  __atomic_store_n(&wakeup->is_woken, false, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&wakeup->mutex);
}
