// SPDX-License-Identifier: Apache-2.0
//
// The functions of libcuda that the cuda backend calls.
#pragma once

#include "driver_events.h"

PPROF_BEGIN_C_

// ppi_cuda_symbols lists these functions by name.
const ppi_symbol *ppi_cuda_symbols(size_t *out_num);

// The functions of libcuda, from the first of `sonames` that can be loaded.
pprof_status ppi_cuda_load(const char *const *sonames, ppi_driver_api *out,
                           pprof_error *error);

PPROF_END_C_
