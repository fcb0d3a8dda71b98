// SPDX-License-Identifier: Apache-2.0
//
// Numbers as bytes, seven bits each, and bytes as compressed text for the page.
#ifndef PPI_PACK_H_
#define PPI_PACK_H_

#include <stdio.h>

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// All zero is the empty one. A failed allocation sets `failed`.
typedef struct ppi_pack {
  uint8_t *bytes;
  size_t len, capacity;
  bool failed;
} ppi_pack;

void ppi_pack_number(ppi_pack *pack, uint64_t number);
// Small ones of either sign take few bytes.
void ppi_pack_signed(ppi_pack *pack, int64_t number);
// ppi_pack_put writes the bytes as zlib's stream in base64, and frees them.
// NO_MEMORY.
pprof_status ppi_pack_put(ppi_pack *pack, FILE *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_PACK_H_
