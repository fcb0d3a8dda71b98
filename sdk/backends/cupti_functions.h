// SPDX-License-Identifier: Apache-2.0
//
// The traced functions of CUDA, and why each is traced.
#pragma once

#include "cupti_abi.h"
#include "kernels/launch.h"
#include "pprof/mark.h"

typedef struct ppi_cupti_function {
  pprof_site site;   // names its calls in reports
  bool is_reported;  // atomic
  bool is_launch;    // records may follow it
  ppi_launch_kind kind;
} ppi_cupti_function;

// ppi_cupti_enable_functions enables callbacks of the traced functions by name:
// numbers of new ones are unknown.
void ppi_cupti_enable_functions(const ppi_cupti_api *api, void *subscriber);
// ppi_cupti_function_of answers NULL for other functions.
ppi_cupti_function *ppi_cupti_function_of(uint32_t domain, uint32_t id);
