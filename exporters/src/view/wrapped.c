// SPDX-License-Identifier: Apache-2.0
//
// Breaks sentences at the width of the page.
#include "view/wrapped.h"

#include <string.h>

void ppi_page_wrapped(ppi_page *page, const char *text, size_t indent) {
  ppi_page shown = {0};
  ppi_page_visible(&shown, text);
  if (shown.failed) page->failed = true;
  size_t column = indent;
  for (size_t at = 0; !shown.failed && at < shown.len;) {
    const char *word = shown.bytes + at;
    const char *blank = memchr(word, ' ', shown.len - at);
    size_t len = blank ? (size_t)(blank - word) : shown.len - at;
    size_t width = ppi_page_width(word, len);
    bool is_first = column == indent;
    if (!is_first && column + 1 + width > ppi_page_columns(page)) {
      ppi_page_text(page, "\n");
      ppi_page_repeat(page, ' ', indent);
      column = indent;
    } else if (!is_first) {
      ppi_page_text(page, " ");
      column++;
    }
    ppi_page_bytes(page, word, len);
    column += width;
    at += len + 1;
  }
  ppi_page_text(page, "\n");
  ppi_page_clear(&shown);
}
