// SPDX-License-Identifier: Apache-2.0
//
// Bytes as text (RFC 4648, 4).
#pragma once

#include <stddef.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// With the zero at the end.
#define PPI_BASE64_SIZE(size) (((size) + 2) / 3 * 4 + 1)
// ppi_base64 writes PPI_BASE64_SIZE(size) characters.
void ppi_base64(const void *bytes, size_t size, char *out);

PPROF_END_C_
