// SPDX-License-Identifier: Apache-2.0
//
// Lanes and threads of a run, which come and go.
#pragma once

#include "report/parts/ids.h"

PPROF_BEGIN_C_

// The lane that this answers has its thread.
ppi_run_lane *ppi_run_lane_at(ppi_run_ids *ids, uint32_t id);
ppi_run_thread *ppi_run_process(ppi_run_ids *ids);

// Above twice this number of threads, those that have left are summed up as
// PPI_REPORT_LEFT_THREADS. Definitions and events alone decide when, so a log
// gives the same report as its run.
#define PPI_RUN_MAX_THREADS ((size_t)4096)
ppi_run_thread *ppi_run_thread_at(ppi_run_ids *ids, uint64_t number);
// ppi_run_lane_defined names a lane's thread. Ranges that wait for a checkpoint
// stay with the lane's previous thread.
bool ppi_run_lane_defined(ppi_run_ids *ids, uint32_t id, uint64_t number,
                          const char *name);
// ppi_run_find_swept marks the threads that have left and have no more to
// sweep; true: there are any. ppi_run_forget_swept frees them.
bool ppi_run_find_swept(ppi_run_ids *ids);
void ppi_run_forget_swept(ppi_run_ids *ids);
void ppi_run_clear_threads(ppi_run_ids *ids);
// All lanes and threads of the run, also those that have left; NULL: the id has
// none.
static inline size_t ppi_run_num_lanes(const ppi_run_ids *ids) {
  return ids->lanes.num + ids->num_left;
}
static inline ppi_run_lane *ppi_run_any_lane(const ppi_run_ids *ids, size_t i) {
  return i < ids->lanes.num ? (ppi_run_lane *)ids->lanes.items[i]
                            : ids->left[i - ids->lanes.num];
}
static inline size_t ppi_run_num_threads(const ppi_run_ids *ids) {
  return ids->num_threads + ids->num_summed;
}
static inline ppi_run_thread *ppi_run_any_thread(const ppi_run_ids *ids,
                                                 size_t i) {
  return i < ids->num_threads ? ids->threads[i]
                              : ids->summed[i - ids->num_threads];
}

PPROF_END_C_
