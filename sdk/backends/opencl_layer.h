// SPDX-License-Identifier: Apache-2.0
//
// OpenCL's own times of a program's commands as a source of kernels. OpenCL's
// loader puts layers between a program and its drivers (OPENCL_LAYERS). Our
// layer gets every command, and asks the command's event for its times.
#pragma once

#include "kernels/source.h"

// ppi_opencl_source is the one of this process.
const ppi_kernel_source *ppi_opencl_source(void);
