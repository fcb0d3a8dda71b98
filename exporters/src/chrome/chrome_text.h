// SPDX-License-Identifier: Apache-2.0
//
// JSON text on its way to a file: a buffer, numbers written without printf,
// escaped names, gzip. Private to the Chrome writer; one thread.
#pragma once

#include <string.h>

#include "file/file_io.h"
#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_CHROME_BUFFER PPI_FILE_PIECE

typedef struct ppi_chrome_out {
  pprof_status status;  // the first failure; later bytes are dropped
  int error_number;     // errno of that failure, or PPI_FILE_OVER_LIMIT
  size_t len;
  char *buffer;           // in `piece`
  ppi_file_piece *piece;  // the piece that is being filled
  ppi_file_io *io;        // writes pieces; NULL: `pack` writes them at once
  ppi_file_pack pack;
  uint64_t deadline_ns;  // the end of waits for `io`
} ppi_chrome_out;

// Errors: NO_MEMORY; clear it even then.
pprof_status ppi_chrome_out_open(ppi_chrome_out *out);
void ppi_chrome_out_flush(ppi_chrome_out *out);  // writes the buffer
void ppi_chrome_out_fail(ppi_chrome_out *out, int error);
void ppi_chrome_out_clear(ppi_chrome_out *out);  // not `io`

// ppi_chrome_room answers a place for `len` bytes, at most PPI_CHROME_BUFFER;
// ppi_chrome_advance takes their end. Between the two calls, use only the
// writers below that take a position.
char *ppi_chrome_room(ppi_chrome_out *out, size_t len);
static inline void ppi_chrome_advance(ppi_chrome_out *out, const char *end) {
  out->len = (size_t)(end - out->buffer);
}
// No such writer touches more bytes than this.
#define PPI_CHROME_LONGEST_NUMBER 24
char *ppi_chrome_u64_at(char *at, uint64_t value);
char *ppi_chrome_us_at(char *at, uint64_t ns);
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

void ppi_chrome_put_long(ppi_chrome_out *out, const char *bytes, size_t len);
static inline void ppi_chrome_put(ppi_chrome_out *out, const char *bytes,
                                  size_t len) {
  if (len > PPI_CHROME_BUFFER - out->len) {
    ppi_chrome_put_long(out, bytes, len);
    return;
  }
  memcpy(out->buffer + out->len, bytes, len);
  out->len += len;
}
static inline void ppi_chrome_put_text(ppi_chrome_out *out, const char *text) {
  ppi_chrome_put(out, text, strlen(text));
}
#define PPI_CHROME_PUT(out, literal) \
  ppi_chrome_put(out, literal, sizeof(literal) - 1)
void ppi_chrome_put_u64(ppi_chrome_out *out, uint64_t value);
// Nanoseconds as decimal microseconds with exactly three digits.
void ppi_chrome_put_us(ppi_chrome_out *out, uint64_t ns);
// The shortest decimal that reads back the same; null when not finite.
void ppi_chrome_put_double(ppi_chrome_out *out, double value);
// Identifiers that a double cannot hold are written as a string.
void ppi_chrome_put_id(ppi_chrome_out *out, uint64_t id);
// A JSON string with its quotes.
void ppi_chrome_put_string(ppi_chrome_out *out, const char *text);
// The inside of a JSON string, without quotes.
void ppi_chrome_put_escaped(ppi_chrome_out *out, const char *text);

// ppi_chrome_escape is ppi_chrome_put_string into fresh memory (ppi_free);
// NULL when out of memory.
char *ppi_chrome_escape(const char *text, size_t *out_len);

PPROF_END_C_
