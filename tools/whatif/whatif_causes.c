// SPDX-License-Identifier: Apache-2.0
//
// What waited for what. A log does not say so: it says who serves which
// request, what was submitted where, and when each began and ended.
//
//   what begins                        waits for
//   work on a stream                   its submission
//   a range of a request               what served that request before, on
//   other
//                                      rows; where that goes on: its progress
//   the first range of a request       the end of an earlier one, where so many
//                                      are under way that this shows
//   what ends
//   a range that waits                 work on the device, of its request or
//                                      submitted by its thread; a range of its
//                                      request within it on another thread
//
// A range waits if what it is taken to wait for ends in at least three of its
// calls, in half of these at most a quarter of the call lies behind that, and
// half of the time of all its calls lies before.
#include "whatif/whatif_causes.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "whatif/whatif_requests.h"
#include "whatif/whatif_rows.h"

enum {
  MOST_BACK = 64,  // pieces that are looked at for where a row waited
  LEAST_CALLS = 3  // to tell that a range waits
};
static const double most_behind = 0.25, least_waited = 0.5;

typedef enum wish_kind { SUBMITTED, HANDED, FREED, ENDED } wish_kind;

// That `range` (of ENDED: piece) depends on the end of `cause`.
typedef struct wish {
  uint32_t range, cause;
  wish_kind kind;
} wish;

// The same, of pieces. `waiter` is the stage that waits, or, behind all stages,
// the one that the row waits to begin; `behind` the part of the piece behind
// the cause, -1: it is before it.
typedef struct guess {
  uint32_t piece, cause, waiter;
  uint32_t instead;  // the piece, should the waiter be none
  wish_kind kind;
  float behind;
} guess;

typedef struct finder {
  ppi_whatif_graph *graph;
  wish *wishes;
  size_t num_wishes, wishes_capacity;
  guess *guesses;
  size_t num_guesses, guesses_capacity;
} finder;

static bool add_wish(finder *to, uint32_t range, uint32_t cause,
                     wish_kind kind) {
  wish *grown = ppi_grow(to->wishes, &to->wishes_capacity, to->num_wishes + 1,
                         sizeof *grown);
  if (!grown) return false;
  to->wishes = grown;
  grown[to->num_wishes++] = (wish){range, cause, kind};
  return true;
}

static const ppi_whatif_range *range_at(const finder *of, uint32_t id) {
  return ppi_whatif_range_at(of->graph->log, id);
}

static bool is_on_stream(const finder *of, uint32_t row) {
  return of->graph->log->rows[row].is_stream;
}

// ---- from one row to another ----

static bool wish_submits(finder *to) {
  bool added = true;
  for (uint32_t id = 1; id <= to->graph->log->num_ranges && added; id++)
    if (range_at(to, id)->submit)
      added = add_wish(to, id, range_at(to, id)->submit, SUBMITTED);
  return added;
}

// What of a request was before `range` on other rows: of each row the last one.
typedef struct past {
  uint32_t ended[PPI_WHATIF_MOST_SERVED];
  size_t num_ended;
  uint32_t going_on;  // 0: none
} past;

static void add_ended(const finder *of, past *before, uint32_t id) {
  const ppi_whatif_range *range = range_at(of, id);
  for (size_t i = 0; i < before->num_ended; i++) {
    const ppi_whatif_range *other = range_at(of, before->ended[i]);
    if (other->row != range->row) continue;
    if (range->end_ns >= other->end_ns) before->ended[i] = id;
    return;
  }
  before->ended[before->num_ended++] = id;
}

static void look_back(const finder *of, const ppi_whatif_served *served,
                      size_t num, uint32_t id, past *out) {
  const ppi_whatif_range *range = range_at(of, id);
  bool on_stream = is_on_stream(of, range->row), contained = false;
  out->num_ended = out->going_on = 0;
  for (size_t i = 0; i < num; i++) {
    const ppi_whatif_range *other = range_at(of, served[i].range);
    bool fits = other->row != range->row &&
                (!on_stream || is_on_stream(of, other->row));
    if (!fits || other->start_ns > range->start_ns) continue;
    if (other->end_ns <= range->start_ns) {
      add_ended(of, out, served[i].range);
    } else if (!on_stream && !is_on_stream(of, other->row) &&
               other->start_ns < range->start_ns) {
      out->going_on = served[i].range;
      contained = range->end_ns <= other->end_ns;
    }
  }
  if (out->num_ended && !contained) out->going_on = 0;
}

