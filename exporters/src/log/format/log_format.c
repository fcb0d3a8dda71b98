// SPDX-License-Identifier: Apache-2.0
//
// Headers to bytes and back. Pure functions.
#include "log/format/log_format.h"

#include <string.h>
#include <zlib.h>

#include "file/buffer.h"

void ppi_log_file_header_store(uint8_t out[PPI_LOG_FILE_HEADER_SIZE],
                               const char *uuid) {
  memset(out, 0, PPI_LOG_FILE_HEADER_SIZE);
  memcpy(out, PPI_LOG_MAGIC, 8);
  out[8] = PPI_LOG_MAJOR;
  out[10] = PPI_LOG_MINOR;
  ppi_store32(out + 12, PPI_LOG_BYTE_ORDER);
  memcpy(out + 16, uuid, strnlen(uuid, PPI_LOG_UUID_LEN));
  ppi_store32(out + 60, (uint32_t)crc32(0, out, 60));
}

size_t ppi_log_runs_end(const ppi_log_header *header) {
  return PPI_LOG_HEADER_SIZE + (size_t)header->num_runs * PPI_LOG_RUN_SIZE;
}

size_t ppi_log_block_size(const ppi_log_header *header) {
  return ppi_log_runs_end(header) + header->stored_len;
}

static void store_run(uint8_t *out, const ppi_log_run *run) {
  ppi_store32(out, run->lane);
  ppi_store32(out + 4, run->window);
  ppi_store64(out + 8, run->first_seq);
  ppi_store64(out + 16, run->end_seq);
  ppi_store32(out + 24, run->num_events);
  ppi_store32(out + 28, run->payload_len);
}

void ppi_log_run_load(const uint8_t in[PPI_LOG_RUN_SIZE], ppi_log_run *out) {
  out->lane = ppi_load32(in);
  out->window = ppi_load32(in + 4);
  out->first_seq = ppi_load64(in + 8);
  out->end_seq = ppi_load64(in + 16);
  out->num_events = ppi_load32(in + 24);
  out->payload_len = ppi_load32(in + 28);
}

void ppi_log_header_store(uint8_t *out, const ppi_log_header *header,
                          const ppi_log_run *runs) {
  memcpy(out, PPI_LOG_BLOCK_MAGIC, 4);
  out[8] = header->type;
  out[9] = header->codec;
  out[10] = (uint8_t)header->flags;
  out[11] = (uint8_t)(header->flags >> 8);
  ppi_store32(out + 12, header->num_runs);
  ppi_store32(out + 16, header->raw_len);
  ppi_store32(out + 20, header->stored_len);
  ppi_store32(out + 24, header->payload_crc);
  ppi_store32(out + 28, header->num_events);
  ppi_store64(out + 32, header->number);
  ppi_store64(out + 40, header->min_start_ns);
  ppi_store64(out + 48, header->max_end_ns);
  for (uint32_t i = 0; i < header->num_runs; i++)
    store_run(out + PPI_LOG_HEADER_SIZE + (size_t)i * PPI_LOG_RUN_SIZE,
              &runs[i]);
  size_t end = ppi_log_runs_end(header);
  ppi_store32(out + 4, (uint32_t)crc32(0, out + 8, (uInt)(end - 8)));
}

bool ppi_log_header_load(const uint8_t in[PPI_LOG_HEADER_SIZE],
                         ppi_log_header *out) {
  if (memcmp(in, PPI_LOG_BLOCK_MAGIC, 4) != 0) return false;
  out->type = in[8];
  out->codec = in[9];
  out->flags = (uint16_t)(in[10] | in[11] << 8);
  out->num_runs = ppi_load32(in + 12);
  out->raw_len = ppi_load32(in + 16);
  out->stored_len = ppi_load32(in + 20);
  out->payload_crc = ppi_load32(in + 24);
  out->num_events = ppi_load32(in + 28);
  out->number = ppi_load64(in + 32);
  out->min_start_ns = ppi_load64(in + 40);
  out->max_end_ns = ppi_load64(in + 48);
  return out->num_runs <= PPI_LOG_MAX_RUNS && out->raw_len <= PPI_LOG_MAX_RAW &&
         out->stored_len <= PPI_LOG_MAX_RAW;
}

bool ppi_log_header_is_whole(const uint8_t *bytes, size_t len) {
  return (uint32_t)crc32(0, bytes + 8, (uInt)(len - 8)) ==
         ppi_load32(bytes + 4);
}
