// SPDX-License-Identifier: Apache-2.0
//
// Drops ended ranges from a checkpoint's list of open ranges. A faulty writer
// lists them; as open ranges they would enclose all later ones.
#include "report/parts/open.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/parts/threads.h"

PPI_ORDER(compare_listed, ppi_run_listed,
          PPI_UP(lane) PPI_UP(range.start_ns) PPI_UP(range.site)
              PPI_UP(range.depth))

// An empty range may begin together with an open one. A range with the listed
// end is the listed range, unless that end is only the checkpoint's time.
static bool has_come(const ppi_run_listed *listed, const ppi_buffered *range,
                     uint64_t time_ns) {
  if (range->start_ns == range->end_ns) return false;
  if (range->flags & PPI_BUFFERED_DEVICE) return false;
  if (range->end_ns == listed->range.end_ns) return range->end_ns < time_ns;
  return range->end_ns > listed->range.end_ns;
}

// An open wait has no known ender.
static uint32_t open_site(const ppi_run_ids *ids, uint32_t id) {
  const ppi_run_site *site = id < ids->sites.num ? ids->sites.items[id] : NULL;
  return site && site->waits_as ? site->waits_as : id;
}

static void doubt_range(ppi_run_listed *listed, size_t num, uint32_t site,
                        const ppi_buffered *range, uint64_t time_ns) {
  ppi_run_listed key = {.range = *range, .lane = listed->lane};
  key.range.site = site;
  size_t at = ppi_first(&key, listed, num, sizeof *listed, compare_listed);
  for (; at < num && compare_listed(&listed[at], &key) == 0; at++)
    if (has_come(&listed[at], range, time_ns)) listed[at].is_stale = true;
}

// The hold has the ranges since the last checkpoint.
static void doubt_hold(const ppi_hold *hold, const ppi_run_ids *ids,
                       ppi_run_listed *listed, size_t num, uint64_t time_ns) {
  ppi_buffered ranges[PPI_HOLD_WORDS];
  uint64_t first_ns = UINT64_MAX;
  for (size_t i = 0; i < num; i++)
    first_ns = PPI_MIN(first_ns, listed[i].range.end_ns);
  for (size_t p = 0; p < hold->num_pages; p++) {
    const ppi_hold_page *page = hold->pages[p];
    if (PPI_MAX(page->max_end_ns, page->last_end_ns) < first_ns) continue;
    size_t num_ranges = ppi_hold_read(page, ranges);
    for (size_t i = 0; i < num_ranges; i++)
      doubt_range(listed, num, open_site(ids, ranges[i].site), &ranges[i],
                  time_ns);
  }
}

static void doubt_lane(const ppi_run_lane *lane, const ppi_run_ids *ids,
                       ppi_run_listed *listed, size_t num, uint64_t time_ns) {
  doubt_hold(&lane->nested, ids, listed, num, time_ns);
  doubt_hold(&lane->loose, ids, listed, num, time_ns);
}

static bool was_listed(const ppi_listed *all, const ppi_run_listed *listed) {
  return all->num &&
         bsearch(listed, all->items, all->num, sizeof *listed, compare_listed);
}

static bool doubt_lanes(ppi_run_ids *ids, ppi_run_listed *listed, size_t num,
                        uint64_t time_ns) {
  for (size_t i = 0, end; i < num; i = end) {
    for (end = i + 1; end < num && listed[end].lane == listed[i].lane;) end++;
    const ppi_run_lane *lane = ppi_run_lane_at(ids, listed[i].lane);
    if (!lane) return false;
    doubt_lane(lane, ids, &listed[i], end - i, time_ns);
    // The lane may have moved to another thread.
    for (size_t k = 0; k < ids->num_left; k++)
      if (ids->left[k]->id == listed[i].lane)
        doubt_lane(ids->left[k], ids, &listed[i], end - i, time_ns);
  }
  return true;
}

static bool doubt(ppi_listed *all, ppi_run_ids *ids, ppi_run_listed *listed,
                  size_t num, uint64_t time_ns) {
  bool done = doubt_lanes(ids, listed, num, time_ns);
  // The last checkpoint listed all open ranges: a missing one had ended. Only
  // the begin of a request may become known later.
  for (size_t i = 0; i < num; i++)
    if (listed[i].range.start_ns < all->checkpoint_ns &&
        !listed[i].is_request && !was_listed(all, &listed[i]))
      listed[i].is_stale = true;
  return done;
}

static uint16_t flags_of(const pprof_event *event) {
  uint16_t flags = 0;
  if (event->flags & PPROF_FLAG_ASYNC) flags |= PPI_BUFFERED_LOOSE;
  if (event->flags & PPROF_FLAG_COMMUNICATION)
    flags |= PPI_BUFFERED_COMMUNICATION;
  return flags;
}

static size_t list(const pprof_checkpoint *checkpoint, ppi_run_listed *out) {
  size_t num = 0;
  for (size_t i = 0; i < checkpoint->num_open; i++) {
    const pprof_event *event = &checkpoint->open[i];
    if (event->kind != PPROF_KIND_RANGE) continue;
    out[num++] =
        (ppi_run_listed){.range = ppi_buffered_of(event, flags_of(event)),
                         .index = i,
                         .lane = event->lane,
                         .is_request = event->flags & PPROF_FLAG_REQUEST};
  }
  if (num > 1) qsort(out, num, sizeof *out, compare_listed);
  return num;
}

static size_t drop_stale(ppi_run_listed *listed, size_t num) {
  size_t kept = 0;
  for (size_t i = 0; i < num; i++)
    if (!listed[i].is_stale) listed[kept++] = listed[i];
  return kept;
}

bool ppi_run_doubt_open(ppi_listed *all, ppi_run_ids *ids,
                        const pprof_checkpoint *checkpoint) {
  ppi_run_listed *listed =
      ppi_alloc((checkpoint->num_open + 1) * sizeof *listed);
  if (!listed) return false;
  size_t num = list(checkpoint, listed);
  bool done = doubt(all, ids, listed, num, checkpoint->time_ns);
  ppi_free(all->items);
  all->items = listed;
  all->num = drop_stale(listed, num);
  all->num_disbelieved += num - all->num;
  all->checkpoint_ns = checkpoint->time_ns;
  return done;
}

bool ppi_run_doubt_left(ppi_listed *all, ppi_run_ids *ids) {
  bool done = doubt_lanes(ids, all->items, all->num, UINT64_MAX);
  for (size_t i = 0; i < all->num; i++)
    all->items[i].is_stale |= all->items[i].range.end_ns < all->checkpoint_ns;
  all->num = drop_stale(all->items, all->num);
  return done;
}

bool ppi_run_list_open(const ppi_listed *all, ppi_run_ids *ids, uint64_t end_ns,
                       ppi_run_open **out) {
  ppi_run_open *open = *out = ppi_alloc((all->num + 1) * sizeof *open);
  if (!open) return false;
  for (size_t i = 0; i < all->num; i++) {
    const ppi_run_listed *listed = &all->items[i];
    const ppi_run_site *site = ppi_run_site_at(ids, listed->range.site);
    ppi_run_lane *lane = ppi_run_lane_at(ids, listed->lane);
    if (!site || !lane) return false;
    open[i] = (ppi_run_open){listed->range, lane};
    open[i].buffered.end_ns = PPI_MAX(listed->range.start_ns, end_ns);
    open[i].buffered.flags |= PPI_BUFFERED_OPEN;
    if (site->traits & PPI_TRAIT_COMMUNICATION)
      open[i].buffered.flags &= (uint16_t)~PPI_BUFFERED_COMMUNICATION;
  }
  return true;
}
