// SPDX-License-Identifier: Apache-2.0
//
// Lanes and threads of a run, which come and go.
#pragma once

#include "report/parts/ids.h"

PPROF_BEGIN_C_

// A lane has its thread.
ppi_run_lane *ppi_run_lane_at(ppi_run_ids *ids, uint32_t id);
ppi_run_thread *ppi_run_process(ppi_run_ids *ids);

// With more than twice so many threads, those that have left
// are summed up, as one of the number below. When that is, definitions and
// events alone decide, so that a log tells it as its run did.
#define PPI_RUN_MAX_THREADS ((size_t)4096)
ppi_run_thread *ppi_run_thread_at(ppi_run_ids *ids, uint64_t number);
// ppi_run_lane_defined names a lane's thread; ranges of the one before, which
// wait for their checkpoint, stay that one's.
pprof_status ppi_run_lane_defined(ppi_run_ids *ids, uint32_t id,
                                  uint64_t number, const char *name);
// ppi_run_find_swept marks the threads that left and have nothing more to come,
// and tells whether there are any; ppi_run_forget_swept frees them.
bool ppi_run_find_swept(ppi_run_ids *ids);
void ppi_run_forget_swept(ppi_run_ids *ids);
void ppi_run_clear_threads(ppi_run_ids *ids);
// All of the run's lanes and threads, those that have left included; NULL:
// there is none of that id.
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
