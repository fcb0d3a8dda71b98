// SPDX-License-Identifier: Apache-2.0
//
// The machine's counters of a run as series of points. Sink thread.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

// A longer series drops every other point.
#define PPI_MACHINE_POINTS ((size_t)65536)

typedef struct ppi_machine_point {
  uint64_t ns;
  double value;
} ppi_machine_point;

typedef struct ppi_machine_series {
  char *name;
  ppi_machine_point *points;
  size_t num, capacity;
  uint64_t num_all, stride;  // one point in `stride` is kept
} ppi_machine_series;

// All zero but `wanted` is the empty one.
typedef struct ppi_machine_run {
  const char *wanted;  // the category of these counters; static
  ppi_machine_series *series;
  size_t num, capacity;
  uint32_t category;  // 0: not defined
  uint32_t *by_site;  // series + 1; 0: a site of another category
  size_t num_sites, sites_capacity;
  uint64_t num_events, first_ns, last_ns;
} ppi_machine_run;

pprof_status ppi_machine_run_define(ppi_machine_run *run,
                                    const pprof_definition *definition);
pprof_status ppi_machine_run_events(ppi_machine_run *run,
                                    const pprof_batch *batch);
// ppi_machine_run_find answers the series called `name`; NULL: none.
const ppi_machine_series *ppi_machine_run_find(const ppi_machine_run *run,
                                               const char *name);
// ppi_machine_run_find_gpu answers the series "gpu:DEVICE.WHAT"; NULL: none.
const ppi_machine_series *ppi_machine_run_find_gpu(const ppi_machine_run *run,
                                                   unsigned device,
                                                   const char *what);
void ppi_machine_run_clear(ppi_machine_run *run);

PPROF_END_C_
