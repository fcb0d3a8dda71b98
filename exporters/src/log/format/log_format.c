// SPDX-License-Identifier: Apache-2.0
//
// Converts headers to bytes and back. Pure functions.
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

static void store(uint8_t *out, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t load(const uint8_t *in, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++) value |= (uint64_t)in[i] << 8 * i;
  return value;
}

// Stores or loads a list of fields, between bytes and `it`.
#define STORE(type, name, offset) store(out + (offset), it->name, sizeof(type));
#define LOAD(type, name, offset) \
  it->name = (type)load(in + (offset), sizeof(type));

static void store_run(uint8_t *out, const ppi_log_run *it) {
  PPI_LOG_RUN_FIELDS(STORE)
}

void ppi_log_run_load(const uint8_t in[PPI_LOG_RUN_SIZE], ppi_log_run *it) {
  PPI_LOG_RUN_FIELDS(LOAD)
}

void ppi_log_header_store(uint8_t *out, const ppi_log_header *it,
                          const ppi_log_run *runs) {
  memcpy(out, PPI_LOG_BLOCK_MAGIC, 4);
  PPI_LOG_HEADER_FIELDS(STORE)
  for (uint32_t i = 0; i < it->num_runs; i++)
    store_run(out + PPI_LOG_HEADER_SIZE + (size_t)i * PPI_LOG_RUN_SIZE,
              &runs[i]);
  size_t end = ppi_log_runs_end(it);
  ppi_store32(out + 4, (uint32_t)crc32(0, out + 8, (uInt)(end - 8)));
}

bool ppi_log_header_load(const uint8_t in[PPI_LOG_HEADER_SIZE],
                         ppi_log_header *it) {
  if (memcmp(in, PPI_LOG_BLOCK_MAGIC, 4) != 0) return false;
  PPI_LOG_HEADER_FIELDS(LOAD)
  return it->num_runs <= PPI_LOG_MAX_RUNS && it->raw_len <= PPI_LOG_MAX_RAW &&
         it->stored_len <= PPI_LOG_MAX_RAW;
}

bool ppi_log_header_is_whole(const uint8_t *bytes, size_t len) {
  return (uint32_t)crc32(0, bytes + 8, (uInt)(len - 8)) ==
         ppi_load32(bytes + 4);
}
