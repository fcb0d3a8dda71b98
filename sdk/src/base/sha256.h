// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) of a short text, for names that must not be read.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

void ppi_sha256(const void *data, size_t size, uint8_t out[32]);

PPROF_END_C_
