// SPDX-License-Identifier: Apache-2.0
//
// Carries words as seven bits a byte: most figures are small, and many are 0.
#include "report/figures/carry.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

enum { MOST_BYTES = 10 };  // of a word

static void put(ppi_carry *carry, uint64_t value) {
  carry->failed |=
      (carry->most && carry->len > carry->most) ||
      !PPI_ROOM(carry->bytes, carry->capacity, carry->len + MOST_BYTES);
  if (carry->failed) return;
  for (; value >= 0x80; value >>= 7)
    carry->bytes[carry->len++] = (uint8_t)(value | 0x80);
  carry->bytes[carry->len++] = (uint8_t)value;
}

static uint64_t take(ppi_carry *carry) {
  uint64_t value = 0;
  for (unsigned shift = 0; carry->at < carry->len && shift < 64; shift += 7) {
    uint8_t byte = carry->bytes[carry->at++];
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  carry->failed = true;
  return 0;
}

void ppi_carry_words(ppi_carry *carry, void *values, size_t size) {
  size_t rest = size % sizeof(uint64_t);
  char *at = values, *end = at + size - rest;
  uint64_t word;
  for (; at < end && carry->reads; at += sizeof word) {
    bool is_short = carry->at < carry->len && carry->bytes[carry->at] < 0x80;
    word = is_short ? carry->bytes[carry->at++] : take(carry);
    memcpy(at, &word, sizeof word);
  }
  // Until here there is room for one byte.
  size_t sure =
      carry->most ? PPI_MIN(carry->most, carry->capacity) : carry->capacity;
  for (; at < end && !carry->failed; at += sizeof word) {
    memcpy(&word, at, sizeof word);
    if (word < 0x80 && carry->len < sure)
      carry->bytes[carry->len++] = (uint8_t)word;
    else
      put(carry, word);
  }
  if (!rest) return;
  word = 0;
  if (!carry->reads) memcpy(&word, at, rest);
  if (!carry->reads) put(carry, word);
  if (carry->reads) word = take(carry);
  if (carry->reads) memcpy(at, &word, rest);
}

// Carries a size. A read allows what the bytes left can have.
static size_t carry_size(ppi_carry *carry, size_t size) {
  uint64_t value = size;
  ppi_carry_words(carry, &value, sizeof value);
  if (carry->reads && value / 2 > carry->len - carry->at) carry->failed = true;
  return carry->failed ? 0 : (size_t)value;
}

void ppi_carry_text(ppi_carry *carry, char **text) {
  size_t size = *text ? strlen(*text) + 1 : 0;
  size = carry_size(carry, carry->reads ? 0 : size);
  if (carry->reads) *text = size ? ppi_alloc(size) : NULL;
  carry->failed |= size && !*text;
  if (size && !carry->failed) ppi_carry_words(carry, *text, size - 1);
}

void ppi_carry_room(ppi_carry *carry, void *items, size_t *num, size_t size) {
  void **array = items;
  size_t wanted = carry_size(carry, carry->reads ? 0 : *num);
  if (!carry->reads) return;
  *array = wanted ? ppi_alloc(wanted * size) : NULL;
  carry->failed |= wanted && !*array;
  *num = *array ? wanted : 0;
}

void ppi_carry_items(ppi_carry *carry, void *items, size_t *num, size_t size) {
  ppi_carry_room(carry, items, num, size);
  ppi_carry_words(carry, *(void **)items, *num * size);
}

void ppi_carry_maybe(ppi_carry *carry, void *array, size_t size) {
  void **at = array;
  size_t num = *at != NULL;
  ppi_carry_room(carry, array, &num, size);
  if (num) ppi_carry_words(carry, *at, size);
}
