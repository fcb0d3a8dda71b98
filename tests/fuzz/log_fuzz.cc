// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a log: to a report and a trace, and as sections to be merged.
// Checksums keep accidents out, not people: with bit 0 of the first byte they
// are made good before anything is read. The second byte picks the outputs.
#include <zlib.h>

#include <cstring>
#include <string>

#include "base/mem.h"
#include "fuzz.h"
#include "log/format/log_format.h"
#include "log/read/log_reader.h"
#include "log/read/log_section.h"
#include "pprof/log.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/log";

namespace {

enum { SEALED = 1, SECTIONS = 2 };

void Store(std::string *bytes, size_t at, uint32_t value) {
  for (int i = 0; i < 4; i++)
    (*bytes)[at + static_cast<size_t>(i)] =
        static_cast<char>(value >> (8 * i) & 0xff);
}

uint32_t Crc(const std::string &bytes, size_t at, size_t len) {
  return static_cast<uint32_t>(crc32(
      0, reinterpret_cast<const Bytef *>(&bytes[at]), static_cast<uInt>(len)));
}

// Gives every header and block that stands there the checksums it should have.
void Seal(std::string *bytes) {
  for (size_t at = 0; at + PPI_LOG_HEADER_SIZE <= bytes->size(); at++) {
    const size_t left = bytes->size() - at;
    if (left >= PPI_LOG_FILE_HEADER_SIZE &&
        bytes->compare(at, 8, PPI_LOG_MAGIC) == 0)
      Store(bytes, at + 60, Crc(*bytes, at, 60));
    ppi_log_header header;
    if (!ppi_log_header_load(reinterpret_cast<const uint8_t *>(&(*bytes)[at]),
                             &header) ||
        ppi_log_block_size(&header) > left)
      continue;
    const size_t runs_end = ppi_log_runs_end(&header);
    Store(bytes, at + 24, Crc(*bytes, at + runs_end, header.stored_len));
    Store(bytes, at + 4, Crc(*bytes, at + 8, runs_end - 8));
  }
}

void ReadSections(const char *path) {
  ppi_log_section *sections = nullptr;
  size_t num = 0;
  if (ppi_log_sections(path, &sections, &num, nullptr) != PPROF_STATUS_OK)
    return;
  for (size_t i = 0; i < num; i++) {
    ppi_log_pieces pieces;
    const uint8_t *bytes = nullptr;
    size_t len = 0;
    uint64_t sum = 0;
    if (ppi_log_pieces_open(&pieces, path, &sections[i], nullptr) !=
        PPROF_STATUS_OK)
      continue;
    while (ppi_log_pieces_next(&pieces, &bytes, &len)) sum += len;
    ppi_log_pieces_close(&pieces);
    Require(sum == sections[i].len, "a section that is not all there");
  }
  ppi_free(sections);
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::File *file = new fuzz::File;
  if (size < 2) return 0;
  std::string bytes(reinterpret_cast<const char *>(data) + 2, size - 2);
  if (data[0] & fuzz::SEALED) fuzz::Seal(&bytes);
  file->Write(bytes.data(), bytes.size());
  if (data[0] & fuzz::SECTIONS) {
    fuzz::ReadSections(file->path());
    return 0;
  }
  fuzz::Outputs outputs(data[1]);
  pprof_error error = {""};
  pprof_status status = pprof_log_read(file->path(), outputs.sink(), &error);
  outputs.CheckMessage(status, error);
  outputs.Check();
  fuzz::Outputs ahead(data[1]);
  const char *path = file->path();
  pprof_error same = {""};
  fuzz::Require(
      ppi_log_read_ahead(&path, 1, fuzz::Jobs(), ahead.sink(), &same) ==
              status &&
          strcmp(same.text, error.text) == 0 && ahead.Json() == outputs.Json(),
      "read ahead it is another log");
  return 0;
}
