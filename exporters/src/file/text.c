// SPDX-License-Identifier: Apache-2.0
//
// Builds the text of the table, CSV, JSON and Markdown writers.
#include "file/text.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "file/digits.h"
#include "file/utf8.h"

char *ppi_page_more_room(ppi_page *page, size_t len) {
  if (page->failed) return NULL;
  if (page->spill) {
    char last = page->len ? page->bytes[page->len - 1] : page->last;
    page->spill(page);
    page->last = last;
    page->failed = page->capacity <= len;
  } else {
    page->failed = !PPI_ROOM(page->bytes, page->capacity, page->len + len + 1);
  }
  return page->failed ? NULL : page->bytes + page->len;
}

void ppi_page_bytes(ppi_page *page, const char *bytes, size_t len) {
  for (size_t part; len > 0; bytes += part, len -= part) {
    part = page->spill ? PPI_MIN(len, page->capacity - 1) : len;
    char *at = ppi_page_room(page, part);
    if (!at) return;
    memcpy(at, bytes, part);
    at[part] = '\0';
    page->len += part;
  }
}

void ppi_page_text(ppi_page *page, const char *text) {
  ppi_page_bytes(page, text, strlen(text));
}

void ppi_page_repeat(ppi_page *page, char c, size_t n) {
  char *at = n ? ppi_page_room(page, n) : NULL;
  if (!at) return;
  memset(at, c, n);
  at[n] = '\0';
  page->len += n;
}

void ppi_page_format(ppi_page *page, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int len = vsnprintf(NULL, 0, format, arguments);
  if (len > 0 && ppi_page_room(page, (size_t)len)) {
    vsnprintf(page->bytes + page->len, (size_t)len + 1, format, again);
    page->len += (size_t)len;
  }
  va_end(again);
  va_end(arguments);
}

// The locale's decimal point may be any text: it is replaced by position,
// between the leading digits and the last `decimals` digits.
void ppi_page_fixed(ppi_page *page, double value, int decimals) {
  char text[400];
  int len = snprintf(text, sizeof text, "%.*f", decimals, value);
  int whole = text[0] == '-';
  while (text[whole] >= '0' && text[whole] <= '9') whole++;
  ppi_page_bytes(page, text, (size_t)whole);
  if (decimals == 0) return;
  ppi_page_text(page, ".");
  ppi_page_bytes(page, text + len - decimals, (size_t)decimals);
}

int ppi_page_decimals(double value, int least) {
  enum { MOST = 15 };
  double size = value < 0 ? -value : value;
  int decimals = 0;
  for (; decimals < least; decimals++) size *= 10;
  for (; size > 0 && size < 99.95 && decimals < MOST; decimals++) size *= 10;
  return decimals;
}

void ppi_page_short(ppi_page *page, double value) {
  size_t before = page->len;
  ppi_page_fixed(page, value, ppi_page_decimals(value, 6));
  if (page->failed) return;
  while (page->len > before + 3 && page->bytes[page->len - 1] == '0' &&
         page->bytes[page->len - 2] != '.')
    page->len--;
  page->bytes[page->len] = '\0';
}

void ppi_page_u64(ppi_page *page, uint64_t value) {
  char *at = ppi_page_room(page, PPI_DIGITS_MOST);
  if (at) ppi_page_advance(page, ppi_digits_u64(at, value));
}

void ppi_page_us(ppi_page *page, uint64_t ns) {
  char *at = ppi_page_room(page, PPI_DIGITS_MOST);
  if (at) ppi_page_advance(page, ppi_digits_us(at, ns));
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

#define EXACT_INTEGER (1ull << 53)

void ppi_page_exact(ppi_page *page, double value) {
  char text[64];
  double size = fabs(value);
  if (!isfinite(value)) {
    ppi_page_text(page, "null");
  } else if (size < (double)EXACT_INTEGER && size == (double)(uint64_t)size) {
    if (value < 0) ppi_page_text(page, "-");
    ppi_page_u64(page, (uint64_t)size);
  } else {
    for (int precision = 15; precision <= 17; precision++) {
      snprintf(text, sizeof text, "%.*g", precision, value);
      if (strtod(text, NULL) == value) break;
    }
    ppi_page_bytes(page, text, to_json_number(text));
  }
}

// Answers the length of the character at `text`, or 0 at a stray byte.
static size_t decode(const char *text, uint32_t *out) {
  const unsigned char *s = (const unsigned char *)text;
  size_t len = ppi_utf8_length(s, s + strnlen(text, 4));
  *out = ppi_utf8_code(s, len);
  return len;
}

static void put_visible(ppi_page *page, const char *name, const char *escaped) {
  while (*name) {
    uint32_t code = 0;
    size_t len = decode(name, &code);
    if (len == 0 || code < 0x20 || code == 0x7f) {
      ppi_page_format(page, "\\x%02X", (unsigned char)*name);
      len = 1;
    } else if (ppi_utf8_is_invisible(code)) {
      ppi_page_format(page, "\\u{%X}", code);
    } else {
      if (len == 1 && strchr(escaped, *name)) ppi_page_text(page, "\\");
      ppi_page_bytes(page, name, len);
    }
    name += len;
  }
}

void ppi_page_visible(ppi_page *page, const char *name) {
  put_visible(page, name, "");
}

void ppi_page_markdown(ppi_page *page, const char *name) {
  put_visible(page, name, "\\|*_`<>[]~&#");
}

// True: it would end a script, or begin a comment, in an HTML page.
static bool ends_script(const char *text) {
  return text[0] == '<' && (text[1] == '/' || text[1] == '!');
}

// JSON has no more than 16 bits in one \u.
static void put_spelt(ppi_page *page, uint32_t code) {
  if (code >= 0x10000)
    ppi_page_format(page, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10),
                    0xdc00 + (code & 0x3ff));
  else
    ppi_page_format(page, "\\u%04x", code);
}

