// SPDX-License-Identifier: Apache-2.0
//
// Merges the buffered and open ranges of all lanes into one list. The list goes
// from the last end backwards, outer ranges before inner ones.
#pragma once

#include "base/base.h"
#include "report/parts/ids.h"

PPROF_BEGIN_C_

// A range that is open at a checkpoint; its end is not known to the sweep.
typedef struct ppi_run_open {
  ppi_buffered buffered;
  ppi_run_lane *lane;
} ppi_run_open;

// Reads the ranges of a hold, or the open ones, from the last.
typedef struct ppi_merge_cursor {
  ppi_buffered range;    // the next range, if any
  ppi_hold_place place;  // in the page, before `range`
  bool has_range;
  bool is_needed;  // as passed to ppi_merge_hold
  ppi_run_lane *lane;
  ppi_hold *hold;
  size_t pages_left;
  const ppi_run_open *open;  // the open ranges; NULL: reads a hold
  size_t open_left;
} ppi_merge_cursor;

// The losing cursor, and a copy of its range's end: a comparison needs no load
// through the cursor.
typedef struct ppi_merge_node {
  uint64_t end_ns;
  uint64_t cursor;
} ppi_merge_node;

// A loser tree of cursors: the winner has the next range.
typedef struct ppi_merge {
  uint64_t horizon_ns;  // ranges that begin later may be left out
  ppi_hold_pool *pool;  // of the holds
  // A power of two from ppi_merge_start on, so that all leaves have one depth.
  ppi_merge_cursor *cursors;
  size_t num, capacity;
  ppi_merge_node *losers;  // the children of node 1 are nodes 2 and 3
  size_t winner;
} ppi_merge;

bool ppi_merge_hold(ppi_merge *merge, ppi_run_lane *lane, ppi_hold *hold,
                    bool is_needed);
// ppi_merge_open changes the order of `open`, which must outlive the merge.
bool ppi_merge_open(ppi_merge *merge, ppi_run_open *open, size_t num);
bool ppi_merge_start(ppi_merge *merge);
void ppi_merge_clear(ppi_merge *merge);

// ppi_merge_order is ppi_buffered_order of the ranges of two cursors; one
// without a range comes last.
int ppi_merge_order(const ppi_merge *merge, size_t a, size_t b);
// ppi_merge_turn goes to the next range if it is open or on another page.
// Without one, the cursor gets an empty range at 0.
void ppi_merge_turn(ppi_merge_cursor *cursor, uint64_t horizon_ns);

// ppi_merge_top answers the cursor with the next range; NULL: none.
static inline ppi_merge_cursor *ppi_merge_top(const ppi_merge *merge) {
  if (merge->num == 0 || !merge->cursors[merge->winner].has_range) return NULL;
  return &merge->cursors[merge->winner];
}

// ppi_merge_rest answers an end; the top's ranges with later ends come next.
// With more than four cursors it answers UINT64_MAX.
static inline uint64_t ppi_merge_rest(const ppi_merge *merge) {
  uint64_t end_ns = 0;
  if (merge->num > 4) return UINT64_MAX;
  for (size_t i = (merge->winner + merge->num) / 2; i; i /= 2)
    end_ns = PPI_MAX(end_ns, merge->losers[i].end_ns);
  return end_ns;
}

// ppi_merge_next goes to the next range of the top, and ppi_merge_replay then
// finds the top. The winner is hard to predict, so only equal ends take a
// branch.
static inline void ppi_merge_next(const ppi_merge *merge,
                                  ppi_merge_cursor *cursor) {
  if (PPI_LIKELY(cursor->place.num_words))
    ppi_hold_back(&cursor->place, &cursor->range);
  else
    ppi_merge_turn(cursor, merge->horizon_ns);
}
static inline void ppi_merge_replay(ppi_merge *merge) {
  uint64_t winner = merge->winner;
  uint64_t end_ns = merge->cursors[winner].range.end_ns;
  for (size_t i = (winner + merge->num) / 2; i; i /= 2) {
    ppi_merge_node *node = &merge->losers[i];
    bool changes = node->end_ns > end_ns;
    if (PPI_UNLIKELY(node->end_ns == end_ns))
      changes = ppi_merge_order(merge, node->cursor, winner) > 0;
    uint64_t swaps = 0 - (uint64_t)changes;
    uint64_t end_bits = (node->end_ns ^ end_ns) & swaps;
    uint64_t cursor_bits = (node->cursor ^ winner) & swaps;
    node->end_ns ^= end_bits;
    end_ns ^= end_bits;
    node->cursor ^= cursor_bits;
    winner ^= cursor_bits;
  }
  merge->winner = winner;
}

PPROF_END_C_
