// SPDX-License-Identifier: Apache-2.0
//
// Attaches the NVTX tool of this process to a client of our own: a linkage unit
// in NVTX's words, with slots that the tool fills. Programs link the library
// into themselves; NVTX's headers would then share one unit with the program's
// own calls, and our injection could not distinguish the two.
#include "mark/nvtx_tool.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/descriptor.h"

static nvtx_function slots[NVTX_NUM_MODULES][NVTX_MAX_CALLS];
static ppi_nvtx_tool attached;
static bool is_attached;

static int get_module_table(uint32_t module, nvtx_function ***out_table,
                            unsigned *out_num) {
  static const unsigned sizes[NVTX_NUM_MODULES] = {0, 16, 9, 15, 7, 16, 7};
  static nvtx_function *tables[NVTX_NUM_MODULES][NVTX_MAX_CALLS];
  if (module == 0 || module >= NVTX_NUM_MODULES) return 0;
  for (unsigned i = 1; i < sizes[module]; i++)
    tables[module][i] = &slots[module][i];
  if (out_table) *out_table = tables[module];
  if (out_num) *out_num = sizes[module];
  return 1;
}

static void set_tool_version(uint32_t version) {
  (void)version;
}

static const void *get_export_table(uint32_t id) {
  static const nvtx_callbacks callbacks = {sizeof callbacks, get_module_table};
  static const nvtx_version_info version = {sizeof version, 3, 0,
                                            set_tool_version};
  if (id == NVTX_TABLE_CALLBACKS) return &callbacks;
  if (id == NVTX_TABLE_VERSION) return &version;
  return id == NVTX_TABLE_PPROF ? &callbacks : NULL;
}

// A slot has the type of its field.
static void take(void *field, unsigned call) {
  memcpy(field, &slots[NVTX_MODULE_CORE2][call], sizeof(nvtx_function));
}

static void take_all(void) {
  take(&attached.domain_create, NVTX_CORE2_DOMAIN_CREATE_A);
  take(&attached.register_string, NVTX_CORE2_REGISTER_STRING_A);
  take(&attached.name_category, NVTX_CORE2_NAME_CATEGORY_A);
  take(&attached.mark, NVTX_CORE2_MARK);
  take(&attached.start, NVTX_CORE2_START);
  take(&attached.end, NVTX_CORE2_END);
  take(&attached.push, NVTX_CORE2_PUSH);
  take(&attached.pop, NVTX_CORE2_POP);
}

// One without the other would leave the tool's stacks out of balance.
static void drop_halves(void) {
  if (!attached.push || !attached.pop) {
    attached.push = NULL;
    attached.pop = NULL;
  }
  if (!attached.start || !attached.end) {
    attached.start = NULL;
    attached.end = NULL;
  }
}

static bool load_library(const char *path) {
  int (*initialize)(nvtx_get_export_table);
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return false;
  void *found = dlsym(library, "InitializeInjectionNvtx2");
  memcpy(&initialize, &found, sizeof initialize);
  memset(slots, 0, sizeof slots);
  if (initialize && initialize(get_export_table)) return true;
  dlclose(library);
  return false;
}

static bool load(const char *path) {
  unsigned standing = ppi_fd_stand_in();
  bool loaded = load_library(path);
  ppi_fd_stand_down(standing);
  return loaded;
}

const ppi_nvtx_tool *ppi_nvtx_tool_find(void) {
  if (is_attached) return &attached;
  // A program with other rights than its caller loads nothing for it. One
  // without a loader of its own cannot.
  const char *path = secure_getenv("NVTX_INJECTION64_PATH");
  if (!path || !*path || getauxval(AT_BASE) == 0 || !load(path)) return NULL;
  take_all();
  drop_halves();
  is_attached = true;
  return &attached;
}
