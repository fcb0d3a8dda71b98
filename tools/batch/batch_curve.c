// SPDX-License-Identifier: Apache-2.0
//
// Chooses batches by doubling and bisection, or in sequence, judges the tries
// and summarizes their curve. Pure functions.
#include "batch/batch_curve.h"

#include <stdio.h>

#include "batch/batch_measure.h"

static bool is_measured(const ppi_batch_try *try) {
  return try->survived && try->num_runs > 0;
}

static uint64_t items_of(const ppi_batch_try *try) {
  return try->num_batches * try->batch;
}

// Whether `items` make about so many batches. The first batch of each run does
// not count, so two roundings may differ by one.
static bool is_near(uint64_t batches, uint64_t items, size_t batch) {
  uint64_t wanted = items / batch;
  return batches + 1 >= wanted && batches <= wanted + 1;
}

static bool stopped_early(const ppi_batch_try *before, size_t num,
                          const ppi_batch_try *last, uint64_t least) {
  if (last->num_runs > 0 && last->num_batches + last->num_runs < least)
    return true;
  const ppi_batch_try *first = NULL;
  bool same_batches = true, same_items = true;
  for (size_t i = 0; i < num; i++) {
    if (!is_measured(&before[i])) continue;
    if (!first) first = &before[i];
    same_batches &= before[i].num_batches == first->num_batches;
    same_items &=
        is_near(before[i].num_batches, items_of(first), before[i].batch);
  }
  // No earlier try has batches to compare with.
  if (!first) return least > 0 && last->num_runs == 0;
  if (last->num_runs == 0) return true;
  uint64_t by_items = items_of(first) / last->batch;
  bool too_few = last->num_batches < first->num_batches;
  bool too_few_items = last->num_batches + 1 < by_items;
  if (same_batches && same_items) return too_few && too_few_items;
  return (same_batches && too_few) || (same_items && too_few_items);
}

void ppi_batch_judge(const ppi_batch_try *before, size_t num,
                     const ppi_batch_demand *demand, ppi_batch_try *now) {
  if (!now->survived) return;
  if (stopped_early(before, num, now, demand->least_batches))
    snprintf(now->result, sizeof now->result, "stopped early%s",
             now->says_no_memory ? ", out of memory" : "");
  else if (demand->latency_ns && now->p99_ns > demand->latency_ns)
    snprintf(now->result, sizeof now->result, "too slow");
  else
    return;
  now->survived = false;
}

void ppi_batch_curve_of(const ppi_batch_try *tries, size_t num,
                        ppi_batch_curve *out) {
  double most = 0;
  *out = (ppi_batch_curve){0};
  for (size_t i = 0; i < num; i++) {
    const ppi_batch_try *one = &tries[i];
    if (!one->survived) continue;
    if (!out->largest || one->batch > out->largest->batch) out->largest = one;
    if (ppi_batch_throughput(one) > most) {
      most = ppi_batch_throughput(one);
      out->fastest = one;
    }
  }
  for (size_t i = 0; i < num && most > 0; i++) {
    const ppi_batch_try *one = &tries[i];
    bool enough = one->survived && ppi_batch_throughput(one) * 100 >=
                                       most * PPI_BATCH_KNEE_PERCENT;
    if (enough && (!out->knee || one->batch < out->knee->batch))
      out->knee = one;
  }
}

uint64_t ppi_batch_limit_of(const ppi_batch_try *first, size_t batch) {
  const uint64_t minute = 60000000000u;
  double limit =
      10.0 * (double)first->wall_ns * (double)batch / (double)first->batch;
  if (limit < (double)first->wall_ns * 10) limit = (double)first->wall_ns * 10;
  if (limit < (double)minute) return minute;
  return limit < 1e18 ? (uint64_t)limit : (uint64_t)1e18;
}

size_t ppi_batch_next(const ppi_batch_search *search) {
  size_t low = search->survived, high = search->failed;
  if (low == 0) return high ? 0 : search->from;
  if (high && high - low <= 1) return 0;
  if (search->sequential) return high || low >= search->to ? 0 : low + 1;
  if (high) return low + (high - low) / 2;
  if (low >= search->to) return 0;
  return low > search->to / 2 ? search->to : 2 * low;
}

void ppi_batch_tell(ppi_batch_search *search, size_t batch, bool survived) {
  size_t *limit = survived ? &search->survived : &search->failed;
  *limit = batch;
}
