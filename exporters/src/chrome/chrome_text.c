// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON text to a file. Numbers are formatted by hand: a trace is mostly
// numbers, and printf would cost more than everything else together.
#include "chrome/chrome_text.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "file/utf8.h"

#define LONGEST_ESCAPE 12  // of a character of four bytes
#define EXACT_INTEGER (1ull << 53)

pprof_status ppi_chrome_out_open(ppi_chrome_out *out) {
  out->deadline_ns = PPI_FILE_FOR_EVER;
  out->piece = ppi_alloc(sizeof *out->piece);
  if (!out->piece) return PPROF_STATUS_NO_MEMORY;
  out->buffer = out->piece->bytes;
  return PPROF_STATUS_OK;
}

void ppi_chrome_out_clear(ppi_chrome_out *out) {
  ppi_file_pack_clear(&out->pack);
  ppi_free(out->piece);
  memset(out, 0, sizeof *out);
}

void ppi_chrome_out_fail(ppi_chrome_out *out, int error) {
  if (!error || out->status != PPROF_STATUS_OK) return;
  out->status = error == ENOMEM ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_IO;
  out->error_number = error;
}

void ppi_chrome_out_flush(ppi_chrome_out *out) {
  out->piece->len = out->len;
  out->len = 0;
  if (out->status != PPROF_STATUS_OK) return;
  ppi_chrome_out_fail(
      out, out->io ? ppi_file_io_put(out->io, &out->piece, out->deadline_ns)
                   : ppi_file_pack_write(&out->pack, out->buffer,
                                         out->piece->len, false));
  out->buffer = out->piece->bytes;
}

char *ppi_chrome_room(ppi_chrome_out *out, size_t len) {
  if (out->len + len > PPI_CHROME_BUFFER) ppi_chrome_out_flush(out);
  return out->buffer + out->len;
}

void ppi_chrome_put_long(ppi_chrome_out *out, const char *bytes, size_t len) {
  while (len > 0) {
    size_t part = len < PPI_CHROME_BUFFER ? len : PPI_CHROME_BUFFER;
    memcpy(ppi_chrome_room(out, part), bytes, part);
    out->len += part;
    bytes += part;
    len -= part;
  }
}

// The digits of a number below 10^8 as bytes, the first one lowest. It divides
// halves, then quarters, side by side. 10486 / 2^20 is close enough to a
// hundredth for four digits, 103 / 2^10 to a tenth for two.
static inline uint64_t eight_digits(uint32_t value) {
  uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
  uint64_t hundreds = (halves * 10486 >> 20) & 0x0000007f0000007f;
  uint64_t quarters = hundreds | (halves - 100 * hundreds) << 16;
  uint64_t tens = (quarters * 103 >> 10) & 0x000f000f000f000f;
  return tens | (quarters - 10 * tens) << 8;
}

enum { TEN_TO_8 = 100000000 };
#define ASCII_ZEROES 0x3030303030303030u

static inline char *eight_at(char *at, uint32_t value) {
  uint64_t text = htole64(eight_digits(value) + ASCII_ZEROES);
  memcpy(at, &text, sizeof text);
  return at + sizeof text;
}

// Without the zeroes in front; it may overwrite eight bytes.
static inline char *short_at(char *at, uint32_t value) {
  uint64_t digits = eight_digits(value);
  // The last digit is there even if it is a zero.
  unsigned num_zeroes =
      (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;
  uint64_t text = htole64((digits + ASCII_ZEROES) >> 8 * num_zeroes);
  memcpy(at, &text, sizeof text);
  return at + (sizeof text - num_zeroes);
}

static inline char *u64_at(char *at, uint64_t value) {
  if (value < TEN_TO_8) return short_at(at, (uint32_t)value);
  uint64_t high = value / TEN_TO_8;
  if (high < TEN_TO_8) {
    at = short_at(at, (uint32_t)high);
  } else {
    at = short_at(at, (uint32_t)(high / TEN_TO_8));
    at = eight_at(at, (uint32_t)(high % TEN_TO_8));
  }
  return eight_at(at, (uint32_t)(value % TEN_TO_8));
}

char *ppi_chrome_u64_at(char *at, uint64_t value) {
  return u64_at(at, value);
}

// Eight digits without leading zeroes, with a point before the last three. At
// least one digit stands before the point.
static inline char *us_text_at(char *at, uint64_t digits, unsigned most) {
  unsigned num_zeroes =
      (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 8 * most) / 8;
  uint64_t text = digits + ASCII_ZEROES;
  uint64_t whole = htole64(text >> 8 * num_zeroes);
  uint32_t fraction = htole32((uint32_t)(text >> 40));
  memcpy(at, &whole, sizeof whole);
  at += 5 - num_zeroes;
  at[0] = '.';
  memcpy(at + 1, &fraction, sizeof fraction);
  return at + 4;
}

char *ppi_chrome_us_at(char *at, uint64_t ns) {
  uint64_t high = ns / TEN_TO_8;
  uint64_t digits = eight_digits((uint32_t)(ns - high * TEN_TO_8));
  if (high == 0) return us_text_at(at, digits, 4);
  return us_text_at(u64_at(at, high), digits, 0);
}

void ppi_chrome_put_u64(ppi_chrome_out *out, uint64_t value) {
  char *at = ppi_chrome_room(out, PPI_CHROME_LONGEST_NUMBER);
  ppi_chrome_advance(out, ppi_chrome_u64_at(at, value));
}

void ppi_chrome_put_us(ppi_chrome_out *out, uint64_t ns) {
  char *at = ppi_chrome_room(out, PPI_CHROME_LONGEST_NUMBER);
  ppi_chrome_advance(out, ppi_chrome_us_at(at, ns));
}

// printf's decimal point depends on the program's locale and may have several
// bytes.
static size_t to_json_number(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    if ((*from >= '0' && *from <= '9') || strchr("+-e", *from))
      *to++ = *from;
    else if (to == text || to[-1] != '.')
      *to++ = '.';
  }
  return (size_t)(to - text);
}

