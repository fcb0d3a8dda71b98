// SPDX-License-Identifier: Apache-2.0
//
// Groups the pieces of requests' gaps by kind and stage into rows of the
// answer.
#include "report/limit/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/limit/say.h"

typedef struct group {
  const ppi_blame_piece *pieces;
  size_t num;
  ppi_blame_kind kind;
  const char *name;
} group;

static bool is_of_station(ppi_blame_kind kind) {
  return kind == PPI_BLAME_LINE || kind == PPI_BLAME_HELD;
}

// ---- groups ----

// Stations of one name count as the first of them.
static void join_stations(const ppi_limit_model *model, ppi_blame *blame) {
  for (size_t i = 0; i < blame->num_pieces; i++) {
    ppi_blame_piece *piece = &blame->pieces[i];
    if (!is_of_station(piece->kind)) continue;
    const char *name = ppi_limit_station_name(model, piece->of);
    uint32_t first = 0;
    while (strcmp(ppi_limit_station_name(model, first), name) != 0) first++;
    piece->of = first;
  }
}

PPI_ORDER(compare_pieces, ppi_blame_piece, PPI_UP(kind) PPI_UP(of) PPI_UP(unit))

static uint64_t group_of(const void *item) {
  const ppi_blame_piece *piece = item;
  return (uint64_t)piece->kind << 32 | piece->of;
}

// The group that begins with piece `at`. With `gaps`, only pieces of gaps
// count.
static group group_at(const ppi_limit_model *model, const ppi_blame *blame,
                      size_t at) {
  const ppi_blame_piece *first = &blame->pieces[at];
  group out = {.pieces = first, .kind = first->kind, .name = ""};
  while (at + out.num < blame->num_pieces &&
         first[out.num].kind == first->kind && first[out.num].of == first->of)
    out.num++;
  if (is_of_station(first->kind))
    out.name = ppi_limit_station_name(model, first->of);
  else if (first->of != PPI_NONE)
    out.name = model->names[first->of].text;
  return out;
}

// ---- rows of the answer ----

typedef struct dividing {
  ppi_answer *answer;
  uint64_t all_ns;   // of the row that is divided
  uint64_t gaps_ns;  // of the pieces of gaps
  uint64_t done_ns;  // of these, in rows
  uint64_t given_ns;
  size_t num_seen;
} dividing;

// How many of all requests this examined request represents.
static uint64_t weight_of(const dividing *to, uint32_t unit) {
  uint64_t all = to->answer->num_units, seen = to->num_seen;
  return (unit + 1) * all / seen - unit * all / seen;
}

static pprof_status add_unit(const dividing *to, ppi_answer_row *row,
                             uint32_t unit, uint64_t ns) {
  pprof_status status = PPROF_STATUS_OK;
  double mean_ns = (double)to->all_ns / (double)to->answer->num_units;
  double seen_ns = (double)to->gaps_ns / (double)to->num_seen;
  uint64_t scaled_ns = (uint64_t)((double)ns * mean_ns / seen_ns + 0.5);
  uint64_t num = scaled_ns ? weight_of(to, unit) : 0;
  if (num) row->max_ns = PPI_MAX(row->max_ns, scaled_ns);
  row->num_units += num;
  for (; num && status == PPROF_STATUS_OK; num--)
    status = ppi_or_no_memory(ppi_histogram_add(&row->times, scaled_ns));
  return status;
}

// The rounding error passes to the next row, so that the rows add up.
static pprof_status add_row(dividing *to, const group *of) {
  static const ppi_where wheres[PPI_NUM_BLAME_KINDS] = {
      [PPI_BLAME_WORK] = PPI_WHERE_BETWEEN,
      [PPI_BLAME_LINE] = PPI_WHERE_LINE,
      [PPI_BLAME_HELD] = PPI_WHERE_HELD,
      [PPI_BLAME_BATCH] = PPI_WHERE_BATCH,
      [PPI_BLAME_IDLE] = PPI_WHERE_IDLE,
      [PPI_BLAME_HAND_OVER] = PPI_WHERE_HAND_OVER,
      [PPI_BLAME_PAUSED] = PPI_WHERE_PAUSED,
      [PPI_BLAME_OTHERS] = PPI_WHERE_BETWEEN};
  ppi_answer_row key = {.name = (char *)of->name,
                        .child = "",
                        .device = "",
                        .where = wheres[of->kind]};
  ppi_answer_row *row = NULL;
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < of->num && status == PPROF_STATUS_OK;) {
    uint32_t unit = of->pieces[i].unit;
    uint64_t ns = 0;
    for (; i < of->num && of->pieces[i].unit == unit; i++)
      if (of->pieces[i].is_gap) ns += of->pieces[i].ns;
    if (!ns) continue;
    if (!row) row = ppi_answer_row_of(to->answer, &key);
    if (!row) return PPROF_STATUS_NO_MEMORY;
    to->done_ns += ns;
    status = add_unit(to, row, unit, ns);
  }
  uint64_t given_ns = (uint64_t)((unsigned __int128)to->all_ns * to->done_ns /
                                 PPI_MAX(to->gaps_ns, 1));
  if (row) row->total_ns = given_ns - to->given_ns;
  to->given_ns = given_ns;
  return status;
}

