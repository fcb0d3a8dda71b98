// SPDX-License-Identifier: Apache-2.0
//
// Divides a device's energy among its stages. Stages that keep the device busy
// at one moment share its power equally. The sums are scaled to the device's
// energy counter.
#include "report/machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/figures/rows.h"

enum { MOST_ACTIVE = 64, LEAST_SAMPLES = 20 };

// The begin or the end of a call.
typedef struct border {
  uint64_t ns;
  uint32_t call;
  bool ends;
} border;

typedef struct share {
  double joules, shared_joules;  // shared_joules: the part that may be others'
  uint64_t busy_ns, calls;
} share;

typedef struct split {
  const ppi_machine_run *run;
  const ppi_limit_calls *calls;
  unsigned device;
  uint32_t stream;  // looked up last
  bool is_ours;     // it is of this device
  bool has_kernels;
  border *borders;
  size_t num_borders;
  share *shares;     // by name
  uint8_t *counted;  // by call: its stage's `calls` has it
  double idle_joules, sum_joules;
  uint64_t from_ns, to_ns;  // first and last sample of energy or power
  double counted_joules;    // the counter's growth; < 0: no counter
  const ppi_machine_series *power;
  double period_ns, spread;  // of samples: distance in ns; sd / mean
} split;

// ---- calls of the device ----

// The number of a stream's device: "gpu:1" is 1; UINT32_MAX: no number.
static unsigned number_of(const ppi_table_ids *ids, uint32_t stream) {
  uint32_t device = ppi_table_ids_device(ids, stream);
  const char *name = ppi_table_ids_device_name(ids, device);
  const char *colon = name ? strrchr(name, ':') : NULL;
  if (!colon || strncmp(name, "cpu", 3) == 0) return UINT32_MAX;
  return (unsigned)strtoul(colon + 1, NULL, 10);
}

static bool is_of_device(split *of, const ppi_limit_call *call) {
  if (!(call->flags & PPI_CALL_DEVICE)) return false;
  if (call->row != of->stream) {
    of->stream = call->row;
    of->is_ours = number_of(&of->calls->fill.ids, call->row) == of->device;
  }
  return of->is_ours;
}

// The call that names the stage: for a kernel, the range that launched it.
static uint32_t stage_of(const split *of, uint32_t call) {
  const ppi_limit_call *items = of->calls->items;
  uint32_t at = call;
  while (at != PPI_NO_CALL && !(items[at].flags & PPI_CALL_NAMED))
    at = items[at].parent;
  return at == PPI_NO_CALL ? call : at;
}

PPI_ORDER(compare_borders, border, PPI_UP(ns) PPI_DOWN(ends))

static uint64_t border_time(const void *at) {
  return ((const border *)at)->ns;
}

static bool find_borders(split *of) {
  size_t num = of->calls->num;
  of->borders = ppi_alloc((2 * num + 1) * sizeof *of->borders);
  of->shares =
      ppi_alloc((of->calls->fill.ids.num_names + 1) * sizeof *of->shares);
  of->counted = ppi_alloc(num + 1);
  if (!of->borders || !of->shares || !of->counted) return false;
  for (size_t i = 0; i < num && !of->has_kernels; i++)
    of->has_kernels = is_of_device(of, &of->calls->items[i]) &&
                      !(of->calls->items[i].flags & PPI_CALL_NAMED);
  for (size_t i = 0; i < num; i++) {
    const ppi_limit_call *call = &of->calls->items[i];
    bool is_named = call->flags & PPI_CALL_NAMED;
    if (!is_of_device(of, call) || (of->has_kernels && is_named)) continue;
    of->borders[of->num_borders++] =
        (border){call->start_ns, (uint32_t)i, false};
    of->borders[of->num_borders++] = (border){call->end_ns, (uint32_t)i, true};
  }
  ppi_sort(of->borders, of->num_borders, sizeof *of->borders, border_time,
           compare_borders);
  return true;
}

// ---- a stretch of time ----

typedef struct active {
  uint32_t calls[MOST_ACTIVE];
  size_t num;
} active;

static void change(active *now, const border *by) {
  if (!by->ends) {
    if (now->num < MOST_ACTIVE) now->calls[now->num++] = by->call;
    return;
  }
  for (size_t i = 0; i < now->num; i++)
    if (now->calls[i] == by->call) now->calls[i--] = now->calls[--now->num];
}

