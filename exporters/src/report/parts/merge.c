// SPDX-License-Identifier: Apache-2.0
//
// Reads holds page by page, and builds the tree that finds the last end.
#include "report/parts/merge.h"

#include <stdlib.h>

#include "base/mem.h"

static void fetch_last(const ppi_hold_page *page) {
  for (uint32_t i = 8; i <= PPI_HOLD_AHEAD && i <= page->num_words; i += 8)
    __builtin_prefetch(&page->words[page->num_words - i]);
}

void ppi_merge_turn(ppi_merge_cursor *cursor, uint64_t horizon_ns) {
  cursor->has_range = true;
  while (cursor->pages_left) {
    const ppi_hold_page *page = cursor->hold->pages[--cursor->pages_left];
    if (page->min_start_ns >= horizon_ns && horizon_ns != UINT64_MAX) continue;
    cursor->place = ppi_hold_last(page);
    if (!cursor->place.num_words) continue;
    fetch_last(page);
    if (cursor->pages_left)
      __builtin_prefetch(cursor->hold->pages[cursor->pages_left - 1]);
    ppi_hold_back(&cursor->place, &cursor->range);
    return;
  }
  if (cursor->open_left) {
    const ppi_run_open *open = &cursor->open[--cursor->open_left];
    cursor->range = open->buffered;
    cursor->lane = open->lane;
    return;
  }
  cursor->range = (ppi_buffered){0};
  cursor->has_range = false;
}

static ppi_merge_cursor *add_cursor(ppi_merge *merge) {
  return PPI_REACH(merge->cursors, merge->num, merge->capacity, merge->num + 1)
             ? &merge->cursors[merge->num - 1]
             : NULL;
}

bool ppi_merge_hold(ppi_merge *merge, ppi_run_lane *lane, ppi_hold *hold,
                    bool is_needed) {
  if (!hold->num_pages) return true;
  // The hold stays sorted for later sweeps.
  if (hold->unsorted && !ppi_hold_sort(hold, merge->pool)) return false;
  ppi_merge_cursor *added = add_cursor(merge);
  if (!added) return false;
  added->lane = lane;
  added->hold = hold;
  added->pages_left = hold->num_pages;
  added->is_needed = is_needed;
  ppi_merge_turn(added, merge->horizon_ns);
  if (!added->has_range) merge->num--;
  return true;
}

PPI_ORDER(compare_open, ppi_run_open,
          PPI_BY(ppi_buffered_order(&a->buffered, &b->buffered))
              PPI_UP(lane->id))

bool ppi_merge_open(ppi_merge *merge, ppi_run_open *open, size_t num) {
  if (num == 0) return true;
  if (num > 1) qsort(open, num, sizeof *open, compare_open);
  ppi_merge_cursor *added = add_cursor(merge);
  if (!added) return false;
  added->open = open;
  added->open_left = num;
  ppi_merge_turn(added, merge->horizon_ns);
  return true;
}

int ppi_merge_order(const ppi_merge *merge, size_t a, size_t b) {
  const ppi_merge_cursor *first = &merge->cursors[a];
  const ppi_merge_cursor *second = &merge->cursors[b];
  if (!first->has_range || !second->has_range)
    return first->has_range - second->has_range;
  int order = ppi_buffered_order(&first->range, &second->range);
  return order ? order : (a < b) - (a > b);
}

// Nodes from num on are the cursors.
static size_t play(ppi_merge *merge, size_t node) {
  if (node >= merge->num) return node - merge->num;
  size_t left = play(merge, 2 * node), right = play(merge, 2 * node + 1);
  bool left_wins = ppi_merge_order(merge, left, right) > 0;
  size_t loser = left_wins ? right : left;
  merge->losers[node] =
      (ppi_merge_node){merge->cursors[loser].range.end_ns, loser};
  return left_wins ? left : right;
}

bool ppi_merge_start(ppi_merge *merge) {
  while (merge->num & (merge->num - 1))
    if (!add_cursor(merge)) return false;
  merge->losers = ppi_alloc((merge->num + 1) * sizeof *merge->losers);
  if (!merge->losers) return false;
  merge->winner = merge->num > 1 ? play(merge, 1) : 0;
  return true;
}

void ppi_merge_clear(ppi_merge *merge) {
  ppi_free(merge->cursors);
  ppi_free(merge->losers);
  *merge = (ppi_merge){0};
}
