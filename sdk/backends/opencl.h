// SPDX-License-Identifier: Apache-2.0
//
// The OpenCL functions that the backend calls, found at run time. The headers
// are needed to build, the library only where the backend is opened.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_OPENCL_LIST(X)       \
  X(clGetPlatformIDs)            \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clCreateContext)             \
  X(clReleaseContext)            \
  X(clCreateCommandQueue)        \
  X(clRetainCommandQueue)        \
  X(clReleaseCommandQueue)       \
  X(clGetCommandQueueInfo)       \
  X(clEnqueueMarkerWithWaitList) \
  X(clFlush)                     \
  X(clGetEventInfo)              \
  X(clGetEventProfilingInfo)     \
  X(clReleaseEvent)

typedef struct ppi_opencl_api {
#define PPI_OPENCL_MEMBER_(name) __typeof__(name) *name;
  PPI_OPENCL_LIST(PPI_OPENCL_MEMBER_)
#undef PPI_OPENCL_MEMBER_
} ppi_opencl_api;

pprof_status ppi_opencl_load(const char *const *sonames, ppi_opencl_api *out,
                             pprof_error *error);

// Tests: the backend calls `functions` from now on. No device may be open.
void ppi_opencl_use(const ppi_opencl_api *functions);

PPROF_END_C_
