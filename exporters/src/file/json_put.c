// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON onto a page. The last byte of the page says whether a comma is
// due.
#include "file/json_put.h"

#include <math.h>

static char last_of(const ppi_page *page) {
  return page->len ? page->bytes[page->len - 1] : page->last;
}

static bool is_comma_due(const ppi_page *page) {
  char last = last_of(page);
  return last != '\0' && last != '\n' && last != '{' && last != '[' &&
         last != ':' && last != ',';
}

void ppi_put_line(ppi_page *page) {
  if (is_comma_due(page)) ppi_page_byte(page, ',');
  if (last_of(page) != '\n') ppi_page_byte(page, '\n');
}

void ppi_put_key_of(ppi_page *page, const char *key, size_t len) {
  bool has_comma = is_comma_due(page);
  if (!key) {
    if (has_comma) ppi_page_byte(page, ',');
    return;
  }
  char *at = ppi_page_room(page, len + 4);
  if (!at) return;
  if (has_comma) *at++ = ',';
  *at++ = '"';
  memcpy(at, key, len);
  memcpy(at + len, "\":", 2);
  ppi_page_advance(page, at + len + 2);
}

void ppi_put_numbers(ppi_page *page, const uint64_t *items, size_t num) {
  for (size_t i = 0; i < num; i++) ppi_put_u64(page, NULL, items[i]);
}

void ppi_put_text(ppi_page *page, const char *key, const char *text) {
  ppi_put_key(page, key);
  text ? ppi_page_json(page, text) : ppi_page_text(page, "null");
}

void ppi_put_real(ppi_page *page, const char *key, double value) {
  ppi_put_key(page, key);
  isfinite(value) ? ppi_page_short(page, value) : ppi_page_text(page, "null");
}