static bool wish_handed(finder *to, const ppi_whatif_served *served,
                        size_t num) {
  past before;
  bool added = true;
  for (size_t i = 0; i < num && added; i++) {
    uint32_t id = served[i].range;
    look_back(to, served, num, id, &before);
    for (size_t k = 0; k < before.num_ended && added; k++)
      added = add_wish(to, id, before.ended[k], HANDED);
    if (!before.going_on || !added) continue;
    const ppi_whatif_range *range = range_at(to, id);
    uint32_t point = ppi_whatif_log_point(
        to->graph->log, range_at(to, before.going_on)->row, range->start_ns);
    added = point && add_wish(to, id, point, HANDED);
  }
  return added;
}

static bool wish_within_requests(finder *to) {
  const ppi_whatif_graph *graph = to->graph;
  bool added = true;
  for (size_t first = 0; first < graph->num_served && added;) {
    size_t end = first;
    while (end < graph->num_served &&
           graph->served[end].flow == graph->served[first].flow)
      end++;
    if (end - first <= PPI_WHATIF_MOST_SERVED)
      added = wish_handed(to, &graph->served[first], end - first);
    else
      to->graph->num_large++;
    first = end;
  }
  return added;
}

// ---- one request to another ----

typedef struct completion {
  uint64_t end_ns;
  uint32_t range;
} completion;

static uint64_t end_of(const void *item) {
  return ((const completion *)item)->end_ns;
}

static int compare_ends(const void *left, const void *right) {
  const completion *a = left, *b = right;
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  return (a->range > b->range) - (a->range < b->range);
}

static uint32_t last_of(const finder *of, const ppi_whatif_request *request) {
  const ppi_whatif_served *served = &of->graph->served[request->first];
  uint32_t last = served->range;
  for (size_t i = 1; i < request->num; i++)
    if (range_at(of, served[i].range)->end_ns > range_at(of, last)->end_ns)
      last = served[i].range;
  return last;
}

// How many are under way at most, but for one begin in twenty: clocks of
// devices are not exact, and a request that seems to have ended late is no
// limit.
static size_t most_under_way(const ppi_whatif_graph *graph,
                             const completion *done, size_t *scratch) {
  size_t num = graph->num_requests, ended = 0, above = 0, most = num;
  for (size_t i = 0; i < num; i++) {
    while (ended < i && done[ended].end_ns <= graph->requests[i].start_ns)
      ended++;
    scratch[i + 1 - ended]++;
  }
  while (most && (above += scratch[most]) * 20 <= num) most--;
  return most;
}

// With `most` under way at a time the n-th request begins when the (n -
// most)-th to end has ended. Whether that is a limit, and no accident, its
// waits have to show.
static bool wish_freed(finder *to) {
  ppi_whatif_graph *graph = to->graph;
  size_t num = graph->num_requests;
  completion *done = ppi_alloc((num + 1) * sizeof *done);
  size_t *scratch = ppi_alloc((num + 1) * sizeof *scratch);
  bool added = done && scratch;
  for (size_t i = 0; i < num && added; i++)
    done[i] = (completion){graph->requests[i].end_ns,
                           last_of(to, &graph->requests[i])};
  if (added) {
    ppi_sort(done, num, sizeof *done, end_of, compare_ends);
    graph->in_flight = (uint32_t)most_under_way(graph, done, scratch);
  }
  for (size_t i = graph->in_flight; i < num && added; i++) {
    const completion *freed = &done[i - graph->in_flight];
    if (freed->end_ns <= graph->requests[i].start_ns)
      added = add_wish(to, graph->served[graph->requests[i].first].range,
                       freed->range, FREED);
  }
  ppi_free(done);
  ppi_free(scratch);
  return added;
}

// ---- where a row waited ----

static uint32_t waiter_of(const finder *of, uint32_t piece, uint32_t next) {
  const ppi_whatif_log *log = of->graph->log;
  uint32_t owner = ppi_whatif_piece_at(of->graph, piece)->owner;
  if (owner) return range_at(of, owner)->stage;
  return (uint32_t)log->num_stages + 1 + (next ? range_at(of, next)->stage : 0);
}

