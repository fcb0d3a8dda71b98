// SPDX-License-Identifier: Apache-2.0
//
// The counts of each event as it comes, and their look-ups.
#pragma once

#include "base/base.h"
#include "report/parts/threads.h"
#include "report/run/run.h"

static inline uint64_t ppi_event_length(uint64_t start_ns, uint64_t end_ns) {
  return end_ns > start_ns ? end_ns - start_ns : 0;
}

static inline ppi_run_site *ppi_event_site(ppi_run *run, uint32_t id) {
  ppi_run_site *site =
      id < run->ids.sites.num ? run->ids.sites.items[id] : NULL;
  return PPI_LIKELY(site && site->place) ? site
                                         : ppi_run_site_at(&run->ids, id);
}

static inline ppi_run_lane *ppi_event_lane(ppi_run *run, uint32_t id) {
  ppi_run_lane *lane =
      id < run->ids.lanes.num ? run->ids.lanes.items[id] : NULL;
  return PPI_LIKELY(lane && lane->thread) ? lane
                                          : ppi_run_lane_at(&run->ids, id);
}

// A cut range is no call: only the sum has its time.
static inline bool ppi_event_count_length(ppi_run_row *row,
                                          const pprof_event *event) {
  uint64_t length_ns = ppi_event_length(event->start_ns, event->end_ns);
  if (PPI_UNLIKELY(event->flags & PPROF_FLAG_CLIPPED)) {
    ppi_spread_add_cut(&row->host, length_ns);
    return true;
  }
  ppi_spread_add(&row->host, length_ns);
  return ppi_histogram_add(&row->host_times, length_ns);
}

static inline bool ppi_event_take_early(const ppi_run *run,
                                        ppi_first_calls *first_calls,
                                        const pprof_event *event,
                                        uint64_t start_ns, uint64_t end_ns) {
  if (PPI_LIKELY(ppi_first_calls_is_rest(first_calls, start_ns)))
    return ppi_first_calls_add_rest(first_calls, end_ns - start_ns);
  ppi_first_call call = {.start_ns = start_ns, .length_ns = end_ns - start_ns};
  bool nests =
      event->kind == PPROF_KIND_RANGE && !(event->flags & PPROF_FLAG_ASYNC);
  if (nests) call.lane = event->lane + 1;
  if (event->work)
    call.work = (ppi_amounts){event->work->items, event->work->bytes,
                              event->work->flops, event->work->params};
  return ppi_first_calls_add(first_calls, &call,
                             ppi_first_calls_most(run->details.warmup));
}

// Paths count ranges, and ppi_paths_tell adds the counts to their sites at the
// end. After the last sweep no path gets ranges.
static inline bool ppi_run_paths_count(const ppi_run *run) {
  return run->details.paths && !run->details.one_way &&
         run->sweep.swept_ns != UINT64_MAX;
}

// The range's path counts it later, but the site counts its first calls itself.
// Counting the range does not change this answer.
static inline bool ppi_event_counts_later(const ppi_run *run,
                                          const ppi_run_site *site,
                                          const pprof_event *event) {
  if (!ppi_run_paths_count(run) || event->flags & PPROF_FLAG_CLIPPED)
    return false;
  return ppi_first_calls_is_rest(&site->host_first_calls, event->start_ns);
}

static inline bool ppi_event_is_nested(const pprof_event *event,
                                       const ppi_run_lane *lane) {
  return event->lane == lane->id && !(event->flags & PPROF_FLAG_ASYNC);
}

// Counts the length of a range as one of the first calls or of their rest,
// which make the row at the end.
static inline bool ppi_event_count_range(const ppi_run *run, ppi_run_site *site,
                                         const pprof_event *event) {
  if (event->flags & PPROF_FLAG_CLIPPED)
    return ppi_event_count_length(&site->row, event);
  uint64_t start_ns = event->start_ns;
  return ppi_event_take_early(run, &site->host_first_calls, event, start_ns,
                              PPI_MAX(start_ns, event->end_ns));
}

// Counts a range that has no path.
static inline bool ppi_event_count_dropped(ppi_run *run,
                                           const ppi_buffered *range) {
  uint64_t length_ns = range->end_ns - range->start_ns;
  run->paths.num_dropped++;
  // Sums of a worker have no sites: ppi_handover_end finds what was dropped.
  if (range->flags & PPI_BUFFERED_COUNTED || !run->ids.sites.num) return true;
  ppi_run_site *site = run->ids.sites.items[range->site];
  return ppi_first_calls_add_rest(&site->host_first_calls, length_ns);
}
