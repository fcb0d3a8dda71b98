// SPDX-License-Identifier: Apache-2.0
//
// The layout of a log, as docs/log-format.md describes it.
//
//   log   = run | run | ...
//   run   = file header | block | block | ...
//   block = header | lane runs table | payload
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_LOG_MAGIC "PPROFLOG"
#define PPI_LOG_BLOCK_MAGIC "\xb1PPB"
#define PPI_LOG_BYTE_ORDER 0x01020304u
enum {
  PPI_LOG_MAJOR = 1,
  PPI_LOG_MINOR = 0,
  PPI_LOG_FILE_HEADER_SIZE = 64,
  PPI_LOG_UUID_LEN = 32,
  PPI_LOG_HEADER_SIZE = 56,
  PPI_LOG_RUN_SIZE = 32,
  // Limits of a block's claims. A stored payload is never longer than a raw
  // one.
  PPI_LOG_MAX_RAW = 64 * 1024,
  PPI_LOG_MAX_RUNS = 1024,
  PPI_LOG_MAX_BLOCK = PPI_LOG_HEADER_SIZE +
                      PPI_LOG_MAX_RUNS * PPI_LOG_RUN_SIZE + PPI_LOG_MAX_RAW
};

typedef enum ppi_log_type {
  PPI_LOG_INFO = 1,
  PPI_LOG_DEFINITIONS = 2,
  PPI_LOG_EVENTS = 3,
  PPI_LOG_CHECKPOINT = 4,
  PPI_LOG_WINDOW = 5,
  PPI_LOG_TOTALS = 6,
  PPI_LOG_CONTENTS = 7
} ppi_log_type;

// The last text of the run info: the library that compressed the blocks. It
// belongs to the log, not to the run, so sinks do not get it.
#define PPI_COMPRESSOR_KEY "compressor"

// An item that exceeds one block goes on in the block with the next number. All
// blocks but the last have MORE, all but the first have CONTINUES.
enum { PPI_LOG_MORE = 1, PPI_LOG_CONTINUES = 2 };

// The fields of a block's header behind its magic and checksum, and of a lane
// run: each(type, name, offset). What is stored and read follows them;
// log_fields_test holds docs/log-format.md to them.
// clang-format off
#define PPI_LOG_HEADER_FIELDS(each) \
  each(uint8_t, type, 8) \
  each(uint8_t, codec, 9) \
  each(uint16_t, flags, 10) \
  each(uint32_t, num_runs, 12) \
  each(uint32_t, raw_len, 16) \
  each(uint32_t, stored_len, 20) \
  each(uint32_t, payload_crc, 24) \
  each(uint32_t, num_events, 28) \
  each(uint64_t, number, 32) \
  each(uint64_t, min_start_ns, 40) /* both 0: the block has no times */ \
  each(uint64_t, max_end_ns, 48)
#define PPI_LOG_RUN_FIELDS(each) \
  each(uint32_t, lane, 0) \
  each(uint32_t, window, 4) \
  each(uint64_t, first_seq, 8) \
  each(uint64_t, end_seq, 16) \
  each(uint32_t, num_events, 24) \
  each(uint32_t, payload_len, 28) /* of the raw payload */
// clang-format on

#define PPI_LOG_MEMBER(type, name, offset) type name;
typedef struct ppi_log_header {
  PPI_LOG_HEADER_FIELDS(PPI_LOG_MEMBER)
} ppi_log_header;
typedef struct ppi_log_run {
  PPI_LOG_RUN_FIELDS(PPI_LOG_MEMBER)
} ppi_log_run;
#undef PPI_LOG_MEMBER

void ppi_log_file_header_store(uint8_t out[PPI_LOG_FILE_HEADER_SIZE],
                               const char *uuid);
// Stores header and runs. The payload follows.
void ppi_log_header_store(uint8_t *out, const ppi_log_header *header,
                          const ppi_log_run *runs);
// False: no block header, or claims above the limits. The checksum is not
// checked.
bool ppi_log_header_load(const uint8_t in[PPI_LOG_HEADER_SIZE],
                         ppi_log_header *out);
void ppi_log_run_load(const uint8_t in[PPI_LOG_RUN_SIZE], ppi_log_run *out);
// Over header and runs, `len` bytes.
bool ppi_log_header_is_whole(const uint8_t *bytes, size_t len);
size_t ppi_log_runs_end(const ppi_log_header *header);  // header and runs
size_t ppi_log_block_size(const ppi_log_header *header);

PPROF_END_C_
