// SPDX-License-Identifier: Apache-2.0
//
// Sorts keys with the numbers of their items: few by merging, many digit by
// digit from the lowest. Items move once; those of equal keys are compared.
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"

enum {
  FEW = 256,
  SHORT = 8,
  MOST_RUNS = 16,
  DIGIT = 11,
  NUM_DIGITS = 1 << DIGIT,
  MOST_BYTES = 256
};

// `value` is the number of the item.
typedef ppi_keyed place;

typedef struct sorting {
  place *places, *spare;
  size_t num;
  place *memory;  // of both, where `room` has not enough
  place room[2 * FEW];
} sorting;

static void swap_places(sorting *by) {
  place *sorted = by->spare;
  by->spare = by->places;
  by->places = sorted;
}

// ---- few ----

// Answers whether it could do it with `most` moves.
static bool insert_places(place *places, size_t num, size_t most) {
  for (size_t i = 1; i < num; i++) {
    const place added = places[i];
    size_t to = i;
    for (; to && places[to - 1].key > added.key; to--)
      places[to] = places[to - 1];
    places[to] = added;
    if (i - to > most) return false;
    most -= i - to;
  }
  return true;
}

// Merges two sorted stretches, [from, middle) and [middle, end).
static void merge_places(const sorting *by, size_t from, size_t middle,
                         size_t end) {
  const place *left = by->places + from, *right = by->places + middle;
  const place *left_end = right, *right_end = by->places + end;
  place *to = by->spare + from;
  while (left < left_end && right < right_end)
    *to++ = right->key < left->key ? *right++ : *left++;
  for (; left < left_end; left++) *to++ = *left;
  for (; right < right_end; right++) *to++ = *right;
}

static void merge_all(sorting *by) {
  for (size_t from = 0; from < by->num; from += SHORT)
    insert_places(by->places + from, PPI_MIN(by->num - from, SHORT), SIZE_MAX);
  for (size_t width = SHORT; width < by->num; width *= 2) {
    for (size_t from = 0; from < by->num; from += 2 * width)
      merge_places(by, from, PPI_MIN(from + width, by->num),
                   PPI_MIN(from + 2 * width, by->num));
    swap_places(by);
  }
}

// Those of a few threads are a few sorted stretches; false: these are more.
static bool merge_runs(sorting *by) {
  size_t ends[MOST_RUNS + 1], num = 0;
  for (size_t i = 1; i < by->num; i++) {
    if (by->places[i].key >= by->places[i - 1].key) continue;
    if (num == MOST_RUNS - 1) return false;
    ends[num++] = i;
  }
  ends[num++] = by->num;
  while (num > 1) {
    size_t from = 0, kept = 0;
    ends[num] = by->num;
    for (size_t i = 0; i < num; i += 2) {
      merge_places(by, from, ends[i], ends[i + 1]);
      ends[kept++] = from = ends[i + 1];
    }
    swap_places(by);
    num = kept;
  }
  return true;
}

// ---- many ----

static void sort_digit(sorting *by, unsigned shift) {
  size_t begins[NUM_DIGITS + 1] = {0};
  for (size_t i = 0; i < by->num; i++)
    begins[(by->places[i].key >> shift) % NUM_DIGITS + 1]++;
  for (size_t i = 0; i < NUM_DIGITS; i++) begins[i + 1] += begins[i];
  for (size_t i = 0; i < by->num; i++) {
    const place *from = &by->places[i];
    by->spare[begins[(from->key >> shift) % NUM_DIGITS]++] = *from;
  }
  swap_places(by);
}

// ---- any ----

// Sorts into as many slots as keys, by position between the least and the
// greatest key. Each slot has few keys unless they are very uneven.
static void spread_places(sorting *by, uint64_t least, uint64_t most) {
  uint32_t begins[NUM_DIGITS + 1];
  unsigned shift = 0;
  size_t num_slots = PPI_MIN(by->num, NUM_DIGITS);
  memset(begins, 0, (num_slots + 1) * sizeof *begins);
  while ((most - least) >> shift >= num_slots) shift++;
  for (size_t i = 0; i < by->num; i++)
    begins[((by->places[i].key - least) >> shift) + 1]++;
  for (size_t i = 0; i < num_slots; i++) begins[i + 1] += begins[i];
  for (size_t i = 0; i < by->num; i++)
    by->spare[begins[(by->places[i].key - least) >> shift]++] = by->places[i];
  swap_places(by);
}

// Ranges that nest, by ends or starts, need few moves. The common high bits of
// all keys are removed.
static void sort_places(sorting *by) {
  uint64_t least = UINT64_MAX, most = 0;
  if (merge_runs(by) || insert_places(by->places, by->num, by->num)) return;
  for (size_t i = 0; i < by->num; i++) {
    least = PPI_MIN(least, by->places[i].key);
    most = PPI_MAX(most, by->places[i].key);
  }
  if (by->num > SHORT && by->num <= SHORT * NUM_DIGITS) {
    spread_places(by, least, most);
    if (insert_places(by->places, by->num, SHORT * by->num)) return;
  }
  if (by->num <= FEW) {
    merge_all(by);
    return;
  }
  for (size_t i = 0; i < by->num; i++) by->places[i].key -= least;
  for (unsigned shift = 0; shift < 64 && (most - least) >> shift;
       shift += DIGIT)
    sort_digit(by, shift);
  for (size_t i = 0; i < by->num; i++) by->places[i].key += least;
}