static float behind_of(const ppi_whatif_piece *piece, uint64_t cause_ns) {
  if (cause_ns <= piece->start_ns) return -1;
  if (cause_ns >= piece->end_ns) return 0;
  return (float)((double)(piece->end_ns - cause_ns) /
                 (double)(piece->end_ns - piece->start_ns));
}

static bool add_guess(finder *to, const guess *from) {
  ppi_whatif_graph *graph = to->graph;
  guess *grown = ppi_grow(to->guesses, &to->guesses_capacity,
                          to->num_guesses + 1, sizeof *grown);
  if (!grown) return false;
  to->guesses = grown;
  guess *added = &grown[to->num_guesses++];
  *added = *from;
  added->behind = behind_of(ppi_whatif_piece_at(graph, from->piece),
                            ppi_whatif_piece_at(graph, from->cause)->end_ns);
  return true;
}

// The piece in which the cause came, of those since the row last served
// somebody. If it came before, the last one that took time, where a row that
// waits would have waited.
static uint32_t piece_for(const finder *of, uint32_t range, uint64_t cause_ns) {
  uint32_t before = of->graph->before[range], at = before, longest = 0;
  for (int i = 0; i < MOST_BACK && at; i++) {
    const ppi_whatif_piece *piece = ppi_whatif_piece_at(of->graph, at);
    bool is_busy = i && piece->owner && range_at(of, piece->owner)->num_flows;
    if (is_busy || cause_ns > piece->end_ns) break;
    if (cause_ns > piece->start_ns) return at;
    if (!longest && piece->end_ns > piece->start_ns) longest = at;
    at = piece->prev;
  }
  return longest ? longest : before;
}

static bool guess_begins(finder *to) {
  const ppi_whatif_graph *graph = to->graph;
  bool added = true;
  for (size_t i = 0; i < to->num_wishes && added; i++) {
    const wish *at = &to->wishes[i];
    bool is_point = !range_at(to, at->cause)->stage;
    guess one = {
        .piece = graph->before[at->range],
        .instead = graph->before[at->range],
        .cause = is_point ? graph->before[at->cause] : graph->last[at->cause],
        .kind = at->kind};
    const ppi_whatif_piece *cause = ppi_whatif_piece_at(graph, one.cause);
    // On one row it comes behind anyway.
    if (cause->row == range_at(to, at->range)->row) continue;
    if (at->kind != SUBMITTED)
      one.piece = piece_for(to, at->range, cause->end_ns);
    one.waiter = waiter_of(to, one.piece, at->range);
    added = add_guess(to, &one);
  }
  return added;
}

// ---- what ends when something else has ----

// Work of a device by the thread that submitted it.
typedef struct device_work {
  uint64_t end_ns;
  uint32_t row, piece;
} device_work;

