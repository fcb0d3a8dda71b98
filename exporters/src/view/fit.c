// SPDX-License-Identifier: Apache-2.0
//
// Fits texts into columns of a given width.
#include "view/fit.h"

#include <string.h>

#define CUT "\u2026"

// Where the character numbered `n` begins.
static const char *at_character(const ppi_page *page, size_t n) {
  size_t at = 0;
  for (; at < page->len; at++)
    if (((unsigned char)page->bytes[at] & 0xc0) != 0x80 && n-- == 0) break;
  return page->bytes + at;
}

void ppi_page_fit(ppi_page *page, const char *name, size_t width) {
  ppi_page shown = {0};
  ppi_page_visible(&shown, name);
  size_t num = shown.failed ? 0 : ppi_page_width(shown.bytes, shown.len);
  page->failed |= shown.failed;
  if (num > width && width > 0) {
    size_t head = (width - 1) / 2;
    const char *tail = at_character(&shown, num - (width - 1 - head));
    size_t head_len = (size_t)(at_character(&shown, head) - shown.bytes);
    ppi_page_bytes(page, shown.bytes, head_len);
    ppi_page_text(page, CUT);
    ppi_page_bytes(page, tail, (size_t)(shown.bytes + shown.len - tail));
  } else if (num && !shown.failed) {
    ppi_page_bytes(page, shown.bytes, shown.len);
  }
  if (num < width) ppi_page_repeat(page, ' ', width - num);
  ppi_page_clear(&shown);
}

void ppi_page_fit_from(ppi_page *page, const char *name, size_t width,
                       size_t head, size_t from) {
  ppi_page shown = {0};
  ppi_page_visible(&shown, name);
  size_t num = shown.failed ? 0 : ppi_page_width(shown.bytes, shown.len);
  page->failed |= shown.failed;
  if (num > width && head + 4 < width && from < shown.len) {
    size_t room = width - head - 1;
    ppi_page tail = {0};
    ppi_page_bytes(&tail, shown.bytes + from, shown.len - from);
    size_t left = tail.failed ? 0 : ppi_page_width(tail.bytes, tail.len);
    const char *end =
        left > room ? at_character(&tail, room - 1) : tail.bytes + tail.len;
    size_t head_len = (size_t)(at_character(&shown, head) - shown.bytes);
    ppi_page_bytes(page, shown.bytes, head_len);
    ppi_page_text(page, CUT);
    if (left) ppi_page_bytes(page, tail.bytes, (size_t)(end - tail.bytes));
    if (left > room) ppi_page_text(page, CUT);
    if (left < room) ppi_page_repeat(page, ' ', room - left);
    page->failed |= tail.failed;
    ppi_page_clear(&tail);
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
