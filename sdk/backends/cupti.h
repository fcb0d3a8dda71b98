// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's activity records as a source of kernels.
#ifndef PPI_CUPTI_H_
#define PPI_CUPTI_H_

#include "kernels/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_cupti_source is the one of this process.
const ppi_kernel_source *ppi_cupti_source(void);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CUPTI_H_
