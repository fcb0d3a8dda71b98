// SPDX-License-Identifier: Apache-2.0
//
// Subtracts the time of inner paired device ranges from the range around them.
#include "report/spans/pairs.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/keyed.h"

static int compare_place(uint32_t lane, uint32_t stream, uint32_t other_lane,
                         uint32_t other_stream) {
  if (lane != other_lane) return lane < other_lane ? -1 : 1;
  return (stream > other_stream) - (stream < other_stream);
}

PPI_ORDER(compare_pairs, ppi_run_pairs, PPI_UP(lane) PPI_UP(stream))

static ppi_run_pairs *pairs_of(ppi_pairs *all, const pprof_event *event) {
  const ppi_run_pairs key = {.lane = event->lane, .stream = event->stream};
  return ppi_keyed_sorted(PPI_KEYED(all->items, all->num, all->capacity), &key,
                          compare_pairs);
}

// A range removes all ranges that began after it, so starts ascend.
bool ppi_run_pair_time(ppi_pairs *all, const pprof_event *event,
                       uint64_t *length_ns) {
  ppi_run_pairs *pairs = pairs_of(all, event);
  if (!pairs) return false;
  uint64_t whole_ns = *length_ns;
  for (; pairs->num; pairs->num--) {
    if (pairs->items[pairs->num - 1].start_ns < event->start_ns) break;
    *length_ns -= pairs->items[pairs->num - 1].sum_ns;
  }
  if (!(event->flags & PPROF_FLAG_INNER)) return true;
  if (!PPI_ROOM(pairs->items, pairs->capacity, pairs->num + 1)) return false;
  pairs->items[pairs->num].start_ns = event->start_ns;
  pairs->items[pairs->num++].sum_ns = whole_ns;
  return true;
}

PPI_ORDER(compare_open, pprof_event,
          PPI_UP(lane) PPI_UP(stream) PPI_UP(start_ns))

// Ranges between the same two open ranges lie in the same later range, or in
// none.
static void settle(ppi_run_pairs *pairs, const pprof_event *open, size_t num,
                   uint64_t horizon_ns) {
  size_t kept = 0, around = 0, around_last = 0;
  for (size_t i = 0; i < pairs->num; i++) {
    uint64_t start_ns = pairs->items[i].start_ns;
    bool is_settled = start_ns < horizon_ns;
    while (around < num && open[around].start_ns <= start_ns) around++;
    if (is_settled && around == 0) continue;
    if (is_settled && kept && around == around_last)
      pairs->items[kept - 1].sum_ns += pairs->items[i].sum_ns;
    else
      pairs->items[kept++] = pairs->items[i];
    around_last = around;
  }
  pairs->num = kept;
}

bool ppi_run_settle_pairs(ppi_pairs *all, const pprof_checkpoint *checkpoint) {
  if (all->num == 0) return true;
  size_t num = 0, from = 0;
  pprof_event *open = ppi_alloc((checkpoint->num_open + 1) * sizeof *open);
  if (!open) return false;
  for (size_t i = 0; i < checkpoint->num_open; i++)
    if (checkpoint->open[i].flags & PPROF_FLAG_PAIRED)
      open[num++] = checkpoint->open[i];
  if (num > 1) qsort(open, num, sizeof *open, compare_open);
  size_t kept = 0;
  for (size_t i = 0; i < all->num; i++) {
    ppi_run_pairs *pairs = &all->items[i];
    while (from < num && compare_place(open[from].lane, open[from].stream,
                                       pairs->lane, pairs->stream) < 0)
      from++;
    size_t end = from;
    while (end < num && compare_place(open[end].lane, open[end].stream,
                                      pairs->lane, pairs->stream) == 0)
      end++;
    settle(pairs, open + from, end - from, checkpoint->time_ns);
    from = end;
    if (pairs->num)
      all->items[kept++] = *pairs;
    else
      ppi_free(pairs->items);
  }
  all->num = kept;
  ppi_free(open);
  return true;
}

void ppi_run_clear_pairs(ppi_pairs *all) {
  for (size_t i = 0; i < all->num; i++) ppi_free(all->items[i].items);
  ppi_free(all->items);
}
