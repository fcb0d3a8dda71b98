// SPDX-License-Identifier: Apache-2.0
//
// Answers NVTX when it looks for a tool, and follows the process's life. The
// entry points run once for each linkage unit and extension, on any thread,
// nested, at the same time, in library constructors, and after our own
// destructor. They never wait for a thread, and a slot is live as soon as it is
// written.
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "chain.h"
#include "device.h"
#include "extension.h"
#include "objects.h"
#include "process.h"
#include "start/injected.h"
#include "values.h"

#define EXPORTED __attribute__((visibility("default")))

typedef int (*initialize_function)(nvtx_get_export_table get);
typedef int (*initialize_extension_function)(nvtx_extension *extension);
EXPORTED int InitializeInjection(void);
EXPORTED int InitializeInjectionNvtx2(nvtx_get_export_table get);
EXPORTED int InitializeInjectionNvtxExtension(nvtx_extension *extension);

// Where a program links this library's objects into itself, NVTX finds them by
// these names.
extern const initialize_function InitializeInjectionNvtx2_fnptr;
extern const initialize_extension_function
    InitializeInjectionNvtxExtension_fnptr;
const initialize_function InitializeInjectionNvtx2_fnptr =
    InitializeInjectionNvtx2;
const initialize_extension_function InitializeInjectionNvtxExtension_fnptr =
    InitializeInjectionNvtxExtension;

// The arguments that a copy of this library passes to the next one.
typedef struct entry_points {
  initialize_function initialize;
  initialize_extension_function initialize_extension;
} entry_points;
static const entry_points own = {InitializeInjectionNvtx2,
                                 InitializeInjectionNvtxExtension};

static struct {
  uint32_t prepared;  // the handlers below are registered
  uint32_t attached;  // a request for a session was made and answered
  uint32_t refused;   // PPROF_ENABLE=0
} life;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_inside(uintptr_t address) {
  return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

// A unit in this library or in libpprof would call itself for ever.
static bool is_own_unit(nvtx_get_export_table get) {
  uintptr_t at = (uintptr_t)get;
  // Where we are linked into the program, its units are not ours.
  return (is_inside(at) && !is_inside(getauxval(AT_PHDR))) ||
         pprof_inject_is_own_((const void *)at);
}

// atexit handlers registered before ours still mark: recording goes on.
static void at_exit(void) {
  if (!__atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE))
    pprof_inject_flush_();
}

static void in_forked_child(void) {
  ppi_nvtx_objects_in_forked_child();
  ppi_nvtx_device_in_forked_child();
  ppi_nvtx_values_in_forked_child();
  if (__atomic_load_n(&life.attached, __ATOMIC_RELAXED))
    __atomic_store_n(&ppi_nvtx_process.orphaned, 1, __ATOMIC_RELEASE);
}

__attribute__((destructor)) static void close_library(void) {
  __atomic_store_n(&ppi_nvtx_process.closed, 1, __ATOMIC_RELEASE);
}

static bool attach(void) {
  if (PPI_LIKELY(__atomic_load_n(&life.attached, __ATOMIC_ACQUIRE)))
    return !__atomic_load_n(&life.refused, __ATOMIC_RELAXED);
  // Equal for all threads, and set before this thread records.
  __atomic_store_n(&ppi_nvtx_settings, pprof_inject_get_settings_(),
                   __ATOMIC_RELEASE);
  if (!__atomic_exchange_n(&life.prepared, 1, __ATOMIC_ACQ_REL)) {
    atexit(at_exit);
    pthread_atfork(NULL, NULL, in_forked_child);
  }
  bool wanted = pprof_inject_attach_();
  __atomic_store_n(&life.refused, !wanted, __ATOMIC_RELAXED);
  __atomic_store_n(&life.attached, 1, __ATOMIC_RELEASE);
  return wanted;
}

typedef struct module_table {
  nvtx_function **slots;
  unsigned num;
} module_table;

