// SPDX-License-Identifier: Apache-2.0
//
// Reads one block of a ring in memory.
#include "log/format/staged.h"

#include <string.h>
#include <zlib.h>

bool ppi_log_parse_staged(const uint8_t *bytes, uint32_t len, ppi_log_run *runs,
                          ppi_log_block *out) {
  memset(out, 0, sizeof *out);
  if (len < PPI_LOG_HEADER_SIZE || !ppi_log_header_load(bytes, &out->header) ||
      len != ppi_log_block_size(&out->header))
    return false;
  size_t runs_end = ppi_log_runs_end(&out->header);
  if (!ppi_log_header_is_whole(bytes, runs_end)) return false;
  for (uint32_t i = 0; i < out->header.num_runs; i++)
    ppi_log_run_load(bytes + PPI_LOG_HEADER_SIZE + i * PPI_LOG_RUN_SIZE,
                     &runs[i]);
  out->size = len;
  out->runs = runs;
  out->bytes = bytes;
  out->stored = bytes + runs_end;
  out->ok = (uint32_t)crc32(0, out->stored, out->header.stored_len) ==
            out->header.payload_crc;
  return true;
}

bool ppi_log_next_staged(const ppi_staging *ring, uint64_t *cursor,
                         ppi_log_run *runs, ppi_log_block *out) {
  const void *bytes;
  uint32_t len;
  uint64_t number;
  while (ppi_staging_walk(ring, cursor, &bytes, &len, &number))
    if (ppi_log_parse_staged(bytes, len, runs, out)) return true;
  return false;
}
