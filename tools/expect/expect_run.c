// SPDX-License-Identifier: Apache-2.0
//
// Keeps the events of a run and finds the calls in its units.
#include "expect/expect_run.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"

static ppi_expect_run *run_of(pprof_sink *sink) {
  return (ppi_expect_run *)sink;
}

static void forget(ppi_expect_run *run) {
  for (size_t i = 0; i < run->num_sites; i++) ppi_free(run->sites[i].name);
  run->num_sites = run->num_events = run->num_flows = run->num_windows = 0;
  run->num_lost = 0;
}

static pprof_status run_begin(pprof_sink *sink, const pprof_run_info *info) {
  const char *flows = pprof_run_info_text(info, "flows");
  forget(run_of(sink));
  run_of(sink)->has_requests = !flows || strcmp(flows, "links") != 0;
  return PPROF_STATUS_OK;
}

static pprof_status run_define(pprof_sink *sink,
                               const pprof_definition *definition) {
  ppi_expect_run *run = run_of(sink);
  size_t id = definition->id;
  if (definition->kind != PPROF_DEFINITION_SITE) return PPROF_STATUS_OK;
  PPI_MUST_REACH(run->sites, run->num_sites, run->sites_capacity, id);
  char *name = ppi_tool_must(ppi_strdup(pprof_definition_name(definition)));
  ppi_free(run->sites[id].name);
  run->sites[id] = (ppi_expect_site){name, definition->parent};
  return PPROF_STATUS_OK;
}

// The number of windows up to the one of `index`; 0: it is not there. Most
// events are in the last one.
static size_t find_window(const ppi_expect_run *run, uint32_t index) {
  size_t at = run->num_windows;
  while (at && run->windows[at - 1].index != index) at--;
  return at;
}

static void widen(ppi_expect_run *run, uint32_t index, uint64_t first,
                  uint64_t last) {
  size_t at = find_window(run, index);
  if (!at) {
    PPI_MUST_PUSH(run->windows, run->num_windows, run->windows_capacity,
                  (ppi_expect_window){first, last, index});
    return;
  }
  ppi_expect_window *window = &run->windows[at - 1];
  window->first_ns = PPI_MIN(window->first_ns, first);
  window->last_ns = PPI_MAX(window->last_ns, last);
}

static pprof_status run_window(pprof_sink *sink, uint32_t index, bool opens,
                               uint64_t time_ns) {
  (void)opens;
  widen(run_of(sink), index, time_ns, time_ns);
  return PPROF_STATUS_OK;
}

static void add_event(ppi_expect_run *run, const pprof_event *event) {
  PPI_MUST_PUSH(run->events, run->num_events, run->events_capacity,
                (ppi_expect_event){.start_ns = event->start_ns,
                                   .end_ns = event->end_ns,
                                   .device_start_ns = event->device_start_ns,
                                   .device_end_ns = event->device_end_ns,
                                   .first_flow = run->num_flows,
                                   .num_flows = (uint32_t)event->num_flows,
                                   .site = event->site,
                                   .lane = event->lane,
                                   .kind = event->kind,
                                   .flags = event->flags,
                                   .depth = event->depth,
                                   .window = event->window});
  widen(run, event->window, event->start_ns,
        PPI_MAX(event->start_ns, event->end_ns));
  if (event->num_flows == 0) return;
  PPI_MUST_ROOM(run->flows, run->flows_capacity,
                run->num_flows + event->num_flows);
  memcpy(run->flows + run->num_flows, event->flows,
         event->num_flows * sizeof *run->flows);
  run->num_flows += event->num_flows;
}

static pprof_status run_events(pprof_sink *sink, const pprof_batch *batch) {
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->kind != PPROF_KIND_COUNTER) add_event(run_of(sink), event);
  }
  return PPROF_STATUS_OK;
}

static pprof_status run_finish(pprof_sink *sink, const pprof_totals *totals) {
  ppi_expect_run *run = run_of(sink);
  if (totals)
    run->num_lost = pprof_totals_value(totals, PPROF_ALL_LANES, "lost");
  run->whole(run->user, run);
  return PPROF_STATUS_OK;
}

void ppi_expect_run_init(ppi_expect_run *run,
                         void (*whole)(void *, const ppi_expect_run *),
                         void *user) {
  *run = (ppi_expect_run){.base = {.size = sizeof(pprof_sink),
                                   .begin = run_begin,
                                   .define = run_define,
                                   .events = run_events,
                                   .window = run_window,
                                   .finish = run_finish},
                          .whole = whole,
                          .user = user};
}

void ppi_expect_run_clear(ppi_expect_run *run) {
  forget(run);
  PPI_FREE_ALL(run->sites, run->events, run->flows, run->windows);
}

const char *ppi_expect_name(const ppi_expect_run *run,
                            const ppi_expect_event *event) {
  bool is_known = event->site < run->num_sites && run->sites[event->site].name;
  return is_known ? run->sites[event->site].name : "";
}

uint32_t ppi_expect_category(const ppi_expect_run *run,
                             const ppi_expect_event *event) {
  return event->site < run->num_sites ? run->sites[event->site].category : 0;
}

const ppi_expect_window *ppi_expect_window_of(const ppi_expect_run *run,
                                              const ppi_expect_event *event) {
  return &run->windows[find_window(run, event->window) - 1];
}

