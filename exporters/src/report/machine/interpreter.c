// SPDX-License-Identifier: Apache-2.0
//
// Finds the time of collections, event-loop callbacks and the interpreter's
// lock.
#include "report/machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define HELD "loop:"

// ---- units: requests, or else steps ----

typedef struct unit {
  uint64_t flow;  // for a step, its index among the calls
  uint64_t from_ns, to_ns;
} unit;

typedef struct units {
  unit *items;  // by flow
  size_t num, capacity;
  bool are_requests;
} units;

PPI_ORDER(compare_units, unit, PPI_UP(flow))

static bool add_unit(units *to, uint64_t flow, const ppi_limit_call *call) {
  return PPI_PUSH(to->items, to->num, to->capacity,
                  (unit){flow, call->start_ns, call->end_ns});
}

// Calls of one request become one unit.
static void unite(units *all) {
  size_t num = 0;
  if (all->num > 1)
    qsort(all->items, all->num, sizeof *all->items, compare_units);
  for (size_t i = 0; i < all->num; i++) {
    unit *last = num ? &all->items[num - 1] : NULL;
    if (last && last->flow == all->items[i].flow) {
      last->from_ns = PPI_MIN(last->from_ns, all->items[i].from_ns);
      last->to_ns = PPI_MAX(last->to_ns, all->items[i].to_ns);
    } else {
      all->items[num++] = all->items[i];
    }
  }
  all->num = num;
}

static bool find_units(const ppi_limit_calls *calls, units *out) {
  for (size_t i = 0; i < calls->num && !calls->are_links; i++)
    for (uint32_t k = 0; k < calls->items[i].num; k++)
      if (!add_unit(out, calls->flows[calls->items[i].first + k],
                    &calls->items[i]))
        return false;
  out->are_requests = out->num > 0;
  for (size_t i = 0; i < calls->num && !out->are_requests; i++)
    if ((calls->items[i].flags & PPI_CALL_STEP) &&
        !add_unit(out, i, &calls->items[i]))
      return false;
  unite(out);
  return true;
}

static uint64_t num_open(const units *all, uint64_t from_ns, uint64_t to_ns) {
  uint64_t num = 0;
  for (size_t i = 0; i < all->num; i++)
    num += all->items[i].from_ns < to_ns && all->items[i].to_ns > from_ns;
  return num;
}

// ---- collections ----

// -1: another range.
static int generation_of(const ppi_limit_calls *calls,
                         const ppi_limit_call *call) {
  const char *name = calls->fill.ids.names[call->name].text;
  size_t len = sizeof PPI_COLLECTION - 1;
  if (call->flags & PPI_CALL_DEVICE || !ppi_is_collection(name)) return -1;
  int generation = atoi(name + len);
  return generation < 0 || generation >= PPI_GENERATIONS ? -1 : generation;
}

// A collection stops all threads, so that it hits every open unit.
static bool find_collections(const ppi_limit_calls *calls, const units *all,
                             int generation, ppi_collections *out) {
  ppi_intervals pauses = {0};
  bool done = true;
  for (size_t i = 0; i < calls->num && done; i++) {
    const ppi_limit_call *call = &calls->items[i];
    if (generation_of(calls, call) != generation) continue;
    uint64_t ns = call->end_ns - call->start_ns;
    out->num++;
    out->ns += ns;
    out->longest_ns = PPI_MAX(out->longest_ns, ns);
    done = ppi_intervals_add(&pauses, call->start_ns, call->end_ns);
  }
  done = done && ppi_intervals_unite(&pauses);
  for (size_t i = 0; i < all->num && done; i++)
    out->units_hit += ppi_intervals_measure(&pauses, all->items[i].to_ns) >
                      ppi_intervals_measure(&pauses, all->items[i].from_ns);
  out->units = all->num;
  out->are_requests = all->are_requests;
  ppi_intervals_clear(&pauses);
  return done;
}

// ---- event loops ----

