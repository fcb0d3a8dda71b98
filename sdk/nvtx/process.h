// SPDX-License-Identifier: Apache-2.0
//
// The state of the process since this library was loaded.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Atomic, each by itself.
typedef struct ppi_nvtx_process_state {
  uint32_t closed;    // our destructor has run
  uint32_t orphaned;  // a forked child that has not recorded yet
} ppi_nvtx_process_state;
extern ppi_nvtx_process_state ppi_nvtx_process;

// ppi_nvtx_revive starts a session in a forked child, once; false: there is
// nothing to revive.
bool ppi_nvtx_revive(void);
