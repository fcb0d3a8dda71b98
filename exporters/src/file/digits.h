// SPDX-License-Identifier: Apache-2.0
//
// Numbers as decimal digits.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// They answer the end of the number, and touch no more bytes than this.
#define PPI_DIGITS_MOST 24
char *ppi_digits_u64(char *at, uint64_t value);
// Nanoseconds as decimal microseconds with exactly three digits.
char *ppi_digits_us(char *at, uint64_t ns);

PPROF_END_C_
