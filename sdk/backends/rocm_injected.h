// SPDX-License-Identifier: Apache-2.0
//
// What libpprof_nvtx.so, as a tool of rocprofiler-sdk, uses of libpprof.so.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// pprof_inject_rocm_ is rocprofiler_configure; `client` is its structure.
// `attach` lets injection start its session.
//
// Result: rocprofiler-sdk's; NULL: nothing is to be traced, or its version is
// another one.
PPROF_API void *pprof_inject_rocm_(uint32_t version, void *client,
                                   int (*attach)(void));

PPROF_END_C_
