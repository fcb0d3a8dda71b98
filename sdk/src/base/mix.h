// SPDX-License-Identifier: Apache-2.0
//
// The finalizer of splitmix64 (Steele, Lea and Flood 2014): spreads numbers
// over all bits. No two numbers become one.
#pragma once

#include <stdint.h>

static inline uint64_t ppi_mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}
