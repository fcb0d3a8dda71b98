// SPDX-License-Identifier: Apache-2.0
//
// Writes numbers as bytes of seven bits, and bytes as compressed text.
#include "html/pack.h"

#include <zlib.h>

#include "base/mem.h"
#include "html/base64.h"

void ppi_pack_number(ppi_pack *pack, uint64_t number) {
  enum { MOST_BYTES = 10 };
  uint8_t *grown = pack->failed
                       ? NULL
                       : ppi_grow(pack->bytes, &pack->capacity,
                                  pack->len + MOST_BYTES, sizeof *grown);
  if (!grown) {
    pack->failed = true;
    return;
  }
  pack->bytes = grown;
  for (; number >= 128; number >>= 7)
    grown[pack->len++] = (uint8_t)(number | 128);
  grown[pack->len++] = (uint8_t)number;
}

void ppi_pack_signed(ppi_pack *pack, int64_t number) {
  uint64_t bits = (uint64_t)number << 1;
  ppi_pack_number(pack, number < 0 ? ~bits : bits);
}

static pprof_status put_text(const uint8_t *bytes, size_t len, FILE *out) {
  enum { PIECE = 3 * 1024 };
  char text[PPI_BASE64_SIZE(PIECE)];
  for (size_t at = 0; at < len; at += PIECE) {
    ppi_base64(bytes + at, len - at < PIECE ? len - at : PIECE, text);
    fputs(text, out);
  }
  return PPROF_STATUS_OK;
}

pprof_status ppi_pack_put(ppi_pack *pack, FILE *out) {
  uLongf len = compressBound((uLong)pack->len);
  uint8_t *packed = pack->failed ? NULL : ppi_alloc(len);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  if (packed && compress2(packed, &len, pack->bytes, (uLong)pack->len,
                          Z_BEST_COMPRESSION) == Z_OK)
    status = put_text(packed, len, out);
  ppi_free(packed);
  ppi_free(pack->bytes);
  *pack = (ppi_pack){NULL, 0, 0, false};
  return status;
}
