// SPDX-License-Identifier: Apache-2.0
//
// Bytes as text (RFC 4648, 4).
#ifndef PPI_BASE64_H_
#define PPI_BASE64_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// With the zero at the end.
#define PPI_BASE64_SIZE(size) (((size) + 2) / 3 * 4 + 1)
// ppi_base64 writes PPI_BASE64_SIZE(size) characters.
void ppi_base64(const void *bytes, size_t size, char *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_BASE64_H_