void ppi_chrome_put_double(ppi_chrome_out *out, double value) {
  if (!isfinite(value)) {
    PPI_CHROME_PUT(out, "null");
    return;
  }
  double size = fabs(value);
  if (size < (double)EXACT_INTEGER && size == floor(size)) {
    if (value < 0) PPI_CHROME_PUT(out, "-");
    ppi_chrome_put_u64(out, (uint64_t)size);
    return;
  }
  char text[64];
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(text, sizeof text, "%.*g", precision, value);
    if (strtod(text, NULL) == value) break;
  }
  ppi_chrome_put(out, text, to_json_number(text));
}

void ppi_chrome_put_id(ppi_chrome_out *out, uint64_t id) {
  bool exact = id <= EXACT_INTEGER;
  if (!exact) PPI_CHROME_PUT(out, "\"");
  ppi_chrome_put_u64(out, id);
  if (!exact) PPI_CHROME_PUT(out, "\"");
}

// '<' is escaped so that a trace put into a page cannot end its script.
static bool is_spelt(uint32_t code) {
  return code == '<' || ppi_utf8_is_invisible(code);
}

static char *spell(uint32_t unit, char *to) {
  static const char hex[] = "0123456789abcdef";
  memcpy(to, "\\u", 2);
  for (int i = 0; i < 4; i++) to[2 + i] = hex[unit >> (12 - 4 * i) & 15];
  return to + 6;
}

static size_t escape_ascii(unsigned char c, char *to) {
  if (c == '"' || c == '\\') {
    to[0] = '\\';
    to[1] = (char)c;
    return 2;
  }
  if (!is_spelt(c)) {
    to[0] = (char)c;
    return 1;
  }
  spell(c, to);
  return 6;
}

// One character of `*from`, at most LONGEST_ESCAPE bytes to `to`. A byte that
// begins no well-formed character becomes U+FFFD.
static size_t escape_one(const unsigned char **from, const unsigned char *end,
                         char *to) {
  const unsigned char *at = *from;
  size_t length = ppi_utf8_length(at, end);
  *from += length ? length : 1;
  if (length == 1) return escape_ascii(*at, to);
  if (length == 0) {
    memcpy(to, "\\ufffd", 6);
    return 6;
  }
  uint32_t code = ppi_utf8_code(at, length);
  if (is_spelt(code)) {
    if (code < 0x10000) return (size_t)(spell(code, to) - to);
    return (size_t)(spell(0xdc00 + (code & 0x3ff),
                          spell(0xd7c0 + (code >> 10), to)) -
                    to);
  }
  memcpy(to, at, length);
  return length;
}

void ppi_chrome_put_escaped(ppi_chrome_out *out, const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  const unsigned char *end = at + strlen(text);
  while (at < end)
    out->len += escape_one(&at, end, ppi_chrome_room(out, LONGEST_ESCAPE));
}

void ppi_chrome_put_string(ppi_chrome_out *out, const char *text) {
  PPI_CHROME_PUT(out, "\"");
  ppi_chrome_put_escaped(out, text);
  PPI_CHROME_PUT(out, "\"");
}

char *ppi_chrome_escape(const char *text, size_t *out_len) {
  size_t len = strlen(text);
  char *escaped = len < SIZE_MAX / 6 - 3 ? ppi_alloc(len * 6 + 3) : NULL;
  if (!escaped) return NULL;
  const unsigned char *at = (const unsigned char *)text;
  const unsigned char *end = at + len;
  char *to = escaped;
  *to++ = '"';
  while (at < end) to += escape_one(&at, end, to);
  *to++ = '"';
  *out_len = (size_t)(to - escaped);
  char *fitted = ppi_realloc(escaped, *out_len + 1);
  return fitted ? fitted : escaped;
}
