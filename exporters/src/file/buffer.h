// SPDX-License-Identifier: Apache-2.0
//
// A buffer of bytes that grows, and a cursor over untrusted bytes. Both
// remember a failure (no memory, bytes missing), so that a caller checks once
// at the end.
#pragma once

#include <endian.h>
#include <string.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_buffer {
  uint8_t *data;
  size_t len, capacity;
  bool failed;  // an append found no memory; later ones are ignored
} ppi_buffer;

bool ppi_buffer_grow(ppi_buffer *buffer, size_t extra);
void ppi_buffer_clear(ppi_buffer *buffer);  // frees
void ppi_buffer_bytes(ppi_buffer *buffer, const void *bytes, size_t len);
// A length, then the bytes.
void ppi_buffer_text(ppi_buffer *buffer, const char *text, size_t len);

static inline bool ppi_buffer_room(ppi_buffer *buffer, size_t extra) {
  return buffer->capacity - buffer->len >= extra ||
         ppi_buffer_grow(buffer, extra);
}

#define PPI_VARINT_MAX 10u
// Seven bits a byte, the lowest first, bit 7 set on all but the last (LEB128).
static inline size_t ppi_varint_store(uint8_t *out, uint64_t value) {
  size_t n = 0;
  for (; value >= 0x80; value >>= 7) out[n++] = (uint8_t)(value | 0x80);
  out[n++] = (uint8_t)value;
  return n;
}

// The same without branches, for values below 2^28. Lengths vary, so the CPU
// would mispredict a branch for each byte. Writes four bytes.
static inline size_t ppi_varint_store_short(uint8_t *out, uint32_t value) {
  static const uint32_t more[4] = {0, 0x80, 0x8080, 0x808080};
  // Divides by 7, exact up to 34.
  size_t n = (7u + (31u ^ (unsigned)__builtin_clz(value | 1))) * 37 >> 8;
  uint32_t spread = (value & 0x3fff) | (value & 0xfffc000) << 2;
  spread = (spread & 0x7f007f) | (spread & 0x3f803f80) << 1;
  spread |= more[n - 1];
  spread = htole32(spread);
  memcpy(out, &spread, sizeof spread);
  return n;
}

// Answers its length; 0 when there is no memory.
static inline size_t ppi_buffer_varint(ppi_buffer *buffer, uint64_t value) {
  if (!ppi_buffer_room(buffer, PPI_VARINT_MAX)) return 0;
  uint8_t *out = buffer->data + buffer->len;
  size_t n = value >> 28 ? ppi_varint_store(out, value)
                         : ppi_varint_store_short(out, (uint32_t)value);
  buffer->len += n;
  return n;
}

// 0, -1, 1, -2, 2 ... become 0, 1, 2, 3, 4 ...; differences are modulo 2^64,
// so every pair of values has one.
static inline uint64_t ppi_zigzag(uint64_t difference) {
  return difference << 1 ^ (0 - (difference >> 63));
}
static inline uint64_t ppi_unzigzag(uint64_t value) {
  return value >> 1 ^ (0 - (value & 1));
}

typedef struct ppi_cursor {
  const uint8_t *at, *end;
  bool failed;  // a read passed the end; reads then answer zeroes
} ppi_cursor;

static inline ppi_cursor ppi_cursor_of(const void *bytes, size_t len) {
  const uint8_t *at = (const uint8_t *)bytes;
  ppi_cursor cursor = {at, at + len, false};
  return cursor;
}
static inline size_t ppi_cursor_left(const ppi_cursor *cursor) {
  return (size_t)(cursor->end - cursor->at);
}
uint64_t ppi_cursor_long_varint(ppi_cursor *cursor);
static inline uint64_t ppi_cursor_varint(ppi_cursor *cursor) {
  const uint8_t *at = cursor->at;
  if (at < cursor->end && *at < 0x80) {
    cursor->at = at + 1;
    return *at;
  }
  if (cursor->end - at < 4) return ppi_cursor_long_varint(cursor);
  uint32_t value = at[0];
  value += ((uint32_t)at[1] << 7) - 0x80;
  if (at[1] < 0x80) {
    cursor->at = at + 2;
    return value;
  }
  value += ((uint32_t)at[2] << 14) - (0x80 << 7);
  if (at[2] < 0x80) {
    cursor->at = at + 3;
    return value;
  }
  return ppi_cursor_long_varint(cursor);
}
// A varint that must fit 32 bits; fails otherwise.
uint32_t ppi_cursor_u32(ppi_cursor *cursor);
// NULL, and failed, when fewer than `len` bytes are left.
const uint8_t *ppi_cursor_bytes(ppi_cursor *cursor, size_t len);
// A length, then that many bytes, which are not terminated.
const char *ppi_cursor_text(ppi_cursor *cursor, size_t *out_len);

static inline void ppi_store32(uint8_t *out, uint32_t value) {
  value = htole32(value);
  memcpy(out, &value, sizeof value);
}
static inline void ppi_store64(uint8_t *out, uint64_t value) {
  value = htole64(value);
  memcpy(out, &value, sizeof value);
}
static inline uint32_t ppi_load32(const uint8_t *in) {
  return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
         (uint32_t)in[3] << 24;
}
PPROF_END_C_
