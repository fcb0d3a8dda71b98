// SPDX-License-Identifier: Apache-2.0
//
// Implements an NVTX tool that does nothing, the least cost of any injection.
#include "abi.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table get);
EXPORT int InitializeInjectionNvtxExtension(nvtx_extension *extension);

// Called with arguments of every type; none is looked at.
static intptr_t nothing(void) {
  return 0;
}

int InitializeInjectionNvtx2(nvtx_get_export_table get) {
  const nvtx_callbacks *callbacks = get(NVTX_TABLE_CALLBACKS);
  nvtx_function **table;
  unsigned num;
  for (uint32_t m = NVTX_MODULE_CORE; m < NVTX_NUM_MODULES; m++)
    if (callbacks->get_module_table(m, &table, &num))
      for (unsigned i = 1; i < num; i++) *table[i] = (nvtx_function)nothing;
  return 1;
}

int InitializeInjectionNvtxExtension(nvtx_extension *extension) {
  (void)extension;
  return 1;
}
