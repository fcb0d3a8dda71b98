// SPDX-License-Identifier: Apache-2.0
//
// Asks NVML for NVIDIA's devices: loads the library and lists the visible ones.
#include "machine/machine_nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptor.h"

static struct {
  ppi_nvml calls;
  void *library;
  unsigned users;
  int (*init)(void), (*shutdown)(void), (*count)(unsigned *);
  int (*by_index)(unsigned, ppi_nvml_device *);
  int (*by_uuid)(const char *, ppi_nvml_device *);
} nvml;

static void *symbol_of(const char *name, const char *older) {
  void *symbol = dlsym(nvml.library, name);
  return symbol || !older ? symbol : dlsym(nvml.library, older);
}

// A pointer to a function, as POSIX has it.
static void put(void *to, void *symbol) {
  memcpy(to, &symbol, sizeof symbol);
}

static bool load(void) {
  unsigned standing = ppi_fd_stand_in();
  nvml.library = dlopen(ppi_machine_nvml(), RTLD_LAZY | RTLD_LOCAL);
  ppi_fd_stand_down(standing);
  if (!nvml.library) return false;
#define CALL(name, symbol, older, ...) \
  put(&nvml.calls.name, symbol_of(symbol, older));
  PPI_NVML_CALLS(CALL)
#undef CALL
  put(&nvml.init, symbol_of("nvmlInit_v2", "nvmlInit"));
  put(&nvml.shutdown, symbol_of("nvmlShutdown", NULL));
  put(&nvml.count, symbol_of("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"));
  put(&nvml.by_index,
      symbol_of("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"));
  put(&nvml.by_uuid, symbol_of("nvmlDeviceGetHandleByUUID", NULL));
  return nvml.init && nvml.count && nvml.by_index;
}

static void add_device(ppi_nvml_device device) {
  if (nvml.calls.num < PPI_NVML_DEVICES)
    nvml.calls.devices[nvml.calls.num++] = device;
}

// As CUDA reads it: numbers or UUIDs; the first that is neither ends the list.
static void add_visible(const char *list) {
  char text[1024], *save = NULL;
  snprintf(text, sizeof text, "%s", list);
  for (char *word = strtok_r(text, ", ", &save); word;
       word = strtok_r(NULL, ", ", &save)) {
    char *end;
    ppi_nvml_device device;
    long index = strtol(word, &end, 10);
    bool is_number = end != word && !*end && index >= 0;
    int error = is_number      ? nvml.by_index((unsigned)index, &device)
                : nvml.by_uuid ? nvml.by_uuid(word, &device)
                               : 1;
    if (error) return;
    add_device(device);
  }
}

static void add_devices(void) {
  const char *visible = secure_getenv("CUDA_VISIBLE_DEVICES");
  unsigned num = 0;
  nvml.calls.num = 0;
  if (visible && *visible) {
    add_visible(visible);
    return;
  }
  if (nvml.count(&num)) return;
  for (unsigned i = 0; i < num; i++) {
    ppi_nvml_device device;
    if (nvml.by_index(i, &device) == 0) add_device(device);
  }
}

static void unload(void) {
  if (nvml.shutdown) nvml.shutdown();
  dlclose(nvml.library);
  nvml.library = NULL;
}

const ppi_nvml *ppi_nvml_open(void) {
  if (nvml.users == 0) {
    if (!load()) return NULL;
    unsigned standing = ppi_fd_stand_in();
    bool works = nvml.init() == 0;
    if (works) add_devices();
    ppi_fd_stand_down(standing);
    if (!works || nvml.calls.num == 0) {
      unload();
      return NULL;
    }
  }
  nvml.users++;
  return &nvml.calls;
}

void ppi_nvml_close(void) {
  if (--nvml.users == 0) unload();
}

void ppi_nvml_in_forked_child(void) {
  nvml.users = 0;
}
