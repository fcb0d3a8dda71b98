// SPDX-License-Identifier: Apache-2.0
//
// Finds the stage with more slow calls in stretches of time than by chance. For
// chance, bunches of the stretches move to random times of the run, many times.
// Calls and stretches keep their lengths, and close stretches stay together.
#include "report/machine/slow_calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/mix.h"
#include "base/sort.h"

// A slow call takes longer than SLOW times the median.
#define SLOW 1.5
enum {
  LEAST_CALLS = 20,
  LEAST_COVERED = 3,
  MOST_SLOW = 256,  // slow calls of a stage that are kept
  TRIALS = 1999,
  MOST_LIKE = 2  // trials that may cover as many calls
};
// Stretches at most this near move together.
#define BUNCH_NS 100000000ull

// ---- slow calls ----

static bool is_stage(const ppi_limit_call *call) {
  return (call->flags & PPI_CALL_NAMED) && !(call->flags & PPI_CALL_CUT);
}

static uint64_t length_of(const ppi_limit_call *call) {
  return call->end_ns - call->start_ns;
}

static bool add_slow(ppi_slow_calls *to, const ppi_limit_call *call,
                     uint64_t median_ns) {
  ppi_slow_call *grown = ppi_grow(to->calls, &to->calls_capacity,
                                  to->num_calls + 1, sizeof *grown);
  if (!grown) return false;
  to->calls = grown;
  grown[to->num_calls++] = (ppi_slow_call){call->start_ns, call->end_ns,
                                           length_of(call) - median_ns};
  return true;
}

// Adds the stage of one name; `places` are its calls.
static bool add_stage(ppi_slow_calls *to, const ppi_limit_calls *calls,
                      const uint32_t *places, size_t num, uint64_t *lengths) {
  if (num < LEAST_CALLS) return true;
  for (size_t i = 0; i < num; i++)
    lengths[i] = length_of(&calls->items[places[i]]);
  ppi_sort_numbers(lengths, num);
  uint64_t median_ns = ppi_quantile_of(lengths, num, 0.5);
  double from_ns = PPI_MAX(SLOW * (double)median_ns,
                           (double)ppi_quantile_of(lengths, num, 0.9));
  size_t num_slow = 0, index = 0;
  for (size_t i = num; i > 0 && (double)lengths[i - 1] > from_ns; i--)
    num_slow++;
  if (num_slow < LEAST_COVERED) return true;
  ppi_slow_stage *grown =
      ppi_grow(to->stages, &to->capacity, to->num + 1, sizeof *grown);
  if (!grown) return false;
  to->stages = grown;
  const ppi_table_ids *ids = &calls->fill.ids;
  uint32_t name = ppi_table_ids_folded(ids, calls->items[places[0]].name);
  grown[to->num] =
      (ppi_slow_stage){ids->names[name].text, median_ns, to->num_calls, 0};
  for (size_t i = 0; i < num; i++) {
    const ppi_limit_call *call = &calls->items[places[i]];
    if ((double)length_of(call) <= from_ns) continue;
    if (ppi_is_sampled(index++, num_slow, MOST_SLOW) &&
        !add_slow(to, call, median_ns))
      return false;
  }
  grown[to->num].num = to->num_calls - grown[to->num].first;
  to->num++;
  return true;
}

// Sorts places of calls by name: a counting sort.
static uint32_t *by_name(const ppi_limit_calls *calls, size_t *firsts) {
  const ppi_table_ids *ids = &calls->fill.ids;
  uint32_t *places = ppi_alloc((calls->num + 1) * sizeof *places);
  if (!places) return NULL;
  for (size_t i = 0; i < calls->num; i++)
    if (is_stage(&calls->items[i]))
      firsts[ppi_table_ids_folded(ids, calls->items[i].name) + 1]++;
  for (size_t i = 0; i < ids->num_names; i++) firsts[i + 1] += firsts[i];
  for (size_t i = calls->num; i > 0; i--)
    if (is_stage(&calls->items[i - 1]))
      places[--firsts[ppi_table_ids_folded(ids, calls->items[i - 1].name) +
                      1]] = (uint32_t)(i - 1);
  return places;
}

