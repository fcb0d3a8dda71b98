// SPDX-License-Identifier: Apache-2.0
//
// Shared functions of the backends: host time, detection of forked children,
// and loading a vendor's library at run time.
#pragma once

#include <time.h>

#include "base/base.h"

PPROF_BEGIN_C_

// The longest wait for an anchor. After that, another stream's kernel has the
// device, and a wide bracket is useless.
#define PPI_ANCHOR_WAIT_NS 100000u

static inline uint64_t ppi_backend_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Grows by one in each forked child, once ppi_backend_watch_fork was called.
// A child has neither our threads nor a usable driver, so whatever was made
// under another number is not touched any more.
extern uint32_t ppi_backend_generation;
void ppi_backend_watch_fork(void);

typedef struct ppi_symbol {
  const char *name;
  const char *other_name;  // tried first, when not NULL: a newer version
  size_t offset;           // of the function pointer in the table
  bool optional;           // may stay NULL
} ppi_symbol;

typedef struct ppi_library {
  const char *backend;         // begins error texts
  const char *const *sonames;  // in order of preference, NULL ends them
  const ppi_symbol *symbols;
  size_t num_symbols;
} ppi_library;

// ppi_library_load fills the function pointers of `table`. A library that the
// program has mapped already is preferred to loading one. It stays mapped:
// threads of a driver cannot be unloaded. UNAVAILABLE leaves `table` untouched.
pprof_status ppi_library_load(const ppi_library *library, void *table,
                              pprof_error *error);

PPROF_END_C_
