// SPDX-License-Identifier: Apache-2.0
//
// Counts down what is taken while the collector pauses.
#include "spool/nap.h"

void ppi_nap_begin(ppi_spool *spool, bool (*end)(void)) {
  __atomic_store_n(&spool->end_nap, end, __ATOMIC_RELAXED);
  // Pairs with the acquire in ppi_nap_count.
  __atomic_store_n(&spool->nap_left, (int32_t)PPI_NAP_PARTS, __ATOMIC_RELEASE);
}

void ppi_nap_end(ppi_spool *spool) {
  __atomic_store_n(&spool->nap_left, 0, __ATOMIC_RELAXED);
}

// The thread that takes the last part wakes the collector. If it cannot, as in
// a signal handler, the next one does.
void ppi_nap_count(ppi_spool *spool, uint32_t parts) {
  int32_t left =
      __atomic_sub_fetch(&spool->nap_left, (int32_t)parts, __ATOMIC_ACQUIRE);
  if (left > 0 || left + (int32_t)parts <= 0) return;
  bool (*end)(void) = __atomic_load_n(&spool->end_nap, __ATOMIC_RELAXED);
  if (!end()) __atomic_store_n(&spool->nap_left, 1, __ATOMIC_RELAXED);
}
