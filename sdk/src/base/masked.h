// SPDX-License-Identifier: Apache-2.0
//
// Slow paths that a marker may take: two system calls. Between them no signal
// handler interrupts: it may leave by a jump (siglongjmp), and a lock or a
// half-done change would stay for ever. errno keeps its value, as a marker may
// stand between a call and the check of its error. Calls that may wait take
// signals, but are not cancelled.
#pragma once

#include <errno.h>
#include <signal.h>

#include "base/uncancelled.h"

typedef struct ppi_calm {
  sigset_t signals;
  int error, cancel_state;
} ppi_calm;

static inline void ppi_mask_signals(ppi_calm *before) {
  sigset_t all;
  sigfillset(&all);
  before->error = errno;
  pthread_sigmask(SIG_SETMASK, &all, &before->signals);
  before->cancel_state = ppi_cancel_later();
}
static inline void ppi_unmask_signals(const ppi_calm *before) {
  errno = before->error;
  ppi_cancel_again(&before->cancel_state);
  pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
}

// The same around a mutex that a marker takes.
static inline void ppi_lock_masked(pthread_mutex_t *mutex, ppi_calm *before) {
  ppi_mask_signals(before);
  pthread_mutex_lock(mutex);
}
static inline void ppi_unlock_masked(pthread_mutex_t *mutex,
                                     const ppi_calm *before) {
  pthread_mutex_unlock(mutex);
  ppi_unmask_signals(before);
}
