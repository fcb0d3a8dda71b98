// SPDX-License-Identifier: Apache-2.0
//
// The stack markers' inner parts, for device ranges and NVTX.
#pragma once

#include "mark/thread.h"

PPROF_BEGIN_C_

// A range outside the stack inherits this from the innermost frame.
typedef struct ppi_inherited {
  uint64_t flow;
  const uint64_t *more_flows;
  uint32_t num_more;
  uint16_t depth;
} ppi_inherited;
static inline ppi_inherited ppi_lane_inherited(const ppi_lane *lane) {
  uint32_t depth = PPI_DEPTH(lane->commit);
  ppi_inherited inherited = {0, NULL, 0, (uint16_t)depth};
  if (depth == 0 || depth > lane->num_frames) return inherited;
  const ppi_frame *frame = ppi_lane_frames(lane) + depth - 1;
  inherited.flow = frame->flow;
  inherited.more_flows = lane->flow_stack;
  inherited.num_more = frame->num_flows > 1 ? frame->num_flows - 1u : 0;
  return inherited;
}

// For markers with a known site; between enter and leave. `site` 0 is counted
// lost.
void ppi_mark_single(ppi_lane *lane, uint32_t site, uint8_t kind, double value);
// ppi_mark_begin_watched reports to the rules that an occurrence of a watched
// name begins. That may move the epoch: then the lane follows, and *site is
// decided again. False: recording has stopped, or the marker is lost.
// *out_last: its end is to be reported.
bool ppi_mark_begin_watched(ppi_lane *lane, uint32_t *site, bool *out_last);
// ppi_mark_exclude counts a marker as excluded.
void ppi_mark_exclude(ppi_lane *lane);
// The rare cases. ppi_mark_push_slow pushes where ppi_frame_push did not; it
// answers the frame's depth, PPI_NO_FRAME: none. ppi_mark_pop_slow pops where
// ppi_frame_pop did not, if there is a range.
#define PPI_NO_FRAME UINT32_MAX
uint32_t ppi_mark_push_slow(ppi_spool *spool, ppi_lane *lane, uint32_t site);
void ppi_mark_pop_slow(const uint8_t *base, ppi_lane *lane);

PPROF_END_C_
