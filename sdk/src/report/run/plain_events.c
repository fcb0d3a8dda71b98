// SPDX-License-Identifier: Apache-2.0
//
// One loop looks at them, one counts, one nests: what ppi_run_events does with
// any event asks more of each.
#include "report/run/plain_events.h"

#include "base/base.h"
#include "report/run/event_counts.h"

size_t ppi_plain_events_num(const ppi_run *run, const pprof_batch *batch,
                            size_t from, size_t end, const ppi_run_lane *lane) {
  const uint32_t special = PPI_TRAIT_STEP | PPI_TRAIT_DATALOADER |
                           PPI_TRAIT_COMMUNICATION |
                           PPI_TRAIT_PADDLE_COMMUNICATION;
  size_t at = from;
  if (run->details.by_thread || run->details.one_way || lane->serves) return 0;
  for (; at < end; at++) {
    const pprof_event *event = pprof_batch_at(batch, at);
    uint64_t more = (uint64_t)(event->kind ^ PPROF_KIND_RANGE) | event->flags |
                    (event->lane ^ lane->id) | event->num_flows;
    if (more || event->work || event->cpu || event->numbers ||
        event->site >= run->ids.sites.num)
      break;
    const ppi_run_site *site = run->ids.sites.items[event->site];
    if (!site || !site->place || site->traits & special ||
        event->end_ns < event->start_ns || event->end_ns == UINT64_MAX ||
        event->device_end_ns > event->device_start_ns)
      break;
  }
  return at - from;
}

static pprof_status count(ppi_run *run, const pprof_batch *batch, size_t from,
                          size_t num) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = from; i < from + num && status == PPROF_STATUS_OK; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    status =
        ppi_event_count_range(run, run->ids.sites.items[event->site], event);
  }
  return status;
}

static pprof_status nest(ppi_run *run, const pprof_batch *batch, size_t from,
                         size_t num, ppi_run_lane *lane) {
  pprof_status status = PPROF_STATUS_OK;
  uint64_t begin_ns = UINT64_MAX, last_ns = 0;
  for (size_t i = from; i < from + num && status == PPROF_STATUS_OK; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    ppi_run_site *site = run->ids.sites.items[event->site];
    uint64_t start_ns = event->start_ns, end_ns = event->end_ns, inner_ns;
    status =
        ppi_nest_add(&lane->nest, start_ns, end_ns, event->depth, &inner_ns);
    site->row.self_ns += end_ns - start_ns - inner_ns;
    begin_ns = PPI_MIN(begin_ns, start_ns);
    last_ns = PPI_MAX(last_ns, end_ns);
    if (status == PPROF_STATUS_OK)
      status = ppi_hold_add(&lane->nested, &run->ids.pool, start_ns, end_ns,
                            event->site, event->depth);
  }
  run->last_ns = PPI_MAX(run->last_ns, last_ns);
  ppi_accounts_reach(&run->accounts, begin_ns, last_ns);
  return status;
}

pprof_status ppi_plain_events_take(ppi_run *run, const pprof_batch *batch,
                                   size_t from, size_t num,
                                   ppi_run_lane *lane) {
  pprof_status status = count(run, batch, from, num);
  return status == PPROF_STATUS_OK ? nest(run, batch, from, num, lane) : status;
}
