// SPDX-License-Identifier: Apache-2.0
//
// What libpprof_nvtx.so, as a layer of OpenCL's loader, uses of libpprof.so.
#pragma once

#include "pprof/base.h"

// pprof_inject_opencl_ is clInitLayer of OpenCL's loader, once a process;
// `attach` has injection start its session, when the program makes its first
// queue.
//
// Result: a code of OpenCL's; 0 is success.
PPROF_API int pprof_inject_opencl_(uint32_t num, const void *target,
                                   uint32_t *out_num, const void **out_layer,
                                   int (*attach)(void));
