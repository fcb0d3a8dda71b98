// SPDX-License-Identifier: Apache-2.0
//
// A stage begins with calls that load, compile and tune; they end where calls
// become what the later ones are.
#include "report/figures/early.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

size_t ppi_early_most(long warmup) {
  return warmup < PPI_EARLY_CALLS ? PPI_EARLY_CALLS : (size_t)warmup + 1;
}

int ppi_early_compare(const void *left, const void *right) {
  const ppi_early_call *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  return (a->length_ns > b->length_ns) - (a->length_ns < b->length_ns);
}

static void swap(ppi_early_call *a, ppi_early_call *b) {
  ppi_early_call kept = *a;
  *a = *b;
  *b = kept;
}

static void sift_up(ppi_early_call *calls, size_t at) {
  for (; at && ppi_early_compare(&calls[at], &calls[(at - 1) / 2]) > 0;
       at = (at - 1) / 2)
    swap(&calls[at], &calls[(at - 1) / 2]);
}

static void sift_down(ppi_early_call *calls, size_t num) {
  for (size_t at = 0, child; (child = 2 * at + 1) < num; at = child) {
    if (child + 1 < num &&
        ppi_early_compare(&calls[child + 1], &calls[child]) > 0)
      child++;
    if (ppi_early_compare(&calls[child], &calls[at]) <= 0) return;
    swap(&calls[child], &calls[at]);
  }
}

pprof_status ppi_early_add(ppi_early *early, const ppi_early_call *call,
                           size_t most) {
  if (early->num >= most) {
    if (ppi_early_compare(call, &early->calls[0]) >= 0)
      return ppi_early_add_rest(early, call->length_ns);
    uint64_t latest_ns = early->calls[0].length_ns;
    early->calls[0] = *call;
    sift_down(early->calls, early->num);
    early->full_ns = early->calls[0].start_ns;
    return ppi_early_add_rest(early, latest_ns);
  }
  if (!PPI_ROOM(early->calls, early->capacity, early->num + 1))
    return PPROF_STATUS_NO_MEMORY;
  early->calls[early->num++] = *call;
  sift_up(early->calls, early->num - 1);
  if (early->num == most) early->full_ns = early->calls[0].start_ns;
  return PPROF_STATUS_OK;
}

pprof_status ppi_early_sum(const ppi_early *early, ppi_spread *spread,
                           ppi_histogram *times) {
  ppi_spread_merge(spread, &early->rest);
  pprof_status status = ppi_histogram_merge(times, &early->rest_times);
  for (size_t i = 0; i < early->num && status == PPROF_STATUS_OK; i++) {
    ppi_spread_add(spread, early->calls[i].length_ns);
    status = ppi_histogram_add(times, early->calls[i].length_ns);
  }
  return status;
}

pprof_status ppi_early_join(ppi_early *early, const ppi_early *from,
                            size_t most) {
  pprof_status status =
      ppi_histogram_merge(&early->rest_times, &from->rest_times);
  ppi_spread_merge(&early->rest, &from->rest);
  for (size_t i = 0; i < from->num && status == PPROF_STATUS_OK; i++)
    status = ppi_early_add(early, &from->calls[i], most);
  return status;
}

// Of an even number the mean of the two in the middle, in which half a ns is
// down.
static uint64_t median(uint64_t *values, size_t num) {
  ppi_sort_numbers(values, num);
  uint64_t above = values[num / 2], below = values[(num - 1) / 2];
  return below + (above - below) / 2;
}

// What a call of the later half takes at most, but for outliers: three standard
// deviations above the median, the deviation taken from that of the absolute
// distances (1.4826 times their median), and no less than a tenth.
static uint64_t usual_limit(const ppi_early_call *calls, size_t num) {
  uint64_t values[PPI_EARLY_CALLS];
  size_t half = num / 2;
  for (size_t i = half; i < num; i++) values[i - half] = calls[i].length_ns;
  uint64_t middle = median(values, num - half);
  for (size_t i = half; i < num; i++) {
    uint64_t length_ns = calls[i].length_ns;
    values[i - half] =
        length_ns > middle ? length_ns - middle : middle - length_ns;
  }
  uint64_t distance = median(values, num - half);
  unsigned __int128 three = (unsigned __int128)distance * 44478 / 10000;
  unsigned __int128 limit = middle + PPI_MAX(three, middle / 10);
  return limit > UINT64_MAX ? UINT64_MAX : (uint64_t)limit;
}

