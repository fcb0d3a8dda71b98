// SPDX-License-Identifier: Apache-2.0
//
// Starts a forked child's session at its first event.
#include "process.h"

#include "nvtx.h"
#include "start/injected.h"

ppi_nvtx_process_state ppi_nvtx_process;

bool ppi_nvtx_revive(void) {
  if (PPI_LIKELY(
          !__atomic_load_n(&ppi_nvtx_process.orphaned, __ATOMIC_RELAXED)) ||
      !__atomic_exchange_n(&ppi_nvtx_process.orphaned, 0, __ATOMIC_ACQ_REL) ||
      __atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE))
    return false;
  pprof_inject_attach_();
  return __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED) != 0;
}
