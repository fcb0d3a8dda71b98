// SPDX-License-Identifier: Apache-2.0
//
// Finds, sorts and merges the rows of an answer. One thread at a time.
#include "report/figures/answer_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/rank.h"

static int compare_rows(const ppi_answer_row *a, const ppi_answer_row *b) {
  int order = strcmp(a->name, b->name);
  if (order == 0) order = (a->where > b->where) - (a->where < b->where);
  if (order == 0) order = strcmp(a->device, b->device);
  return order ? order : strcmp(a->child, b->child);
}

static void clear_row(ppi_answer_row *row) {
  PPI_FREE_ALL(row->name, row->child, row->device);
  ppi_histogram_clear(&row->times);
}

static ppi_answer_row *append(ppi_answer *answer, const ppi_answer_row *key) {
  if (!PPI_ROOM(answer->rows, answer->capacity, answer->num_rows + 1))
    return NULL;
  ppi_answer_row row = {.name = ppi_strdup(key->name),
                        .child = ppi_strdup(key->child),
                        .device = ppi_strdup(key->device),
                        .where = key->where};
  if (!row.name || !row.child || !row.device) {
    clear_row(&row);
    return NULL;
  }
  answer->rows[answer->num_rows] = row;
  return &answer->rows[answer->num_rows++];
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

static int compare_items(const void *left, const void *right) {
  return compare_rows(left, right);
}

void ppi_answer_sort(ppi_answer *answer) {
  if (answer->num_rows > 1)
    qsort(answer->rows, answer->num_rows, sizeof *answer->rows, compare_items);
  ppi_free(answer->slots);
  answer->slots = NULL;
  answer->num_slots = 0;
}

const ppi_answer_row *ppi_answer_row_find(const ppi_answer *answer,
                                          const ppi_answer_row *key) {
  if (!answer->num_rows) return NULL;
  return bsearch(key, answer->rows, answer->num_rows, sizeof *answer->rows,
                 compare_items);
}

void ppi_answer_drop_row(ppi_answer *answer, size_t at) {
  clear_row(&answer->rows[at]);
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
  into->num_runs += from->num_runs;
  into->num_units += from->num_units;
  into->num_all += from->num_all;
  into->total_ns += from->total_ns;
  into->max_ns = PPI_MAX(into->max_ns, from->max_ns);
  into->span_ns += from->span_ns;
  into->num_cold += from->num_cold;
  into->cold_ns += from->cold_ns;
  into->num_cut += from->num_cut;
  into->before_ns += from->before_ns;
  into->after_ns += from->after_ns;
  bool done = ppi_histogram_merge(&into->times, &from->times);
  for (size_t i = 0; i < from->num_rows && done; i++) {
    const ppi_answer_row *other = &from->rows[i];
    ppi_answer_row *row = ppi_answer_row_of(into, other);
    if (!row) return false;
    row->total_ns += other->total_ns;
    row->calls += other->calls;
    row->num_units += other->num_units;
    row->max_ns = PPI_MAX(row->max_ns, other->max_ns);
    done = ppi_histogram_merge(&row->times, &other->times);
  }
  ppi_answer_sort(into);
  return done;
}

void ppi_answer_clear(ppi_answer *answer) {
  for (size_t i = 0; i < answer->num_rows; i++) clear_row(&answer->rows[i]);
  ppi_free(answer->rows);
  ppi_free(answer->slots);
  ppi_histogram_clear(&answer->times);
  *answer = (ppi_answer){0};
}

void ppi_answer_carry(ppi_carry *carry, ppi_answer *answer) {
  ppi_carry_room(carry, &answer->rows, &answer->num_rows, sizeof *answer->rows);
  for (size_t i = 0; i < answer->num_rows; i++) {
    ppi_answer_row *row = &answer->rows[i];
    ppi_carry_text(carry, &row->name);
    ppi_carry_text(carry, &row->child);
    ppi_carry_text(carry, &row->device);
    PPI_CARRY_FROM(carry, row, where, max_ns);
    ppi_histogram_carry(carry, &row->times);
  }
  if (carry->reads) answer->capacity = answer->num_rows;
  PPI_CARRY_FROM(carry, answer, num_runs, num_all);
  ppi_histogram_carry(carry, &answer->times);
  PPI_CARRY_FROM(carry, answer, num_cold, after_ns);
}