// The bytes at `text` that a JSON string has as they are.
static size_t num_plain(const char *text) {
  size_t num = 0;
  while (text[num] >= ' ' && text[num] < 0x7f && text[num] != '"' &&
         text[num] != '\\' && text[num] != '<')
    num++;
  return num;
}

void ppi_page_json(ppi_page *page, const char *name) {
  ppi_page_byte(page, '"');
  for (;;) {
    size_t plain = num_plain(name);
    ppi_page_bytes(page, name, plain);
    name += plain;
    if (!*name) break;
    uint32_t code = 0;
    size_t len = decode(name, &code);
    if (len == 0) {
      ppi_page_text(page, "\\ufffd");
      len = 1;
    } else if (code == '"' || code == '\\') {
      ppi_page_format(page, "\\%c", *name);
    } else if (ppi_utf8_is_invisible(code) || ends_script(name)) {
      put_spelt(page, code);
    } else {
      ppi_page_bytes(page, name, len);
    }
    name += len;
  }
  ppi_page_byte(page, '"');
}

// Also in the width of East Asian characters. Tabs and line ends become
// visible, so no text begins with one.
static bool is_formula(const char *name) {
  static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b",
                                     "\xef\xbc\x8d", "\xef\xbc\xa0"};
  if (*name && strchr("=+-@", *name)) return true;
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    if (strncmp(name, wide[i], 3) == 0) return true;
  return false;
}

void ppi_page_csv(ppi_page *page, const char *name) {
  size_t len = strlen(name);
  bool guarded = !page->is_raw && is_formula(name);
  bool quoted = guarded || strpbrk(name, ",;\"") != NULL ||
                (len && (name[0] == ' ' || name[len - 1] == ' '));
  if (!quoted) {
    ppi_page_visible(page, name);
    return;
  }
  ppi_page visible = {0};
  ppi_page_visible(&visible, name);
  page->failed |= visible.failed;
  ppi_page_text(page, guarded ? "\"'" : "\"");
  for (size_t i = 0; i < visible.len; i++) {
    if (visible.bytes[i] == '"') ppi_page_text(page, "\"");
    ppi_page_bytes(page, &visible.bytes[i], 1);
  }
  ppi_page_text(page, "\"");
  ppi_page_clear(&visible);
}

size_t ppi_page_columns(const ppi_page *page) {
  return page->width ? page->width : PPI_PAGE_WIDTH;
}

// The replacements are no longer than the originals.
void ppi_page_to_ascii(ppi_page *page) {
  static const struct {
    const char *from, *to;
  } pairs[] = {{" \u00b7", ","},
               {"\u2514\u2500", "`-"},
               {"\u2003", "- "},
               {"\u2026", "~"},
               {"\u00b1", "+-"}};
  size_t kept = 0;
  for (size_t at = 0, i; at < page->len;) {
    for (i = 0; i < sizeof pairs / sizeof *pairs; i++)
      if (strncmp(page->bytes + at, pairs[i].from, strlen(pairs[i].from)) == 0)
        break;
    bool is_ours = i < sizeof pairs / sizeof *pairs;
    size_t len = is_ours ? strlen(pairs[i].to) : 1;
    memmove(page->bytes + kept, is_ours ? pairs[i].to : page->bytes + at, len);
    at += is_ours ? strlen(pairs[i].from) : 1;
    kept += len;
  }
  page->len = kept;
  if (page->bytes) page->bytes[kept] = '\0';
}

void ppi_page_strong(ppi_page *page, const char *text) {
  ppi_page_format(page, page->has_colour ? "\033[1m%s\033[0m" : "%s", text);
}

size_t ppi_page_width(const char *text, size_t len) {
  const unsigned char *at = (const unsigned char *)text, *end = at + len;
  size_t width = 0;
  while (at < end) {
    size_t length = *at < 0x80 ? 1 : ppi_utf8_length(at, end);
    width += length < 2 ? 1 : ppi_utf8_columns(ppi_utf8_code(at, length));
    at += length ? length : 1;
  }
  return width;
}

pprof_status ppi_page_write(ppi_page *page, FILE *out) {
  pprof_status status = PPROF_STATUS_OK;
  if (page->failed)
    status = PPROF_STATUS_NO_MEMORY;
  else if (fwrite(page->bytes ? page->bytes : "", 1, page->len, out) !=
               page->len ||
           fflush(out) != 0 || ferror(out))
    status = PPROF_STATUS_IO;
  ppi_page_clear(page);
  return status;
}

void ppi_page_clear(ppi_page *page) {
  ppi_free(page->bytes);
  *page = (ppi_page){0};
}
