// SPDX-License-Identifier: Apache-2.0
//
// Computes which part of a request is longer in the slowest requests.
#include "report/findings/tail.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/figures/request_rows.h"

// The time that one request has of a part.
typedef struct piece {
  ppi_tail_part part;
  uint32_t number;    // of `stage`
  const char *stage;  // "": of none
  size_t request;     // its rank by length
  double ns;
} piece;

typedef struct pieces {
  piece *items;
  size_t num, capacity;
  uint32_t **numbers;  // of names + 1, by run and stage; 0: not known
  ppi_map names;
} pieces;

static uint64_t key_of(const void *item) {
  const piece *at = item;
  return (uint64_t)at->part << 32 | at->number;
}

static bool add_piece(pieces *all, const piece *added, ppi_tail_part part,
                      uint64_t ns) {
  if (!ns) return true;
  if (!PPI_ROOM(all->items, all->capacity, all->num + 1)) return false;
  piece *item = &all->items[all->num++];
  *item = *added;
  item->part = part;
  item->ns = (double)ns;
  return true;
}

// Runs have stages of the same names. 0: out of memory.
static uint32_t number_of(pieces *all, const ppi_steady_request *from,
                          uint32_t stage) {
  uint32_t *number = &all->numbers[from->run_index][stage];
  if (!*number)
    *number =
        (uint32_t)ppi_map_number(
            &all->names, ppi_map_key_of(from->run->stages[stage].name, "")) +
        1;
  return *number;
}

static bool add_request(pieces *all, const ppi_steady_request *from,
                        size_t at) {
  const ppi_request_row *row = from->row;
  const ppi_request_run *run = from->run;
  uint32_t **numbers = &all->numbers[from->run_index];
  piece item = {.stage = "", .request = at};
  if (!*numbers) *numbers = ppi_alloc((run->num_stages + 1) * sizeof **numbers);
  bool added = *numbers && add_piece(all, &item, PPI_TAIL_QUEUE, row->queue_ns);
  for (size_t i = 0; i < row->num_cells && added; i++) {
    const ppi_request_cell *cell = &run->cells[row->first_cell + i];
    item.stage = run->stages[cell->stage].name;
    item.number = number_of(all, from, cell->stage);
    added = item.number &&
            add_piece(all, &item, PPI_TAIL_STAGE, cell->own_ns) &&
            add_piece(all, &item, PPI_TAIL_CONTENDED, cell->contended_ns) &&
            add_piece(all, &item, PPI_TAIL_HOP, cell->hop_ns);
  }
  return added;
}

// The slowest hundredth, and the half around the median.
static size_t slow_from(size_t num) {
  return num - num / 100;
}
static bool is_usual(size_t num, size_t at) {
  return at >= num / 4 && at < num - num / 4;
}

// Of parts with equal differences, the first by name wins.
static bool is_greatest(const piece *at, double part_ns, const ppi_tail *out) {
  if (part_ns <= 0 || part_ns != out->part_ns) return part_ns > out->part_ns;
  if (at->part != out->part) return at->part < out->part;
  return out->stage && strcmp(at->stage, out->stage) < 0;
}

// `from` to `to`: pieces of one part. A request without such a piece counts as
// 0.
static void judge(const pieces *all, size_t from, size_t to, ppi_tail *out) {
  double usual = 0, sum = 0, squares = 0, one = 0;
  double num_usual = (double)(out->num - 2 * (out->num / 4));
  double num_slow = (double)out->num_slow;
  for (size_t i = from; i < to; i++) {
    const piece *at = &all->items[i];
    if (is_usual(out->num, at->request)) usual += at->ns;
    if (at->request < slow_from(out->num)) continue;
    one += at->ns;
    if (i + 1 < to && at[1].request == at->request) continue;
    sum += one;
    squares += one * one;
    one = 0;
  }
  double mean = sum / num_slow;
  double variance = (squares / num_slow - mean * mean) / (num_slow - 1);
  double part_ns = mean - usual / num_usual;
  if (!is_greatest(&all->items[from], part_ns, out)) return;
  out->part = all->items[from].part;
  out->stage = *all->items[from].stage ? all->items[from].stage : NULL;
  out->part_ns = part_ns;
  out->error_ns = variance > 0 ? 1.96 * sqrt(variance) : 0;
}

static bool judge_all(pieces *all, ppi_tail *out) {
  if (!ppi_sort(all->items, all->num, sizeof *all->items, key_of, NULL))
    return false;
  for (size_t from = 0, to; from < all->num; from = to) {
    for (to = from + 1; to < all->num; to++)
      if (key_of(&all->items[to]) != key_of(&all->items[from])) break;
    judge(all, from, to, out);
  }
  return true;
}

static bool gather(const ppi_steady_request *list, pieces *all, ppi_tail *out) {
  bool added = true;
  for (size_t i = 0; i < out->num && added; i++) {
    double length_ns = (double)list[i].row->length_ns;
    bool is_slow = i >= slow_from(out->num);
    if (is_slow) out->slow_ns += length_ns / (double)out->num_slow;
    if (is_usual(out->num, i))
      out->usual_ns += length_ns / (double)(out->num - 2 * (out->num / 4));
    if (is_slow || is_usual(out->num, i)) added = add_request(all, &list[i], i);
  }
  return added;
}

pprof_status ppi_tail_of(const ppi_figures *figures, ppi_tail *out) {
  pieces all = {0};
  ppi_steady_request *list;
  size_t num_requests, num_cold;
  *out = (ppi_tail){0};
  pprof_status status =
      ppi_steady_requests(figures, &list, &num_requests, &num_cold);
  bool done = status == PPROF_STATUS_OK;
  out->num = done ? num_requests : 0;
  out->num_slow = out->num / 100;
  if (done && out->num_slow > 1) {
    out->slow_from_ns = list[slow_from(num_requests)].row->length_ns;
    all.numbers = ppi_alloc(figures->num_request_runs * sizeof *all.numbers);
    done = all.numbers && gather(list, &all, out) && judge_all(&all, out);
  }
  for (size_t i = 0; all.numbers && i < figures->num_request_runs; i++)
    ppi_free(all.numbers[i]);
  ppi_free(all.numbers);
  ppi_map_clear(&all.names);
  ppi_free(all.items);
  ppi_free(list);
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}
