// SPDX-License-Identifier: Apache-2.0
//
// How rocprofiler-sdk finds this library: as a tool that ROCP_TOOL_LIBRARIES
// names, when the program loads ROCm. What the tool does is libpprof.so's.
#include "rocm_injected.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);
EXPORTED void *rocprofiler_configure(uint32_t version, const char *words,
                                     uint32_t priority, void *client);

void *rocprofiler_configure(uint32_t version, const char *words,
                            uint32_t priority, void *client) {
  (void)words, (void)priority;
  return pprof_inject_rocm_(version, client, InitializeInjection);
}
