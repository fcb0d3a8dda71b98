// SPDX-License-Identifier: Apache-2.0
//
// Parts of the page: numbers as bytes, seven bits each, and bytes as compressed
// text. A part grows with the log, has a bound, and loses detail until it fits.
#pragma once

#include <stdio.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// All zero is an empty pack. A failed allocation sets `failed`.
typedef struct ppi_pack {
  uint8_t *bytes;
  size_t len, capacity;
  bool failed;
} ppi_pack;

void ppi_pack_number(ppi_pack *pack, uint64_t number);
// Small numbers of either sign take few bytes.
void ppi_pack_signed(ppi_pack *pack, int64_t number);
void ppi_pack_bytes(ppi_pack *pack, const void *bytes, size_t len);
// ppi_pack_shrink compresses the bytes into a zlib stream. NO_MEMORY.
pprof_status ppi_pack_shrink(ppi_pack *pack);
// ppi_pack_put writes the bytes in base64: PPI_PACK_TEXT_LEN characters.
#define PPI_PACK_TEXT_LEN(len) (((len) + 2) / 3 * 4)
void ppi_pack_put(const ppi_pack *pack, FILE *out);
void ppi_pack_clear(ppi_pack *pack);

typedef struct ppi_part {
  const char *id;     // of its element
  size_t most_bytes;  // of the element's text
  // Appends the part; each further level has half the detail.
  pprof_status (*make)(ppi_pack *pack, const void *of, unsigned level);
} ppi_part;

// Errors of ppi_part_put: those of `make`; NO_MEMORY.
pprof_status ppi_part_put(const ppi_part *part, const void *of, FILE *out);

// ppi_base64 writes PPI_BASE64_SIZE(size) characters, a zero at the end.
#define PPI_BASE64_SIZE(size) (((size) + 2) / 3 * 4 + 1)
void ppi_base64(const void *bytes, size_t size, char *out);

PPROF_END_C_