pprof_status ppi_slow_calls_find(const ppi_limit_calls *calls,
                                 ppi_slow_calls *out) {
  size_t num_names = calls->fill.ids.num_names;
  size_t *firsts = ppi_alloc((num_names + 2) * sizeof *firsts);
  uint64_t *lengths = ppi_alloc((calls->num + 1) * sizeof *lengths);
  uint32_t *places = firsts ? by_name(calls, firsts) : NULL;
  bool done = lengths && places;
  // The counting sort left the begin of each name's part in `firsts`.
  size_t end = 0;
  for (size_t i = 0; done && i < calls->num; i++)
    end += is_stage(&calls->items[i]);
  for (size_t i = 0; done && i < num_names; i++) {
    size_t first = firsts[i + 1];
    size_t next = i + 1 < num_names ? firsts[i + 2] : end;
    done = add_stage(out, calls, places + first, next - first, lengths);
  }
  ppi_free(firsts);
  ppi_free(lengths);
  ppi_free(places);
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

void ppi_slow_calls_clear(ppi_slow_calls *slow) {
  ppi_free(slow->calls);
  ppi_free(slow->stages);
  *slow = (ppi_slow_calls){0};
}

// ---- slow calls in stretches ----

static bool meets(const ppi_intervals *stretches, uint64_t from_ns,
                  uint64_t to_ns) {
  size_t low = 0, high = stretches->num;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (stretches->items[middle].to_ns <= from_ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low < stretches->num && stretches->items[low].from_ns < to_ns;
}

static size_t num_met(const ppi_slow_calls *slow, const ppi_slow_stage *stage,
                      const ppi_intervals *stretches) {
  size_t num = 0;
  for (size_t i = 0; i < stage->num; i++) {
    const ppi_slow_call *call = &slow->calls[stage->first + i];
    num += meets(stretches, call->start_ns, call->end_ns);
  }
  return num;
}

static double next_random(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  return (double)(ppi_mix(*state) >> 11) * 0x1p-53;
}

// The bunches of a run: stretches [items[i], items[i + 1]) each.
typedef struct bunches {
  size_t *items;
  size_t num;
  uint64_t ns;  // of all bunches, with the gaps inside
  uint64_t *places;
  uint64_t random;
} bunches;

static bool find_bunches(const ppi_intervals *from, bunches *out) {
  *out = (bunches){.items = ppi_alloc((from->num + 1) * sizeof(size_t)),
                   .places = ppi_alloc((from->num + 1) * sizeof(uint64_t))};
  if (!out->items || !out->places) return false;
  for (size_t i = 0; i < from->num; i++) {
    bool begins =
        !i || from->items[i].from_ns - from->items[i - 1].to_ns > BUNCH_NS;
    if (begins)
      out->items[out->num++] = i;
    else
      out->ns += from->items[i].from_ns - from->items[i - 1].to_ns;
    out->ns += from->items[i].to_ns - from->items[i].from_ns;
  }
  out->items[out->num] = from->num;
  return true;
}

// Moves the bunches to random places of the run, in order and without overlap.
static bool move_bunches(const ppi_intervals *from, ppi_interval run,
                         bunches *by, ppi_intervals *to) {
  uint64_t run_ns = run.to_ns - run.from_ns, taken_ns = run.from_ns;
  double free_ns = (double)(run_ns - PPI_MIN(run_ns, by->ns));
  to->num = 0;
  for (size_t i = 0; i < by->num; i++)
    by->places[i] = (uint64_t)(next_random(&by->random) * free_ns);
  ppi_sort_numbers(by->places, by->num);
  for (size_t i = 0; i < by->num; i++) {
    const ppi_interval *first = &from->items[by->items[i]];
    const ppi_interval *end = &from->items[by->items[i + 1]];
    uint64_t at_ns = by->places[i] + taken_ns;
    for (const ppi_interval *one = first; one < end; one++)
      if (!ppi_intervals_add(to, one->from_ns - first->from_ns + at_ns,
                             one->to_ns - first->from_ns + at_ns))
        return false;
    taken_ns += end[-1].to_ns - first->from_ns;
  }
  return true;
}

// Answers false without memory, too.
static bool is_above_chance(const ppi_slow_calls *slow,
                            const ppi_slow_stage *stage,
                            const ppi_intervals *stretches, ppi_interval run,
                            size_t num_covered) {
  bunches by;
  double sum = 0;
  int num_like = 0;
  ppi_intervals moved = {0};
  bool is_above = find_bunches(stretches, &by);
  for (int i = 0; i < TRIALS && is_above; i++) {
    is_above = move_bunches(stretches, run, &by, &moved);
    size_t num = is_above ? num_met(slow, stage, &moved) : 0;
    num_like += num >= num_covered;
    is_above &= num_like <= MOST_LIKE;
    sum += (double)num;
  }
  ppi_intervals_clear(&moved);
  ppi_free(by.items);
  ppi_free(by.places);
  return is_above && (double)num_covered > 2 * sum / TRIALS;
}

static uint64_t excess_of(const ppi_slow_calls *slow,
                          const ppi_slow_stage *stage,
                          const ppi_intervals *stretches) {
  uint64_t ns = 0;
  for (size_t i = 0; i < stage->num; i++) {
    const ppi_slow_call *call = &slow->calls[stage->first + i];
    if (meets(stretches, call->start_ns, call->end_ns)) ns += call->excess_ns;
  }
  return ns;
}

// Prefers the shorter of two stages with nearly the same excess: it is the
// inner range of the two.
static bool is_better(const ppi_slow_stage *a, uint64_t a_ns,
                      const ppi_slow_stage *b, uint64_t b_ns) {
  if (!b) return true;
  bool are_close =
      (double)PPI_MIN(a_ns, b_ns) > 0.8 * (double)PPI_MAX(a_ns, b_ns);
  return are_close ? a->median_ns < b->median_ns : a_ns > b_ns;
}

void ppi_slow_calls_meet(const ppi_slow_calls *slow,
                         const ppi_intervals *stretches, uint64_t from_ns,
                         uint64_t to_ns, ppi_machine_trouble *out) {
  const ppi_interval run = {from_ns, to_ns};
  const ppi_slow_stage *best = NULL;
  if (to_ns <= from_ns) return;
  for (size_t i = 0; i < slow->num; i++) {
    const ppi_slow_stage *stage = &slow->stages[i];
    size_t covered = num_met(slow, stage, stretches);
    uint64_t excess_ns = excess_of(slow, stage, stretches);
    if (covered < LEAST_COVERED || 10 * covered < stage->num ||
        !is_better(stage, excess_ns, best, out->excess_ns) ||
        !is_above_chance(slow, stage, stretches, run, covered))
      continue;
    best = stage;
    out->slow = stage->num;
    out->covered = covered;
    out->excess_ns = excess_ns;
  }
  if (best) snprintf(out->stage, sizeof out->stage, "%s", best->name);
}
