// SPDX-License-Identifier: Apache-2.0
//
// Keys are sorted digit by digit, from the lowest, with the number of their
// item; the items move once, and those of equal keys are compared.
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pprof/base.h"

enum { LEAST = 256, DIGIT = 11, NUM_DIGITS = 1 << DIGIT };

typedef struct place {
  uint64_t key;
  size_t at;
} place;

typedef struct sorting {
  char *items, *spare;
  place *places, *spare_places;
  size_t num, size;
  int (*compare)(const void *left, const void *right);
} sorting;

static void sort_digit(sorting *by, unsigned shift) {
  size_t begins[NUM_DIGITS + 1] = {0};
  for (size_t i = 0; i < by->num; i++)
    begins[(by->places[i].key >> shift) % NUM_DIGITS + 1]++;
  for (size_t i = 0; i < NUM_DIGITS; i++) begins[i + 1] += begins[i];
  for (size_t i = 0; i < by->num; i++) {
    const place *from = &by->places[i];
    by->spare_places[begins[(from->key >> shift) % NUM_DIGITS]++] = *from;
  }
  place *sorted = by->spare_places;
  by->spare_places = by->places;
  by->places = sorted;
}

// From place to place, until one is met that has its item.
static void move_cycle(sorting *by, size_t first) {
  size_t size = by->size, to = first;
  memcpy(by->spare, by->items + first * size, size);
  for (size_t from; (from = by->places[to].at) != first; to = from) {
    memcpy(by->items + to * size, by->items + from * size, size);
    by->places[to].at = to;
  }
  memcpy(by->items + to * size, by->spare, size);
  by->places[to].at = to;
}

static void move_items(sorting *by) {
  for (size_t i = 0; i < by->num; i++)
    if (by->places[i].at != i) move_cycle(by, i);
  for (size_t i = 0, end; i < by->num; i = end) {
    for (end = i + 1;
         end < by->num && by->places[end].key == by->places[i].key;)
      end++;
    if (end - i > 1)
      qsort(by->items + i * by->size, end - i, by->size, by->compare);
  }
}

// Of keys as far as they differ: what they have in common is taken off.
static void sort_places(sorting *by, uint64_t least, uint64_t most) {
  for (size_t i = 0; i < by->num; i++) by->places[i].key -= least;
  for (unsigned shift = 0; shift < 64 && (most - least) >> shift;
       shift += DIGIT)
    sort_digit(by, shift);
  move_items(by);
}

void ppi_sort(void *items, size_t num, size_t size,
              uint64_t (*key)(const void *item),
              int (*compare)(const void *left, const void *right)) {
  sorting by = {.items = items, .num = num, .size = size, .compare = compare};
  if (num >= LEAST) {
    by.places = ppi_realloc(NULL, num * sizeof *by.places);
    by.spare_places = ppi_realloc(NULL, num * sizeof *by.places);
    by.spare = ppi_alloc(size);
  }
  bool has_room = by.places && by.spare_places && by.spare;
  bool is_sorted = has_room;
  uint64_t least = UINT64_MAX, most = 0;
  for (size_t i = 0; has_room && i < num; i++) {
    uint64_t number = key(by.items + i * size);
    is_sorted &= i == 0 || number > by.places[i - 1].key;
    by.places[i] = (place){number, i};
    if (number < least) least = number;
    if (number > most) most = number;
  }
  if (has_room && !is_sorted) sort_places(&by, least, most);
  if (!has_room && num > 1) qsort(items, num, size, compare);
  ppi_free(by.places);
  ppi_free(by.spare_places);
  ppi_free(by.spare);
}
