// SPDX-License-Identifier: Apache-2.0
//
// Encodes bytes in base64: three bytes become four characters.
#include "html/base64.h"

#include <stdint.h>

void ppi_base64(const void *bytes, size_t size, char *out) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint8_t *at = bytes;
  for (; size; at += 3) {
    size_t num = size < 3 ? size : 3;
    uint32_t word = (uint32_t)at[0] << 16;
    if (num > 1) word |= (uint32_t)at[1] << 8;
    if (num > 2) word |= at[2];
    for (size_t i = 0; i < 4; i++)
      *out++ = i <= num ? digits[word >> (18 - 6 * i) & 63] : '=';
    size -= num;
  }
  *out = '\0';
}