bool ppi_expect_is_call(const ppi_expect_run *run,
                        const ppi_expect_event *event) {
  if (ppi_expect_category(run, event) == PPROF_CATEGORY_PROFILE_STEP)
    return false;
  return event->kind != PPROF_KIND_DEVICE_RANGE ||
         !(event->flags & (PPROF_FLAG_PAIRED | PPROF_FLAG_PROJECTED));
}

// Matches words of rules such as `copy`, or a name.
bool ppi_expect_is(const ppi_expect_run *run, const ppi_expect_event *event,
                   const char *name) {
  const char *own = ppi_expect_name(run, event);
  uint32_t category = ppi_expect_category(run, event);
  bool is_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  bool is_copy =
      category == PPROF_CATEGORY_MEMCPY || category == PPROF_CATEGORY_MEMSET;
  if (strcmp(own, name) == 0) return true;
  if (strcmp(name, "launches") == 0)
    return is_device && category == PPROF_CATEGORY_KERNEL;
  if (strcmp(name, "copy") == 0) return is_device && is_copy;
  if (strcmp(name, "compute") == 0) return is_device && !is_copy;
  if (strcmp(name, "synchronize") == 0)
    return strstr(own, "ynchronize") != NULL;
  return fnmatch(name, own, 0) == 0;
}

// ---- units ----

static void add_member(ppi_expect_units *units, uint64_t unit,
                       const ppi_expect_run *run, size_t event,
                       bool is_holder) {
  PPI_MUST_PUSH(
      units->members, units->num, units->capacity,
      (ppi_expect_member){unit, run->events[event].start_ns, event, is_holder});
}

PPI_ORDER(by_unit, ppi_expect_member,
          PPI_UP(unit) PPI_UP(start_ns) PPI_UP(event))

static void add_requests(const ppi_expect_run *run, ppi_expect_units *out) {
  for (size_t i = 0; i < run->num_events; i++) {
    const ppi_expect_event *event = &run->events[i];
    if (!ppi_expect_is_call(run, event)) continue;
    for (uint32_t k = 0; k < event->num_flows; k++)
      add_member(out, run->flows[event->first_flow + k], run, i, false);
  }
}

static bool holds(const ppi_expect_run *run, const char *kind,
                  const ppi_expect_event *event) {
  if (strcmp(kind, "step") == 0)
    return ppi_expect_category(run, event) == PPROF_CATEGORY_PROFILE_STEP &&
           event->kind == PPROF_KIND_RANGE;
  return event->kind == PPROF_KIND_RANGE && ppi_expect_is(run, event, kind);
}

// The last range of `lane` that began at `start` or before; SIZE_MAX: none. A
// holder's unit is its lane, 0 of steps, which have members of any lane.
static size_t holder_at(const ppi_expect_units *all, uint64_t lane,
                        uint64_t start) {
  size_t low = 0, high = all->num;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const ppi_expect_member *item = &all->members[middle];
    if (item->unit < lane || (item->unit == lane && item->start_ns <= start))
      low = middle + 1;
    else
      high = middle;
  }
  return low && all->members[low - 1].unit == lane ? low - 1 : SIZE_MAX;
}

static void add_buffered(const ppi_expect_run *run, const ppi_expect_units *all,
                         bool by_lane, ppi_expect_units *out) {
  for (size_t i = 0; i < run->num_events; i++) {
    const ppi_expect_event *event = &run->events[i];
    size_t at = holder_at(all, by_lane ? event->lane : 0, event->start_ns);
    if (at == SIZE_MAX) continue;
    const ppi_expect_event *holder = &run->events[all->members[at].event];
    bool is_holder = holder == event;
    if (!is_holder &&
        (event->start_ns >= holder->end_ns || !ppi_expect_is_call(run, event)))
      continue;
    add_member(out, at, run, i, is_holder);
  }
}

static void add_all_buffered(const ppi_expect_run *run, const char *kind,
                             ppi_expect_units *out) {
  bool by_lane = strcmp(kind, "step") != 0;
  ppi_expect_units found = {0};
  for (size_t i = 0; i < run->num_events; i++)
    if (holds(run, kind, &run->events[i]))
      add_member(&found, by_lane ? run->events[i].lane : 0, run, i, true);
  if (found.num)
    qsort(found.members, found.num, sizeof *found.members, by_unit);
  add_buffered(run, &found, by_lane, out);
  ppi_expect_units_clear(&found);
}

ppi_expect_units ppi_expect_units_of(const ppi_expect_run *run,
                                     const char *kind) {
  ppi_expect_units out = {0};
  if (strcmp(kind, "request") == 0) {
    if (run->has_requests) add_requests(run, &out);
  } else if (strcmp(kind, "run") == 0) {
    for (size_t i = 0; i < run->num_events; i++)
      if (ppi_expect_is_call(run, &run->events[i]))
        add_member(&out, 0, run, i, false);
  } else {
    add_all_buffered(run, kind, &out);
  }
  if (out.num) qsort(out.members, out.num, sizeof *out.members, by_unit);
  return out;
}

void ppi_expect_units_clear(ppi_expect_units *units) {
  ppi_free(units->members);
  *units = (ppi_expect_units){0};
}

size_t ppi_expect_unit_end(const ppi_expect_units *units, size_t begin) {
  size_t end = begin;
  while (end < units->num &&
         units->members[end].unit == units->members[begin].unit)
    end++;
  return end;
}
