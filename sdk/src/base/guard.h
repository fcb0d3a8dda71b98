// SPDX-License-Identifier: Apache-2.0
//
// A lock for slow paths that a signal handler may enter, too. A thread that
// already holds it is refused instead of waiting for itself. Taking it and
// storing the owner are one step. The owner takes no signals, so that no
// handler's jump leaves the lock taken.
#pragma once

#include <sched.h>
#include <stdbool.h>

#include "base/masked.h"
#include "base/thread_id.h"

typedef struct ppi_guard {
  uint32_t owner;   // an OS thread id, 0: none
  ppi_calm before;  // the owner's signals
} ppi_guard;

static inline bool ppi_guard_take(ppi_guard *guard) {
  uint32_t self = ppi_thread_id();
  ppi_calm before;
  ppi_mask_signals(&before);
  for (;;) {
    uint32_t nobody = 0;
    if (__atomic_compare_exchange_n(&guard->owner, &nobody, self, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      guard->before = before;
      return true;
    }
    if (nobody == self) break;
    sched_yield();  // locked for a few hundred instructions at most
  }
  ppi_unmask_signals(&before);
  return false;
}
static inline void ppi_guard_give(ppi_guard *guard) {
  ppi_calm before = guard->before;
  __atomic_store_n(&guard->owner, 0, __ATOMIC_RELEASE);
  ppi_unmask_signals(&before);
}
