// SPDX-License-Identifier: Apache-2.0
//
// Takes plain host ranges, with fewer checks than any event needs.
#include "report/run/passes.h"

#include "base/base.h"
#include "report/run/event_counts.h"

// The values that all events of a stretch are compared with.
typedef struct plain_lane {
  ppi_run *run;
  ppi_run_lane *lane;
  bool counts_later, has_stages, has_paths;
} plain_lane;

static inline ppi_run_site *plain_site(const plain_lane *of,
                                       const pprof_event *event) {
  const uint32_t special = PPI_TRAIT_STEP | PPI_TRAIT_DATALOADER |
                           PPI_TRAIT_COMMUNICATION |
                           PPI_TRAIT_PADDLE_COMMUNICATION;
  uint64_t more = (uint64_t)(event->kind ^ PPROF_KIND_RANGE) | event->flags |
                  (event->lane ^ of->lane->id) | (uintptr_t)event->work |
                  (uintptr_t)event->cpu | (uintptr_t)event->numbers;
  const ppi_run_table *sites = &of->run->ids.sites;
  if (more || event->site >= sites->num || event->end_ns < event->start_ns ||
      event->end_ns == UINT64_MAX ||
      event->device_end_ns > event->device_start_ns)
    return NULL;
  ppi_run_site *site = sites->items[event->site];
  return site && site->place && !(site->traits & special) ? site : NULL;
}

static inline bool take(const plain_lane *of, ppi_run_site *site,
                        const pprof_event *event) {
  ppi_run_lane *lane = of->lane;
  uint64_t start_ns = event->start_ns, end_ns = event->end_ns, inner_ns;
  bool done =
      ppi_nest_add(&lane->nest, start_ns, end_ns, event->depth, &inner_ns);
  site->row.self_ns += end_ns - start_ns - inner_ns;
  if (!done) return false;
  if (PPI_UNLIKELY(!of->counts_later) ||
      (of->has_stages &&
       !ppi_first_calls_is_rest(&site->host_first_calls, start_ns))) {
    if (!ppi_event_count_range(of->run, site, event)) return false;
    const ppi_buffered counted = ppi_buffered_of(event, PPI_BUFFERED_COUNTED);
    if (of->has_paths)
      return ppi_hold_add_slow(&lane->nested, &of->run->ids.pool, &counted);
  }
  return ppi_hold_add(&lane->nested, &of->run->ids.pool, start_ns, end_ns,
                      event->site, event->depth);
}

bool ppi_plain_events_take(ppi_run *run, const pprof_batch *batch,
                           ppi_run_lane *lane, size_t *at) {
  const plain_lane of = {run, lane, ppi_run_paths_count(run),
                         run->details.stages, run->details.paths};
  bool done = true;
  uint64_t begin_ns = UINT64_MAX, last_ns = 0;
  size_t i = *at;
  if (run->details.by_thread || run->details.one_way || lane->serves)
    return true;
  for (; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    ppi_run_site *site = plain_site(&of, event);
    if (!site) break;
    begin_ns = PPI_MIN(begin_ns, event->start_ns);
    last_ns = PPI_MAX(last_ns, event->end_ns);
    done = take(&of, site, event);
    if (event->num_flows && run->details.requests && done)
      done = ppi_requests_take(&run->requests, event, 0);
    if (!done) return false;
  }
  if (i == *at) return done;
  *at = i;
  run->last_ns = PPI_MAX(run->last_ns, last_ns);
  ppi_accounts_reach(&run->accounts, begin_ns, last_ns);
  return done;
}
