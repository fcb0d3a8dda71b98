// SPDX-License-Identifier: Apache-2.0
//
// Finds troubles of the machine in its counters, with the stages that they hit.
#include "report/machine/machine.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/mix.h"

// ---- slow calls of stages ----

typedef struct slow_call {
  uint64_t start_ns, end_ns;
  uint64_t excess_ns;  // beyond the median of its stage
} slow_call;

typedef struct slow_stage {
  const char *name;
  uint64_t median_ns;
  size_t first, num;  // in `calls`
} slow_stage;

// All zero is the empty one.
typedef struct slow_calls {
  slow_call *calls;
  size_t num_calls, calls_capacity;
  slow_stage *stages;
  size_t num, capacity;
} slow_calls;

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

static bool is_stage(const ppi_limit_call *call) {
  return (call->flags & PPI_CALL_NAMED) && !(call->flags & PPI_CALL_CUT);
}

static uint64_t length_of(const ppi_limit_call *call) {
  return call->end_ns - call->start_ns;
}

static bool add_slow(slow_calls *to, const ppi_limit_call *call,
                     uint64_t median_ns) {
  return PPI_PUSH(
      to->calls, to->num_calls, to->calls_capacity,
      (slow_call){call->start_ns, call->end_ns, length_of(call) - median_ns});
}

// Adds the stage of one name, with its calls.
static bool add_stage(slow_calls *to, const ppi_limit_calls *calls,
                      const ppi_keyed *places, size_t num, uint64_t *lengths) {
  if (num < LEAST_CALLS) return true;
  for (size_t i = 0; i < num; i++)
    lengths[i] = length_of(&calls->items[places[i].value]);
  ppi_sort_numbers(lengths, num);
  uint64_t median_ns = ppi_quantile_of(lengths, num, 0.5);
  double from_ns = PPI_MAX(SLOW * (double)median_ns,
                           (double)ppi_quantile_of(lengths, num, 0.9));
  size_t num_slow = 0, index = 0;
  for (size_t i = num; i > 0 && (double)lengths[i - 1] > from_ns; i--)
    num_slow++;
  if (num_slow < LEAST_COVERED) return true;
  if (!PPI_ROOM(to->stages, to->capacity, to->num + 1)) return false;
  const ppi_table_ids *ids = &calls->fill.ids;
  to->stages[to->num] =
      (slow_stage){ids->names[places[0].key].text, median_ns, to->num_calls, 0};
  for (size_t i = 0; i < num; i++) {
    const ppi_limit_call *call = &calls->items[places[i].value];
    if ((double)length_of(call) <= from_ns) continue;
    if (ppi_is_sampled(index++, num_slow, MOST_SLOW) &&
        !add_slow(to, call, median_ns))
      return false;
  }
  to->stages[to->num].num = to->num_calls - to->stages[to->num].first;
  to->num++;
  return true;
}

static bool find_slow_calls(const ppi_limit_calls *calls, slow_calls *out) {
  ppi_keyed *stages = ppi_alloc((calls->num + 1) * sizeof *stages);
  uint64_t *lengths = ppi_alloc((calls->num + 1) * sizeof *lengths);
  size_t num = 0;
  bool done = lengths && stages;
  for (size_t i = 0; done && i < calls->num; i++)
    if (is_stage(&calls->items[i]))
      stages[num++] = (ppi_keyed){
          ppi_table_ids_folded(&calls->fill.ids, calls->items[i].name), i};
  if (done) ppi_sort_keyed(stages, num);
  for (size_t i = 0, end; done && i < num; i = end) {
    for (end = i + 1; end < num && stages[end].key == stages[i].key;) end++;
    done = add_stage(out, calls, stages + i, end - i, lengths);
  }
  ppi_free(stages);
  ppi_free(lengths);
  return done;
}

