// SPDX-License-Identifier: Apache-2.0
//
// The held ranges of all lanes and the open ones as one list, from the last end
// backwards, each after those around it.
#ifndef PPI_REPORT_MERGE_H_
#define PPI_REPORT_MERGE_H_

#include "report_run.h"

#ifdef __cplusplus
extern "C" {
#endif

// The ranges of a hold, or the open ones, from the last.
typedef struct ppi_merge_cursor {
  const ppi_held *items;
  size_t left;  // 0: none
  ppi_run_lane *lane;
  const ppi_run_open *open;  // whose `items` these are; NULL: of a hold
  ppi_hold *hold;
  size_t pages_left;
  ppi_held *own;   // what `items` are
  bool is_needed;  // as ppi_merge_hold was told
} ppi_merge_cursor;

// A tree of those who lost: the last range of the winner comes next.
typedef struct ppi_merge {
  uint64_t horizon_ns;  // what begins later may be left out
  ppi_hold_pool *pool;  // of the holds
  ppi_merge_cursor *cursors;
  size_t num, capacity;
  uint64_t *ends_ns;  // of the cursors' ranges
  size_t *losers;     // cursors; those of node 1 are nodes 2 and 3
  size_t winner;
} ppi_merge;

pprof_status ppi_merge_hold(ppi_merge *merge, ppi_run_lane *lane,
                            ppi_hold *hold, bool is_needed);
// ppi_merge_open changes the order of `open`, which must outlive the merge.
pprof_status ppi_merge_open(ppi_merge *merge, ppi_run_open *open, size_t num);
pprof_status ppi_merge_start(ppi_merge *merge);
void ppi_merge_clear(ppi_merge *merge);

// ppi_merge_order is ppi_held_order of the ranges of two cursors; one without a
// range comes last.
int ppi_merge_order(const ppi_merge *merge, size_t a, size_t b);
bool ppi_merge_read(ppi_merge_cursor *cursor, uint64_t horizon_ns);

static inline const ppi_held *ppi_merge_range(const ppi_merge_cursor *cursor) {
  return &cursor->items[cursor->left - 1];
}

static inline ppi_run_lane *ppi_merge_lane(const ppi_merge_cursor *cursor) {
  return cursor->open ? cursor->open[cursor->left - 1].lane : cursor->lane;
}

// ppi_merge_top answers the cursor whose range comes next; NULL: none.
static inline const ppi_merge_cursor *ppi_merge_top(const ppi_merge *merge) {
  if (merge->num == 0 || !merge->cursors[merge->winner].left) return NULL;
  return &merge->cursors[merge->winner];
}

// ppi_merge_step goes to the next range. Which cursor wins is hardly to be
// foreseen, so that no branch depends on it but for equal ends.
static inline void ppi_merge_step(ppi_merge *merge) {
  size_t winner = merge->winner;
  ppi_merge_cursor *cursor = &merge->cursors[winner];
  uint64_t end_ns = 0;
  if (--cursor->left || ppi_merge_read(cursor, merge->horizon_ns))
    end_ns = ppi_merge_range(cursor)->end_ns;
  merge->ends_ns[winner] = end_ns;
  for (size_t i = (winner + merge->num) / 2; i; i /= 2) {
    size_t loser = merge->losers[i];
    uint64_t other_ns = merge->ends_ns[loser];
    bool changes = other_ns > end_ns;
    if (__builtin_expect(other_ns == end_ns, 0))
      changes = ppi_merge_order(merge, loser, winner) > 0;
    merge->losers[i] = changes ? winner : loser;
    winner = changes ? loser : winner;
    end_ns = changes ? other_ns : end_ns;
  }
  merge->winner = winner;
}

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_MERGE_H_
