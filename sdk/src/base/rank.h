// SPDX-License-Identifier: Apache-2.0
//
// Defines quantiles, here and in every table and rule: the value of nearest
// rank. Quantiles are written in millionths.
#pragma once

#include <stdint.h>

#define PPI_RANK_ALL 1000000u
#define PPI_RANK_PERCENT 10000u

// ppi_rank_of answers how many of `n` values in order come up to that quantile.
static inline uint64_t ppi_rank_of(uint64_t n, uint32_t ppm) {
  return n / PPI_RANK_ALL * ppm +
         (n % PPI_RANK_ALL * ppm + PPI_RANK_ALL - 1) / PPI_RANK_ALL;
}
