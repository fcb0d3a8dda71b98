// SPDX-License-Identifier: Apache-2.0
//
// Detects forks and loads libraries for the backends. Called when a device is
// opened or a stream created, never from a marker.
#include "backend_util.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

uint32_t ppi_backend_generation;

static void count_child(void) {
  ppi_backend_generation++;
}

static void register_child(void) {
  // On failure (no memory) the number stays. A child then gets its driver's
  // errors, which are handled, too.
  (void)pthread_atfork(NULL, NULL, count_child);
}

void ppi_backend_watch_fork(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_child);
}

static void *open_any(const char *const *sonames, int flags,
                      const char **out_name) {
  void *handle = NULL;
  for (size_t i = 0; sonames[i] && !handle; i++) {
    handle = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL | flags);
    *out_name = sonames[i];
  }
  return handle;
}

static void *find_symbol(void *handle, const ppi_symbol *symbol) {
  void *found = symbol->other_name ? dlsym(handle, symbol->other_name) : NULL;
  return found ? found : dlsym(handle, symbol->name);
}

pprof_status ppi_library_load(const ppi_library *library, void *table,
                              pprof_error *error) {
  const char *name = NULL;
  void *handle = open_any(library->sonames, RTLD_NOLOAD, &name);
  if (!handle) handle = open_any(library->sonames, 0, &name);
  if (!handle) {
    const char *why = dlerror();
    const char *first = library->sonames[0];
    return ppi_fail(
        error, PPROF_STATUS_UNAVAILABLE,
        library->sonames[1] ? "%s: %s (%s was tried first)" : "%s: %s",
        library->backend, why ? why : first, first);
  }
  for (size_t i = 0; i < library->num_symbols; i++) {
    const ppi_symbol *symbol = &library->symbols[i];
    if (symbol->optional || find_symbol(handle, symbol)) continue;
    dlclose(handle);
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "%s: %s has no function %s (too old, or not the driver)",
                    library->backend, name, symbol->name);
  }
  for (size_t i = 0; i < library->num_symbols; i++) {
    void *found = find_symbol(handle, &library->symbols[i]);
    memcpy((char *)table + library->symbols[i].offset, &found, sizeof found);
  }
  return PPROF_STATUS_OK;
}