static bool is_around(const split *of, uint32_t outer, uint32_t inner) {
  for (uint32_t at = of->calls->items[inner].parent; at != PPI_NO_CALL;
       at = of->calls->items[at].parent)
    if (at == outer) return true;
  return false;
}

// Lists the names of the innermost calls' stages, each once.
static size_t stages_of(split *of, const active *now, uint32_t *names) {
  size_t num = 0;
  for (size_t i = 0; i < now->num; i++) {
    bool is_inner = true;
    for (size_t k = 0; k < now->num && is_inner; k++)
      is_inner = k == i || !is_around(of, now->calls[i], now->calls[k]);
    if (!is_inner) continue;
    uint32_t stage = stage_of(of, now->calls[i]);
    uint32_t name = ppi_table_ids_folded(&of->calls->fill.ids,
                                         of->calls->items[stage].name);
    size_t at = 0;
    while (at < num && names[at] != name) at++;
    if (at == num) names[num++] = name;
    of->shares[name].calls += !of->counted[stage];
    of->counted[stage] = 1;
  }
  return num;
}

static void divide(split *of, const active *now, double joules, uint64_t ns) {
  uint32_t names[MOST_ACTIVE];
  size_t num = stages_of(of, now, names);
  of->sum_joules += joules;
  if (num == 0) of->idle_joules += joules;
  for (size_t i = 0; i < num; i++) {
    share *to = &of->shares[names[i]];
    double part = joules / (double)num;
    to->joules += part;
    to->shared_joules += num > 1 ? part * (1 - 1 / (double)num) : 0;
    to->busy_ns += ns;
  }
}

// ---- the run ----

// Limits a chunk to the time between the first and the last sample.
static void clip(const split *of, const ppi_limit_chunk *chunk,
                 uint64_t *from_ns, uint64_t *to_ns) {
  *from_ns = PPI_MAX(chunk->from_ns, of->from_ns);
  *to_ns = PPI_MIN(chunk->to_ns, of->to_ns);
}

// Divides a chunk's energy, from one border of calls or power sample to the
// next. `at` is the next border.
static void walk_chunk(split *of, const ppi_limit_chunk *chunk, size_t *at,
                       active *now) {
  const ppi_machine_series *power = of->power;
  uint64_t now_ns, end_ns;
  size_t sample = 0;
  clip(of, chunk, &now_ns, &end_ns);
  while (now_ns < end_ns) {
    while (*at < of->num_borders && of->borders[*at].ns <= now_ns)
      change(now, &of->borders[(*at)++]);
    while (power && sample + 1 < power->num &&
           power->points[sample + 1].ns <= now_ns)
      sample++;
    uint64_t next_ns = end_ns;
    if (*at < of->num_borders) next_ns = PPI_MIN(next_ns, of->borders[*at].ns);
    if (power && sample + 1 < power->num)
      next_ns = PPI_MIN(next_ns, power->points[sample + 1].ns);
    double watts = power ? power->points[sample].value : 1;
    divide(of, now, watts * (double)(next_ns - now_ns) / 1e9, next_ns - now_ns);
    now_ns = next_ns;
  }
}

// Sets the period to the samples' median distance: constant power has no
// samples.
static bool find_period(split *of) {
  const ppi_machine_series *power = of->power;
  size_t num = power && power->num > 1 ? power->num - 1 : 0;
  uint64_t *ns = ppi_alloc((num + 1) * sizeof *ns);
  if (!ns) return false;
  for (size_t i = 0; i < num; i++)
    ns[i] = power->points[i + 1].ns - power->points[i].ns;
  ppi_sort_numbers(ns, num);
  of->period_ns = (double)ppi_quantile_of(ns, num, 0.5);
  ppi_free(ns);
  return true;
}

static void find_sampling(split *of) {
  double sum = 0, squares = 0;
  const ppi_machine_series *power = of->power;
  size_t num = power ? power->num : 0;
  for (size_t i = 0; i < num; i++) {
    sum += power->points[i].value;
    squares += power->points[i].value * power->points[i].value;
  }
  if (!num || !(sum > 0)) return;
  double mean = sum / (double)num;
  of->spread = sqrt(PPI_MAX(squares / (double)num - mean * mean, 0)) / mean;
}

