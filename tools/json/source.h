// SPDX-License-Identifier: Apache-2.0
//
// Reads the bytes of a trace file, inflated if it is gzip (one member or
// several).
#pragma once

#include <zlib.h>

#include "pprof/base.h"

#define PPI_SOURCE_BLOCK (256u << 10)

typedef struct ppi_source {
  int fd;
  bool is_gzip, at_end, damaged;
  bool begun;         // a first byte was read
  uint64_t size;      // of the file
  uint64_t num_read;  // bytes read of the file
  uint64_t num_out;   // bytes handed out
  uint64_t hash[2];   // hash of the bytes handed out
  int error_number;   // of a failed read
  z_stream stream;
  void *gunzip;             // igzip's state; NULL: zlib inflates
  unsigned char *in, *out;  // a block each; `in` for gzip alone
} ppi_source;

pprof_status ppi_source_open(ppi_source *source, const char *path,
                             pprof_error *error);
// ppi_source_next answers the next bytes, with PPI_JSON_SLACK zeroes behind
// them. 0: the end, or a failure, as `damaged` and `error_number` state.
size_t ppi_source_next(ppi_source *source, const char **out);
void ppi_source_close(ppi_source *source);