static void clear_slow_calls(slow_calls *slow) {
  ppi_free(slow->calls);
  ppi_free(slow->stages);
  *slow = (slow_calls){0};
}

// ---- slow calls in stretches ----

static bool meets(const ppi_intervals *stretches, uint64_t from_ns,
                  uint64_t to_ns) {
  const ppi_interval *first = stretches->items;
  size_t at = stretches->num ? ppi_count_up_to(&first->to_ns, stretches->num,
                                               sizeof *first, from_ns)
                             : 0;
  return at < stretches->num && stretches->items[at].from_ns < to_ns;
}

static size_t num_met(const slow_calls *slow, const slow_stage *stage,
                      const ppi_intervals *stretches) {
  size_t num = 0;
  for (size_t i = 0; i < stage->num; i++) {
    const slow_call *call = &slow->calls[stage->first + i];
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
static bool is_above_chance(const slow_calls *slow, const slow_stage *stage,
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

static uint64_t excess_of(const slow_calls *slow, const slow_stage *stage,
                          const ppi_intervals *stretches) {
  uint64_t ns = 0;
  for (size_t i = 0; i < stage->num; i++) {
    const slow_call *call = &slow->calls[stage->first + i];
    if (meets(stretches, call->start_ns, call->end_ns)) ns += call->excess_ns;
  }
  return ns;
}

// Prefers the shorter of two stages with nearly the same excess: it is the
// inner range of the two.
static bool is_better(const slow_stage *a, uint64_t a_ns, const slow_stage *b,
                      uint64_t b_ns) {
  if (!b) return true;
  bool are_close =
      (double)PPI_MIN(a_ns, b_ns) > 0.8 * (double)PPI_MAX(a_ns, b_ns);
  return are_close ? a->median_ns < b->median_ns : a_ns > b_ns;
}

static void meet_slow_calls(const slow_calls *slow,
                            const ppi_intervals *stretches, uint64_t from_ns,
                            uint64_t to_ns, ppi_machine_trouble *out) {
  const ppi_interval run = {from_ns, to_ns};
  const slow_stage *best = NULL;
  if (to_ns <= from_ns) return;
  for (size_t i = 0; i < slow->num; i++) {
    const slow_stage *stage = &slow->stages[i];
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

// ---- troubles ----

// A counted sum grew since the last sample, or within this time if the last
// sample is older.
#define SAMPLE_NS 500000000ull

typedef enum form {
  BITS,    // a level with one of the bits
  ABOVE,   // a level above the limit
  TIME,    // a sum of microseconds, by its growth
  SHARED,  // the same, over processors or threads: at most the time
  EVENTS   // a sum that grew by more than the limit
} form;

typedef struct cause {
  ppi_machine_cause cause;
  const char *counter;  // a device's counter has no "gpu:N." here
  bool of_device;
  form form;
  double limit;  // bits, a level, a fraction of the time or a number
} cause;

// NVML's event reasons: 4 is the power cap, 8, 32, 64 and 128 are slowdowns by
// heat or hardware.
static const cause causes[] = {
    {PPI_MACHINE_POWER_CAP, "event_reasons", true, BITS, 4},
    {PPI_MACHINE_HEAT, "event_reasons", true, BITS, 8 | 32 | 64 | 128},
    {PPI_MACHINE_SHARED_DEVICE, "other_processes", true, ABOVE, 0},
    {PPI_MACHINE_QUOTA, "cgroup.throttled_us", false, SHARED, 0.02},
    {PPI_MACHINE_STOOD_STILL, "process.stood_still_us", false, TIME, 0.02},
    {PPI_MACHINE_NEIGHBOURS, "process.crowded_us", false, SHARED, 0.1},
    {PPI_MACHINE_STEAL, "processors.stolen_us", false, TIME, 0.05},
    {PPI_MACHINE_SWAPPING, "process.major_faults", false, EVENTS, 20},
};

// The stretch of point `i` of the series; `*out_ns` is its time of trouble, or
// 0.
static ppi_interval stretch_at(const cause *of,
                               const ppi_machine_series *series, size_t i,
                               double *out_ns) {
  const ppi_machine_point *now = &series->points[i];
  const ppi_machine_point *before = i ? now - 1 : now;
  const ppi_machine_point *next = i + 1 < series->num ? now + 1 : now;
  ppi_interval level = {now->ns, next->ns};
  double grown = now->value - before->value;
  double grown_ns = 1e3 * grown;
  uint64_t passed_ns = PPI_MIN(now->ns - before->ns, SAMPLE_NS);
  ppi_interval sum = {now->ns - passed_ns, now->ns};
  *out_ns = 0;
  switch (of->form) {
    case BITS:
    case ABOVE: {
      bool is_wrong = of->form == ABOVE
                          ? now->value > of->limit
                          : (uint64_t)now->value & (uint64_t)of->limit;
      if (is_wrong) *out_ns = (double)(level.to_ns - level.from_ns);
      return level;
    }
    case SHARED:
      grown_ns = PPI_MIN(grown_ns, (double)(now->ns - before->ns));
      break;
    case TIME:
      break;
    case EVENTS:
      if (grown > of->limit) *out_ns = (double)passed_ns;
      return sum;
  }
  if (grown_ns > (double)passed_ns)
    sum.from_ns = now->ns - PPI_MIN(now->ns, (uint64_t)grown_ns);
  if (grown_ns > of->limit * (double)passed_ns) *out_ns = grown_ns;
  return sum;
}

static const cause *row_of(ppi_machine_cause wanted) {
  size_t i = 0;
  while (causes[i].cause != wanted) i++;
  return &causes[i];
}

pprof_status ppi_machine_stretches(const ppi_machine_run *run,
                                   ppi_machine_cause wanted, unsigned device,
                                   ppi_intervals *to, uint64_t *out_ns) {
  const cause *of = row_of(wanted);
  const ppi_machine_series *series =
      of->of_device ? ppi_machine_run_find_gpu(run, device, of->counter)
                    : ppi_machine_run_find(run, of->counter);
  *out_ns = 0;
  if (!series || (!of->of_device && device)) return PPROF_STATUS_OK;
  for (size_t i = 0; i < series->num; i++) {
    double ns;
    ppi_interval stretch = stretch_at(of, series, i, &ns);
    if (!(ns > 0)) continue;
    if (!ppi_intervals_add(to, stretch.from_ns, stretch.to_ns))
      return PPROF_STATUS_NO_MEMORY;
    *out_ns += (uint64_t)ns;
  }
  return ppi_intervals_unite(to) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

// ---- further figures of a cause ----

static double grown_in(const ppi_machine_series *series,
                       const ppi_intervals *stretches) {
  double sum = 0;
  for (size_t i = 1; series && i < series->num; i++) {
    uint64_t at_ns = series->points[i].ns;
    uint64_t inside = ppi_intervals_measure(stretches, at_ns + SAMPLE_NS / 10) -
                      ppi_intervals_measure(
                          stretches, at_ns - PPI_MIN(at_ns, SAMPLE_NS / 10));
    if (inside)
      sum += PPI_MAX(series->points[i].value - series->points[i - 1].value, 0);
  }
  return sum;
}

// The growth of other counters while everything stood still.
static void find_why(const ppi_machine_run *run, const ppi_intervals *stretches,
                     ppi_machine_trouble *out) {
  const double us = 1e3;
  double quota =
      grown_in(ppi_machine_run_find(run, "cgroup.throttled_us"), stretches);
  double swap =
      grown_in(ppi_machine_run_find(run, "pressure.memory_us"), stretches);
  double ready =
      grown_in(ppi_machine_run_find(run, "process.stood_ready_us"), stretches);
  out->quota_ns = (uint64_t)(us * quota);
  out->swap_ns = (uint64_t)(us * swap);
  out->ready_ns = (uint64_t)(us * ready);
}

// The level's mean in the stretches; NULL: over all the time.
static void add_mean(const ppi_machine_series *series,
                     const ppi_intervals *stretches, ppi_machine_mean *to) {
  for (size_t i = 0; series && i + 1 < series->num; i++) {
    uint64_t from_ns = series->points[i].ns, to_ns = series->points[i + 1].ns;
    uint64_t ns = to_ns - from_ns;
    if (stretches)
      ns = ppi_intervals_measure(stretches, to_ns) -
           ppi_intervals_measure(stretches, from_ns);
    to->sum += series->points[i].value * (double)ns;
    to->ns += ns;
    if (ns) to->most = PPI_MAX(to->most, series->points[i].value);
  }
}

static void find_more(const ppi_machine_run *run, const cause *of,
                      unsigned device, const ppi_intervals *stretches,
                      ppi_machine_figures *out) {
  if (of->cause == PPI_MACHINE_STOOD_STILL)
    find_why(run, stretches, &out->troubles[of->cause][0]);
  if (of->form == BITS)
    add_mean(ppi_machine_run_find_gpu(run, device, "sm_mhz"), stretches,
             &out->devices[device].capped_mhz);
}

// ---- all causes ----

static bool find_trouble(const ppi_machine_run *run, const cause *of,
                         unsigned device, const slow_calls *slow,
                         ppi_machine_figures *out) {
  ppi_machine_trouble *trouble = &out->troubles[of->cause][device];
  ppi_intervals stretches = {0};
  bool done = ppi_machine_stretches(run, of->cause, device, &stretches,
                                    &trouble->ns) == PPROF_STATUS_OK;
  trouble->num = stretches.num;
  if (done && stretches.num) {
    meet_slow_calls(slow, &stretches, run->first_ns, run->last_ns, trouble);
    find_more(run, of, device, &stretches, out);
  }
  ppi_intervals_clear(&stretches);
  return done;
}

static double last_of(const ppi_machine_series *series) {
  return series && series->num ? series->points[series->num - 1].value : 0;
}

static void find_levels(const ppi_machine_run *run, ppi_machine_figures *out) {
  const ppi_machine_series *others =
      ppi_machine_run_find(run, "processors.others_us");
  out->num_events = run->num_events;
  out->observed_ns = run->last_ns - run->first_ns;
  out->cpu_max = last_of(ppi_machine_run_find(run, "cgroup.cpu_max"));
  out->processors = last_of(ppi_machine_run_find(run, "processors.number"));
  if (out->observed_ns && others && others->num)
    out->others = 1e3 * (last_of(others) - others->points[0].value) /
                  (double)out->observed_ns;
  for (unsigned i = 0; i < PPI_MACHINE_DEVICES; i++) {
    ppi_machine_device *device = &out->devices[i];
    const ppi_machine_series *processes =
        ppi_machine_run_find_gpu(run, i, "other_processes");
    add_mean(ppi_machine_run_find_gpu(run, i, "sm_mhz"), NULL, &device->sm_mhz);
    device->sm_max_mhz =
        last_of(ppi_machine_run_find_gpu(run, i, "sm_max_mhz"));
    device->hides_processes = processes && last_of(processes) < 0;
  }
}

bool ppi_machine_find_troubles(const ppi_machine_run *run,
                               const ppi_limit_calls *calls,
                               ppi_machine_figures *out) {
  slow_calls slow = {0};
  if (!run->num_events) return true;
  find_levels(run, out);
  bool done = find_slow_calls(calls, &slow);
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
    unsigned num = causes[i].of_device ? PPI_MACHINE_DEVICES : 1;
    for (unsigned k = 0; k < num && done; k++)
      done = find_trouble(run, &causes[i], k, &slow, out);
  }
  clear_slow_calls(&slow);
  return done;
}
