// SPDX-License-Identifier: Apache-2.0
//
// NVTX's extensions: payloads and counters.
#ifndef PPI_NVTX_EXTENSION_H_
#define PPI_NVTX_EXTENSION_H_

#include "abi.h"

void ppi_nvtx_fill_extension(const nvtx_extension *extension);

#endif  // PPI_NVTX_EXTENSION_H_
