// SPDX-License-Identifier: Apache-2.0
//
// The held ranges of all lanes and the open ones as one list, from the last end
// backwards, each after those around it.
#pragma once

#include "base/base.h"
#include "report/parts/ids.h"

PPROF_BEGIN_C_

// A range that is open at a checkpoint, for the sweep without an end.
typedef struct ppi_run_open {
  ppi_buffered buffered;
  ppi_run_lane *lane;
} ppi_run_open;

// The ranges of a hold, or the open ones, from the last.
typedef struct ppi_merge_cursor {
  ppi_buffered range;    // that comes next, if any does
  ppi_hold_place place;  // in the page: before it
  bool has_range;
  bool is_needed;  // as ppi_merge_hold was told
  ppi_run_lane *lane;
  ppi_hold *hold;
  size_t pages_left;
  const ppi_run_open *open;  // those before it; NULL: of a hold
  size_t open_left;
} ppi_merge_cursor;

// Who lost, with the end of its range beside it: on the way up no node waits
// for what another one leads to.
typedef struct ppi_merge_node {
  uint64_t end_ns;
  uint64_t cursor;
} ppi_merge_node;

// A tree of those who lost: the last range of the winner comes next.
typedef struct ppi_merge {
  uint64_t horizon_ns;  // what begins later may be left out
  ppi_hold_pool *pool;  // of the holds
  // A power of two of them from start on, so that each way up is as long.
  ppi_merge_cursor *cursors;
  size_t num, capacity;
  ppi_merge_node *losers;  // those of node 1 are nodes 2 and 3
  size_t winner;
} ppi_merge;

pprof_status ppi_merge_hold(ppi_merge *merge, ppi_run_lane *lane,
                            ppi_hold *hold, bool is_needed);
// ppi_merge_open changes the order of `open`, which must outlive the merge.
pprof_status ppi_merge_open(ppi_merge *merge, ppi_run_open *open, size_t num);
pprof_status ppi_merge_start(ppi_merge *merge);
void ppi_merge_clear(ppi_merge *merge);

// ppi_merge_order is ppi_buffered_order of the ranges of two cursors; one
// without a range comes last.
int ppi_merge_order(const ppi_merge *merge, size_t a, size_t b);
// ppi_merge_turn goes to the next range where that is on another page, or open;
// without one the cursor has an empty range at 0.
void ppi_merge_turn(ppi_merge_cursor *cursor, uint64_t horizon_ns);

// ppi_merge_top answers the cursor whose range comes next; NULL: none.
static inline ppi_merge_cursor *ppi_merge_top(const ppi_merge *merge) {
  if (merge->num == 0 || !merge->cursors[merge->winner].has_range) return NULL;
  return &merge->cursors[merge->winner];
}

// ppi_merge_rest answers up to which end the top's ranges are sure to come
// next; with more than four cursors that is not looked up.
static inline uint64_t ppi_merge_rest(const ppi_merge *merge) {
  uint64_t end_ns = 0;
  if (merge->num > 4) return UINT64_MAX;
  for (size_t i = (merge->winner + merge->num) / 2; i; i /= 2)
    end_ns = PPI_MAX(end_ns, merge->losers[i].end_ns);
  return end_ns;
}

// ppi_merge_next goes to the next range of the top, and ppi_merge_replay then
// finds the top. Which cursor wins is hardly to be foreseen, so that no branch
// depends on it but for equal ends.
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
