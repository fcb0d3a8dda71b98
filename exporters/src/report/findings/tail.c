// SPDX-License-Identifier: Apache-2.0
//
// Computes what the slowest requests have more of.
#include "report/findings/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/steady_requests.h"

// The time that one request has of a part.
typedef struct piece {
  ppi_tail_part part;
  const char *stage;  // "": of none
  size_t request;     // its number in the order of lengths
  double ns;
} piece;

typedef struct pieces {
  piece *items;
  size_t num, capacity;
} pieces;

static int compare_pieces(const void *left, const void *right) {
  const piece *a = left, *b = right;
  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  int order = strcmp(a->stage, b->stage);
  if (order) return order;
  return (a->request > b->request) - (a->request < b->request);
}

static bool add(pieces *all, ppi_tail_part part, const char *stage, size_t at,
                uint64_t ns) {
  if (!ns) return true;
  piece *grown =
      ppi_grow(all->items, &all->capacity, all->num + 1, sizeof *grown);
  if (!grown) return false;
  all->items = grown;
  grown[all->num++] = (piece){part, stage, at, (double)ns};
  return true;
}

static bool add_request(pieces *all, const ppi_steady_request *from,
                        size_t at) {
  const ppi_request_row *row = from->row;
  bool added = add(all, PPI_TAIL_QUEUE, "", at, row->queue_ns);
  for (size_t i = 0; i < row->num_cells && added; i++) {
    const ppi_request_cell *cell = &from->run->cells[row->first_cell + i];
    const char *stage = from->run->stages[cell->stage].name;
    added = add(all, PPI_TAIL_STAGE, stage, at, cell->own_ns) &&
            add(all, PPI_TAIL_CONTENDED, stage, at, cell->contended_ns) &&
            add(all, PPI_TAIL_HOP, stage, at, cell->hop_ns);
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

// `from` to `to`: pieces of one part. A request that has none of it counts as
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
  if (part_ns <= out->part_ns) return;
  out->part = all->items[from].part;
  out->stage = *all->items[from].stage ? all->items[from].stage : NULL;
  out->part_ns = part_ns;
  out->error_ns = variance > 0 ? 1.96 * sqrt(variance) : 0;
}

static void judge_all(pieces *all, ppi_tail *out) {
  if (all->num > 1)
    qsort(all->items, all->num, sizeof *all->items, compare_pieces);
  for (size_t from = 0, to; from < all->num; from = to) {
    for (to = from + 1; to < all->num; to++)
      if (all->items[to].part != all->items[from].part ||
          strcmp(all->items[to].stage, all->items[from].stage) != 0)
        break;
    judge(all, from, to, out);
  }
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
    done = gather(list, &all, out);
    if (done) judge_all(&all, out);
  }
  ppi_free(all.items);
  ppi_free(list);
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}
