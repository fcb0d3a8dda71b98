// SPDX-License-Identifier: Apache-2.0
//
// Requests of a run while they are served. A request is settled once its range
// and all earlier ranges are known. One thread at a time.
#pragma once

#include "report/figures/serving.h"
#include "report/parts/ids.h"
#include "report/spans/identity.h"

PPROF_BEGIN_C_

// The maximum number of request numbers of a report.
#define PPI_SERVING_MOST (1u << 20)

typedef struct ppi_serving_request ppi_serving_request;
typedef struct ppi_serving_range ppi_serving_range;
// The number of requests that an open range serves: the range around this depth
// of a lane.
typedef struct ppi_serving_said {
  uint64_t first_ns, batch;
  uint32_t lane, depth;
} ppi_serving_said;
typedef struct ppi_serving_iteration {
  uint64_t start_ns, end_ns, batch;
  uint32_t site;
} ppi_serving_iteration;
typedef struct ppi_serving_class {
  uint32_t site;
  ppi_serving sums;
} ppi_serving_class;

// All zero is the empty one.
typedef struct ppi_serving_run {
  ppi_map numbers;  // of requests by flow
  ppi_serving_request *requests;
  size_t num_requests, requests_capacity;
  ppi_serving_range *ended;  // ranges with unsettled requests
  size_t num_ended, ended_capacity;
  ppi_serving_said *said;
  size_t num_said, said_capacity;
  ppi_serving_iteration *iterations;  // finished, not settled yet
  size_t num_iterations, iterations_capacity;
  uint32_t *waiting;  // served requests that are not in scheduled_ns
  size_t num_waiting, waiting_capacity;
  uint64_t *scheduled_ns;  // schedule times, in order
  size_t num_scheduled, scheduled_capacity;
  ppi_serving_class *classes;  // by site
  size_t num_classes, classes_capacity;
  uint64_t num_dropped;        // marks and ranges without a request
  uint64_t first_ns, last_ns;  // of requests: first arrival, last end
  bool keeps;                  // requests, for a join with other runs
  ppi_kept_run *kept;          // NULL: none
} ppi_serving_run;

// ppi_serving_take takes an event with PPROF_FLAG_REQUEST.
bool ppi_serving_take(ppi_serving_run *run, const pprof_event *event);
// ppi_serving_end_range takes a range of a lane with marks in `said`.
// *out_more: marks of the lane wait for further ranges.
bool ppi_serving_end_range(ppi_serving_run *run, const pprof_event *event,
                           bool *out_more);
// The caller of ppi_serving_settle promises that no later event starts before
// `time_ns`.
bool ppi_serving_settle(ppi_serving_run *run, uint64_t time_ns,
                        const ppi_slo *slo);
bool ppi_serving_fill(ppi_serving_run *run, const ppi_slo *slo,
                      const ppi_windows *windows, ppi_run_ids *ids,
                      ppi_figures *out);
// ppi_serving_note_dropped adds the note on marks without a request.
bool ppi_serving_note_dropped(uint64_t num, ppi_figures *out);
void ppi_serving_clear_run(ppi_serving_run *run);

PPROF_END_C_