// Moves from place to place until it meets a place with its own item.
static void move_cycle(sorting *by, char *items, size_t size, size_t first) {
  char spare[MOST_BYTES];
  size_t to = first;
  memcpy(spare, items + first * size, size);
  for (size_t from; (from = by->places[to].value) != first; to = from) {
    memcpy(items + to * size, items + from * size, size);
    by->places[to].value = to;
  }
  memcpy(items + to * size, spare, size);
  by->places[to].value = to;
}

static void move_items(sorting *by, char *items, size_t size,
                       int (*compare)(const void *left, const void *right)) {
  for (size_t i = 0; i < by->num; i++)
    if (by->places[i].value != i) move_cycle(by, items, size, i);
  for (size_t i = 0, end; compare && i < by->num; i = end) {
    for (end = i + 1;
         end < by->num && by->places[end].key == by->places[i].key;)
      end++;
    if (end - i > 1) qsort(items + i * size, end - i, size, compare);
  }
}

static bool has_room(sorting *by, size_t num) {
  by->num = num;
  by->memory =
      num > FEW ? ppi_realloc(NULL, 2 * num * sizeof *by->memory) : NULL;
  by->places = num > FEW ? by->memory : by->room;
  by->spare = by->places + num;
  return by->places != NULL;
}

bool ppi_sort(void *items, size_t num, size_t size,
              uint64_t (*key)(const void *item),
              int (*compare)(const void *left, const void *right)) {
  sorting by;
  if (num < 2) return true;
  if (size > MOST_BYTES || !has_room(&by, num)) {
    if (compare) qsort(items, num, size, compare);
    return compare != NULL;
  }
  bool is_sorted = true;
  for (size_t i = 0; i < num; i++) {
    by.places[i] = (place){key((const char *)items + i * size), i};
    is_sorted &= i == 0 || by.places[i].key > by.places[i - 1].key;
  }
  if (!is_sorted) {
    sort_places(&by);
    move_items(&by, items, size, compare);
  }
  ppi_free(by.memory);
  return true;
}

PPI_ORDER(compare_keyed, ppi_keyed, PPI_UP(key) PPI_UP(value))

static void sort_equals(ppi_keyed *items, size_t num) {
  for (size_t i = 1; i < num; i++) {
    if (items[i].key != items[i - 1].key) continue;
    size_t from = i - 1, end = i + 1;
    while (end < num && items[end].key == items[from].key) end++;
    qsort(items + from, end - from, sizeof *items, compare_keyed);
    i = end;
  }
}

void ppi_sort_keyed(ppi_keyed *items, size_t num) {
  sorting by;
  if (num < 2) return;
  by.num = num;
  by.places = items;
  by.memory = NULL;
  by.spare = by.room;
  if (num > FEW) by.spare = by.memory = ppi_realloc(NULL, num * sizeof *items);
  if (!by.spare) {
    qsort(items, num, sizeof *items, compare_keyed);
    return;
  }
  sort_places(&by);
  if (by.places != items) memcpy(items, by.places, num * sizeof *items);
  ppi_free(by.memory);
  sort_equals(items, num);
}

static int compare_numbers(const void *left, const void *right) {
  const uint64_t *a = left, *b = right;
  return (*a > *b) - (*a < *b);
}

void ppi_sort_numbers(uint64_t *numbers, size_t num) {
  sorting by;
  if (num < 2) return;
  if (!has_room(&by, num)) {
    qsort(numbers, num, sizeof *numbers, compare_numbers);
    return;
  }
  for (size_t i = 0; i < num; i++) by.places[i] = (place){numbers[i], i};
  sort_places(&by);
  for (size_t i = 0; i < num; i++) numbers[i] = by.places[i].key;
  ppi_free(by.memory);
}

// ---- searching ----

// Counts by the highest digit, then goes on with the numbers of one digit.
uint64_t ppi_number_at(uint64_t *numbers, size_t num, size_t rank) {
  uint64_t least = UINT64_MAX, most = 0;
  unsigned shift = 0;
  for (size_t i = 0; i < num; i++) {
    least = PPI_MIN(least, numbers[i]);
    most = PPI_MAX(most, numbers[i]);
  }
  while ((most - least) >> shift >= NUM_DIGITS) shift++;
  for (;; shift -= PPI_MIN(shift, DIGIT)) {
    size_t counts[NUM_DIGITS] = {0}, digit = 0, kept = 0;
    for (size_t i = 0; i < num; i++) counts[(numbers[i] - least) >> shift]++;
    for (; rank >= counts[digit]; digit++) rank -= counts[digit];
    for (size_t i = 0; i < num && shift; i++) {
      numbers[kept] = numbers[i];
      kept += (numbers[i] - least) >> shift == digit;
    }
    num = kept;
    least += (uint64_t)digit << shift;
    if (!shift) return least;
  }
}

size_t ppi_first(const void *key, const void *items, size_t num, size_t size,
                 int (*compare)(const void *key, const void *item)) {
  size_t low = 0;
  while (low < num) {
    size_t middle = low + (num - low) / 2;
    if (compare(key, (const char *)items + middle * size) > 0)
      low = middle + 1;
    else
      num = middle;
  }
  return low;
}
