// SPDX-License-Identifier: Apache-2.0
//
// Breaks sentences at the width of the page.
#include "view/wrapped.h"

#include <string.h>

#include "base/base.h"
#include "view/fit.h"

enum { LEAST = 8 };

void ppi_page_wrapped(ppi_page *page, const char *text, size_t indent) {
  ppi_page shown = {0};
  ppi_page_visible(&shown, text);
  if (shown.failed) page->failed = true;
  size_t column = indent;
  size_t most = PPI_MAX(ppi_page_columns(page), indent + LEAST);
  for (size_t at = 0, end = 0; !shown.failed && at < shown.len;) {
    const char *word = shown.bytes + at;
    const char *blank = at < end ? NULL : memchr(word, ' ', shown.len - at);
    if (at >= end) end = blank ? (size_t)(blank - shown.bytes) : shown.len;
    bool is_first = column == indent;
    size_t len = ppi_fit_bytes(word, end - at, most - indent);
    bool is_whole = at + len == end;
    size_t width = is_whole ? ppi_page_width(word, len) : most - indent;
    if (!is_first && column + 1 + width > most) {
      ppi_page_text(page, "\n");
      ppi_page_repeat(page, ' ', indent);
      column = indent;
    } else if (!is_first) {
      ppi_page_text(page, " ");
      column++;
    }
    ppi_page_bytes(page, word, len);
    column += width;
    at += len + is_whole;
  }
  ppi_page_text(page, "\n");
  ppi_page_clear(&shown);
}

static size_t line_of(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return (size_t)((stop ? stop : end) - at);
}

// Whether the sentence continues on the next line; "name: ..." begins one.
static bool goes_on(const char *at, size_t len, const char *end) {
  const char *next = at + len + 1;
  if (!len || next >= end || strchr(".:", at[len - 1])) return false;
  size_t word = strcspn(next, " \n");
  return *next >= 'a' && *next <= 'z' && next[word - 1] != ':';
}

// Writes the lines of one sentence, and answers their bytes.
static size_t put_sentence(ppi_page *page, const char *at, const char *end) {
  size_t indent = 0, len = line_of(at, end), all = len;
  bool is_long = ppi_page_width(at, len) > ppi_page_columns(page);
  ppi_page joined = {0};
  while (indent < len && at[indent] == ' ') indent++;
  ppi_page_bytes(&joined, at + indent, len - indent);
  for (const char *line = at; goes_on(line, len, end);) {
    line += len + 1;
    len = line_of(line, end);
    is_long |= ppi_page_width(line, len) > ppi_page_columns(page);
    ppi_page_text(&joined, " ");
    ppi_page_bytes(&joined, line, len);
    all += len + 1;
  }
  if (is_long && !joined.failed) {
    ppi_page_repeat(page, ' ', indent);
    ppi_page_wrapped(page, joined.bytes, indent);
  } else {
    ppi_page_bytes(page, at, all);
    ppi_page_text(page, "\n");
  }
  page->failed |= joined.failed;
  ppi_page_clear(&joined);
  return all;
}

void ppi_page_wrapped_lines(ppi_page *page, const ppi_page *text) {
  const char *end = text->len ? text->bytes + text->len : NULL;
  page->failed |= text->failed;
  for (const char *at = text->bytes; at < end && !text->failed;)
    at += put_sentence(page, at, end) + 1;
}
