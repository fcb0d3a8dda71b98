// SPDX-License-Identifier: Apache-2.0
//
// Sweeps over the borders of device ranges in the order of time. Ranges of one
// stream are in order or nested, and never interfere.
#include "report/parts/interference.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/keyed.h"
#include "report/figures/rows.h"

static const uint32_t met_several = UINT32_MAX;

static size_t stage_of(ppi_interference *all, uint32_t site, uint32_t device) {
  const ppi_interference_stage fresh = {.site = site, .device = device};
  const ppi_interference_stage *stage = ppi_keyed_mapped(
      PPI_KEYED(all->stages, all->num_stages, all->stages_capacity),
      &all->stage_numbers, (ppi_map_key){device, site}, &fresh);
  return stage ? (size_t)(stage - all->stages) : SIZE_MAX;
}

static ppi_interference_pair *pair_of(ppi_interference *all, uint32_t of,
                                      uint32_t by) {
  const ppi_interference_pair fresh = {.of = of, .by = by};
  return ppi_keyed_mapped(
      PPI_KEYED(all->pairs, all->num_pairs, all->pairs_capacity),
      &all->pair_numbers, (ppi_map_key){of, by}, &fresh);
}

bool ppi_interference_take(ppi_interference *all, const pprof_event *event,
                           uint32_t device) {
  size_t stage = stage_of(all, event->site, device);
  const ppi_interference_range range = {.start_ns = event->device_start_ns,
                                        .end_ns = event->device_end_ns,
                                        .site = event->site,
                                        .stream = event->stream,
                                        .stage = (uint32_t)stage};
  if (stage == SIZE_MAX) return false;
  all->stages[stage].sums.num_calls++;
  // An empty range has no time to measure.
  return range.end_ns <= range.start_ns ||
         PPI_PUSH(all->waiting, all->num_waiting, all->waiting_capacity, range);
}

// Sorts by the ranges' own data, so the order of arrival has no effect.
PPI_ORDER(compare_ranges, ppi_interference_range,
          PPI_UP(start_ns) PPI_UP(stream) PPI_UP(end_ns) PPI_UP(site))

static bool share_device(const ppi_interference *all,
                         const ppi_interference_range *a,
                         const ppi_interference_range *b) {
  return a->stream != b->stream &&
         all->stages[a->stage].device == all->stages[b->stage].device;
}

// Overlapping time counts once: from the begin of the first active range,
// `since_ns`, to the end of the last.
static void enter(uint32_t *num, uint64_t *since_ns, uint64_t now_ns) {
  if ((*num)++ == 0) *since_ns = now_ns;
}

static uint64_t leave(uint32_t *num, uint64_t since_ns, uint64_t now_ns) {
  return --*num == 0 ? now_ns - since_ns : 0;
}

static bool meet(ppi_interference *all, ppi_interference_range *range,
                 const ppi_interference_range *other) {
  ppi_interference_pair *pair = pair_of(all, range->stage, other->stage);
  if (!pair) return false;
  enter(&pair->num_active, &pair->since_ns, all->now_ns);
  enter(&range->num_beside, &range->since_ns, all->now_ns);
  uint32_t met = other->stage + 1;
  range->met = range->met == 0 || range->met == met ? met : met_several;
  return true;
}

static bool part(ppi_interference *all, ppi_interference_range *range,
                 const ppi_interference_range *other) {
  ppi_interference_pair *pair = pair_of(all, range->stage, other->stage);
  if (!pair) return false;
  pair->sums.shared_ns += leave(&pair->num_active, pair->since_ns, all->now_ns);
  range->beside_ns += leave(&range->num_beside, range->since_ns, all->now_ns);
  return true;
}

// Applies `change` in both directions to each active range that shares the
// device.
static bool each_other(ppi_interference *all, ppi_interference_range *range,
                       bool (*change)(ppi_interference *,
                                      ppi_interference_range *,
                                      const ppi_interference_range *)) {
  for (size_t i = 0; i < all->num_active; i++) {
    ppi_interference_range *other = &all->active[i];
    if (!share_device(all, range, other)) continue;
    if (!change(all, range, other) || !change(all, other, range)) return false;
  }
  return true;
}

static bool count_call(ppi_interference *all, uint32_t of, uint32_t met,
                       uint64_t length_ns) {
  ppi_interference_pair *pair = met ? pair_of(all, of, met - 1) : NULL;
  if (met && !pair) return false;
  ppi_report_interference *sums = met ? &pair->sums : &all->stages[of].sums;
  sums->num_measured++;
  sums->measured_ns += length_ns;
  sums->measured_squares += (unsigned __int128)length_ns * length_ns;
  return true;
}

static bool measure(ppi_interference *all,
                    const ppi_interference_range *range) {
  uint64_t length_ns = range->end_ns - range->start_ns;
  bool is_measure = range->beside_ns >= length_ns - length_ns / 2;
  if (range->met == met_several || (range->met && !is_measure)) return true;
  if (!range->is_first_calls)
    return count_call(all, range->stage, range->met, length_ns);
  return PPI_PUSH(
      all->first_calls, all->num_first_calls, all->first_calls_capacity,
      (ppi_interference_call){
          .call = {.start_ns = range->start_ns, .length_ns = length_ns},
          .stage = range->stage,
          .met = range->met});
}

