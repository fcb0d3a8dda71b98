// SPDX-License-Identifier: Apache-2.0
//
// Rows in pieces, and an order in which pieces can be replayed.
#include "whatif/whatif_rows.h"

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

// ---- what is around what ----

typedef struct place {
  uint64_t start_ns, end_ns;
  uint32_t row, depth, id;
} place;

static uint64_t start_of(const void *item) {
  return ((const place *)item)->start_ns;
}

static int compare_places(const void *left, const void *right) {
  const place *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  if (a->end_ns != b->end_ns) return a->end_ns > b->end_ns ? -1 : 1;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

// By row, and on each in the order of time.
static void deal(ppi_whatif_graph *graph, const place *places) {
  const ppi_whatif_log *log = graph->log;
  size_t at = 0;
  for (uint32_t row = 0; row < log->num_rows; row++) {
    uint32_t num = log->rows[row].num_ranges;
    log->rows[row].num_ranges = (uint32_t)at;
    at += num;
  }
  for (size_t i = 0; i < log->num_ranges; i++)
    graph->sorted[log->rows[places[i].row].num_ranges++] = places[i].id;
  uint32_t before = 0;
  for (uint32_t row = 0; row < log->num_rows; row++) {
    uint32_t end = log->rows[row].num_ranges;
    log->rows[row].num_ranges = end - before;
    before = end;
  }
}

// A row's ranges nest: an end that is later than the one around is that one's.
static void find_parents(ppi_whatif_graph *graph) {
  const ppi_whatif_log *log = graph->log;
  uint32_t around = 0;
  for (size_t i = 0; i < log->num_ranges; i++) {
    uint32_t id = graph->sorted[i];
    ppi_whatif_range *range = ppi_whatif_range_at(log, id);
    if (i && ppi_whatif_range_at(log, graph->sorted[i - 1])->row != range->row)
      around = 0;
    while (around) {
      const ppi_whatif_range *outer = ppi_whatif_range_at(log, around);
      bool inside = range->start_ns < outer->end_ns;
      if (inside) break;
      around = outer->parent;
    }
    range->parent = around;
    if (around)
      range->end_ns =
          PPI_MIN(range->end_ns, ppi_whatif_range_at(log, around)->end_ns);
    if (range->end_ns > range->start_ns) around = id;
  }
}

bool ppi_whatif_rows_nest(ppi_whatif_graph *graph) {
  const ppi_whatif_log *log = graph->log;
  size_t num = log->num_ranges;
  place *places = ppi_alloc((num + 1) * sizeof *places);
  ppi_free(graph->sorted);
  graph->sorted = ppi_alloc((num + 1) * sizeof *graph->sorted);
  bool made = places && graph->sorted;
  for (size_t i = 0; i < num && made; i++) {
    const ppi_whatif_range *range = &log->ranges[i];
    places[i] = (place){range->start_ns, range->end_ns, range->row,
                        range->depth, (uint32_t)i + 1};
  }
  if (made) {
    ppi_sort(places, num, sizeof *places, start_of, compare_places);
    deal(graph, places);
    find_parents(graph);
  }
  ppi_free(places);
  return made;
}

// ---- pieces ----

typedef struct cutter {
  ppi_whatif_graph *graph;
  uint32_t row, prev;
  uint64_t now_ns;
} cutter;

// A point takes no time, so it owns none; what it lies in does.
static uint32_t owner_of(const ppi_whatif_log *log, uint32_t range) {
  while (range && !ppi_whatif_range_at(log, range)->stage)
    range = ppi_whatif_range_at(log, range)->parent;
  return range;
}

static uint32_t add_piece(cutter *at, uint64_t end_ns, uint32_t owner) {
  ppi_whatif_graph *graph = at->graph;
  ppi_whatif_piece *grown = ppi_grow(graph->pieces, &graph->pieces_capacity,
                                     graph->num_pieces + 1, sizeof *grown);
  if (!grown) return 0;
  graph->pieces = grown;
  grown[graph->num_pieces++] =
      (ppi_whatif_piece){.start_ns = at->now_ns,
                         .end_ns = PPI_MAX(at->now_ns, end_ns),
                         .owner = owner_of(graph->log, owner),
                         .row = at->row,
                         .prev = at->prev};
  at->now_ns = PPI_MAX(at->now_ns, end_ns);
  return at->prev = (uint32_t)graph->num_pieces;
}

// Ends `open` and what is around it, up to `until`, which stays open.
static bool end_ranges(cutter *at, uint32_t open, uint32_t until) {
  for (; open != until;
       open = ppi_whatif_range_at(at->graph->log, open)->parent)
    if (!(at->graph->last[open] = add_piece(
              at, ppi_whatif_range_at(at->graph->log, open)->end_ns, open)))
      return false;
  return true;
}

static bool cut_row(cutter *at, const uint32_t *ids, size_t num) {
  ppi_whatif_graph *graph = at->graph;
  uint32_t open = 0;
  for (size_t i = 0; i < num; i++) {
    const ppi_whatif_range *range = ppi_whatif_range_at(graph->log, ids[i]);
    if (!end_ranges(at, open, range->parent)) return false;
    open = ids[i];
    graph->before[open] = add_piece(at, range->start_ns, range->parent);
    if (!graph->before[open]) return false;
  }
  return end_ranges(at, open, 0);
}

bool ppi_whatif_rows_cut(ppi_whatif_graph *graph) {
  const ppi_whatif_log *log = graph->log;
  const uint32_t *ids = graph->sorted;
  graph->before = ppi_alloc((log->num_ranges + 1) * sizeof *graph->before);
  graph->last = ppi_alloc((log->num_ranges + 1) * sizeof *graph->last);
  bool made = graph->before && graph->last;
  for (uint32_t row = 0; row < log->num_rows && made; row++) {
    cutter at = {.graph = graph, .row = row};
    made = cut_row(&at, ids, log->rows[row].num_ranges);
    ids += log->rows[row].num_ranges;
  }
  return made;
}

// ---- an order ----

typedef struct turn {
  uint64_t end_ns;
  uint32_t id;
} turn;

static uint64_t end_of(const void *item) {
  return ((const turn *)item)->end_ns;
}

static int compare_turns(const void *left, const void *right) {
  const turn *a = left, *b = right;
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

enum { NEW = 0, ENTERED, PLACED };

typedef struct placer {
  ppi_whatif_graph *graph;
  uint8_t *states;
  uint32_t *stack;  // each depends on the one behind it
  size_t depth, num_placed;
} placer;

static void drop_cause(ppi_whatif_graph *graph, uint32_t id, uint32_t cause) {
  uint32_t *at = &ppi_whatif_piece_at(graph, id)->causes;
  while (*at && graph->causes[*at - 1].piece != cause)
    at = &graph->causes[*at - 1].next;
  if (*at) *at = graph->causes[*at - 1].next;
}

// What depends on itself does so within one moment: where `entered` stands, the
// first cause behind it is none.
static void break_circle(placer *at, uint32_t entered) {
  size_t i = at->depth - 1;
  while (at->stack[i] != entered) i--;
  while (i + 1 < at->depth &&
         ppi_whatif_piece_at(at->graph, at->stack[i])->prev == at->stack[i + 1])
    i++;
  if (i + 1 < at->depth) drop_cause(at->graph, at->stack[i], at->stack[i + 1]);
  while (at->depth > i + 1) at->states[at->stack[--at->depth]] = NEW;
}

// What the last one on the stack depends on and has no place yet; 0: nothing.
static uint32_t missing(const placer *at, uint32_t id) {
  const ppi_whatif_piece *piece = ppi_whatif_piece_at(at->graph, id);
  if (piece->prev && at->states[piece->prev] != PLACED) return piece->prev;
  for (uint32_t i = piece->causes; i; i = at->graph->causes[i - 1].next)
    if (at->states[at->graph->causes[i - 1].piece] != PLACED)
      return at->graph->causes[i - 1].piece;
  return 0;
}

static void enter(placer *at, uint32_t id) {
  at->states[id] = ENTERED;
  at->stack[at->depth++] = id;
}

// A piece depends on what ends no later. Of what ends together the one comes
// first that the other depends on.
static void place_all(placer *at, const turn *turns) {
  for (size_t i = 0; i < at->graph->num_pieces; i++) {
    if (at->states[turns[i].id] != NEW) continue;
    enter(at, turns[i].id);
    while (at->depth) {
      uint32_t id = at->stack[at->depth - 1], next = missing(at, id);
      if (next && at->states[next] == ENTERED) {
        break_circle(at, next);
      } else if (next) {
        enter(at, next);
      } else {
        at->states[id] = PLACED;
        at->graph->order[at->num_placed++] = id;
        at->depth--;
      }
    }
  }
}

bool ppi_whatif_rows_order(ppi_whatif_graph *graph) {
  size_t num = graph->num_pieces;
  turn *turns = ppi_alloc((num + 1) * sizeof *turns);
  placer at = {.graph = graph,
               .states = ppi_alloc(num + 1),
               .stack = ppi_alloc((num + 1) * sizeof *at.stack)};
  graph->order = ppi_alloc((num + 1) * sizeof *graph->order);
  bool made = turns && at.states && at.stack && graph->order;
  for (size_t i = 0; i < num && made; i++)
    turns[i] = (turn){graph->pieces[i].end_ns, (uint32_t)i + 1};
  if (made) {
    ppi_sort(turns, num, sizeof *turns, end_of, compare_turns);
    place_all(&at, turns);
  }
  ppi_free(turns);
  ppi_free(at.states);
  ppi_free(at.stack);
  return made;
}
