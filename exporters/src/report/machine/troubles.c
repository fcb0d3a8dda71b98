// SPDX-License-Identifier: Apache-2.0
//
// Finds troubles of the machine in its counters, with the stages that they hit.
#include "report/machine/troubles.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/machine/slow_calls.h"

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

static pprof_status find_trouble(const ppi_machine_run *run, const cause *of,
                                 unsigned device, const ppi_slow_calls *slow,
                                 ppi_machine_figures *out) {
  ppi_machine_trouble *trouble = &out->troubles[of->cause][device];
  ppi_intervals stretches = {0};
  pprof_status status =
      ppi_machine_stretches(run, of->cause, device, &stretches, &trouble->ns);
  trouble->num = stretches.num;
  if (status == PPROF_STATUS_OK && stretches.num) {
    ppi_slow_calls_meet(slow, &stretches, run->first_ns, run->last_ns, trouble);
    find_more(run, of, device, &stretches, out);
  }
  ppi_intervals_clear(&stretches);
  return status;
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

pprof_status ppi_machine_find_troubles(const ppi_machine_run *run,
                                       const ppi_limit_calls *calls,
                                       ppi_machine_figures *out) {
  ppi_slow_calls slow = {0};
  if (!run->num_events) return PPROF_STATUS_OK;
  find_levels(run, out);
  pprof_status status = ppi_slow_calls_find(calls, &slow);
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
    unsigned num = causes[i].of_device ? PPI_MACHINE_DEVICES : 1;
    for (unsigned k = 0; k < num && status == PPROF_STATUS_OK; k++)
      status = find_trouble(run, &causes[i], k, &slow, out);
  }
  ppi_slow_calls_clear(&slow);
  return status;
}
