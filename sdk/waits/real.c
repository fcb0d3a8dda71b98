// SPDX-License-Identifier: Apache-2.0
//
// Finds the C library's functions behind those of this library.
#include "real.h"

#include <dlfcn.h>
#include <string.h>

// Until libpprof.so's table is known: on, so that the first call finds it.
static const pprof_wait_table_ nothing = {.on = 1};
ppi_reals ppi_reals_found = {.table = &nothing};

static const void *library_of(const void *symbol) {
  Dl_info info;
  return symbol && dladdr(symbol, &info) ? info.dli_fbase : NULL;
}

// Finds the next library's function: another tool's interceptor, such as a
// sanitizer's, has no version.
static void find(void *out, const char *name, const char *version) {
  void *symbol = dlsym(RTLD_NEXT, name);
  void *versioned = *version ? dlvsym(RTLD_NEXT, name, version) : NULL;
  if (versioned && library_of(symbol) == library_of(versioned))
    symbol = versioned;
  memcpy(out, &symbol, sizeof symbol);
}

// Several threads find the same.
void ppi_reals_find(void) {
  ppi_reals *real = &ppi_reals_found;
#define FIND(type, name, version, parameters) find(&real->name, #name, version);
  PPI_REALS(FIND)
#undef FIND
  __atomic_store_n(&real->table, pprof_wait_get_table_(), __ATOMIC_RELEASE);
  __atomic_store_n(&real->ready, 1, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void begin(void) {
  ppi_reals_find();
}
