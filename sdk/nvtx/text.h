// SPDX-License-Identifier: Apache-2.0
//
// UTF-32 to UTF-8.
#pragma once

#include <stddef.h>

// As much as fits, zero-terminated.
const char *ppi_nvtx_utf8(const wchar_t *wide, char *out, size_t size);
