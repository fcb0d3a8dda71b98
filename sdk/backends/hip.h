// SPDX-License-Identifier: Apache-2.0
//
// The HIP functions that the hip backend calls, declared here so that no ROCm
// header is needed to build it. Result and enum types are int in HIP's ABI.
#pragma once

#include "driver_events.h"

PPROF_BEGIN_C_

// name, may be missing (newer than the rest), result, parameters
#define PPI_HIP_LIST(X)                                                 \
  X(hipInit, false, int, (unsigned flags))                              \
  X(hipGetDeviceCount, false, int, (int *out_num))                      \
  X(hipGetDevice, false, int, (int *out_device))                        \
  X(hipSetDevice, false, int, (int device))                             \
  X(hipGetStreamDeviceId, false, int, (void *stream))                   \
  X(hipStreamGetId, true, int, (void *stream, unsigned long long *out)) \
  X(hipStreamIsCapturing, false, int, (void *stream, int *out_state))   \
  X(hipThreadExchangeStreamCaptureMode, false, int, (int *mode))        \
  X(hipStreamCreateWithFlags, false, int, (void **out, unsigned flags)) \
  X(hipStreamDestroy, false, int, (void *stream))                       \
  X(hipEventCreateWithFlags, false, int, (void **out, unsigned flags))  \
  X(hipEventDestroy, false, int, (void *event))                         \
  X(hipEventRecord, false, int, (void *event, void *stream))            \
  X(hipEventQuery, false, int, (void *event))                           \
  X(hipEventElapsedTime, false, int, (float *ms, void *from, void *to)) \
  X(hipGetErrorName, false, const char *, (int code))

typedef struct ppi_hip_api {
#define PPI_HIP_MEMBER_(name, optional, result, parameters) \
  result(*name) parameters;
  PPI_HIP_LIST(PPI_HIP_MEMBER_)
#undef PPI_HIP_MEMBER_
} ppi_hip_api;

pprof_status ppi_hip_load(const char *const *sonames, ppi_hip_api *out,
                          pprof_error *error);
// Makes `functions` the ones in use, through the shared driver table.
void ppi_hip_use(const ppi_hip_api *functions, ppi_driver_api *out);

PPROF_END_C_
