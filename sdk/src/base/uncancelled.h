// SPDX-License-Identifier: Apache-2.0
//
// A thread that is cancelled (pthread_cancel) inside a call of ours would leave
// locks taken. Stands at the top of each call that may wait or enter the
// kernel: the cancellation waits until the call returns.
#pragma once

#include <pthread.h>

#define PPI_UNCANCELLED                                                     \
  int ppi_cancel_state __attribute__((unused, cleanup(ppi_cancel_again))) = \
      ppi_cancel_later()

static inline int ppi_cancel_later(void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}
static inline void ppi_cancel_again(const int *before) {
  int ignored;
  pthread_setcancelstate(*before, &ignored);
}
