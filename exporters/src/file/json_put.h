// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON onto a page. What is put gets its comma by itself, so a caller
// closes with plain text: "]}". `key` is a text of ours; NULL puts an item of
// an array.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_put_line puts what follows on a line of its own. Twice is once.
void ppi_put_line(ppi_page *page);
void ppi_put_key_of(ppi_page *page, const char *key, size_t len);
// Inline, as the compiler knows the length of most keys.
static inline void ppi_put_key(ppi_page *page, const char *key) {
  ppi_put_key_of(page, key, key ? strlen(key) : 0);
}
static inline void ppi_put_object(ppi_page *page, const char *key) {
  ppi_put_key(page, key);
  ppi_page_byte(page, '{');
}
static inline void ppi_put_array(ppi_page *page, const char *key) {
  ppi_put_key(page, key);
  ppi_page_byte(page, '[');
}
// NULL becomes null.
void ppi_put_text(ppi_page *page, const char *key, const char *text);
static inline void ppi_put_u64(ppi_page *page, const char *key,
                               uint64_t value) {
  ppi_put_key(page, key);
  ppi_page_u64(page, value);
}
// Items of an array.
#define PPI_PUT_NUMBERS(page, ...)                       \
  ppi_put_numbers(page, (const uint64_t[]){__VA_ARGS__}, \
                  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void ppi_put_numbers(ppi_page *page, const uint64_t *items, size_t num);
// As ppi_page_us.
static inline void ppi_put_us(ppi_page *page, const char *key, uint64_t ns) {
  ppi_put_key(page, key);
  ppi_page_us(page, ns);
}
static inline void ppi_put_bool(ppi_page *page, const char *key, bool value) {
  ppi_put_key(page, key);
  ppi_page_text(page, value ? "true" : "false");
}
// As ppi_page_short; null when not finite.
void ppi_put_real(ppi_page *page, const char *key, double value);

PPROF_END_C_
