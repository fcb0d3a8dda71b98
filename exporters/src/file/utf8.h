// SPDX-License-Identifier: Apache-2.0
//
// Checks of UTF-8 for writers of names and for the reader of configuration
// files: is a character well-formed, and may it be shown as it is?
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

// ppi_utf8_code answers the character of `length` bytes at `at`.
static inline uint32_t ppi_utf8_code(const unsigned char *at, size_t length) {
  uint32_t code = length <= 1 ? at[0] : at[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) code = code << 6 | (at[i] & 0x3fu);
  return code;
}

// ppi_utf8_is_invisible: controls (C0, C1), bidi marks, line separators,
// zero-width characters. They can move a cursor, hide, or reorder a line.
static inline bool ppi_utf8_is_invisible(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0xad ||
         code == 0x34f || code == 0x61c || code == 0x180e ||
         (code >= 0x115f && code <= 0x1160) ||
         (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0x3164 ||
         code == 0xfeff || code == 0xffa0 ||
         (code >= 0xfff9 && code <= 0xfffb) ||
         (code >= 0xe0000 && code <= 0xe007f);
}

// ppi_utf8_columns: 2 for East Asian characters and pictures, 0 for marks that
// stand on the character before them, else 1.
static inline size_t ppi_utf8_columns(uint32_t code) {
  bool is_mark = (code >= 0x300 && code <= 0x36f) ||
                 (code >= 0x20d0 && code <= 0x20ff) ||
                 (code >= 0xfe00 && code <= 0xfe0f);
  bool is_wide = (code >= 0x1100 && code <= 0x115f) ||
                 (code >= 0x2e80 && code <= 0xa4cf && code != 0x303f) ||
                 (code >= 0xac00 && code <= 0xd7a3) ||
                 (code >= 0xf900 && code <= 0xfaff) ||
                 (code >= 0xfe30 && code <= 0xfe6f) ||
                 (code >= 0xff00 && code <= 0xff60) ||
                 (code >= 0xffe0 && code <= 0xffe6) ||
                 (code >= 0x1f300 && code <= 0x1f64f) ||
                 (code >= 0x1f900 && code <= 0x1f9ff) ||
                 (code >= 0x20000 && code <= 0x3fffd);
  return is_mark ? 0 : is_wide ? 2 : 1;
}
