// SPDX-License-Identifier: Apache-2.0
//
// A growing page of text for one output format, numbers that do not depend on
// the locale, and the escaping of names.
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_base_name is what stands behind the last '/' of a path.
static inline const char *ppi_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}
// ppi_ends_with: the text is longer than `ending`, and ends with it.
static inline bool ppi_ends_with(const char *text, const char *ending) {
  size_t len = strlen(text), end = strlen(ending);
  return len > end && strcmp(text + len - end, ending) == 0;
}

// A failed allocation sets `failed`; later calls then do nothing.
typedef struct ppi_page {
  char *bytes;
  size_t len, capacity;
  bool failed;
  bool is_raw;      // CSV without the guard against formulas
  bool has_colour;  // for a terminal
  size_t width;     // columns of a line for people; 0: the usual ones
  // Where there is one, it empties the page instead of a larger one being made;
  // `last` is the last byte that left.
  void (*spill)(struct ppi_page *page);
  char last;
} ppi_page;

// ppi_page_room answers a place for `len` bytes, NULL when out of memory;
// ppi_page_advance takes their end.
char *ppi_page_more_room(ppi_page *page, size_t len);
static inline char *ppi_page_room(ppi_page *page, size_t len) {
  if (page->len + len >= page->capacity) return ppi_page_more_room(page, len);
  return page->bytes + page->len;
}
static inline void ppi_page_advance(ppi_page *page, const char *end) {
  page->len = (size_t)(end - page->bytes);
  page->bytes[page->len] = '\0';
}

void ppi_page_bytes(ppi_page *page, const char *bytes, size_t len);
void ppi_page_text(ppi_page *page, const char *text);
static inline void ppi_page_byte(ppi_page *page, char c) {
  char *at = ppi_page_room(page, 1);
  if (!at) return;
  *at = c;
  ppi_page_advance(page, at + 1);
}
void ppi_page_repeat(ppi_page *page, char c, size_t n);
// For whole numbers and texts only: `%f` would follow the locale.
void ppi_page_format(ppi_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// ppi_page_columns: how wide a line for people may be.
#define PPI_PAGE_WIDTH 100
size_t ppi_page_columns(const ppi_page *page);
// ppi_page_to_ascii replaces the non-ASCII characters of our own texts.
void ppi_page_to_ascii(ppi_page *page);
// ppi_page_strong highlights `text`, one of ours, where there is colour.
void ppi_page_strong(ppi_page *page, const char *text);
// ppi_page_fixed rounds to `decimals` (0 to 15) places.
void ppi_page_fixed(ppi_page *page, double value, int decimals);
// ppi_page_decimals answers how many places show three digits that are not
// leading zeroes; `least` or more, 15 at most.
int ppi_page_decimals(double value, int least);
void ppi_page_u64(ppi_page *page, uint64_t value);
// Nanoseconds as decimal microseconds with exactly three digits.
void ppi_page_us(ppi_page *page, uint64_t ns);
// The shortest decimal that reads back the same; null when not finite.
void ppi_page_exact(ppi_page *page, double value);
// ppi_page_short rounds to six places, or small values to three digits, and
// drops trailing zeroes but one: 37.5.
void ppi_page_short(ppi_page *page, double value);

// Names in tables: control and formatting characters (C0, C1, bidi marks, line
// separators, zero-width ones) and stray bytes become \xNN or \u{NNNN}. So no
// name can move the cursor or hide.
void ppi_page_visible(ppi_page *page, const char *name);
// The same, and Markdown's markup is escaped.
void ppi_page_markdown(ppi_page *page, const char *name);
// A JSON string with its quotes. Each byte that is no UTF-8 becomes U+FFFD. The
// characters that ppi_page_visible escapes, and the '<' of "</" and "<!",
// become \u.
void ppi_page_json(ppi_page *page, const char *name);
// A text as a CSV field: visible, and quoted where RFC 4180 requires it or
// where a spreadsheet with another locale would split it. A text that looks
// like a formula gets an apostrophe in front, unless the page is raw. Not for
// numbers.
void ppi_page_csv(ppi_page *page, const char *name);

// ppi_page_width counts columns of a terminal.
size_t ppi_page_width(const char *text, size_t len);

// ppi_page_write hands the text to `out`: NO_MEMORY if it is not whole, IO
// if the stream fails. It frees the page either way.
pprof_status ppi_page_write(ppi_page *page, FILE *out);
void ppi_page_clear(ppi_page *page);

PPROF_END_C_
