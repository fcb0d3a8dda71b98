// SPDX-License-Identifier: Apache-2.0
//
// NVTX's client side, in our own words: what the CUDA toolkit's headers put
// into a program, for machines without them. Like those it has one state for
// each linkage unit, finds the tool by NVTX_INJECTION64_PATH at a unit's first
// call, lets calls through a slot as soon as the tool has filled it, and is
// silent without a tool. A unit is one file here.
#pragma once

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "client_types.h"

typedef void (*client_function)(void);

enum {
  CLIENT_CORE = 1,
  CLIENT_CUDA,
  CLIENT_OPENCL,
  CLIENT_CUDART,
  CLIENT_CORE2,
  CLIENT_SYNC,
  CLIENT_NUM_MODULES,
  CLIENT_MAX_SLOTS = 16,
  CLIENT_PAYLOAD = 2,
  CLIENT_COUNTERS = 4,
  CLIENT_NUM_EXTENSIONS = 5,
  CLIENT_EXTENSION_SLOTS = 63,
};
enum { CLIENT_FRESH, CLIENT_STARTED, CLIENT_COMPLETE };

// Extension slots hold one of these or a function.
enum { CLIENT_SLOT_FRESH, CLIENT_SLOT_DISABLED };

typedef struct client_callbacks {
  size_t struct_size;
  int (*get_module_function_table)(uint32_t module, client_function ***out,
                                   unsigned *out_size);
} client_callbacks;

typedef struct client_version_info {
  size_t struct_size;
  uint32_t version, reserved;
  void (*set_injection_version)(uint32_t version);
} client_version_info;

typedef struct client_segment {
  size_t id, num_slots;
  intptr_t *slots;
} client_segment;

typedef struct client_module_info {
  uint16_t version, struct_size, module, compat;
  size_t num_segments;
  client_segment *segments;
  intptr_t (*get_export_function)(uint32_t id);
  const void *info;
} client_module_info;

typedef const void *(*client_get_export_table)(uint32_t id);
typedef int (*client_initialize)(client_get_export_table get);
typedef int (*client_initialize_extension)(client_module_info *info);

static int client_state;
static int client_extension_state[CLIENT_NUM_EXTENSIONS];
static client_function client_slots[CLIENT_NUM_MODULES][CLIENT_MAX_SLOTS];
static client_function *client_tables[CLIENT_NUM_MODULES][CLIENT_MAX_SLOTS + 1];
static intptr_t client_extension_slots[CLIENT_NUM_EXTENSIONS]
                                      [CLIENT_EXTENSION_SLOTS];

static inline int client_get_module_function_table(uint32_t module,
                                                   client_function ***out,
                                                   unsigned *out_size) {
  static const unsigned sizes[CLIENT_NUM_MODULES] = {0, 16, 9, 15, 7, 16, 7};
  if (module < CLIENT_CORE || module >= CLIENT_NUM_MODULES) return 0;
  for (unsigned i = 1; i < sizes[module]; i++)
    client_tables[module][i] = &client_slots[module][i];
  if (out) *out = client_tables[module];
  if (out_size) *out_size = sizes[module];
  return 1;
}

static inline void client_set_injection_version(uint32_t version) {
  (void)version;
}

static inline const void *client_export_table(uint32_t id) {
  static const client_callbacks callbacks = {sizeof callbacks,
                                             client_get_module_function_table};
  static const client_version_info version_info = {
      sizeof version_info, NVTX_VERSION, 0, client_set_injection_version};
  if (id == 1) return &callbacks;
  return id == 3 ? &version_info : NULL;
}

// The tool's function of this name, and the tool itself.
static inline client_function client_find(const char *name, void **library) {
  const char *path = getenv("NVTX_INJECTION64_PATH");
  client_function function = NULL;
  *library = path ? dlopen(path, RTLD_LAZY) : NULL;
  void *found = *library ? dlsym(*library, name) : NULL;
  memcpy(&function, &found, sizeof function);
  return function;
}

static inline void client_load(void) {
  void *library;
  client_initialize initialize =
      (client_initialize)client_find("InitializeInjectionNvtx2", &library);
  if (initialize && initialize(client_export_table)) return;
  memset(client_slots, 0, sizeof client_slots);
  if (library) dlclose(library);
}

// What comes second waits, as it does with the real headers.
static inline void client_init(void) {
  int fresh = CLIENT_FRESH;
  if (__atomic_compare_exchange_n(&client_state, &fresh, CLIENT_STARTED, 0,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    client_load();
    __atomic_store_n(&client_state, CLIENT_COMPLETE, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&client_state, __ATOMIC_ACQUIRE) != CLIENT_COMPLETE)
    sched_yield();
}

static inline client_function client_slot(unsigned module, unsigned index) {
  client_function *slot = &client_slots[module][index];
  client_function found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (found ||
      __atomic_load_n(&client_state, __ATOMIC_ACQUIRE) == CLIENT_COMPLETE)
    return found;
  client_init();
  return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}

// A unit that forgets its tool, as if it had been unloaded and loaded again.
static inline void client_reset(void) {
  memset(client_slots, 0, sizeof client_slots);
  memset(client_extension_slots, 0, sizeof client_extension_slots);
  memset(client_extension_state, 0, sizeof client_extension_state);
  __atomic_store_n(&client_state, CLIENT_FRESH, __ATOMIC_RELEASE);
}

static inline void client_load_extension(uint16_t module, uint16_t compat) {
  intptr_t *slots = client_extension_slots[module];
  client_segment segment = {0, CLIENT_EXTENSION_SLOTS, slots};
  client_module_info info = {NVTX_VERSION, sizeof info, module, compat, 1,
                             &segment,     NULL,        NULL};
  void *library;
  client_function core = client_slot(CLIENT_CORE2, 15);
  if (core) ((void (*)(const void *))core)(NULL);
  client_initialize_extension initialize =
      (client_initialize_extension)client_find(
          "InitializeInjectionNvtxExtension", &library);
  int attached = initialize && initialize(&info);
  for (int i = 0; i < CLIENT_EXTENSION_SLOTS; i++)
    if (!attached || slots[i] == CLIENT_SLOT_FRESH)
      slots[i] = CLIENT_SLOT_DISABLED;
}

static inline client_function client_extension_slot(uint16_t module,
                                                    unsigned index) {
  int *state = &client_extension_state[module], fresh = CLIENT_FRESH;
  intptr_t *slot = &client_extension_slots[module][index];
  intptr_t found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (found == CLIENT_SLOT_FRESH) {
    if (__atomic_compare_exchange_n(state, &fresh, CLIENT_STARTED, 0,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      client_load_extension(module, module == CLIENT_PAYLOAD ? 0x0104 : 0x0102);
      __atomic_store_n(state, CLIENT_COMPLETE, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(state, __ATOMIC_ACQUIRE) != CLIENT_COMPLETE)
      sched_yield();
    found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  }
  return found == CLIENT_SLOT_DISABLED ? NULL : (client_function)found;
}

#include "client_calls.h"
