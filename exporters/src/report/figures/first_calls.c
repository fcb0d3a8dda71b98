// SPDX-License-Identifier: Apache-2.0
//
// Separates a stage's cold calls, which load, compile and tune, from steady
// ones.
#include "report/figures/first_calls.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

size_t ppi_first_calls_most(long warmup) {
  return warmup < PPI_FIRST_CALLS ? PPI_FIRST_CALLS : (size_t)warmup + 1;
}

PPI_ORDER_FOR_ALL(ppi_first_calls_compare, ppi_first_call,
                  PPI_UP(start_ns) PPI_UP(length_ns))

bool ppi_first_calls_add(ppi_first_calls *first_calls,
                         const ppi_first_call *call, size_t most) {
  size_t at = first_calls->num;
  while (at && ppi_first_calls_compare(call, &first_calls->calls[at - 1]) < 0)
    at--;
  if (at == most) return ppi_first_calls_add_rest(first_calls, call->length_ns);
  bool is_full = first_calls->num == most;
  uint64_t latest_ns = is_full ? first_calls->calls[most - 1].length_ns : 0;
  if (!is_full && !PPI_PUSH(first_calls->calls, first_calls->num,
                            first_calls->capacity, *call))
    return false;
  memmove(first_calls->calls + at + 1, first_calls->calls + at,
          (first_calls->num - 1 - at) * sizeof *call);
  first_calls->calls[at] = *call;
  if (first_calls->num == most)
    first_calls->full_ns = first_calls->calls[most - 1].start_ns;
  return !is_full || ppi_first_calls_add_rest(first_calls, latest_ns);
}

bool ppi_first_calls_sum(const ppi_first_calls *first_calls, ppi_spread *spread,
                         ppi_histogram *times) {
  ppi_spread_merge(spread, &first_calls->rest);
  bool done = ppi_histogram_merge(times, &first_calls->rest_times);
  for (size_t i = 0; i < first_calls->num && done; i++) {
    ppi_spread_add(spread, first_calls->calls[i].length_ns);
    done = ppi_histogram_add(times, first_calls->calls[i].length_ns);
  }
  return done;
}

bool ppi_first_calls_join(ppi_first_calls *first_calls,
                          const ppi_first_calls *from, size_t most) {
  bool done = ppi_histogram_merge(&first_calls->rest_times, &from->rest_times);
  ppi_spread_merge(&first_calls->rest, &from->rest);
  for (size_t i = 0; i < from->num && done; i++)
    done = ppi_first_calls_add(first_calls, &from->calls[i], most);
  return done;
}

// For an even number, the mean of the two middle values, rounded down.
static uint64_t median(uint64_t *values, size_t num) {
  ppi_sort_numbers(values, num);
  uint64_t above = values[num / 2], below = values[(num - 1) / 2];
  return below + (above - below) / 2;
}

