// SPDX-License-Identifier: Apache-2.0
//
// The NVTX tool that this process has, as any annotated program finds it:
// emission's own client, which needs none of NVTX's headers. Called by emit.c.
#pragma once

#include <stdbool.h>

#include "../nvtx/abi.h"
#include "pprof/base.h"

PPROF_BEGIN_C_

// What the tool does with a call; NULL: nothing.
typedef struct ppi_nvtx_tool {
  void *(*domain_create)(const char *name);
  void *(*register_string)(void *domain, const char *text);
  void (*name_category)(void *domain, uint32_t category, const char *name);
  void (*mark)(void *domain, const nvtx_attributes *attributes);
  uint64_t (*start)(void *domain, const nvtx_attributes *attributes);
  void (*end)(void *domain, uint64_t range);
  int (*push)(void *domain, const nvtx_attributes *attributes);
  int (*pop)(void *domain);
} ppi_nvtx_tool;

// ppi_nvtx_tool_find answers the tool that NVTX_INJECTION64_PATH names; NULL:
// there is none, or it declines. One that came stays. One thread at a time.
const ppi_nvtx_tool *ppi_nvtx_tool_find(void);

PPROF_END_C_
