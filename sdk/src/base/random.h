// SPDX-License-Identifier: Apache-2.0
//
// Numbers that no other process has.
#ifndef PPI_RANDOM_H_
#define PPI_RANDOM_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ppi_random64 gives the kernel's randomness, or, where that is not ready, one
// of clock and process: unlikely to meet another, easy to guess.
uint64_t ppi_random64(void);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RANDOM_H_