static module_table find_table(const nvtx_callbacks *callbacks,
                               uint32_t module) {
  module_table table = {NULL, 0};
  if (!callbacks->get_module_table(module, &table.slots, &table.num) ||
      !table.slots)
    table.num = 0;
  return table;
}

static void fill(const module_table *tables, const ppi_nvtx_handler *handlers,
                 size_t num) {
  for (size_t i = 0; i < num; i++) {
    const module_table *table = &tables[handlers[i].module];
    unsigned call = handlers[i].call;
    if (call < table->num && table->slots[call])
      __atomic_store_n(table->slots[call], handlers[i].function,
                       __ATOMIC_RELAXED);
  }
}

// Calls that only the next tool wants go to it directly: their arguments
// contain nothing of ours.
static void fill_with_next(const module_table *tables) {
  for (uint32_t module = 1; module < NVTX_NUM_MODULES; module++) {
    if (module == NVTX_MODULE_SYNC) continue;
    for (unsigned i = 1; i < tables[module].num && i < NVTX_MAX_CALLS; i++) {
      nvtx_function next = ppi_nvtx_next(module, i);
      nvtx_function *slot = tables[module].slots[i];
      if (next && slot) __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    }
  }
}

static void fill_slots(const nvtx_callbacks *callbacks) {
  module_table tables[NVTX_NUM_MODULES] = {{NULL, 0}};
  for (uint32_t module = 1; module < NVTX_NUM_MODULES; module++)
    tables[module] = find_table(callbacks, module);
  // Everything that handlers use is ready before a slot points to them.
  __atomic_thread_fence(__ATOMIC_RELEASE);
  fill_with_next(tables);
  fill(tables, ppi_nvtx_core_handlers, ppi_nvtx_num_core_handlers);
  fill(tables, ppi_nvtx_naming_handlers, ppi_nvtx_num_naming_handlers);
}

static void notify_version(nvtx_get_export_table get) {
  const nvtx_version_info *info = get(NVTX_TABLE_VERSION);
  if (info && info->size >= sizeof *info && info->set_tool_version)
    info->set_tool_version(3);
}

// A program without a loader of its own has a second C library beside its own
// by now, in which threads cannot be started.
static bool is_static_program(void) {
  return getauxval(AT_BASE) == 0;
}

// Events that any copy of pprof emits are recorded already: only the tool
// behind us gets them.
static bool is_emission(nvtx_get_export_table get) {
  return get(NVTX_TABLE_PPROF) != NULL;
}

static int pass_on(nvtx_get_export_table get) {
  ppi_nvtx_chain_load();
  return ppi_nvtx_chain_unit(get);
}

// CUDA calls this before its first context, if CUDA_INJECTION64_PATH names us:
// kernels are traced from the first one.
int InitializeInjection(void) {
  if (is_static_program() ||
      __atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE) ||
      pprof_inject_owner_(&own) != &own)
    return 0;
  return attach();
}

int InitializeInjectionNvtx2(nvtx_get_export_table get) {
  if (!get || is_static_program() ||
      __atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE))
    return 0;
  bool emission = is_emission(get);
  if (!emission && is_own_unit(get)) return 0;
  // A second copy of this library leaves it all to the first.
  const entry_points *owner = pprof_inject_owner_(&own);
  if (owner != &own) return owner->initialize(get);
  if (emission) return pass_on(get);
  const nvtx_callbacks *callbacks = get(NVTX_TABLE_CALLBACKS);
  if (!callbacks || callbacks->size < sizeof *callbacks ||
      !callbacks->get_module_table || !attach())
    return 0;
  ppi_nvtx_chain_load();
  notify_version(get);
  fill_slots(callbacks);
  return 1;
}

// 1 whatever it is: after a 0 the unit takes every domain for disabled.
int InitializeInjectionNvtxExtension(nvtx_extension *extension) {
  const entry_points *owner = pprof_inject_owner_(&own);
  if (owner != &own) return owner->initialize_extension(extension);
  if (!extension || __atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE))
    return 1;
  ppi_nvtx_fill_extension(extension);
  ppi_nvtx_chain_extension(extension);
  return 1;
}
