// SPDX-License-Identifier: Apache-2.0
//
// What the cuda backend asks of libcuda.
#ifndef PPI_CUDA_SYMBOLS_H_
#define PPI_CUDA_SYMBOLS_H_

#include "driver_events.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_cuda_symbols lists what is asked of libcuda, by name.
const ppi_symbol *ppi_cuda_symbols(size_t *out_num);

// The functions of libcuda, from the first of `sonames` that can be loaded.
pprof_status ppi_cuda_load(const char *const *sonames, ppi_driver_api *out,
                           pprof_error *error);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CUDA_SYMBOLS_H_
