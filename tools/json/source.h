// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a trace file, inflated if it is gzip (one member or several).
#pragma once

#include <zlib.h>

#include "pprof/base.h"

#define PPI_SOURCE_BLOCK (256u << 10)

typedef struct ppi_source {
  int fd;
  bool is_gzip, in_member, at_end, damaged;
  bool begun;         // a first byte was read
  uint64_t size;      // of the file
  uint64_t num_read;  // of it
  uint64_t num_out;   // bytes handed out
  uint64_t hash[2];   // of what was handed out
  int error_number;   // of a failed read
  z_stream stream;
  unsigned char *in, *out;  // a block each; `in` for gzip alone
} ppi_source;

pprof_status ppi_source_open(ppi_source *source, const char *path,
                             pprof_error *error);
// ppi_source_next hands out the next bytes, PPI_JSON_SLACK zeroes behind them;
// 0 at the end, after which `damaged` and `error_number` say whether it was
// one.
size_t ppi_source_next(ppi_source *source, const char **out);
void ppi_source_close(ppi_source *source);
