// SPDX-License-Identifier: Apache-2.0
//
// Takes plain host ranges, with fewer checks than any event needs.
#include "report/run/passes.h"

#include "base/base.h"
#include "event/columns.h"
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
  return site && site->place && !(site->traits & special) &&
                 ppi_hold_fits(event->site, event->depth)
             ? site
             : NULL;
}

// The shape's site, found at its first event of the batch.
static inline ppi_run_site *shape_site(const plain_lane *of,
                                       const ppi_columns *columns,
                                       uint32_t shape) {
  ppi_run_site **slot = &of->run->plain.sites[shape];
  if (PPI_UNLIKELY(!*slot))
    *slot = plain_site(of, &columns->shapes[shape].event);
  return *slot;
}

// The site counts the range now, not its path later.
static bool count(const plain_lane *of, ppi_run_site *site,
                  const pprof_event *shape, const ppi_column_row *times) {
  pprof_event event = *shape;
  event.start_ns = times->start_ns;
  event.end_ns = times->end_ns;
  if (!ppi_event_count_range(of->run, site, &event)) return false;
  const ppi_buffered counted =
      ppi_buffered_of(&event, of->has_paths ? PPI_BUFFERED_COUNTED : 0);
  return ppi_hold_add_slow(&of->lane->nested, &of->run->ids.pool, &counted);
}

static inline __attribute__((always_inline)) bool take(
    const plain_lane *of, ppi_run_site *site, const pprof_event *event,
    const ppi_column_row *times) {
  ppi_run_lane *lane = of->lane;
  uint64_t start_ns = times->start_ns, end_ns = times->end_ns, inner_ns;
  if (!ppi_nest_add(&lane->nest, start_ns, end_ns, event->depth, &inner_ns))
    return false;
  site->row.self_ns += end_ns - start_ns - inner_ns;
  if (PPI_UNLIKELY(!of->counts_later ||
                   (of->has_stages && !ppi_first_calls_is_rest(
                                          &site->host_first_calls, start_ns))))
    return count(of, site, event, times);
  return ppi_hold_add(&lane->nested, &of->run->ids.pool, start_ns, end_ns,
                      event->site, event->depth);
}

// Takes the events of shapes from `at` on, and moves it behind them.
static bool take_shapes(const plain_lane *of, const ppi_columns *columns,
                        size_t *at, uint64_t *begin_ns, uint64_t *last_ns) {
  const ppi_column_row *row = &columns->rows[*at];
  const ppi_column_row *end = columns->rows + columns->batch.num_events;
  bool done = true;
  for (; row < end && !row->is_whole && done; row++) {
    ppi_run_site *site = shape_site(of, columns, row->at);
    if (!site) break;
    *begin_ns = PPI_MIN(*begin_ns, row->start_ns);
    *last_ns = PPI_MAX(*last_ns, row->end_ns);
    done = take(of, site, &columns->shapes[row->at].event, row);
  }
  *at = (size_t)(row - columns->rows);
  return done;
}

// Takes whole events.
static bool take_whole(const plain_lane *of, const pprof_batch *batch,
                       size_t *at, uint64_t *begin_ns, uint64_t *last_ns) {
  const ppi_columns *columns = ppi_columns_of(batch);
  ppi_run *run = of->run;
  bool done = true;
  for (; *at < batch->num_events && done; ++*at) {
    if (columns && !columns->rows[*at].is_whole) break;
    const pprof_event *event = ppi_batch_rest(batch, *at);
    ppi_run_site *site = plain_site(of, event);
    if (!site) break;
    *begin_ns = PPI_MIN(*begin_ns, event->start_ns);
    *last_ns = PPI_MAX(*last_ns, event->end_ns);
    const ppi_column_row times = {event->start_ns, event->end_ns, 0, true};
    done = take(of, site, event, &times);
    if (event->num_flows && run->details.requests && done)
      done = ppi_requests_take(&run->requests, event, 0);
  }
  return done;
}

bool ppi_plain_events_take(ppi_run *run, const pprof_batch *batch,
                           ppi_run_lane *lane, size_t *at) {
  const plain_lane of = {run, lane, ppi_run_paths_count(run),
                         run->details.stages, run->details.paths};
  const ppi_columns *columns = ppi_columns_of(batch);
  bool done = true;
  uint64_t begin_ns = UINT64_MAX, last_ns = 0;
  size_t from;
  if (run->details.by_thread || run->details.one_way || lane->serves)
    return true;
  do {
    from = *at;
    if (columns) done = take_shapes(&of, columns, at, &begin_ns, &last_ns);
    if (done) done = take_whole(&of, batch, at, &begin_ns, &last_ns);
  } while (done && *at > from);
  if (begin_ns == UINT64_MAX) return done;
  run->last_ns = PPI_MAX(run->last_ns, last_ns);
  ppi_accounts_reach(&run->accounts, begin_ns, last_ns);
  return done;
}