static int compare_work(const void *left, const void *right) {
  const device_work *a = left, *b = right;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

static device_work *list_work(const finder *of, size_t *out_num) {
  const ppi_whatif_log *log = of->graph->log;
  device_work *work = ppi_alloc((log->num_ranges + 1) * sizeof *work);
  *out_num = 0;
  for (uint32_t id = 1; id <= log->num_ranges && work; id++) {
    const ppi_whatif_range *range = range_at(of, id);
    if (range->submit && !range->parent)
      work[(*out_num)++] = (device_work){
          range->end_ns, range_at(of, range->submit)->row, of->graph->last[id]};
  }
  if (work && *out_num > 1) qsort(work, *out_num, sizeof *work, compare_work);
  return work;
}

// The latest of a thread that has ended by `time_ns`; 0: none.
static uint32_t latest_work(const device_work *work, size_t num, uint32_t row,
                            uint64_t time_ns) {
  size_t low = 0;
  while (low < num) {
    size_t middle = low + (num - low) / 2;
    if (work[middle].row < row ||
        (work[middle].row == row && work[middle].end_ns <= time_ns))
      low = middle + 1;
    else
      num = middle;
  }
  return low && work[low - 1].row == row ? work[low - 1].piece : 0;
}

// The same of the request that a range serves: on devices, or within the range
// on other threads. `*out_any`: it has such.
static uint32_t latest_of_request(const finder *of,
                                  const ppi_whatif_range *waits,
                                  uint64_t time_ns, bool *out_any) {
  const ppi_whatif_graph *graph = of->graph;
  uint32_t latest = 0;
  size_t first, num;
  *out_any = false;
  if (!ppi_whatif_served_of(graph, graph->log->flows[waits->first_flow], &first,
                            &num) ||
      num > PPI_WHATIF_MOST_SERVED)
    return 0;
  for (size_t i = first; i < first + num; i++) {
    const ppi_whatif_range *other = range_at(of, graph->served[i].range);
    bool fits =
        other->row != waits->row && other->stage &&
        (is_on_stream(of, other->row) || (other->start_ns >= waits->start_ns &&
                                          other->end_ns <= waits->end_ns));
    if (!fits) continue;
    *out_any = true;
    uint32_t piece = graph->last[graph->served[i].range];
    if (other->end_ns <= time_ns &&
        (!latest || other->end_ns > ppi_whatif_piece_at(graph, latest)->end_ns))
      latest = piece;
  }
  return latest;
}

// By piece: the range that begins where it ends.
static uint32_t *list_next(const finder *of) {
  const ppi_whatif_graph *graph = of->graph;
  uint32_t *next = ppi_alloc((graph->num_pieces + 1) * sizeof *next);
  for (uint32_t id = 1; next && id <= graph->log->num_ranges; id++)
    next[graph->before[id]] = id;
  return next;
}

static bool guess_ends(finder *to) {
  const ppi_whatif_graph *graph = to->graph;
  size_t num_work;
  device_work *work = list_work(to, &num_work);
  uint32_t *next = list_next(to);
  bool added = work && next;
  for (uint32_t id = 1; id <= graph->num_pieces && added; id++) {
    const ppi_whatif_piece *piece = ppi_whatif_piece_at(graph, id);
    if (is_on_stream(to, piece->row)) continue;
    bool any = false;
    uint32_t cause = 0;
    if (piece->owner && range_at(to, piece->owner)->num_flows)
      cause = latest_of_request(to, range_at(to, piece->owner), piece->end_ns,
                                &any);
    if (!any) cause = latest_work(work, num_work, piece->row, piece->end_ns);
    const guess one = {.piece = id,
                       .instead = id,
                       .cause = cause,
                       .waiter = waiter_of(to, id, next[id]),
                       .kind = ENDED};
    if (cause) added = add_guess(to, &one);
  }
  ppi_free(work);
  ppi_free(next);
  return added;
}

// ---- which of them hold ----

// That requests wait for others to end holds for all of them, or for none.
static bool same_rule(const guess *a, const guess *b) {
  return a->kind == b->kind && (a->kind == FREED || a->waiter == b->waiter);
}

static int compare_guesses(const void *left, const void *right) {
  const guess *a = left, *b = right;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->waiter != b->waiter && a->kind != FREED)
    return a->waiter < b->waiter ? -1 : 1;
  if (a->behind < b->behind || a->behind > b->behind)
    return a->behind < b->behind ? -1 : 1;
  if (a->piece != b->piece) return a->piece < b->piece ? -1 : 1;
  return (a->cause > b->cause) - (a->cause < b->cause);
}

// `guesses` of one rule: those that are before their pieces first, then those
// with the least behind, so that of a piece the first one explains most. `seen`
// has the rule that has seen a piece.
static bool shows(const finder *of, const guess *guesses, size_t num,
                  uint32_t *seen, uint32_t rule) {
  double total_ns = 0, waited_ns = 0;
  size_t before = 0;
  while (before < num && guesses[before].behind < 0) before++;
  size_t inside = num - before;
  if (inside < LEAST_CALLS ||
      (double)guesses[before + (inside - 1) / 2].behind > most_behind)
    return false;
  for (size_t i = 0; i < num; i++) {
    const guess *at = &guesses[(before + i) % num];
    const ppi_whatif_piece *piece = ppi_whatif_piece_at(of->graph, at->piece);
    double length_ns = (double)(piece->end_ns - piece->start_ns);
    if (seen[at->piece] == rule) continue;
    seen[at->piece] = rule;
    total_ns += length_ns;
    if (at->behind >= 0) waited_ns += length_ns * (1 - (double)at->behind);
  }
  return waited_ns >= total_ns * least_waited;
}

