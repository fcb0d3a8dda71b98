// SPDX-License-Identifier: Apache-2.0
//
// Adds up stated work, counters, messages and memory.
#include "report/run/amounts.h"

#include <string.h>

#include "base/mem.h"
#include "report/figures/keyed.h"
#include "report/parts/threads.h"

static int compare_work(const void *left, const void *right) {
  const ppi_run_work *a = left, *b = right;
  return ppi_keyed_order((uint64_t[]){a->site, a->sums.lane},
                         (uint64_t[]){b->site, b->sums.lane});
}

static ppi_report_work *work_at(ppi_run *run, uint32_t site, uint32_t lane) {
  ppi_work_list *all = &run->work;
  const ppi_run_work key = {.site = site, .sums = {.lane = lane}};
  ppi_run_work *work = ppi_keyed_sorted(
      PPI_KEYED(all->items, all->num, all->capacity), &key, compare_work);
  return work ? &work->sums : NULL;
}

static bool take_memory(ppi_run *run, const pprof_event *event,
                        const ppi_run_site *site) {
  ppi_memory_change change = {0};
  bool done = ppi_memory_level(&run->memory, site->name, event, &change);
  if (!done || change.bytes == 0) return done;
  if (run->details.allocations && !change.is_reserved)
    done = ppi_allocations_add(&run->allocations, site->name, event->start_ns,
                               change.bytes);
  if (!done) return false;
  ppi_run_lane *lane = ppi_run_lane_at(&run->ids, event->lane);
  if (!lane) return false;
  ppi_point point = {.time_ns = event->start_ns,
                     .value = (uint64_t)change.bytes,
                     .site = event->site,
                     .kind = PPI_POINT_MEMORY,
                     .is_reserved = change.is_reserved};
  return ppi_scopes_add(&lane->thread->scopes, &point);
}

// Adds the size of a device range that copies or sets memory, if it states one.
static bool take_size(ppi_run_site *site, const pprof_event *event) {
  bool is_copy = site->category == PPROF_CATEGORY_MEMCPY ||
                 site->category == PPROF_CATEGORY_MEMSET;
  double bytes = event->work ? event->work->bytes : 0;
  if (!is_copy || event->kind != PPROF_KIND_DEVICE_RANGE ||
      event->flags & PPROF_FLAG_PROJECTED || !(bytes >= 1 && bytes < 1e18))
    return true;
  ppi_spread_add(&site->bytes, (uint64_t)bytes);
  return ppi_histogram_add(&site->sizes, (uint64_t)bytes);
}

bool ppi_run_take_work(ppi_run *run, const pprof_event *event, uint32_t lane) {
  bool is_counter = event->kind == PPROF_KIND_COUNTER;
  ppi_run_site *site = ppi_run_site_at(&run->ids, event->site);
  if (!site) return false;
  if (is_counter && site->category == PPROF_CATEGORY_MEMORY) {
    if (!take_memory(run, event, site)) return false;
  }
  if (site->category == PPROF_CATEGORY_COMMUNICATION &&
      !ppi_messages_add(&site->messages, event))
    return false;
  ppi_report_work *work = work_at(run, event->site, lane);
  if (!take_size(site, event) || !work) return false;
  if (event->work) {
    work->items += event->work->items;
    work->bytes += event->work->bytes;
    work->flops += event->work->flops;
    work->params += event->work->params;
  }
  if (is_counter)
    ppi_gauge_add(&work->gauge, event->value, event->start_ns, event->window);
  return true;
}
