// SPDX-License-Identifier: Apache-2.0
//
// Rows of the answer in order, and how they add up. One thread at a time.
#include "report/figures/answer_rows.h"

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
  ppi_free(row->name);
  ppi_free(row->child);
  ppi_free(row->device);
  ppi_histogram_clear(&row->times);
}

static ppi_answer_row *insert(ppi_answer *answer, size_t at,
                              const ppi_answer_row *key) {
  ppi_answer_row *grown = ppi_grow(answer->rows, &answer->capacity,
                                   answer->num_rows + 1, sizeof *grown);
  if (!grown) return NULL;
  answer->rows = grown;
  ppi_answer_row row = {.name = ppi_strdup(key->name),
                        .child = ppi_strdup(key->child),
                        .device = ppi_strdup(key->device),
                        .where = key->where};
  if (!row.name || !row.child || !row.device) {
    clear_row(&row);
    return NULL;
  }
  memmove(grown + at + 1, grown + at,
          (answer->num_rows++ - at) * sizeof *grown);
  grown[at] = row;
  return &grown[at];
}

// Where it is, or belongs.
static size_t place_of(const ppi_answer *answer, const ppi_answer_row *key,
                       bool *out_found) {
  size_t low = 0, high = answer->num_rows;
  *out_found = false;
  while (low < high && !*out_found) {
    size_t middle = low + (high - low) / 2;
    int order = compare_rows(&answer->rows[middle], key);
    *out_found = order == 0;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return *out_found ? high : low;
}

const ppi_answer_row *ppi_answer_row_find(const ppi_answer *answer,
                                          const ppi_answer_row *key) {
  bool found;
  size_t at = place_of(answer, key, &found);
  return found ? &answer->rows[at] : NULL;
}

ppi_answer_row *ppi_answer_row_of(ppi_answer *answer,
                                  const ppi_answer_row *key) {
  bool found;
  size_t at = place_of(answer, key, &found);
  return found ? &answer->rows[at] : insert(answer, at, key);
}

uint64_t ppi_answer_quantile(const ppi_answer *answer,
                             const ppi_answer_row *row, unsigned percent) {
  uint64_t rank = ppi_rank_of(answer->num_units, percent * PPI_RANK_PERCENT);
  uint64_t num_without = answer->num_units - row->num_units;
  if (rank <= num_without || row->num_units == 0) return 0;
  return ppi_histogram_at(&row->times, rank - num_without);
}

pprof_status ppi_answer_merge(ppi_answer *into, const ppi_answer *from) {
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
  pprof_status status = ppi_histogram_merge(&into->times, &from->times);
  for (size_t i = 0; i < from->num_rows && status == PPROF_STATUS_OK; i++) {
    const ppi_answer_row *other = &from->rows[i];
    ppi_answer_row *row = ppi_answer_row_of(into, other);
    if (!row) return PPROF_STATUS_NO_MEMORY;
    row->total_ns += other->total_ns;
    row->calls += other->calls;
    row->num_units += other->num_units;
    row->max_ns = PPI_MAX(row->max_ns, other->max_ns);
    status = ppi_histogram_merge(&row->times, &other->times);
  }
  return status;
}

void ppi_answer_clear(ppi_answer *answer) {
  for (size_t i = 0; i < answer->num_rows; i++) clear_row(&answer->rows[i]);
  ppi_free(answer->rows);
  ppi_histogram_clear(&answer->times);
  *answer = (ppi_answer){0};
}