static bool add_cause(finder *to, uint32_t piece, uint32_t cause, bool waits) {
  ppi_whatif_graph *graph = to->graph;
  ppi_whatif_cause *grown = ppi_grow(graph->causes, &graph->causes_capacity,
                                     graph->num_causes + 1, sizeof *grown);
  if (!grown) return false;
  graph->causes = grown;
  uint32_t *first = &ppi_whatif_piece_at(graph, piece)->causes;
  uint64_t end_ns = ppi_whatif_piece_at(graph, piece)->end_ns;
  uint64_t cause_ns = ppi_whatif_piece_at(graph, cause)->end_ns;
  grown[graph->num_causes++] = (ppi_whatif_cause){
      cause, *first, waits, cause_ns > end_ns ? cause_ns - end_ns : 0};
  *first = (uint32_t)graph->num_causes;
  return true;
}

// A thread that is in no range until it has got its request was waiting for it;
// what it does in a range may be work, unless that shows to be a wait.
static bool decide_one(finder *to, const guess *at, bool holds) {
  const ppi_whatif_graph *graph = to->graph;
  bool in_gap = at->waiter > graph->log->num_stages;
  bool is_wait = in_gap || graph->is_wait[at->waiter];
  bool is_before = at->behind < 0;
  if (at->kind == SUBMITTED) return add_cause(to, at->piece, at->cause, true);
  if (!holds && at->kind != HANDED) return true;
  if (is_before)
    return add_cause(to, is_wait ? at->piece : at->instead, at->cause, true);
  return add_cause(to, at->piece, at->cause, holds || in_gap);
}

static bool decide(finder *to, const guess *guesses, size_t num, uint32_t *seen,
                   uint32_t rule) {
  ppi_whatif_graph *graph = to->graph;
  bool holds = shows(to, guesses, num, seen, rule), added = true;
  if (guesses->kind == FREED && !holds) graph->in_flight = 0;
  for (size_t i = 0; i < num && holds && guesses->kind != SUBMITTED; i++)
    if (guesses[i].behind >= 0 && guesses[i].waiter <= graph->log->num_stages)
      graph->is_wait[guesses[i].waiter] = true;
  for (size_t i = 0; i < num && added; i++)
    added = decide_one(to, &guesses[i], holds);
  return added;
}

static bool decide_all(finder *to) {
  const guess *all = to->guesses;
  uint32_t *seen = ppi_alloc((to->graph->num_pieces + 1) * sizeof *seen);
  uint32_t rule = 0;
  bool added = seen != NULL, freed = false;
  if (to->num_guesses > 1)
    qsort(to->guesses, to->num_guesses, sizeof *to->guesses, compare_guesses);
  for (size_t first = 0; first < to->num_guesses && added;) {
    size_t end = first;
    while (end < to->num_guesses && same_rule(&all[first], &all[end])) end++;
    freed |= all[first].kind == FREED;
    added = decide(to, &all[first], end - first, seen, ++rule);
    first = end;
  }
  if (!freed) to->graph->in_flight = 0;
  ppi_free(seen);
  return added;
}

// ---- all of it ----

static void clear(finder *all) {
  ppi_free(all->wishes);
  ppi_free(all->guesses);
}

static bool make(finder *all) {
  ppi_whatif_graph *graph = all->graph;
  graph->is_wait = ppi_alloc(graph->log->num_stages + 1);
  return graph->is_wait && ppi_whatif_rows_nest(graph) &&
         ppi_whatif_steps_place(graph) && ppi_whatif_requests_find(graph) &&
         wish_submits(all) && wish_within_requests(all) && wish_freed(all) &&
         ppi_whatif_rows_nest(graph) && ppi_whatif_rows_cut(graph) &&
         guess_begins(all) && guess_ends(all) && decide_all(all) &&
         ppi_whatif_rows_order(graph);
}

bool ppi_whatif_graph_make(ppi_whatif_graph *graph, ppi_whatif_log *log) {
  *graph = (ppi_whatif_graph){.log = log};
  finder all = {.graph = graph};
  bool made = make(&all);
  clear(&all);
  return made;
}
