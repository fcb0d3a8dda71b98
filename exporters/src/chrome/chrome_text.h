// SPDX-License-Identifier: Apache-2.0
//
// JSON text on its way to a file: a page that becomes a piece of the file
// whenever it is full, and gzip. Private to the Chrome writer; one thread.
#pragma once

#include "file/digits.h"
#include "file/file_io.h"
#include "file/json_put.h"

PPROF_BEGIN_C_

typedef struct ppi_chrome_out {
  ppi_page page;          // in `piece`
  pprof_status status;    // the first failure; later bytes are dropped
  int error_number;       // errno of that failure, or PPI_FILE_OVER_LIMIT
  ppi_file_piece *piece;  // the piece that is being filled
  ppi_file_io *io;        // writes pieces; NULL: `pack` writes them at once
  ppi_file_pack pack;
  uint64_t deadline_ns;  // the end of waits for `io`
} ppi_chrome_out;

// Errors: NO_MEMORY; clear it even then.
pprof_status ppi_chrome_out_open(ppi_chrome_out *out);
void ppi_chrome_out_flush(ppi_chrome_out *out);  // writes the page
void ppi_chrome_out_fail(ppi_chrome_out *out, int error);
void ppi_chrome_out_clear(ppi_chrome_out *out);  // not `io`

// Copies in steps of constant size, which is cheaper than memcpy for short
// texts. Both ends need room for whole steps.
#define PPI_CHROME_COPY_STEP 32
static inline char *ppi_chrome_padded_at(char *at, const char *padded,
                                         size_t len) {
  for (size_t i = 0; i < len; i += PPI_CHROME_COPY_STEP)
    memcpy(at + i, padded + i, PPI_CHROME_COPY_STEP);
  return at + len;
}
// The argument is a string literal.
#define PPI_CHROME_AT(at, literal) \
  ((char *)memcpy((at), literal, sizeof(literal) - 1) + (sizeof(literal) - 1))

// Identifiers that a double cannot hold are written as a string.
void ppi_chrome_put_id(ppi_page *page, const char *key, uint64_t id);

PPROF_END_C_
