// SPDX-License-Identifier: Apache-2.0
#ifndef PPI_CUPTI_RECORDS_H_
#define PPI_CUPTI_RECORDS_H_

#include "cupti_abi.h"
#include "kernels/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_cupti_read answers false for a record of no interest, or none that this
// can read. What *out names is good until the next one is read.
bool ppi_cupti_read(const void *record, ppi_device_work *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CUPTI_RECORDS_H_
