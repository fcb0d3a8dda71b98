// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) of a short text, for names that must not be read.
#ifndef PPI_SHA256_H_
#define PPI_SHA256_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void ppi_sha256(const void *data, size_t size, uint8_t out[32]);

#ifdef __cplusplus
}
#endif

#endif  // PPI_SHA256_H_
