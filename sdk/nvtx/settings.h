// SPDX-License-Identifier: Apache-2.0
//
// The configuration of the handlers.
#pragma once

#include "inject/inject.h"

extern const pprof_inject_settings_ *ppi_nvtx_settings;  // atomic
#define PPI_NVTX_SETTING(name)                                      \
  __atomic_load_n(                                                  \
      &__atomic_load_n(&ppi_nvtx_settings, __ATOMIC_ACQUIRE)->name, \
      __ATOMIC_RELAXED)
// The work of a handler beside recording; read at each call, so it is one word.
// Atomic.
enum { PPI_NVTX_CHAINED = 1, PPI_NVTX_TIMED = 2 };
extern uint32_t ppi_nvtx_extras;
