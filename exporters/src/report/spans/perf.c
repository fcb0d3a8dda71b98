// SPDX-License-Identifier: Apache-2.0
//
// Measures steps and Dataloader ranges. The first PPI_PERF_WARM_UP steps by
// start are warm-up; a step behind them is a batch at once. A Dataloader range
// may wait long for its batch: until then, ranges between the same step borders
// share one spread.
#include "report/spans/perf.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"

static int compare_steps(const ppi_perf_step *a, const ppi_perf_step *b) {
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  return (a->items > b->items) - (a->items < b->items);
}

static void add_items(ppi_report_perf *sums, const ppi_perf_step *step) {
  const double most = 0x1p62, unit = PPI_PERF_ITEM;
  double items = step->items < most ? step->items : most;
  if (!(items >= 1 / unit)) return;
  bool is_first = sums->num_stated++ == 0;
  uint64_t whole = (uint64_t)items;
  double rest = (items - (double)whole) * unit;
  sums->items += (unsigned __int128)whole * PPI_PERF_ITEM;
  sums->items += (uint64_t)(rest + 0.5);
  uint64_t length_ns = step->end_ns - step->start_ns;
  double speed = items * 1e9 / (double)PPI_MAX(length_ns, 1u);
  if (is_first || speed < sums->speed_min) sums->speed_min = speed;
  if (speed > sums->speed_max) sums->speed_max = speed;
}

static bool add_batch(ppi_perf *perf, const ppi_perf_step *step) {
  ppi_spread_add(&perf->sums.batch, step->end_ns - step->start_ns);
  add_items(&perf->sums, step);
  return ppi_union_add(&perf->batches, step->start_ns, step->end_ns);
}

static bool take_step(ppi_perf *perf, const pprof_event *event) {
  if (event->flags & PPROF_FLAG_CLIPPED) return true;
  double items = event->work ? event->work->items : 0;
  ppi_perf_step step = {.start_ns = event->start_ns,
                        .end_ns = PPI_MAX(event->start_ns, event->end_ns),
                        .items = items > 0 ? items : 0};
  perf->sums.num_steps++;
  size_t at = perf->num_warm_up;
  while (at > 0 && compare_steps(&step, &perf->warm_up[at - 1]) < 0) at--;
  if (at == PPI_PERF_WARM_UP) return add_batch(perf, &step);
  ppi_perf_step last = perf->warm_up[PPI_PERF_WARM_UP - 1];
  bool is_full = perf->num_warm_up == PPI_PERF_WARM_UP;
  size_t behind = perf->num_warm_up - at - (is_full ? 1 : 0);
  memmove(perf->warm_up + at + 1, perf->warm_up + at,
          behind * sizeof *perf->warm_up);
  perf->warm_up[at] = step;
  if (is_full) return add_batch(perf, &last);
  perf->num_warm_up++;
  return true;
}

static bool take_reader(ppi_perf *perf, const pprof_event *event) {
  ppi_perf_readers readers = {.time_ns = event->start_ns};
  bool is_valid = event->end_ns > event->start_ns;
  ppi_spread_add_either(&readers.spread,
                        is_valid ? event->end_ns - event->start_ns : 0,
                        event->flags & PPROF_FLAG_CLIPPED);
  return PPI_PUSH(perf->readers, perf->num_readers, perf->readers_capacity,
                  readers);
}

bool ppi_perf_take(ppi_perf *perf, const pprof_event *event,
                   uint32_t category) {
  if (category == PPROF_CATEGORY_PROFILE_STEP) return take_step(perf, event);
  if (category == PPROF_CATEGORY_DATALOADER) return take_reader(perf, event);
  return true;
}

bool ppi_perf_open(ppi_perf *perf, const pprof_event *event,
                   uint32_t category) {
  bool is_step = category == PPROF_CATEGORY_PROFILE_STEP;
  if (!is_step && category != PPROF_CATEGORY_DATALOADER) return true;
  ppi_span_list *list = is_step ? &perf->open_steps : &perf->open_readers;
  return PPI_PUSH(list->items, list->num, list->capacity,
                  (ppi_span){event->start_ns, event->end_ns});
}

