// SPDX-License-Identifier: Apache-2.0
//
// Names of kernels as people write them.
#pragma once

#include "base/base.h"

PPROF_BEGIN_C_

// ppi_demangle answers what a C++ compiler has made `name` of, or `name` itself
// where it is none of its names, or the process has no C++ library. It holds
// until the next call. One thread at a time.
const char *ppi_demangle(const char *name);

PPROF_END_C_
