// SPDX-License-Identifier: Apache-2.0
//
// What a signal handler must not interrupt: it may leave by a jump
// (siglongjmp), and what was half done, or locked, would stay so for ever. On
// slow paths only: two system calls.
#ifndef PPI_MASKED_H_
#define PPI_MASKED_H_

#include <pthread.h>
#include <signal.h>

static inline void ppi_mask_signals(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}
static inline void ppi_unmask_signals(const sigset_t *before) {
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

// The same around a mutex that a marker takes.
static inline void ppi_lock_masked(pthread_mutex_t *mutex, sigset_t *before) {
  ppi_mask_signals(before);
  pthread_mutex_lock(mutex);
}
static inline void ppi_unlock_masked(pthread_mutex_t *mutex,
                                     const sigset_t *before) {
  pthread_mutex_unlock(mutex);
  ppi_unmask_signals(before);
}

#endif  // PPI_MASKED_H_
