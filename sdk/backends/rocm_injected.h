// SPDX-License-Identifier: Apache-2.0
//
// What libpprof_nvtx.so, as a tool of rocprofiler-sdk, uses of libpprof.so.
#ifndef PPI_ROCM_INJECTED_H_
#define PPI_ROCM_INJECTED_H_

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// pprof_inject_rocm_ is rocprofiler_configure, whose structure `client` is;
// `attach` has injection start its session.
//
// Result: rocprofiler-sdk's; NULL: nothing is to be traced, or its version is
// another one.
PPROF_API void *pprof_inject_rocm_(uint32_t version, void *client,
                                   int (*attach)(void));

#ifdef __cplusplus
}
#endif

#endif  // PPI_ROCM_INJECTED_H_
