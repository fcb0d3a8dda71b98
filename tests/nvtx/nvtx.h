// SPDX-License-Identifier: Apache-2.0
//
// NVTX as a program sees it: the CUDA toolkit's headers with NVTX_HEADERS, our
// own client without. The programs here compile with both and must behave
// alike.
#pragma once

#ifdef NVTX_HEADERS
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtOpenCL.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>
#else
#include "client.h"
#endif
