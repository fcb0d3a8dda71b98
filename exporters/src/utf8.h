// SPDX-License-Identifier: Apache-2.0
//
// One question about UTF-8, asked by writers of JSON and by the reader of
// configuration files: is there a well-formed character here?
#ifndef PPI_UTF8_H_
#define PPI_UTF8_H_

#include <stddef.h>

// ppi_utf8_length answers how many bytes the character at `at` has, 0 when the
// bytes up to `end` do not begin with a well-formed one (overlong forms,
// surrogates and values above U+10FFFF are not).
static inline size_t ppi_utf8_length(const unsigned char *at,
                                     const unsigned char *end) {
  if (at >= end) return 0;
  if (at[0] < 0x80) return 1;
  size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  if (at[0] < 0xc2 || at[0] > 0xf4 || (size_t)(end - at) < length) return 0;
  unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
  unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
  if (at[1] < low || at[1] > high) return 0;
  for (size_t i = 2; i < length; i++)
    if (at[i] < 0x80 || at[i] > 0xbf) return 0;
  return length;
}

#endif  // PPI_UTF8_H_
