// SPDX-License-Identifier: Apache-2.0
//
// Appends bytes to a buffer and reads untrusted bytes. One thread at a time per
// object.
#include "file/buffer.h"

#include "base/mem.h"

bool ppi_buffer_grow(ppi_buffer *buffer, size_t extra) {
  buffer->failed =
      buffer->failed || extra > SIZE_MAX - buffer->len ||
      !PPI_ROOM(buffer->data, buffer->capacity, buffer->len + extra);
  return !buffer->failed;
}

void ppi_buffer_clear(ppi_buffer *buffer) {
  ppi_free(buffer->data);
  *buffer = (ppi_buffer){0};
}

void ppi_buffer_bytes(ppi_buffer *buffer, const void *bytes, size_t len) {
  if (len == 0 || !ppi_buffer_room(buffer, len)) return;
  memcpy(buffer->data + buffer->len, bytes, len);
  buffer->len += len;
}

void ppi_buffer_text(ppi_buffer *buffer, const char *text, size_t len) {
  ppi_buffer_varint(buffer, len);
  ppi_buffer_bytes(buffer, text, len);
}

uint64_t ppi_cursor_long_varint(ppi_cursor *cursor) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (cursor->at == cursor->end) break;
    uint8_t byte = *cursor->at++;
    // The tenth byte holds one bit.
    if (shift == 63 && byte > 1) break;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  cursor->failed = true;
  cursor->at = cursor->end;
  return 0;
}

uint32_t ppi_cursor_u32(ppi_cursor *cursor) {
  uint64_t value = ppi_cursor_varint(cursor);
  if (value <= UINT32_MAX) return (uint32_t)value;
  cursor->failed = true;
  return 0;
}

const uint8_t *ppi_cursor_bytes(ppi_cursor *cursor, size_t len) {
  if (cursor->failed || len > ppi_cursor_left(cursor)) {
    cursor->failed = true;
    return NULL;
  }
  const uint8_t *at = cursor->at;
  cursor->at += len;
  return at;
}

const char *ppi_cursor_text(ppi_cursor *cursor, size_t *out_len) {
  uint64_t len = ppi_cursor_varint(cursor);
  if (len > ppi_cursor_left(cursor)) cursor->failed = true;
  *out_len = cursor->failed ? 0 : (size_t)len;
  return (const char *)ppi_cursor_bytes(cursor, *out_len);
}
