// SPDX-License-Identifier: Apache-2.0
//
// Attribution of device ranges to host ranges by thread and submit time. Each
// pair of a scope and a submission meets once: a settled submission meets all
// scopes known then, and is carried on for those that are still open.
#include "scope.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

static pprof_status append_scope(ppi_scope_list *list, const ppi_scope *scope) {
  ppi_scope *grown =
      ppi_grow(list->items, &list->capacity, list->num + 1, sizeof *grown);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  list->items = grown;
  list->items[list->num++] = *scope;
  return PPROF_STATUS_OK;
}

static pprof_status append_submit(ppi_submit_list *list,
                                  const ppi_submit *submit) {
  ppi_submit *grown =
      ppi_grow(list->items, &list->capacity, list->num + 1, sizeof *grown);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  list->items = grown;
  list->items[list->num++] = *submit;
  return PPROF_STATUS_OK;
}

pprof_status ppi_scopes_add(ppi_scopes *scopes, const ppi_scope *scope) {
  return append_scope(&scopes->fresh, scope);
}

pprof_status ppi_scopes_add_phase(ppi_scopes *scopes, const ppi_scope *scope) {
  return append_scope(&scopes->phases, scope);
}

pprof_status ppi_scopes_submit(ppi_scopes *scopes, const ppi_submit *submit) {
  return append_submit(&scopes->coming, submit);
}

static void add_sums(ppi_device_sums *into, const ppi_device_sums *from) {
  for (int i = 0; i < PPI_NUM_DEVICE_CLASSES; i++) into->ns[i] += from->ns[i];
}

void ppi_device_spreads_add(ppi_device_spreads *spreads,
                            const ppi_device_sums *sums) {
  uint64_t kernels = sums->ns[PPI_DEVICE_KERNEL];
  uint64_t general = kernels + sums->ns[PPI_DEVICE_COPY];
  ppi_spread_add(&spreads->kernels, kernels);
  uint64_t unpaired = general + sums->ns[PPI_DEVICE_OTHER];
  // Less than nothing where an outer range was submitted before the end of this
  // one and the inner ones, measured a little longer than it, after that.
  uint64_t paired = sums->ns[PPI_DEVICE_PAIRED];
  if (paired > INT64_MAX) paired = 0;
  ppi_spread_add(&spreads->general, general);
  ppi_spread_add(&spreads->unpaired, unpaired);
  ppi_spread_add(&spreads->all, unpaired + paired);
}

// Parents before children; of equal ranges the one less deep comes first.
static int compare_phases(const void *left, const void *right) {
  const ppi_scope *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  if (a->end_ns != b->end_ns) return a->end_ns > b->end_ns ? -1 : 1;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return 0;
}

