// SPDX-License-Identifier: Apache-2.0
//
// Finds, sorts and merges the rows of an answer. One thread at a time.
#include "report/figures/answer_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rank.h"
#include "report/figures/fields.h"

PPI_ORDER(compare_rows, ppi_answer_row,
          PPI_BY_TEXT(name) PPI_UP(where) PPI_BY_TEXT(device)
              PPI_BY_TEXT(child))

static const ppi_field row_fields[] = {
    PPI_KEY(ppi_answer_row, text, name),
    PPI_KEY(ppi_answer_row, lane, where),
    PPI_KEY(ppi_answer_row, text, device),
    PPI_KEY(ppi_answer_row, text, child),
    PPI_FIGURES(ppi_answer_row, sum, total_ns, num_units),
    PPI_FIGURE(ppi_answer_row, most, max_ns),
    PPI_FIGURE(ppi_answer_row, histogram, times)};
static const ppi_fields of_row = PPI_FIELDS(ppi_answer_row, row_fields);

static const ppi_field answer_fields[] = {
    PPI_FIGURES(ppi_answer, sum, num_runs, after_ns),
    PPI_FIGURE(ppi_answer, most, max_ns),
    PPI_FIGURE(ppi_answer, histogram, times)};
static const ppi_fields of_answer = PPI_FIELDS(ppi_answer, answer_fields);

static ppi_answer_row *append(ppi_answer *answer, const ppi_answer_row *key) {
  if (!PPI_ROOM(answer->rows, answer->capacity, answer->num_rows + 1))
    return NULL;
  ppi_answer_row *row = &answer->rows[answer->num_rows];
  if (!ppi_fields_start(&of_row, row, key)) return NULL;
  answer->num_rows++;
  return row;
}

// ---- while rows are added: a hash table over unsorted rows ----

static uint64_t hash_text(uint64_t hash, const char *text) {
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return (hash ^ 0xff) * 0x100000001b3u;
}

// The slot of the row, or the free slot where it belongs.
static size_t slot_of(const ppi_answer *answer, const ppi_answer_row *key) {
  uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)key->where;
  hash = hash_text(hash, key->name);
  hash = hash_text(hash, key->device);
  hash = hash_text(hash, key->child);
  for (size_t slot = (size_t)(hash ^ hash >> 32);; slot++) {
    slot &= answer->num_slots - 1;
    uint32_t row = answer->slots[slot];
    if (!row || compare_rows(&answer->rows[row - 1], key) == 0) return slot;
  }
}

// Makes room for one more row; the table is at most half full.
static bool make_slots(ppi_answer *answer) {
  if (2 * (answer->num_rows + 1) <= answer->num_slots) return true;
  if (answer->num_rows >= UINT32_MAX / 4) return false;
  size_t num = 16;
  while (num < 4 * (answer->num_rows + 1)) num *= 2;
  uint32_t *slots = ppi_alloc(num * sizeof *slots);
  if (!slots) return false;
  ppi_free(answer->slots);
  answer->slots = slots;
  answer->num_slots = num;
  for (size_t i = 0; i < answer->num_rows; i++)
    slots[slot_of(answer, &answer->rows[i])] = (uint32_t)i + 1;
  return true;
}

ppi_answer_row *ppi_answer_row_of(ppi_answer *answer,
                                  const ppi_answer_row *key) {
  if (!make_slots(answer)) return NULL;
  size_t slot = slot_of(answer, key);
  uint32_t found = answer->slots[slot];
  if (found) return &answer->rows[found - 1];
  ppi_answer_row *row = append(answer, key);
  if (row) answer->slots[slot] = (uint32_t)answer->num_rows;
  return row;
}

// ---- when all rows are added: sorted ----

void ppi_answer_sort(ppi_answer *answer) {
  if (answer->num_rows > 1)
    qsort(answer->rows, answer->num_rows, sizeof *answer->rows, compare_rows);
  ppi_free(answer->slots);
  answer->slots = NULL;
  answer->num_slots = 0;
}

const ppi_answer_row *ppi_answer_row_find(const ppi_answer *answer,
                                          const ppi_answer_row *key) {
  if (!answer->num_rows) return NULL;
  return bsearch(key, answer->rows, answer->num_rows, sizeof *answer->rows,
                 compare_rows);
}

void ppi_answer_drop_row(ppi_answer *answer, size_t at) {
  ppi_fields_clear(&of_row, &answer->rows[at]);
  memmove(answer->rows + at, answer->rows + at + 1,
          (--answer->num_rows - at) * sizeof *answer->rows);
}

uint64_t ppi_answer_quantile(const ppi_answer *answer,
                             const ppi_answer_row *row, unsigned percent) {
  uint64_t rank = ppi_rank_of(answer->num_units, percent * PPI_RANK_PERCENT);
  uint64_t num_without = answer->num_units - row->num_units;
  if (rank <= num_without || row->num_units == 0) return 0;
  return ppi_histogram_at(&row->times, rank - num_without);
}

bool ppi_answer_merge(ppi_answer *into, const ppi_answer *from) {
  bool done = ppi_fields_merge(&of_answer, into, from);
  for (size_t i = 0; i < from->num_rows && done; i++) {
    ppi_answer_row *row = ppi_answer_row_of(into, &from->rows[i]);
    done = row && ppi_fields_merge(&of_row, row, &from->rows[i]);
  }
  ppi_answer_sort(into);
  return done;
}

void ppi_answer_clear(ppi_answer *answer) {
  for (size_t i = 0; i < answer->num_rows; i++)
    ppi_fields_clear(&of_row, &answer->rows[i]);
  ppi_fields_clear(&of_answer, answer);
  ppi_free(answer->rows);
  ppi_free(answer->slots);
  *answer = (ppi_answer){0};
}

void ppi_answer_carry(ppi_carry *carry, ppi_answer *answer) {
  ppi_carry_room(carry, &answer->rows, &answer->num_rows, sizeof *answer->rows);
  for (size_t i = 0; i < answer->num_rows; i++)
    ppi_fields_carry(&of_row, carry, &answer->rows[i]);
  ppi_fields_carry(&of_answer, carry, answer);
}

static bool merge_answer(void *into, const void *from) {
  return ppi_answer_merge(into, from);
}
static void clear_answer(void *field) {
  ppi_answer_clear(field);
}
static void carry_answer(ppi_carry *carry, void *field) {
  ppi_answer_carry(carry, field);
}
const ppi_reducer ppi_reduce_answer = {
    sizeof(ppi_answer), NULL, NULL, merge_answer, clear_answer, carry_answer};
