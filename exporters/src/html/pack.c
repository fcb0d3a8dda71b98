// SPDX-License-Identifier: Apache-2.0
//
// Writes numbers as bytes of seven bits, and bytes as compressed text.
#include "html/pack.h"

#include <string.h>
#include <zlib.h>

#include "base/mem.h"

static uint8_t *room_for(ppi_pack *pack, size_t len) {
  uint8_t *grown = pack->failed ? NULL
                                : ppi_grow(pack->bytes, &pack->capacity,
                                           pack->len + len, sizeof *grown);
  if (grown)
    pack->bytes = grown;
  else
    pack->failed = true;
  return grown ? grown + pack->len : NULL;
}

void ppi_pack_number(ppi_pack *pack, uint64_t number) {
  enum { MOST_BYTES = 10 };
  uint8_t *at = room_for(pack, MOST_BYTES);
  if (!at) return;
  for (; number >= 128; number >>= 7) *at++ = (uint8_t)(number | 128);
  *at++ = (uint8_t)number;
  pack->len = (size_t)(at - pack->bytes);
}

void ppi_pack_signed(ppi_pack *pack, int64_t number) {
  uint64_t bits = (uint64_t)number << 1;
  ppi_pack_number(pack, number < 0 ? ~bits : bits);
}

void ppi_pack_bytes(ppi_pack *pack, const void *bytes, size_t len) {
  uint8_t *at = room_for(pack, len);
  if (!at || !len) return;
  memcpy(at, bytes, len);
  pack->len += len;
}

pprof_status ppi_pack_shrink(ppi_pack *pack) {
  uLongf len = compressBound((uLong)pack->len);
  uint8_t *packed = pack->failed ? NULL : ppi_alloc(len);
  bool done = packed && compress2(packed, &len, pack->bytes, (uLong)pack->len,
                                  Z_BEST_COMPRESSION) == Z_OK;
  ppi_pack_clear(pack);
  if (done)
    *pack = (ppi_pack){packed, len, len, false};
  else
    ppi_free(packed);
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

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

void ppi_pack_put(const ppi_pack *pack, FILE *out) {
  enum { PIECE = 3 * 1024 };
  char text[PPI_BASE64_SIZE(PIECE)];
  for (size_t at = 0; at < pack->len; at += PIECE) {
    size_t left = pack->len - at;
    ppi_base64(pack->bytes + at, left < PIECE ? left : PIECE, text);
    fputs(text, out);
  }
}

void ppi_pack_clear(ppi_pack *pack) {
  ppi_free(pack->bytes);
  *pack = (ppi_pack){NULL, 0, 0, false};
}

// At this level almost no detail is left.
enum { LAST_LEVEL = 16 };

static bool is_short(const ppi_part *part, const ppi_pack *pack) {
  return PPI_PACK_TEXT_LEN(pack->len) <= part->most_bytes;
}

pprof_status ppi_part_put(const ppi_part *part, const void *of, FILE *out) {
  ppi_pack pack = {0};
  pprof_status status = PPROF_STATUS_OK;
  for (unsigned level = 0; level <= LAST_LEVEL && status == PPROF_STATUS_OK;
       level++) {
    ppi_pack_clear(&pack);
    status = part->make(&pack, of, level);
    if (status == PPROF_STATUS_OK) status = ppi_pack_shrink(&pack);
    if (status == PPROF_STATUS_OK && is_short(part, &pack)) break;
  }
  fprintf(out, "<script type=\"text/plain\" id=\"%s\">", part->id);
  if (status == PPROF_STATUS_OK) ppi_pack_put(&pack, out);
  fputs("</script>\n", out);
  ppi_pack_clear(&pack);
  return status;
}
