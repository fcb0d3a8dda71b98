// SPDX-License-Identifier: Apache-2.0
//
// Numbers requests by contexts of 128 bits. Any thread.
#define PPROF_NO_INLINE
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "pprof/mark.h"

#define OF_CONTEXT (UINT64_C(1) << 63)

// Logs of all versions and hosts are joined by this number: the formula never
// changes.
uint64_t pprof_flow_context(uint64_t high, uint64_t low) {
  if (!high && !low) return 0;
  return ppi_mix(ppi_mix(high + UINT64_C(0x9e3779b97f4a7c15)) ^ low) |
         OF_CONTEXT;
}

// Digits of 16, small letters as W3C has them.
static bool read_hex(const char *text, int num, uint64_t *out) {
  *out = 0;
  for (int i = 0; i < num; i++) {
    char c = text[i];
    bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return false;
    *out = *out << 4 | (uint64_t)(is_digit ? c - '0' : c - 'a' + 10);
  }
  return true;
}

// version-traceid-parentid-flags; later versions may have more behind it.
uint64_t pprof_flow_traceparent(const char *traceparent) {
  const char *text = traceparent ? traceparent : secure_getenv("TRACEPARENT");
  uint64_t version, high, low, parent, flags;
  if (!text || strnlen(text, 55) < 55) return 0;
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return 0;
  if (!read_hex(text, 2, &version) || !read_hex(text + 3, 16, &high) ||
      !read_hex(text + 19, 16, &low) || !read_hex(text + 36, 16, &parent) ||
      !read_hex(text + 53, 2, &flags))
    return 0;
  bool ends = !text[55] || (version && text[55] == '-');
  if (version == 0xff || !parent || !ends) return 0;
  return pprof_flow_context(high, low);
}
