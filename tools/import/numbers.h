// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text to integers, exactly.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Times beyond 2^62 ns (146 years) either way are no times.
#define PPI_IMPORT_MAX_NS (INT64_C(1) << 62)

// ppi_decimal_ns turns a decimal number of units of 10^`exponent` ns (3:
// microseconds) into ns, halves up, away from zero. False: no number, or
// beyond PPI_IMPORT_MAX_NS. What follows the number, say " us", is passed to
// *out_rest, which may be NULL: then nothing may follow.
bool ppi_decimal_ns(const char *text, size_t len, int exponent, int64_t *out,
                    size_t *out_rest);
// ppi_duration_ns reads a number and its unit: "12.3 us" (also ns, ms, s;
// without one microseconds).
bool ppi_duration_ns(const char *text, size_t len, int64_t *out);
// ppi_integer reads a whole decimal integer and nothing else.
bool ppi_integer(const char *text, size_t len, int64_t *out);
