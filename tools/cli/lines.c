// SPDX-License-Identifier: Apache-2.0
//
// Breaks lines at blanks, and writes a head that many lines share once.
#include "cli/lines.h"

enum { STEP = 2 };

void ppi_tool_put_line(ppi_page *page, const char *text, size_t len,
                       size_t indent) {
  size_t column = indent;
  ppi_page_repeat(page, ' ', indent);
  for (size_t at = 0, num; at < len; at += num + 1) {
    const char *word = text + at, *blank = memchr(word, ' ', len - at);
    num = blank ? (size_t)(blank - word) : len - at;
    size_t width = ppi_page_width(word, num);
    bool has_room = column + 1 + width <= ppi_page_columns(page);
    if (at && !has_room) {
      ppi_page_text(page, "\n");
      ppi_page_repeat(page, ' ', column = indent + STEP);
    } else if (at) {
      ppi_page_text(page, " ");
      column++;
    }
    ppi_page_bytes(page, word, num);
    column += width;
  }
  ppi_page_text(page, "\n");
}

static size_t len_of(const char *line) {
  return strcspn(line, "\n");
}

// Bytes of a line's head; 0: it has none.
static size_t head_of(const char *line) {
  const char *colon = memmem(line, len_of(line), ": ", 2);
  return colon ? (size_t)(colon - line) : 0;
}

static const char *next_of(const char *line) {
  size_t len = len_of(line);
  return line + len + (line[len] == '\n');
}

// The end of the lines that share the head of `line`.
static const char *end_of(const char *line, size_t columns, bool *out_fit) {
  size_t head = head_of(line);
  const char *at = line;
  *out_fit = true;
  do {
    *out_fit &= ppi_page_width(at, len_of(at)) <= columns;
    at = next_of(at);
  } while (*at && head && head_of(at) == head && !memcmp(at, line, head));
  return at;
}

void ppi_tool_fit_lines(ppi_page *page, size_t width) {
  ppi_page from = *page;
  if (page->failed || !page->len) return;
  *page = (ppi_page){.width = width};
  for (const char *at = from.bytes; *at;) {
    bool fit;
    size_t head = head_of(at), rest = head ? head + strlen(": ") : 0;
    const char *end = end_of(at, width, &fit);
    if (fit) ppi_page_bytes(page, at, (size_t)(end - at));
    if (!fit && head) ppi_tool_put_line(page, at, head, 0);
    for (; !fit && at < end; at = next_of(at))
      ppi_tool_put_line(page, at + rest, len_of(at) - rest, head ? STEP : 0);
    at = end;
  }
  ppi_page_clear(&from);
}