// Finds the callback with the greatest total time in the loop. `waited` counts
// the requests that were open in its longest call.
static void find_held(const ppi_machine_run *loops, const units *all,
                      ppi_held_loop *out) {
  const double ms = 1e6;
  uint64_t longest_at_ns = 0;
  for (size_t i = 0; i < loops->num; i++) {
    const ppi_machine_series *series = &loops->series[i];
    ppi_held_loop held = {.num = series->num};
    uint64_t at_ns = 0;
    for (size_t k = 0; k < series->num; k++) {
      uint64_t took_ns = (uint64_t)(ms * series->points[k].value);
      held.ns += took_ns;
      if (took_ns <= held.longest_ns) continue;
      held.longest_ns = took_ns;
      at_ns = series->points[k].ns;
    }
    if (held.ns <= out->ns) continue;
    bool has_prefix = strncmp(series->name, HELD, sizeof HELD - 1) == 0;
    snprintf(held.name, sizeof held.name, "%s",
             series->name + (has_prefix ? sizeof HELD - 1 : 0));
    *out = held;
    longest_at_ns = at_ns;
  }
  uint64_t from_ns = longest_at_ns - PPI_MIN(longest_at_ns, out->longest_ns);
  uint64_t open = num_open(all, from_ns, longest_at_ns);
  // One of them is the callback's own request.
  out->waited = open - (open > 0);
  out->are_requests = all->are_requests;
}

// ---- the interpreter's lock, from CPU use ----

// A call that begins while another thread's stage computes finds the lock
// taken. Without a lock, its length is independent of that moment.
enum { LOCK_NAMES = 64, LOCK_CALLS = 20, LOCK_ERRORS = 5 };

typedef struct moments {
  uint64_t num;
  double mean, squares;
} moments;

static void add_moment(moments *to, double value) {
  double off = value - to->mean;
  to->num++;
  to->mean += off / (double)to->num;
  to->squares += off * (value - to->mean);
}

typedef struct locks {
  const ppi_limit_calls *calls;
  uint32_t *inner;  // calls with known CPU use and no such call inside
  size_t num;
  uint32_t names[LOCK_NAMES];
  size_t num_names;
} locks;

static uint32_t name_of(const ppi_limit_calls *calls, uint32_t call) {
  return ppi_table_ids_folded(&calls->fill.ids, calls->items[call].name);
}

static bool is_measured(const ppi_limit_call *call) {
  const uint32_t others = PPI_CALL_DEVICE | PPI_CALL_LOOSE | PPI_CALL_CUT;
  return (call->flags & (PPI_CALL_CPU | others)) == PPI_CALL_CPU &&
         call->end_ns > call->start_ns;
}

static void add_name(locks *of, uint32_t name) {
  size_t at = 0;
  while (at < of->num_names && of->names[at] != name) at++;
  if (at == of->num_names && at < LOCK_NAMES) of->names[of->num_names++] = name;
}

static bool find_inner(locks *of) {
  const ppi_limit_calls *calls = of->calls;
  uint8_t *has_inner = ppi_alloc(calls->num + 1);
  of->inner = ppi_alloc((calls->num + 1) * sizeof *of->inner);
  bool done = has_inner && of->inner;
  for (size_t i = 0; i < calls->num && done; i++)
    if (is_measured(&calls->items[i]) && calls->items[i].parent != PPI_NO_CALL)
      has_inner[calls->items[i].parent] = 1;
  for (size_t i = 0; i < calls->num && done; i++) {
    if (has_inner[i] || !is_measured(&calls->items[i])) continue;
    of->inner[of->num++] = (uint32_t)i;
    add_name(of, name_of(calls, (uint32_t)i));
  }
  ppi_free(has_inner);
  return done;
}