// The limit is the later half's median plus three standard deviations, or plus
// a tenth of the median if greater. The standard deviation is 1.4826 times the
// median of the absolute distances from the median.
static uint64_t usual_limit(const ppi_first_call *calls, size_t num) {
  uint64_t values[PPI_FIRST_CALLS];
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

// The first usual call with another usual one among the next two begins the
// steady calls. A later slow call is not cold. At most half of the calls are
// cold, because nothing shows which of two halves is usual.
static size_t find_cold(const ppi_first_call *calls, size_t num) {
  enum { FEW = 4 };
  if (num < FEW) return 0;
  uint64_t limit_ns = usual_limit(calls, num);
  for (size_t i = 0; 2 * i < num; i++)
    if (calls[i].length_ns <= limit_ns &&
        (calls[i + 1].length_ns <= limit_ns ||
         (i + 2 < num && calls[i + 2].length_ns <= limit_ns)))
      return i;
  return 0;  // usual calls come and go: none is cold
}

size_t ppi_first_calls_num_cold(const ppi_first_call *calls, size_t num,
                                long warmup) {
  if (warmup >= 0) return PPI_MIN((size_t)warmup, num);
  return find_cold(calls, PPI_MIN(num, PPI_FIRST_CALLS));
}

size_t ppi_units_num_cold(const void *items, size_t num, size_t size,
                          long warmup) {
  ppi_first_call calls[PPI_FIRST_CALLS];
  for (size_t i = 0; i < PPI_MIN(num, PPI_FIRST_CALLS); i++) {
    uint64_t span[2];
    memcpy(span, (const char *)items + i * size, sizeof span);
    calls[i] =
        (ppi_first_call){.start_ns = span[0], .length_ns = span[1] - span[0]};
  }
  return ppi_first_calls_num_cold(calls, num, warmup);
}

bool ppi_first_calls_is_cold(const ppi_first_calls *first_calls,
                             const ppi_first_call *call) {
  if (first_calls->num_cold == 0) return false;
  return ppi_first_calls_compare(
             call, &first_calls->calls[first_calls->num_cold - 1]) <= 0;
}

uint64_t ppi_first_calls_steady_ns(const ppi_first_calls *first_calls) {
  if (first_calls->num_cold == 0) return 0;
  if (first_calls->num_cold < first_calls->num)
    return first_calls->calls[first_calls->num_cold].start_ns;
  return UINT64_MAX;
}

// ---- recursion ----

// Whether a call contains another one of its lane. `calls` are sorted: the
// inner call is the lane's next one, or a shorter one with the same start.
static bool is_around(const ppi_first_call *calls, size_t num, size_t at) {
  const ppi_first_call *call = &calls[at];
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

// The index of the first call without an inner call; `num`: none.
static size_t find_first(const ppi_first_calls *first_calls) {
  size_t i = 0;
  while (i < first_calls->num &&
         is_around(first_calls->calls, first_calls->num, i))
    i++;
  return i;
}

// Counts cold calls by those without an inner call, as in other stages.
static size_t num_cold(const ppi_first_calls *first_calls, long warmup) {
  ppi_first_call inner[PPI_FIRST_CALLS];
  size_t places[PPI_FIRST_CALLS];
  size_t num = PPI_MIN(first_calls->num, PPI_FIRST_CALLS), num_inner = 0;
  if (warmup >= 0)
    return ppi_first_calls_num_cold(first_calls->calls, first_calls->num,
                                    warmup);
  for (size_t i = 0; i < num; i++) {
    if (is_around(first_calls->calls, first_calls->num, i)) continue;
    places[num_inner] = i;
    inner[num_inner++] = first_calls->calls[i];
  }
  size_t cold = ppi_first_calls_num_cold(inner, num_inner, warmup);
  return cold ? places[cold] : 0;
}

bool ppi_first_calls_split(ppi_first_calls *first_calls, long warmup,
                           ppi_phases *into) {
  first_calls->num_cold = num_cold(first_calls, warmup);
  bool done =
      ppi_histogram_merge(&into->steady_times, &first_calls->rest_times);
  ppi_spread_merge(&into->steady, &first_calls->rest);
  size_t first = find_first(first_calls);
  if (first < first_calls->num)
    ppi_spread_add(&into->first, first_calls->calls[first].length_ns);
  for (size_t i = 0; i < first_calls->num && done; i++) {
    uint64_t length_ns = first_calls->calls[i].length_ns;
    ppi_spread_add(i < first_calls->num_cold ? &into->cold : &into->steady,
                   length_ns);
    if (i >= first_calls->num_cold)
      done = ppi_histogram_add(&into->steady_times, length_ns);
  }
  return done;
}

void ppi_first_calls_clear(ppi_first_calls *first_calls) {
  ppi_free(first_calls->calls);
  ppi_histogram_clear(&first_calls->rest_times);
  *first_calls = (ppi_first_calls){0};
}

bool ppi_phases_merge(ppi_phases *into, const ppi_phases *from) {
  ppi_spread_merge(&into->first, &from->first);
  ppi_spread_merge(&into->cold, &from->cold);
  ppi_spread_merge(&into->steady, &from->steady);
  into->cold_wall_ns += from->cold_wall_ns;
  return ppi_histogram_merge(&into->steady_times, &from->steady_times);
}

void ppi_phases_clear(ppi_phases *phases) {
  ppi_histogram_clear(&phases->steady_times);
}

void ppi_phases_carry(ppi_carry *carry, ppi_phases *phases) {
  PPI_CARRY_FROM(carry, phases, first, steady);
  ppi_histogram_carry(carry, &phases->steady_times);
  PPI_CARRY_FROM(carry, phases, cold_wall_ns, cold_wall_ns);
}
