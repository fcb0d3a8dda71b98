// SPDX-License-Identifier: Apache-2.0
//
// What is around a point: the stack of the ranges of its lane that a sweep has
// met, and what is submitted there.
#ifndef PPI_REPORT_FRAMES_H_
#define PPI_REPORT_FRAMES_H_

#include "report/run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline bool ppi_run_is_operator(const ppi_run *run, uint32_t site) {
  const ppi_run_site *item = run->ids.sites.items[site];
  return item->traits & PPI_TRAIT_OPERATOR;
}

static inline bool ppi_is_kernel_or_copy(const ppi_point *point) {
  return point->kind == PPI_POINT_SUBMIT &&
         (point->device_class == PPI_DEVICE_KERNEL ||
          point->device_class == PPI_DEVICE_COPY);
}

// ppi_frames_meet goes back over the points at or after `until_ns` that the
// lane has not met.
pprof_status ppi_frames_meet(ppi_run *run, ppi_run_lane *lane,
                             uint64_t until_ns);

// ppi_frames_place answers how many frames lie below the range's. They are in
// the order of their starts. Those that begin later than the range and overlap
// it partly stay above it: what lies in both is theirs.
size_t ppi_frames_place(ppi_run_lane *lane, const ppi_held *range);

// ppi_frames_push puts the range there; of `own` its path and end.
pprof_status ppi_frames_push(ppi_run *run, ppi_run_lane *lane, size_t place,
                             const ppi_held *range,
                             const ppi_frame_around *own);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_FRAMES_H_