// The calls of `name` that compute for at least half of their time. Time in the
// run queue counts, because a preempted thread keeps the lock.
static bool find_computing(const locks *of, uint32_t name, ppi_intervals *out) {
  bool done = true;
  for (size_t i = 0; i < of->num && done; i++) {
    const ppi_limit_call *call = &of->calls->items[of->inner[i]];
    if (name_of(of->calls, of->inner[i]) != name ||
        2 * (call->cpu_ns + call->queued_ns) < call->end_ns - call->start_ns)
      continue;
    done = ppi_intervals_add(out, call->start_ns, call->end_ns);
  }
  return done && ppi_intervals_unite(out);
}

static void judge_pair(const locks *of, const ppi_intervals *computing,
                       uint32_t culprit, uint32_t victim, ppi_held_lock *out) {
  const ppi_limit_calls *calls = of->calls;
  moments sides[2] = {{0}, {0}};  // [1]: calls that begin inside of `computing`
  double of_ns = 0;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = &calls->items[of->inner[i]];
    if (name_of(calls, of->inner[i]) != victim) continue;
    uint64_t ns = call->end_ns - call->start_ns;
    uint64_t known_ns = call->cpu_ns + call->queued_ns;
    bool is_inside = ppi_intervals_measure(computing, call->start_ns + 1) >
                     ppi_intervals_measure(computing, call->start_ns);
    add_moment(&sides[is_inside], (double)(ns - PPI_MIN(ns, known_ns)));
    if (is_inside) of_ns += (double)ns;
  }
  if (sides[0].num < LOCK_CALLS || sides[1].num < LOCK_CALLS) return;
  double longer_ns = sides[1].mean - sides[0].mean, squares = 0;
  for (int i = 0; i < 2; i++) {
    double n = (double)sides[i].num;
    squares += sides[i].squares / (n - 1) / n;
  }
  double all_ns = longer_ns * (double)sides[1].num;
  if (longer_ns <= LOCK_ERRORS * sqrt(squares) || all_ns <= (double)out->ns ||
      all_ns < of_ns / 10)
    return;
  *out = (ppi_held_lock){.inside = sides[1].num,
                         .outside = sides[0].num,
                         .ns = (uint64_t)all_ns,
                         .of_ns = (uint64_t)of_ns};
  const ppi_table_ids *ids = &calls->fill.ids;
  snprintf(out->culprit, sizeof out->culprit, "%s", ids->names[culprit].text);
  snprintf(out->victim, sizeof out->victim, "%s", ids->names[victim].text);
}

static bool find_lock(const ppi_limit_calls *calls, ppi_held_lock *out) {
  locks of = {.calls = calls};
  bool done = find_inner(&of);
  for (size_t i = 0; i < of.num_names && done; i++) {
    ppi_intervals computing = {0};
    done = find_computing(&of, of.names[i], &computing);
    for (size_t k = 0; k < of.num_names && done && computing.num; k++)
      if (k != i) judge_pair(&of, &computing, of.names[i], of.names[k], out);
    ppi_intervals_clear(&computing);
  }
  ppi_free(of.inner);
  return done;
}

// Whether the run is one of Python, with the ledger's counters or ranges.
static bool has_any(const ppi_machine_run *loops,
                    const ppi_limit_calls *calls) {
  bool any = loops->num_events > 0;
  for (size_t i = 0; i < calls->num && !any; i++)
    any = generation_of(calls, &calls->items[i]) >= 0 ||
          ppi_is_import(calls->fill.ids.names[calls->items[i].name].text);
  return any;
}

bool ppi_interpreter_find(const ppi_machine_run *loops,
                          const ppi_limit_calls *calls,
                          ppi_interpreter_figures *out) {
  units all = {0};
  if (!has_any(loops, calls)) return true;
  bool done = find_units(calls, &all);
  for (int i = 0; i < PPI_GENERATIONS && done; i++)
    done = find_collections(calls, &all, i, &out->collections[i]);
  if (done) find_held(loops, &all, &out->held);
  if (done) done = find_lock(calls, &out->lock);
  ppi_free(all.items);
  return done;
}
