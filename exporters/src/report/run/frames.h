// SPDX-License-Identifier: Apache-2.0
//
// The ranges around a point: the stack of its lane's open ranges in a sweep,
// and the work submitted there.
#pragma once

#include "report/run/run.h"

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
// lane has not passed.
bool ppi_frames_meet_some(ppi_run *run, ppi_run_lane *lane, uint64_t until_ns);
static inline bool ppi_frames_meet(ppi_run *run, ppi_run_lane *lane,
                                   uint64_t until_ns) {
  const ppi_point *points = lane->thread->scopes.points;
  return !lane->num_points || points[lane->num_points - 1].time_ns < until_ns ||
         ppi_frames_meet_some(run, lane, until_ns);
}

// ppi_frames_place returns how many frames lie below the range's. Frames are in
// order of start. Frames that begin later and overlap the range partly stay
// above it: the shared time is theirs.
static inline size_t ppi_frames_place(ppi_run_lane *lane,
                                      const ppi_buffered *range) {
  const ppi_frame_around *frames = lane->frames;
  size_t at = lane->num_frames;
  while (at && frames[at - 1].start_ns >= range->end_ns &&
         frames[at - 1].start_ns > range->start_ns)
    at--;
  lane->num_frames = at;
  while (at && frames[at - 1].start_ns > range->start_ns) at--;
  return at;
}

// ppi_frames_new returns the frame of a range that gets the number `self`.
static inline ppi_frame_around ppi_frames_new(const ppi_run *run,
                                              const ppi_run_lane *lane,
                                              uint32_t self,
                                              const ppi_buffered *range,
                                              const ppi_frame_around *own) {
  const ppi_frame_around none = {
      .real = PPI_NO_FRAME, .real_around = PPI_NO_FRAME, .owner = PPI_NO_FRAME};
  const ppi_frame_around *around = self ? &lane->frames[self - 1] : &none;
  uint32_t traits = run->ids.marks[range->site].traits;
  bool is_runtime = traits & PPI_TRAIT_RUNTIME;
  bool owns = traits & PPI_TRAIT_OWNS_MEMORY;
  bool tells = traits & PPI_TRAIT_PADDLE_COMMUNICATION;
  return (ppi_frame_around){.start_ns = range->start_ns,
                            .site = range->site,
                            .real = is_runtime ? around->real : self,
                            .real_around = around->real,
                            .owner = owns ? self : around->owner,
                            .path = own->path,
                            .end_ns = own->end_ns,
                            .communicates = tells || around->communicates};
}

// ppi_frames_push puts the range at `place`, with path and end of `own`.
bool ppi_frames_push_slow(ppi_run *run, ppi_run_lane *lane, size_t place,
                          const ppi_buffered *range,
                          const ppi_frame_around *own);
static inline bool ppi_frames_push(ppi_run *run, ppi_run_lane *lane,
                                   size_t place, const ppi_buffered *range,
                                   const ppi_frame_around *own) {
  if (PPI_UNLIKELY(place != lane->num_frames || place == lane->frames_capacity))
    return ppi_frames_push_slow(run, lane, place, range, own);
  lane->frames[lane->num_frames++] =
      ppi_frames_new(run, lane, (uint32_t)place, range, own);
  return true;
}

// ---- a thread's points, once a sweep has found the ranges around them ----

// ppi_points_settle counts the points before the horizon, and forgets them.
bool ppi_points_settle(ppi_run *run, ppi_run_thread *thread,
                       uint64_t horizon_ns);
