// SPDX-License-Identifier: Apache-2.0
//
// What names and requests are chosen by: globs, and hashes.
#ifndef PPI_GLOB_H_
#define PPI_GLOB_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

bool ppi_glob_match(const char *glob, const char *text);

// ppi_name_hash writes "#" and the first 12 hexadecimal digits of the name's
// SHA-256.
#define PPI_NAME_HASH ((size_t)14)
void ppi_name_hash(const char *name, char out[PPI_NAME_HASH]);

// ppi_request_is_kept: of all requests, one in `every` (0, 1: all), the same
// ones in every process.
bool ppi_request_is_kept(uint64_t flow, uint64_t every);

#ifdef __cplusplus
}
#endif

#endif  // PPI_GLOB_H_
