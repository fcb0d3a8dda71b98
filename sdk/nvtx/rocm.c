// SPDX-License-Identifier: Apache-2.0
//
// Answers rocprofiler-sdk, which loads this library as a tool from
// ROCP_TOOL_LIBRARIES when the program loads ROCm. libpprof.so implements the
// tool.
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
