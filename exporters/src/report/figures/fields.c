// SPDX-License-Identifier: Apache-2.0
//
// Compares, copies, merges and frees rows by the kinds of their fields.
#include "report/figures/fields.h"

#include <string.h>

#include "base/mem.h"
#include "event/launch_shape.h"
#include "report/figures/first_calls.h"
#include "report/figures/low_water.h"
#include "report/figures/messages.h"
#include "report/figures/numbers.h"
#include "report/figures/serving.h"

// `order` is an expression of the two values `a` and `b`.
#define COMPARES(name, type, order)                                \
  static int compare_##name(const void *left, const void *right) { \
    type const *a = left, *b = right;                              \
    return order;                                                  \
  }
#define MERGES(name, type, done)                          \
  static bool merge_##name(void *to, const void *other) { \
    type *into = to;                                      \
    type const *from = other;                             \
    return done;                                          \
  }
#define ADDS(name, type, sum) MERGES(name, type, (sum, true))
#define CLEARS(name, clear_one)           \
  static void clear_##name(void *field) { \
    clear_one(field);                     \
  }
#define CARRIES(name, carry_one)                            \
  static void carry_##name(ppi_carry *carry, void *field) { \
    carry_one(carry, field);                                \
  }

typedef char *text;
COMPARES(text, text, strcmp(*a ? *a : "", *b ? *b : ""))
COMPARES(chars, char, strcmp(a, b))
COMPARES(number, uint64_t, (*a > *b) - (*a < *b))
COMPARES(lane, uint32_t, (*a > *b) - (*a < *b))
COMPARES(flag, bool, *a - *b)
COMPARES(shape, ppi_launch_shape, ppi_launch_shape_compare(a, b))

static bool own_text(void *field) {
  char **at = field;
  *at = ppi_strdup(*at ? *at : "");
  return *at != NULL;
}

// A registered category may have the name of a predefined one. The least number
// is the same in any order of merging.
ADDS(category, uint32_t, *into = PPI_MIN(*into, *from))
ADDS(flag, bool, *into |= *from)
ADDS(most, uint64_t, *into = PPI_MAX(*into, *from))
ADDS(sum, uint64_t, *into += *from)
ADDS(bytes, uint64_t, *into = ppi_bytes_sum(*into, *from))
ADDS(amount, double, *into += *from)
ADDS(squares, unsigned __int128, *into += *from)
ADDS(net, ppi_net_bytes, ppi_net_add(into, from))
ADDS(numbers, ppi_numbers, ppi_numbers_merge(into, from))
ADDS(gauge, ppi_gauge, ppi_gauge_merge(into, from))
ADDS(spread, ppi_spread, ppi_spread_merge(into, from))
ADDS(growth, ppi_growth, ppi_growth_merge(into, from))
MERGES(histogram, ppi_histogram, ppi_histogram_merge(into, from))
MERGES(phases, ppi_phases, ppi_phases_merge(into, from))
MERGES(messages, ppi_messages, ppi_messages_merge(into, from))
MERGES(slow, ppi_serving_slow *, ppi_serving_slow_merge(into, *from))

static void clear_text(void *field) {
  ppi_free(*(void **)field);
}
#define clear_slow clear_text
CLEARS(histogram, ppi_histogram_clear)
CLEARS(phases, ppi_phases_clear)
CLEARS(messages, ppi_messages_clear)

CARRIES(text, ppi_carry_text)
CARRIES(histogram, ppi_histogram_carry)
CARRIES(phases, ppi_phases_carry)
CARRIES(messages, ppi_messages_carry)
CARRIES(slow, ppi_serving_slow_carry)

#define REDUCER(name, type, ...) \
  const ppi_reducer ppi_reduce_##name = {sizeof(type), __VA_ARGS__};
REDUCER(text, char *, compare_text, own_text, NULL, clear_text, carry_text)
REDUCER(chars, char, compare_chars, NULL, NULL, NULL, NULL)
REDUCER(number, uint64_t, compare_number, NULL, NULL, NULL, NULL)
REDUCER(lane, uint32_t, compare_lane, NULL, NULL, NULL, NULL)
REDUCER(flag, bool, compare_flag, NULL, merge_flag, NULL, NULL)
REDUCER(shape, ppi_launch_shape, compare_shape, NULL, NULL, NULL, NULL)
#define SUM(name, type) \
  REDUCER(name, type, NULL, NULL, merge_##name, NULL, NULL)
SUM(category, uint32_t)
SUM(most, uint64_t)
SUM(sum, uint64_t)
SUM(bytes, uint64_t)
SUM(amount, double)
SUM(squares, unsigned __int128)
SUM(net, ppi_net_bytes)
SUM(numbers, ppi_numbers)
SUM(gauge, ppi_gauge)
SUM(spread, ppi_spread)
SUM(growth, ppi_growth)
#define PART(name, type) \
  REDUCER(name, type, NULL, NULL, merge_##name, clear_##name, carry_##name)
PART(histogram, ppi_histogram)
PART(phases, ppi_phases)
PART(messages, ppi_messages)
PART(slow, ppi_serving_slow *)

int ppi_fields_compare(const ppi_fields *fields, const void *left,
                       const void *right) {
  const char *a = left, *b = right;
  int order = 0;
  for (size_t i = 0; i < fields->num && order == 0; i++) {
    const ppi_field *key = &fields->items[i];
    if (key->use != PPI_FIELD_KEY) break;
    order = key->reducer->compare(a + key->offset, b + key->offset);
  }
  return order;
}

bool ppi_fields_start(const ppi_fields *fields, void *row, const void *key) {
  bool is_whole = true;
  memset(row, 0, fields->size);
  for (size_t i = 0; i < fields->num; i++) {
    const ppi_field *field = &fields->items[i];
    if (field->use == PPI_FIELD_FIGURE) continue;
    char *at = (char *)row + field->offset;
    memcpy(at, (const char *)key + field->offset, field->size);
    if (field->reducer->own) is_whole &= field->reducer->own(at);
  }
  if (!is_whole) ppi_fields_clear(fields, row);
  return is_whole;
}

bool ppi_fields_merge(const ppi_fields *fields, void *into, const void *from) {
  bool done = true;
  for (size_t i = 0; i < fields->num; i++) {
    const ppi_field *field = &fields->items[i];
    const ppi_reducer *reducer = field->reducer;
    size_t end = reducer->merge ? field->offset + field->size : 0;
    for (size_t at = field->offset; at < end && done; at += reducer->size)
      done = reducer->merge((char *)into + at, (const char *)from + at);
  }
  return done;
}

void ppi_fields_clear(const ppi_fields *fields, void *row) {
  for (size_t i = 0; i < fields->num; i++) {
    const ppi_field *field = &fields->items[i];
    const ppi_reducer *reducer = field->reducer;
    size_t end = reducer->clear ? field->offset + field->size : 0;
    for (size_t at = field->offset; at < end; at += reducer->size)
      reducer->clear((char *)row + at);
  }
}

void ppi_fields_carry(const ppi_fields *fields, ppi_carry *carry, void *row) {
  for (size_t i = 0; i < fields->num; i++) {
    const ppi_field *field = &fields->items[i];
    const ppi_reducer *reducer = field->reducer;
    char *at = (char *)row + field->offset, *end = at + field->size;
    if (!reducer->carry) ppi_carry_words(carry, at, field->size);
    for (; reducer->carry && at < end; at += reducer->size)
      reducer->carry(carry, at);
  }
}
