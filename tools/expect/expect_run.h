// SPDX-License-Identifier: Apache-2.0
//
// Keeps one run for rules: its ranges and marks, and the units around them. It
// is a sink that keeps a run until the next one begins. One thread.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

typedef struct ppi_expect_event {
  uint64_t start_ns, end_ns, device_start_ns, device_end_ns;
  size_t first_flow;
  uint32_t num_flows, site, lane, kind, flags, depth, window;
} ppi_expect_event;

typedef struct ppi_expect_site {
  char *name;
  uint32_t category;
} ppi_expect_site;

// A capture window, or what its events show of it.
typedef struct ppi_expect_window {
  uint64_t first_ns, last_ns;
  uint32_t index;
} ppi_expect_window;

typedef struct ppi_expect_run {
  pprof_sink base;
  ppi_expect_event *events;
  size_t num_events, events_capacity;
  uint64_t *flows;
  size_t num_flows, flows_capacity;
  ppi_expect_site *sites;
  size_t num_sites, sites_capacity;
  ppi_expect_window *windows;
  size_t num_windows, windows_capacity;
  uint64_t num_lost;
  bool has_requests;  // flows are requests
  // Called when a run is whole.
  void (*whole)(void *user, const struct ppi_expect_run *run);
  void *user;
} ppi_expect_run;

// The sink is `base`; its `destroy` is NULL, ppi_expect_run_clear frees.
void ppi_expect_run_init(ppi_expect_run *run,
                         void (*whole)(void *, const ppi_expect_run *),
                         void *user);
void ppi_expect_run_clear(ppi_expect_run *run);

// ppi_expect_name is the name of an event, "" for an unknown site.
const char *ppi_expect_name(const ppi_expect_run *run,
                            const ppi_expect_event *event);
uint32_t ppi_expect_category(const ppi_expect_run *run,
                             const ppi_expect_event *event);
// ppi_expect_window_of is the window of an event of the run.
const ppi_expect_window *ppi_expect_window_of(const ppi_expect_run *run,
                                              const ppi_expect_event *event);
// ppi_expect_is_call: the event is a call of its name, not the device's side of
// a call, nor a step.
bool ppi_expect_is_call(const ppi_expect_run *run,
                        const ppi_expect_event *event);
// ppi_expect_is answers whether `name` of a rule matches an event: a name, a
// pattern, or one of launches, copy, compute and synchronize.
bool ppi_expect_is(const ppi_expect_run *run, const ppi_expect_event *event,
                   const char *name);

// A call in a unit, which is a request, a step, the run, or a call of a name.
typedef struct ppi_expect_member {
  uint64_t unit, start_ns;
  size_t event;
  bool is_holder;  // it is the unit itself, no call in it
} ppi_expect_member;
typedef struct ppi_expect_units {
  ppi_expect_member *members;  // by unit, then by start
  size_t num, capacity;
} ppi_expect_units;
// ppi_expect_units_of finds the calls in each unit of a kind: "request",
// "step", "run" or a name. ppi_expect_units_clear frees.
ppi_expect_units ppi_expect_units_of(const ppi_expect_run *run,
                                     const char *kind);
void ppi_expect_units_clear(ppi_expect_units *units);
// ppi_expect_unit_end is the index after the last member of the unit of
// `begin`.
size_t ppi_expect_unit_end(const ppi_expect_units *units, size_t begin);

PPROF_END_C_
