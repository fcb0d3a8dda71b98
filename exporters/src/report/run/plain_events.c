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
  bool counts_later, has_paths;
} plain_lane;

static inline ppi_plain_shape plain_of(const plain_lane *of,
                                       const pprof_event *event) {
  const ppi_plain_shape none = {NULL, 0};
  const uint32_t special = PPI_TRAIT_STEP | PPI_TRAIT_DATALOADER |
                           PPI_TRAIT_COMMUNICATION |
                           PPI_TRAIT_PADDLE_COMMUNICATION;
  uint64_t more = (uint64_t)(event->kind ^ PPROF_KIND_RANGE) | event->flags |
                  (event->lane ^ of->lane->id) | (uintptr_t)event->work |
                  (uintptr_t)event->cpu | (uintptr_t)event->numbers;
  const ppi_run_table *sites = &of->run->ids.sites;
  if (more || event->site >= sites->num || event->end_ns < event->start_ns ||
      event->end_ns == UINT64_MAX ||
      !ppi_hold_fits(event->site, event->depth) ||
      event->device_end_ns > event->device_start_ns)
    return none;
  ppi_run_site *site = sites->items[event->site];
  if (!site || !site->place || site->traits & special) return none;
  return (ppi_plain_shape){site, ppi_hold_word(event->site, event->depth)};
}

// The site counts the range now, not its path later.
static bool count(const plain_lane *of, const ppi_plain_shape *shape,
                  const ppi_column_row *times) {
  const pprof_event event = {.kind = PPROF_KIND_RANGE,
                             .start_ns = times->start_ns,
                             .end_ns = times->end_ns,
                             .site = ppi_hold_site(shape->word),
                             .lane = of->lane->id,
                             .depth = ppi_hold_depth(shape->word)};
  if (!ppi_event_count_range(of->run, shape->site, &event)) return false;
  const ppi_buffered counted =
      ppi_buffered_of(&event, of->has_paths ? PPI_BUFFERED_COUNTED : 0);
  return ppi_hold_add_slow(&of->lane->nested, &of->run->ids.pool, &counted);
}

static __attribute__((noinline)) bool hold_wide(const plain_lane *of,
                                                uint64_t word,
                                                const ppi_column_row *times) {
  const ppi_buffered range = {times->start_ns, times->end_ns,
                              ppi_hold_site(word), ppi_hold_depth(word), 0};
  return ppi_hold_add_slow(&of->lane->nested, &of->run->ids.pool, &range);
}

static inline __attribute__((always_inline)) bool take(
    const plain_lane *of, const ppi_plain_shape *shape,
    const ppi_column_row *times) {
  ppi_run_lane *lane = of->lane;
  ppi_run_site *site = shape->site;
  uint64_t start_ns = times->start_ns, end_ns = times->end_ns, inner_ns;
  uint64_t word = shape->word;
  if (!ppi_nest_add(&lane->nest, start_ns, end_ns, ppi_hold_depth(word),
                    &inner_ns))
    return false;
  site->row.self_ns += end_ns - start_ns - inner_ns;
  if (PPI_UNLIKELY(!of->counts_later ||
                   !ppi_first_calls_is_rest(&site->host_first_calls, start_ns)))
    return count(of, shape, times);
  return PPI_LIKELY(ppi_hold_add_word(&lane->nested, start_ns, end_ns, word)) ||
         hold_wide(of, word, times);
}

// The time that the taken events cover.
typedef struct extent {
  uint64_t begin_ns, end_ns;
} extent;

static inline void extend(extent *by, const ppi_column_row *times) {
  by->begin_ns = PPI_MIN(by->begin_ns, times->start_ns);
  by->end_ns = PPI_MAX(by->end_ns, times->end_ns);
}

// Takes the events of shapes from `at` on, and moves it behind them.
static bool take_shapes(const plain_lane *of, const ppi_columns *columns,
                        size_t *at, extent *sum) {
  const ppi_column_row *row = &columns->rows[*at];
  const ppi_column_row *end = columns->rows + columns->batch.num_events;
  ppi_plain_shape *shapes = of->run->plain.items;
  extent all = *sum;
  for (; row < end && !row->is_whole; row++) {
    ppi_plain_shape *shape = &shapes[row->at];
    if (PPI_UNLIKELY(!shape->site)) {
      *shape = plain_of(of, &columns->shapes[row->at].event);
      if (!shape->site) break;
    }
    extend(&all, row);
    if (!take(of, shape, row)) return false;
  }
  *sum = all;
  *at = (size_t)(row - columns->rows);
  return true;
}

// Takes whole events.
static bool take_whole(const plain_lane *of, const pprof_batch *batch,
                       size_t *at, extent *sum) {
  const ppi_columns *columns = ppi_columns_of(batch);
  ppi_run *run = of->run;
  for (; *at < batch->num_events; ++*at) {
    if (columns && !columns->rows[*at].is_whole) break;
    const pprof_event *event = ppi_batch_rest(batch, *at);
    const ppi_plain_shape shape = plain_of(of, event);
    if (!shape.site) break;
    const ppi_column_row times = {event->start_ns, event->end_ns, 0, true};
    extend(sum, &times);
    if (!take(of, &shape, &times) ||
        (event->num_flows && run->details.requests &&
         !ppi_requests_take(&run->requests, event, 0)))
      return false;
  }
  return true;
}

bool ppi_plain_events_take(ppi_run *run, const pprof_batch *batch,
                           ppi_run_lane *lane, size_t *at) {
  const plain_lane of = {run, lane, ppi_run_paths_count(run),
                         run->details.paths};
  const ppi_columns *columns = ppi_columns_of(batch);
  extent sum = {UINT64_MAX, 0};
  size_t from;
  if (run->details.by_thread || run->details.one_way || lane->serves)
    return true;
  do {
    from = *at;
    if ((columns && !take_shapes(&of, columns, at, &sum)) ||
        !take_whole(&of, batch, at, &sum))
      return false;
  } while (*at > from);
  if (sum.begin_ns == UINT64_MAX) return true;
  run->last_ns = PPI_MAX(run->last_ns, sum.end_ns);
  ppi_accounts_reach(&run->accounts, sum.begin_ns, sum.end_ns);
  return true;
}
