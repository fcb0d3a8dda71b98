// SPDX-License-Identifier: Apache-2.0
//
// A report while its run is being delivered: data by id, and the parts. Each
// part buffers data until a checkpoint or the end decides it. Sink thread only.
#pragma once

#include "base/jobs.h"
#include "report/answer/accounts.h"
#include "report/parts/details.h"
#include "report/parts/device_calls.h"
#include "report/parts/ids.h"
#include "report/parts/interference.h"
#include "report/parts/launches.h"
#include "report/parts/memory.h"
#include "report/parts/open.h"
#include "report/parts/paths.h"
#include "report/parts/requests.h"
#include "report/parts/serving.h"
#include "report/parts/sites.h"
#include "report/spans/distribution.h"
#include "report/spans/pairs.h"
#include "report/spans/perf.h"

PPROF_BEGIN_C_

// The lane is the batch's: its order is the order of adding.
typedef struct ppi_run_work {
  uint32_t site;
  ppi_report_work sums;  // without names
} ppi_run_work;

typedef struct ppi_work_list {
  ppi_run_work *items;  // sorted by site, then lane
  size_t num, capacity;
} ppi_work_list;

typedef struct ppi_buffered_list {
  ppi_buffered *items;
  size_t num, capacity;
} ppi_buffered_list;

// The run's steps, by phase.
typedef struct ppi_run_steps {
  uint64_t num;
  ppi_spread times[PPI_NUM_PHASES];
  ppi_device_spreads devices[PPI_NUM_PHASES];  // zeros are added last
  ppi_buffered_list buffered;  // for their device time, of all threads
} ppi_run_steps;

// The state of one sweep over all threads, and the end of the last one.
typedef struct ppi_sweep_state {
  uint64_t swept_ns;  // ranges are settled until here
  bool any_points;    // in any thread
  bool has_more_passed;
  ppi_run_thread *first_submitter;
  ppi_borders borders;  // of ranges with the work of all threads
} ppi_sweep_state;

// Walks that workers do for the sweep.
typedef struct ppi_handover {
  ppi_job_line line;
  struct ppi_run *sums;  // by worker
  uint64_t num_marked;   // as in ppi_run_ids, when the sums got their marks
  uint32_t most_paths;   // of any worker
  bool has_dropped;      // paths beyond the bound: which, depends on the order
} ppi_handover;

// A shape of a batch of plain events.
typedef struct ppi_plain_shape {
  ppi_run_site *site;  // NULL: not known, or not plain
  uint64_t word;       // of a hold, without times
} ppi_plain_shape;

typedef struct ppi_plain_shapes {
  ppi_plain_shape *items;  // by shape
  size_t num, capacity;
} ppi_plain_shapes;

typedef struct ppi_run {
  ppi_report_details details;
  size_t num_courses;  // devices that have one
  ppi_run_ids ids;
  ppi_run_labels labels;
  ppi_plain_shapes plain;
  ppi_work_list work;
  ppi_queues queues;
  ppi_serving_run serving;
  ppi_pairs pairs;
  ppi_details rows;
  ppi_paths paths;
  ppi_device_calls device_calls;  // with details.kernels
  ppi_report_kernels kernels;
  ppi_captures captures;  // with details.kernels
  ppi_shapes shapes;
  ppi_distribution distribution;
  ppi_interference interference;
  ppi_requests requests;
  ppi_accounts accounts;  // with details.answer, unless by_request
  bool by_request;        // requests are the answer's units for sure
  ppi_memory memory;
  ppi_allocations allocations;  // with details.allocations
  ppi_perf perf;
  ppi_run_steps steps;
  ppi_windows windows;
  uint32_t *window_indexes;  // of windows.items
  size_t window_indexes_capacity;
  uint64_t next_window;  // above all indexes so far
  ppi_device_sums device_sums;
  uint64_t last_ns;  // the greatest time so far
  bool has_events;
  ppi_listed listed;
  ppi_sweep_state sweep;
  ppi_handover handover;
  uint64_t identity_ns;  // the next checkpoint settles identities to here
  bool lost_device;
  bool is_imported;  // its events come in the order of their submission
} ppi_run;

bool ppi_run_begin(ppi_run *run, const pprof_run_info *info);
pprof_status ppi_run_define(ppi_run *run, const pprof_definition *definition);
bool ppi_run_window(ppi_run *run, uint32_t index, bool opens, uint64_t time_ns);
void ppi_run_clear(ppi_run *run);

PPROF_END_C_