static pprof_status divide(const ppi_limit_model *model, const ppi_blame *blame,
                           ppi_answer *answer) {
  size_t between = 0;
  while (between < answer->num_rows &&
         answer->rows[between].where != PPI_WHERE_BETWEEN)
    between++;
  if (between == answer->num_rows || !blame->num_units) return PPROF_STATUS_OK;
  dividing to = {.answer = answer,
                 .all_ns = answer->rows[between].total_ns,
                 .num_seen = blame->num_units};
  for (size_t i = 0; i < blame->num_pieces; i++)
    if (blame->pieces[i].is_gap) to.gaps_ns += blame->pieces[i].ns;
  if (!to.gaps_ns) return PPROF_STATUS_OK;
  ppi_answer_drop_row(answer, between);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < blame->num_pieces && status == PPROF_STATUS_OK;) {
    group of = group_at(model, blame, i);
    status = add_row(&to, &of);
    i += of.num;
  }
  ppi_answer_sort(answer);
  return status;
}

// ---- rows of the verdict ----

PPI_ORDER(compare_rows, ppi_limit_blame,
          PPI_DOWN(ns) PPI_UP(kind) PPI_BY_TEXT(name))

// The greatest rows in order; the last row is the sum of all others.
static void fill_rows(ppi_limit_blame *rows, size_t num, ppi_limit *out) {
  enum { LISTED = PPI_LIMIT_BLAMES - 1 };
  if (num > 1) qsort(rows, num, sizeof *rows, compare_rows);
  out->num_blames = PPI_MIN(num, (size_t)PPI_LIMIT_BLAMES);
  memcpy(out->blames, rows, out->num_blames * sizeof *rows);
  if (num <= PPI_LIMIT_BLAMES) return;
  ppi_limit_blame *others = &out->blames[LISTED];
  *others = (ppi_limit_blame){.kind = PPI_BLAME_OTHERS};
  for (size_t i = LISTED; i < num; i++) {
    others->ns += rows[i].ns;
    others->usual_ns += rows[i].usual_ns;
    others->slow_ns += rows[i].slow_ns;
  }
}

// Borders of length: where the usual requests begin and end, and where the slow
// ones begin.
typedef struct bands {
  uint64_t low_ns, high_ns, slow_ns;
  double num_usual, num_slow;
} bands;

static bool find_bands(const ppi_blame *blame, bands *out) {
  size_t num = blame->num_units;
  uint64_t *sorted = ppi_alloc((num + 1) * sizeof *sorted);
  if (!sorted) return false;
  memcpy(sorted, blame->latencies, num * sizeof *sorted);
  ppi_sort_numbers(sorted, num);
  *out = (bands){.low_ns = ppi_quantile_of(sorted, num, 0.25),
                 .high_ns = ppi_quantile_of(sorted, num, 0.75),
                 .slow_ns = ppi_quantile_of(sorted, num, 0.95)};
  for (size_t i = 0; i < num; i++) {
    out->num_usual += sorted[i] >= out->low_ns && sorted[i] <= out->high_ns;
    out->num_slow += sorted[i] >= out->slow_ns;
  }
  ppi_free(sorted);
  return true;
}

static ppi_limit_blame row_of(const ppi_blame *blame, const group *all,
                              const bands *of) {
  ppi_limit_blame row = {.kind = all->kind};
  PPI_SAY(row.name, "%s", all->name);
  for (size_t i = 0; i < all->num; i++) {
    uint64_t length_ns = blame->latencies[all->pieces[i].unit];
    double ns = (double)all->pieces[i].ns;
    row.ns += ns / (double)blame->num_units;
    if (length_ns >= of->low_ns && length_ns <= of->high_ns)
      row.usual_ns += ns / of->num_usual;
    if (length_ns >= of->slow_ns) row.slow_ns += ns / of->num_slow;
  }
  return row;
}

static bool list_blames(const ppi_limit_model *model, const ppi_blame *blame,
                        ppi_limit *out) {
  bands of;
  size_t num = 0, names = model->num_names + model->num_stations + 1;
  ppi_limit_blame *rows = ppi_alloc(PPI_NUM_BLAME_KINDS * names * sizeof *rows);
  bool is_done = rows && find_bands(blame, &of);
  for (size_t i = 0; i < blame->num_pieces && is_done;) {
    group all = group_at(model, blame, i);
    rows[num++] = row_of(blame, &all, &of);
    i += all.num;
  }
  if (is_done) fill_rows(rows, num, out);
  ppi_free(rows);
  return is_done;
}

void ppi_blame_show(ppi_limit_search *search, ppi_answer *requests) {
  const ppi_limit_model *model = search->model;
  ppi_blame *blame = &search->blame;
  if (!blame->num_pieces) return;
  search->out->num_edges = blame->num_edges;
  search->out->num_differ = blame->num_differ;
  if (100 * blame->num_differ > blame->num_edges)
    PPI_LIMIT_SAY_MORE(search->out,
                       "Of %zu recorded waits before stages, another thread "
                       "than the request's ended %zu: the waits count.",
                       blame->num_edges, blame->num_differ);
  join_stations(model, blame);
  ppi_sort(blame->pieces, blame->num_pieces, sizeof *blame->pieces, group_of,
           compare_pieces);
  search->failed |= !list_blames(model, blame, search->out) ||
                    divide(model, blame, requests) != PPROF_STATUS_OK;
}