// Steady from the first call on that is usual and has another usual one among
// the next two: one slow call later is no part of the beginning. Cold ones are
// the fewer: of halves none says which of the two is usual.
static size_t find_cold(const ppi_early_call *calls, size_t num) {
  enum { FEW = 4 };
  if (num < FEW) return 0;
  uint64_t limit_ns = usual_limit(calls, num);
  for (size_t i = 0; 2 * i < num; i++)
    if (calls[i].length_ns <= limit_ns &&
        (calls[i + 1].length_ns <= limit_ns ||
         (i + 2 < num && calls[i + 2].length_ns <= limit_ns)))
      return i;
  return 0;  // what is usual comes and goes: there is no beginning
}

size_t ppi_early_num_cold(const ppi_early_call *calls, size_t num,
                          long warmup) {
  if (warmup >= 0) return PPI_MIN((size_t)warmup, num);
  return find_cold(calls, PPI_MIN(num, PPI_EARLY_CALLS));
}

bool ppi_early_is_cold(const ppi_early *early, const ppi_early_call *call) {
  if (early->num_cold == 0) return false;
  return ppi_early_compare(call, &early->calls[early->num_cold - 1]) <= 0;
}

uint64_t ppi_early_steady_ns(const ppi_early *early) {
  if (early->num_cold == 0) return 0;
  if (early->num_cold < early->num)
    return early->calls[early->num_cold].start_ns;
  return UINT64_MAX;
}

// ---- recursion ----

// Whether a call has another one of its thread in it: `calls` are in order, so
// that this is the next one, or one that began with it and is shorter.
static bool is_around(const ppi_early_call *calls, size_t num, size_t at) {
  const ppi_early_call *call = &calls[at];
  uint64_t end_ns = call->start_ns + call->length_ns;
  if (!call->lane) return false;
  for (size_t i = at; i-- > 0 && calls[i].start_ns == call->start_ns;)
    if (calls[i].lane == call->lane && calls[i].length_ns < call->length_ns)
      return true;
  for (size_t i = at + 1; i < num && calls[i].start_ns < end_ns; i++)
    if (calls[i].lane == call->lane)
      return calls[i].start_ns + calls[i].length_ns <= end_ns &&
             calls[i].length_ns < call->length_ns;
  return false;
}

// Where the first call is that has none of its name in it; `num`: there is
// none.
static size_t find_first(const ppi_early *early) {
  size_t i = 0;
  while (i < early->num && is_around(early->calls, early->num, i)) i++;
  return i;
}

// Of the calls that have none in them so many are cold as of any others.
static size_t num_cold(const ppi_early *early, long warmup) {
  ppi_early_call inner[PPI_EARLY_CALLS];
  size_t places[PPI_EARLY_CALLS];
  size_t num = PPI_MIN(early->num, PPI_EARLY_CALLS), num_inner = 0;
  if (warmup >= 0) return ppi_early_num_cold(early->calls, early->num, warmup);
  for (size_t i = 0; i < num; i++) {
    if (is_around(early->calls, early->num, i)) continue;
    places[num_inner] = i;
    inner[num_inner++] = early->calls[i];
  }
  size_t cold = ppi_early_num_cold(inner, num_inner, warmup);
  return cold ? places[cold] : 0;
}

pprof_status ppi_early_split(ppi_early *early, long warmup, ppi_phases *into) {
  if (early->num > 1)
    qsort(early->calls, early->num, sizeof *early->calls, ppi_early_compare);
  early->num_cold = num_cold(early, warmup);
  if (!into) return PPROF_STATUS_OK;
  pprof_status status =
      ppi_histogram_merge(&into->steady_times, &early->rest_times);
  ppi_spread_merge(&into->steady, &early->rest);
  size_t first = find_first(early);
  if (first < early->num)
    ppi_spread_add(&into->first, early->calls[first].length_ns);
  for (size_t i = 0; i < early->num && status == PPROF_STATUS_OK; i++) {
    uint64_t length_ns = early->calls[i].length_ns;
    ppi_spread_add(i < early->num_cold ? &into->cold : &into->steady,
                   length_ns);
    if (i >= early->num_cold)
      status = ppi_histogram_add(&into->steady_times, length_ns);
  }
  return status;
}

void ppi_early_clear(ppi_early *early) {
  ppi_free(early->calls);
  ppi_histogram_clear(&early->rest_times);
  *early = (ppi_early){0};
}

pprof_status ppi_phases_merge(ppi_phases *into, const ppi_phases *from) {
  ppi_spread_merge(&into->first, &from->first);
  ppi_spread_merge(&into->cold, &from->cold);
  ppi_spread_merge(&into->steady, &from->steady);
  into->cold_wall_ns += from->cold_wall_ns;
  return ppi_histogram_merge(&into->steady_times, &from->steady_times);
}

void ppi_phases_clear(ppi_phases *phases) {
  ppi_histogram_clear(&phases->steady_times);
}