// Answers false if the device's energy is unknown.
static bool find_span(split *of) {
  const ppi_machine_series *energy =
      ppi_machine_run_find_gpu(of->run, of->device, "energy_j");
  of->power = ppi_machine_run_find_gpu(of->run, of->device, "power_w");
  const ppi_machine_series *by = energy && energy->num > 1 ? energy : of->power;
  if (!by || by->num < 2) return false;
  of->from_ns = by->points[0].ns;
  of->to_ns = by->points[by->num - 1].ns;
  of->counted_joules =
      by == energy ? by->points[by->num - 1].value - by->points[0].value : -1;
  if (of->power && !of->power->num) of->power = NULL;
  find_sampling(of);
  return of->to_ns > of->from_ns;
}

// ---- rows ----

static bool add_stages(const split *of, double scale,
                       const ppi_energy_row *like, ppi_figures *out) {
  const ppi_table_ids *ids = &of->calls->fill.ids;
  bool done = true;
  for (size_t i = 0; i < ids->num_names && done; i++) {
    const share *from = &of->shares[i];
    if (!from->busy_ns) continue;
    double samples = of->period_ns > 0 ? (double)from->busy_ns / of->period_ns
                                       : LEAST_SAMPLES;
    ppi_energy_row row = *like;
    row.kind = PPI_ENERGY_STAGE;
    snprintf(row.name, sizeof row.name, "%s", ids->names[i].text);
    row.calls = from->calls;
    row.busy_ns = from->busy_ns;
    row.is_unresolved = samples < LEAST_SAMPLES;
    double joules = scale * from->joules;
    if (!row.is_unresolved) {
      row.joules = joules;
      row.error_joules =
          scale * from->shared_joules + joules * of->spread / sqrt(samples);
    }
    done = ppi_figures_add_row(out, PPI_FIGURES_energy, &row);
    if (!done || !row.is_unresolved) continue;
    ppi_energy_row all = *like;
    all.kind = PPI_ENERGY_SHORT;
    all.joules = joules;
    all.calls = from->calls;
    all.busy_ns = from->busy_ns;
    done = ppi_figures_add_row(out, PPI_FIGURES_energy, &all);
  }
  return done;
}

static bool add_rows(const split *of, ppi_figures *out) {
  ppi_energy_row like = {.name = ""};
  snprintf(like.device, sizeof like.device, "gpu:%u", of->device);
  double all = of->counted_joules >= 0 ? of->counted_joules : of->sum_joules;
  double scale = of->sum_joules > 0 ? all / of->sum_joules : 0;
  bool done = add_stages(of, scale, &like, out);
  ppi_energy_row idle = like, total = like;
  idle.kind = PPI_ENERGY_IDLE;
  idle.joules = scale * of->idle_joules;
  total.kind = PPI_ENERGY_TOTAL;
  total.joules = all;
  total.busy_ns = of->to_ns - of->from_ns;
  // Without any timed work the device may have been busy all the time.
  if (of->num_borders)
    done = done && ppi_figures_add_row(out, PPI_FIGURES_energy, &idle);
  return done && ppi_figures_add_row(out, PPI_FIGURES_energy, &total);
}

static bool split_device(const ppi_machine_run *run,
                         const ppi_limit_calls *calls, unsigned device,
                         ppi_figures *out) {
  split of = {
      .run = run, .calls = calls, .device = device, .stream = UINT32_MAX};
  if (!find_span(&of)) return true;
  bool done = find_period(&of) && find_borders(&of);
  active now = {.num = 0};
  size_t at = 0;
  for (size_t i = 0; done && i < calls->num_chunks; i++)
    walk_chunk(&of, &calls->chunks[i], &at, &now);
  done = done && add_rows(&of, out);
  PPI_FREE_ALL(of.borders, of.shares, of.counted);
  return done;
}

// Processors have only a total: their users are unknown.
static bool add_processors(const ppi_machine_run *run, ppi_figures *out) {
  const ppi_machine_series *energy =
      ppi_machine_run_find(run, "processors.energy_j");
  if (!energy || energy->num < 2) return true;
  const ppi_machine_point *first = energy->points;
  const ppi_machine_point *last = &energy->points[energy->num - 1];
  const ppi_energy_row row = {.kind = PPI_ENERGY_TOTAL,
                              .device = "processors",
                              .joules = last->value - first->value,
                              .busy_ns = last->ns - first->ns};
  return ppi_figures_add_row(out, PPI_FIGURES_energy, &row);
}

bool ppi_machine_split_energy(const ppi_machine_run *run,
                              const ppi_limit_calls *calls, ppi_figures *out) {
  for (unsigned i = 0; i < PPI_MACHINE_DEVICES; i++)
    if (!split_device(run, calls, i, out)) return false;
  return add_processors(run, out);
}
