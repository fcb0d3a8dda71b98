// SPDX-License-Identifier: Apache-2.0
//
// The names of kernels, which C++ makes long.
#ifndef PPI_KERNEL_NAME_H_
#define PPI_KERNEL_NAME_H_

#include "file/text.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_kernel_name_short appends what tells kernels apart in few words: the
// name without what it returns, its namespaces and parameters, and in <> the
// innermost of its template's first arguments that is a name itself.
void ppi_kernel_name_short(ppi_page *page, const char *name);

#ifdef __cplusplus
}
#endif

#endif  // PPI_KERNEL_NAME_H_