// Readers and spans begin with their time.
static int compare_times(const void *left, const void *right) {
  const uint64_t *a = left, *b = right;
  return (*a > *b) - (*a < *b);
}

// Begins and ends of the steps that may still become batches. An open step ends
// at the time to which it is known to last, perhaps beyond all ranges decided
// here.
static uint64_t *list_borders(const ppi_perf *perf, size_t *out_num) {
  size_t num = 0, most = 2 * (perf->num_warm_up + perf->open_steps.num);
  uint64_t *borders = ppi_alloc((most + 1) * sizeof *borders);
  if (!borders) return NULL;
  for (size_t i = 0; i < perf->num_warm_up; i++) {
    borders[num++] = perf->warm_up[i].start_ns;
    borders[num++] = perf->warm_up[i].end_ns;
  }
  for (size_t i = 0; i < perf->open_steps.num; i++) {
    borders[num++] = perf->open_steps.items[i].start_ns;
    borders[num++] = perf->open_steps.items[i].end_ns;
  }
  ppi_sort_numbers(borders, num);
  *out_num = num;
  return borders;
}

// Ranges in a batch count. Other ranges between the same two borders lie in the
// same later batches, and become one.
static void decide_readers(ppi_perf *perf, const uint64_t *borders,
                           size_t num_borders, uint64_t horizon_ns) {
  const ppi_union *batches = &perf->batches;
  size_t kept = 0, batch = 0, border = 0, last_border = 0;
  for (size_t i = 0; i < perf->num_readers; i++) {
    const ppi_perf_readers *readers = &perf->readers[i];
    uint64_t time_ns = readers->time_ns;
    while (batch < batches->num && batches->spans[batch].end_ns <= time_ns)
      batch++;
    if (batch < batches->num && batches->spans[batch].start_ns <= time_ns) {
      ppi_spread_merge(&perf->sums.reader, &readers->spread);
      continue;
    }
    while (border < num_borders && borders[border] <= time_ns) border++;
    if (time_ns < horizon_ns && kept > 0 && border == last_border)
      ppi_spread_merge(&perf->readers[kept - 1].spread, &readers->spread);
    else
      perf->readers[kept++] = *readers;
    last_border = border;
  }
  perf->num_readers = kept;
}

// A range that comes later begins after the horizon, or where an open range
// begins: only these batches are kept.
static void forget_batches(ppi_perf *perf, uint64_t horizon_ns) {
  ppi_union *batches = &perf->batches;
  const ppi_span_list *open = &perf->open_readers;
  size_t kept = 0, at = 0;
  for (size_t i = 0; i < batches->num; i++) {
    ppi_span span = batches->spans[i];
    while (at < open->num && open->items[at].start_ns < span.start_ns) at++;
    bool is_asked = at < open->num && open->items[at].start_ns < span.end_ns;
    if (is_asked || span.end_ns > horizon_ns) batches->spans[kept++] = span;
  }
  batches->num = kept;
}

bool ppi_perf_settle(ppi_perf *perf, uint64_t horizon_ns) {
  size_t num_borders = 0;
  uint64_t *borders = list_borders(perf, &num_borders);
  if (!borders) return false;
  ppi_union_compact(&perf->batches);
  if (perf->num_readers > 1)
    qsort(perf->readers, perf->num_readers, sizeof *perf->readers,
          compare_times);
  if (perf->open_readers.num > 1)
    qsort(perf->open_readers.items, perf->open_readers.num,
          sizeof *perf->open_readers.items, compare_times);
  decide_readers(perf, borders, num_borders, horizon_ns);
  forget_batches(perf, horizon_ns);
  perf->open_steps.num = perf->open_readers.num = 0;
  ppi_free(borders);
  return true;
}

bool ppi_perf_fill(ppi_perf *perf, ppi_report_perf *out) {
  bool done = ppi_perf_settle(perf, UINT64_MAX);
  if (done) *out = perf->sums;
  return done;
}

void ppi_perf_clear(ppi_perf *perf) {
  ppi_union_clear(&perf->batches);
  PPI_FREE_ALL(perf->readers, perf->open_steps.items, perf->open_readers.items);
  *perf = (ppi_perf){0};
}
