// SPDX-License-Identifier: Apache-2.0
//
// Numbers as bytes, seven bits each, and bytes as compressed text for the page.
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

PPROF_END_C_
