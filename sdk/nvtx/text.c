// SPDX-License-Identifier: Apache-2.0
//
// Converts wide strings. The C library's conversions depend on the program's
// locale, and the initial one refuses everything but ASCII.
#include "text.h"

#include <stdint.h>

_Static_assert(sizeof(wchar_t) == 4, "wide strings are UTF-32");

static size_t encode(uint32_t c, char out[4]) {
  if (c >= 0xd800 && (c < 0xe000 || c > 0x10ffff)) c = 0xfffd;
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = len; i-- > 1; c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
  static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
  out[0] = (char)(first[len] | c);
  return len;
}

const char *ppi_nvtx_utf8(const wchar_t *wide, char *out, size_t size) {
  size_t at = 0;
  if (!wide) return NULL;
  for (; *wide; wide++) {
    char bytes[4];
    size_t len = encode((uint32_t)*wide, bytes);
    if (at + len >= size) break;
    for (size_t i = 0; i < len; i++) out[at + i] = bytes[i];
    at += len;
  }
  out[at] = 0;
  return out;
}
