// SPDX-License-Identifier: Apache-2.0
//
// A report while its run is being delivered: what is known by id, and its
// parts, each with what it holds until a checkpoint or the end decides it. Sink
// thread only.
#ifndef PPI_REPORT_RUN_H_
#define PPI_REPORT_RUN_H_

#include "report/run/details.h"
#include "report/run/distribution.h"
#include "report/run/ids.h"
#include "report/run/interference.h"
#include "report/run/memory.h"
#include "report/run/open.h"
#include "report/run/pairs.h"
#include "report/run/perf.h"
#include "report/run/queues.h"
#include "report/run/requests.h"
#include "report/run/sites.h"

#ifdef __cplusplus
extern "C" {
#endif

// The lane is the batch's: its order is the order of adding.
typedef struct ppi_run_work {
  uint32_t site, lane;
  uint64_t num_values;
  double items, bytes, flops, params, value;
} ppi_run_work;

typedef struct ppi_held_list {
  ppi_held *items;
  size_t num, capacity;
} ppi_held_list;

typedef struct ppi_run {
  ppi_report_details details;
  ppi_run_ids ids;
  ppi_run_labels labels;
  ppi_run_work *work;  // sorted by site, then lane
  size_t num_work, work_capacity;
  ppi_queues queues;
  ppi_pairs pairs;
  ppi_details rows;
  ppi_distribution distribution;
  ppi_interference interference;
  ppi_requests requests;
  ppi_memory memory;
  ppi_perf perf;
  ppi_spread phase_times[PPI_NUM_PHASES];
  ppi_device_spreads phase_devices[PPI_NUM_PHASES];  // as far as anything is
  ppi_held_list held_steps;  // for their device time, of all threads
  ppi_windows windows;
  uint32_t *window_indexes;  // of windows.items
  size_t window_indexes_capacity;
  uint64_t num_steps;
  ppi_device_sums device_sums;
  uint64_t last_ns;  // the greatest time seen
  ppi_listed listed;
  uint64_t swept_ns;     // how far ranges are settled
  uint64_t identity_ns;  // how far the next one may settle identities
  bool lost_device;
  // Of a sweep:
  bool any_points;  // in any thread
  ppi_run_thread *first_submitter;
  ppi_borders borders;  // of ranges that have what all threads submit
} ppi_run;

pprof_status ppi_run_begin(ppi_run *run, const pprof_run_info *info);
pprof_status ppi_run_define(ppi_run *run, const pprof_definition *definition);
pprof_status ppi_run_window(ppi_run *run, uint32_t index, bool opens,
                            uint64_t time_ns);
void ppi_run_clear(ppi_run *run);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_RUN_H_