static int compare_submits(const void *left, const void *right) {
  const ppi_submit *a = left, *b = right;
  return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static void sort_submits(ppi_submit_list *list) {
  if (list->num > 1)
    qsort(list->items, list->num, sizeof *list->items, compare_submits);
}

static bool lies_within(const ppi_scope *scope, uint64_t cover_end_ns) {
  return scope->start_ns < cover_end_ns && scope->end_ns <= cover_end_ns;
}

// Walks the phases that start before the horizon in order of start. One that
// ends inside an outermost phase, or inside what an open one is known to
// cover, is not outermost; one that might yet turn out to lie in an open phase
// stops the walk.
static pprof_status decide_phases(ppi_scopes *scopes,
                                  const ppi_scope_horizon *horizon) {
  ppi_scope_list *list = &scopes->phases;
  if (list->num == 0) return PPROF_STATUS_OK;
  qsort(list->items, list->num, sizeof *list->items, compare_phases);
  uint64_t open_end_ns = 0;
  bool any_open = false;
  size_t i = 0, next_open = 0;
  pprof_status status = PPROF_STATUS_OK;
  for (; i < list->num && status == PPROF_STATUS_OK; i++) {
    const ppi_scope *phase = &list->items[i];
    if (!horizon->last && phase->start_ns >= horizon->time_ns) break;
    for (; next_open < horizon->num_open; next_open++) {
      const ppi_open_scope *open = &horizon->open[next_open];
      if (open->start_ns > phase->start_ns) break;
      if (!open->is_phase) continue;
      any_open = true;
      if (open->end_ns > open_end_ns) open_end_ns = open->end_ns;
    }
    if (lies_within(phase, scopes->cover_end_ns) ||
        lies_within(phase, open_end_ns))
      continue;
    if (any_open) break;
    if (phase->end_ns > scopes->cover_end_ns)
      scopes->cover_end_ns = phase->end_ns;
    ppi_spread_add(&phase->row->host, phase->end_ns - phase->start_ns);
    status = append_scope(&scopes->fresh, phase);
  }
  if (i == 0) return status;
  list->num -= i;
  memmove(list->items, list->items + i, list->num * sizeof *list->items);
  return status;
}

static size_t lower_bound(const ppi_submit *items, size_t num,
                          uint64_t time_ns) {
  size_t low = 0, high = num;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (items[middle].time_ns < time_ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Adds to each scope the sums of the submissions in [start, end), by
// differences of running sums.
static pprof_status attribute(ppi_scope_list *list, const ppi_submit *items,
                              size_t num) {
  if (num == 0 || list->num == 0) return PPROF_STATUS_OK;
  ppi_device_sums *before = ppi_alloc((num + 1) * sizeof *before);
  if (!before) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < num; i++) {
    before[i + 1] = before[i];
    add_sums(&before[i + 1], &items[i].sums);
  }
  for (size_t i = 0; i < list->num; i++) {
    ppi_scope *scope = &list->items[i];
    size_t from = lower_bound(items, num, scope->start_ns);
    size_t to = lower_bound(items, num, scope->end_ns);
    for (int k = 0; to > from && k < PPI_NUM_DEVICE_CLASSES; k++)
      scope->inside.ns[k] += before[to].ns[k] - before[from].ns[k];
  }
  ppi_free(before);
  return PPROF_STATUS_OK;
}

typedef struct place {
  uint64_t time_ns;  // the last border of a range still to come, or 0
  bool needed;       // a range still to come contains the submission
} place;

static void place_border(place *at, uint64_t time_ns, uint64_t border_ns) {
  if (border_ns <= time_ns && border_ns > at->time_ns) at->time_ns = border_ns;
}

// Between two borders of the ranges still to come submissions are alike, so
// they move to the earlier border, where they melt into one.
static place place_submit(const ppi_scopes *scopes,
                          const ppi_scope_horizon *horizon, uint64_t time_ns) {
  place at = {0, false};
  for (size_t i = 0; i < horizon->num_open; i++) {
    const ppi_open_scope *open = &horizon->open[i];
    if (open->start_ns > time_ns) break;
    at.needed = true;
    place_border(&at, time_ns, open->start_ns);
    place_border(&at, time_ns, open->end_ns);
  }
  for (size_t i = 0; i < scopes->phases.num; i++) {
    const ppi_scope *phase = &scopes->phases.items[i];
    if (phase->start_ns > time_ns) break;
    at.needed = true;
    place_border(&at, time_ns, phase->start_ns);
    place_border(&at, time_ns, phase->end_ns);
  }
  return at;
}

static pprof_status carry(ppi_scopes *scopes, const ppi_scope_horizon *horizon,
                          size_t num_settled) {
  ppi_submit_list next = {0};
  pprof_status status = PPROF_STATUS_OK;
  size_t total = scopes->carried.num + num_settled;
  for (size_t i = 0; i < total && status == PPROF_STATUS_OK; i++) {
    ppi_submit submit = i < scopes->carried.num
                            ? scopes->carried.items[i]
                            : scopes->coming.items[i - scopes->carried.num];
    place at = place_submit(scopes, horizon, submit.time_ns);
    if (!at.needed) continue;
    submit.time_ns = at.time_ns;
    if (next.num && next.items[next.num - 1].time_ns == at.time_ns)
      add_sums(&next.items[next.num - 1].sums, &submit.sums);
    else
      status = append_submit(&next, &submit);
  }
  if (status != PPROF_STATUS_OK) {
    ppi_free(next.items);
    return status;
  }
  ppi_free(scopes->carried.items);
  scopes->carried = next;
  scopes->coming.num -= num_settled;
  if (num_settled)
    memmove(scopes->coming.items, scopes->coming.items + num_settled,
            scopes->coming.num * sizeof *scopes->coming.items);
  return PPROF_STATUS_OK;
}

// Scopes whose end the device horizon has passed are complete.
static void release(ppi_scope_list *list, const ppi_scope_horizon *horizon) {
  size_t kept = 0;
  for (size_t i = 0; i < list->num; i++) {
    ppi_scope *scope = &list->items[i];
    if (horizon->last || scope->end_ns <= horizon->device_ns)
      ppi_device_spreads_add(&scope->row->inside, &scope->inside);
    else
      list->items[kept++] = *scope;
  }
  list->num = kept;
}

static pprof_status release_all(ppi_scopes *scopes,
                                const ppi_scope_horizon *horizon) {
  release(&scopes->kept, horizon);
  release(&scopes->fresh, horizon);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < scopes->fresh.num && status == PPROF_STATUS_OK; i++)
    status = append_scope(&scopes->kept, &scopes->fresh.items[i]);
  scopes->fresh.num = 0;
  return status;
}

pprof_status ppi_scopes_settle(ppi_scopes *scopes,
                               const ppi_scope_horizon *horizon) {
  pprof_status status = decide_phases(scopes, horizon);
  sort_submits(&scopes->coming);
  sort_submits(&scopes->carried);
  const ppi_submit *coming = scopes->coming.items;
  size_t settled =
      horizon->last ? scopes->coming.num
                    : lower_bound(coming, scopes->coming.num, horizon->time_ns);
  if (status == PPROF_STATUS_OK)
    status = attribute(&scopes->fresh, coming, settled);
  if (status == PPROF_STATUS_OK)
    status = attribute(&scopes->kept, coming, settled);
  if (status == PPROF_STATUS_OK)
    status =
        attribute(&scopes->fresh, scopes->carried.items, scopes->carried.num);
  if (status == PPROF_STATUS_OK) status = carry(scopes, horizon, settled);
  if (status == PPROF_STATUS_OK) status = release_all(scopes, horizon);
  return status;
}

void ppi_scopes_clear(ppi_scopes *scopes) {
  ppi_free(scopes->phases.items);
  ppi_free(scopes->fresh.items);
  ppi_free(scopes->kept.items);
  ppi_free(scopes->coming.items);
  ppi_free(scopes->carried.items);
  *scopes = (ppi_scopes){0};
}
