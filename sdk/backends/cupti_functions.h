// SPDX-License-Identifier: Apache-2.0
//
// Which calls of CUDA are looked at, and what for.
#pragma once

#include "cupti_abi.h"
#include "kernels/launch.h"
#include "pprof/mark.h"

PPROF_BEGIN_C_

typedef struct ppi_cupti_function {
  pprof_site site;   // of what it is told as
  bool is_reported;  // atomic
  bool is_launch;    // records may come of it
  ppi_launch_kind kind;
} ppi_cupti_function;

// ppi_cupti_enable_functions enables callbacks of the functions of interest, by
// their names: numbers of new ones are not known here.
void ppi_cupti_enable_functions(const ppi_cupti_api *api, void *subscriber);
// ppi_cupti_function_of answers NULL for one that is of none.
ppi_cupti_function *ppi_cupti_function_of(uint32_t domain, uint32_t id);

PPROF_END_C_
