// SPDX-License-Identifier: Apache-2.0
//
// Names of kernels as people write them.
#ifndef PPI_DEMANGLE_H_
#define PPI_DEMANGLE_H_

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_demangle answers what a C++ compiler has made `name` of, or `name` itself
// where it is none of its names, or the process has no C++ library. It holds
// until the next call. One thread at a time.
const char *ppi_demangle(const char *name);

#ifdef __cplusplus
}
#endif

#endif  // PPI_DEMANGLE_H_