// The caller has removed `range` from the active ranges.
static bool end_range(ppi_interference *all, ppi_interference_range *range) {
  ppi_interference_stage *stage = &all->stages[range->stage];
  stage->sums.shared_ns +=
      leave(&stage->num_active, stage->since_ns, all->now_ns);
  return each_other(all, range, part) && measure(all, range);
}

// Ranges that only touch do not overlap.
static bool end_ranges(ppi_interference *all) {
  bool done = true;
  for (size_t i = all->num_active; i-- && done;) {
    ppi_interference_range range = all->active[i];
    if (range.end_ns > all->now_ns) continue;
    all->active[i] = all->active[--all->num_active];
    done = end_range(all, &range);
  }
  return done;
}

static void advance(ppi_interference *all, uint64_t until_ns) {
  all->now_ns = PPI_MAX(all->now_ns, until_ns);
}

static uint64_t first_end(const ppi_interference *all) {
  uint64_t first_ns = UINT64_MAX;
  for (size_t i = 0; i < all->num_active; i++)
    first_ns = PPI_MIN(first_ns, all->active[i].end_ns);
  return first_ns;
}

static bool end_until(ppi_interference *all, uint64_t until_ns) {
  bool done = true;
  while (done && all->num_active) {
    uint64_t end_ns = first_end(all);
    if (end_ns > until_ns) break;
    advance(all, end_ns);
    done = end_ranges(all);
  }
  return done;
}

static bool begin_range(ppi_interference *all,
                        const ppi_interference_range *waiting) {
  bool done = end_until(all, waiting->start_ns);
  advance(all, waiting->start_ns);
  ppi_interference_range range = *waiting;
  ppi_interference_stage *stage = &all->stages[range.stage];
  range.is_first_calls = stage->num_begun++ < all->most_first_calls;
  if (!done || all->num_active == PPI_INTERFERENCE_MAX_ACTIVE) return done;
  // The range came too late to overlap any other.
  if (range.end_ns <= all->now_ns) return measure(all, &range);
  enter(&stage->num_active, &stage->since_ns, all->now_ns);
  done = each_other(all, &range, meet);
  all->active[all->num_active++] = range;
  return done;
}

bool ppi_interference_settle(ppi_interference *all, uint64_t horizon_ns) {
  if (all->num_waiting > 1)
    qsort(all->waiting, all->num_waiting, sizeof *all->waiting, compare_ranges);
  bool done = true;
  size_t i = 0;
  for (; i < all->num_waiting && all->waiting[i].start_ns < horizon_ns && done;
       i++)
    done = begin_range(all, &all->waiting[i]);
  for (size_t k = i; k < all->num_waiting; k++)
    all->waiting[k - i] = all->waiting[k];
  all->num_waiting -= i;
  done = done && end_until(all, horizon_ns);
  if (all->num_active) advance(all, horizon_ns);
  return done;
}

// Cold calls are known at this point.
static bool count_first_calls(ppi_interference *all, ppi_run_ids *ids) {
  bool done = true;
  for (size_t i = 0; i < all->num_first_calls && done; i++) {
    const ppi_interference_call *first_calls = &all->first_calls[i];
    ppi_run_site *site =
        ppi_run_site_at(ids, all->stages[first_calls->stage].site);
    if (!site) return false;
    if (site->cold && ppi_first_calls_is_cold(site->cold, &first_calls->call))
      continue;
    done = count_call(all, first_calls->stage, first_calls->met,
                      first_calls->call.length_ns);
  }
  all->num_first_calls = 0;
  return done;
}

// `by`: the other stage; NULL: none.
static bool add_row(const ppi_interference_stage *of,
                    const ppi_interference_stage *by,
                    ppi_report_interference row, ppi_run_ids *ids,
                    ppi_figures *out) {
  const ppi_run_site *site = ppi_run_site_at(ids, of->site);
  const ppi_run_site *other = by ? ppi_run_site_at(ids, by->site) : NULL;
  const ppi_run_device *device = ppi_run_device_at(ids, of->device);
  if (!site || !device || (by && !other)) return false;
  row.device = device->name;
  row.name = site->name;
  row.other = other ? other->name : "";
  return ppi_figures_add_row(out, PPI_FIGURES_interference, &row);
}

bool ppi_interference_fill(ppi_interference *all, ppi_run_ids *ids,
                           ppi_figures *out) {
  bool done = count_first_calls(all, ids);
  for (size_t i = 0; i < all->num_stages && done; i++)
    done = add_row(&all->stages[i], NULL, all->stages[i].sums, ids, out);
  for (size_t i = 0; i < all->num_pairs && done; i++) {
    const ppi_interference_pair *pair = &all->pairs[i];
    done = add_row(&all->stages[pair->of], &all->stages[pair->by], pair->sums,
                   ids, out);
  }
  return done;
}

void ppi_interference_clear(ppi_interference *all) {
  ppi_map_clear(&all->stage_numbers);
  ppi_map_clear(&all->pair_numbers);
  PPI_FREE_ALL(all->stages, all->pairs, all->waiting, all->first_calls);
  *all = (ppi_interference){0};
}
