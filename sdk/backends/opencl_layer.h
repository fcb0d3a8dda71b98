// SPDX-License-Identifier: Apache-2.0
//
// OpenCL's own times of a program's commands as a source of kernels. The loader
// of OpenCL puts layers between a program and its drivers (OPENCL_LAYERS); ours
// sees every command go by and asks its event when it ran.
#ifndef PPI_OPENCL_LAYER_H_
#define PPI_OPENCL_LAYER_H_

#include "kernels/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_opencl_source is the one of this process.
const ppi_kernel_source *ppi_opencl_source(void);

#ifdef __cplusplus
}
#endif

#endif  // PPI_OPENCL_LAYER_H_
