// SPDX-License-Identifier: Apache-2.0
//
// Fits texts into columns of a given width.
#include "view/fit.h"

#include <string.h>

#define CUT "\u2026"

static size_t next_character(const char *text, size_t len, size_t at) {
  do at++;
  while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80);
  return at;
}

size_t ppi_fit_bytes(const char *text, size_t len, size_t width) {
  size_t at = 0, used = 0;
  while (at < len) {
    size_t next = next_character(text, len, at);
    used += ppi_page_width(text + at, next - at);
    if (used > width) break;
    at = next;
  }
  return at;
}

// The start of the longest end that fits into `width` of `all` columns.
static size_t end_within(const ppi_page *page, size_t width, size_t all) {
  size_t at = 0;
  while (at < page->len && all > width) {
    size_t next = next_character(page->bytes, page->len, at);
    all -= ppi_page_width(page->bytes + at, next - at);
    at = next;
  }
  return at;
}

static void fill(ppi_page *page, size_t start, size_t width) {
  size_t used = page->failed || page->len == start
                    ? 0
                    : ppi_page_width(page->bytes + start, page->len - start);
  if (used < width) ppi_page_repeat(page, ' ', width - used);
}

void ppi_page_fit(ppi_page *page, const char *name, size_t width) {
  ppi_page shown = {0};
  size_t start = page->len;
  ppi_page_visible(&shown, name);
  size_t num =
      shown.failed || !shown.len ? 0 : ppi_page_width(shown.bytes, shown.len);
  page->failed |= shown.failed;
  if (num > width && width > 0) {
    size_t head = (width - 1) / 2;
    size_t tail = end_within(&shown, width - 1 - head, num);
    ppi_page_bytes(page, shown.bytes,
                   ppi_fit_bytes(shown.bytes, shown.len, head));
    ppi_page_text(page, CUT);
    ppi_page_bytes(page, shown.bytes + tail, shown.len - tail);
  } else if (num) {
    ppi_page_bytes(page, shown.bytes, shown.len);
  }
  fill(page, start, width);
  ppi_page_clear(&shown);
}

void ppi_page_fit_from(ppi_page *page, const char *name, size_t width,
                       size_t head, size_t from) {
  ppi_page shown = {0};
  size_t start = page->len;
  ppi_page_visible(&shown, name);
  size_t num =
      shown.failed || !shown.len ? 0 : ppi_page_width(shown.bytes, shown.len);
  page->failed |= shown.failed;
  if (num > width && head + 4 < width && from < shown.len) {
    size_t room = width - head - 1;
    ppi_page tail = {0};
    ppi_page_bytes(&tail, shown.bytes + from, shown.len - from);
    bool is_long = !tail.failed && ppi_page_width(tail.bytes, tail.len) > room;
    ppi_page_bytes(page, shown.bytes,
                   ppi_fit_bytes(shown.bytes, shown.len, head));
    ppi_page_text(page, CUT);
    ppi_page_bytes(
        page, tail.bytes,
        is_long ? ppi_fit_bytes(tail.bytes, tail.len, room - 1) : tail.len);
    if (is_long) ppi_page_text(page, CUT);
    page->failed |= tail.failed;
    ppi_page_clear(&tail);
    fill(page, start, width);
  } else if (!shown.failed) {
    ppi_page_fit(page, name, width);
  }
  ppi_page_clear(&shown);
}

void ppi_page_right(ppi_page *page, const ppi_page *text, size_t width) {
  size_t num =
      text->failed || !text->len ? 0 : ppi_page_width(text->bytes, text->len);
  page->failed |= text->failed;
  if (num < width) ppi_page_repeat(page, ' ', width - num);
  if (num) ppi_page_bytes(page, text->bytes, text->len);
}

static size_t within(size_t least, size_t value, size_t most) {
  return value < least ? least : value > most ? most : value;
}

size_t ppi_fit_widen(size_t usual, size_t wanted, size_t *room) {
  size_t more = within(0, wanted > usual ? wanted - usual : 0, *room);
  *room -= more;
  return usual + more;
}

size_t ppi_fit_shrink(size_t usual, size_t least, size_t *lack) {
  size_t less = within(0, usual - least, *lack);
  *lack -= less;
  return usual - less;
}

size_t ppi_fit_shared(const char *left, const char *right, size_t most) {
  size_t len = 0, end = 0;
  for (; len < most && left[len] && left[len] == right[len]; len++)
    if (strchr(":/. ", left[len])) end = len + 1;
  return end;
}

void ppi_page_fit_behind(ppi_page *page, const char *name, size_t width,
                         size_t prefix) {
  if (prefix && ppi_page_width(name, strlen(name)) > width)
    ppi_page_fit_from(page, name, width, 0, prefix);
  else
    ppi_page_fit(page, name, width);
}
