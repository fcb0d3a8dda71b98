// SPDX-License-Identifier: Apache-2.0
//
// How far a figure would lie off in another run of the same length: the moving
// block bootstrap (Kuensch 1989). Blocks of ceil(cbrt n) values that follow
// each other, from anywhere and around the end, 1000 times (200 of more than
// 100 000 values); the interval is from the 2.5th to the 97.5th percent of the
// figures. The same values always have the same one. Pure functions.
#ifndef PPI_WHATIF_BOOTSTRAP_H_
#define PPI_WHATIF_BOOTSTRAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of fewer values nothing is said; of a percentile, of so few that it is the
// greatest.
enum { PPI_WHATIF_LEAST = 8 };

bool ppi_whatif_bootstrap_mean(const double *values, size_t num,
                               double *out_low, double *out_high);
// `sorted` has the values in order; `scratch` room for twice as many.
bool ppi_whatif_bootstrap_rank(const double *values, size_t num,
                               uint32_t percent, const double *sorted,
                               size_t *scratch, double *out_low,
                               double *out_high);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WHATIF_BOOTSTRAP_H_
