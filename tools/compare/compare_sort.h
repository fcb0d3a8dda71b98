// SPDX-License-Identifier: Apache-2.0
//
// Samples in order, in time that does not depend on how they lie.
#ifndef PPI_COMPARE_SORT_H_
#define PPI_COMPARE_SORT_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ppi_sort_samples sorts n numbers, none of them NaN; `scratch` has room for n.
void ppi_sort_samples(float *values, float *scratch, size_t n);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COMPARE_SORT_H_
