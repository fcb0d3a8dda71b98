// SPDX-License-Identifier: Apache-2.0
//
// Adds flows and work to the innermost range. On the marking threads.
#define PPROF_NO_INLINE
#include "mark/mark_add.h"

#include "mark/attach.h"
#include "mark/frame.h"

ppi_work ppi_work_read(const pprof_work_amount *amount) {
  pprof_work_amount known = {0};
  if (amount) memcpy(&known, amount, PPI_MIN(amount->size, sizeof known));
  return (ppi_work){known.items, known.bytes, known.flops, known.params};
}

static ppi_frame *innermost(ppi_lane *lane) {
  uint32_t depth = PPI_DEPTH(lane->commit);
  if (depth == 0 || depth > lane->num_frames) return NULL;
  return ppi_lane_frames(lane) + depth - 1;
}

// Outside of ranges an addition is lost, unless an edge cut its range, or its
// scope may be excluded.
static __attribute__((noinline)) void lose_addition(ppi_lane *lane) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  if (PPI_DEPTH(lane->commit) == 0 &&
      (lane->before_left || ppi_names_excludes(recorder->names) ||
       ppi_mark_is_watching(lane)))
    return;
  ppi_count(&lane->flows_lost, 1);
}

// Inherited, or added before.
static bool has_flow(const ppi_lane *lane, const ppi_frame *frame,
                     uint64_t flow) {
  bool has = frame->flow == flow;
  for (uint16_t i = 1; i < frame->num_flows; i++)
    has |= lane->flow_stack[i - 1] == flow;
  return has;
}

static void add_flow(ppi_lane *lane, uint64_t flow) {
  ppi_frame *frame = innermost(lane);
  if (!frame) {
    lose_addition(lane);
    return;
  }
  if (flow == 0) {
    ppi_count(&lane->flows_lost, 1);
    return;
  }
  if (frame->num_flows == 0) {
    frame->flow = flow;
    frame->num_flows = 1;
    return;
  }
  if (has_flow(lane, frame, flow)) return;
  if (frame->num_flows >= PPI_MAX_FLOWS) {
    ppi_count(&lane->flows_lost, 1);
    return;
  }
  lane->flow_stack[frame->num_flows - 1] = flow;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  frame->num_flows++;
}

void pprof_flow(uint64_t flow) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  add_flow(lane, flow);
  ppi_leave(thread);
}

static void add_work(ppi_lane *lane, ppi_work amount) {
  ppi_frame *frame = innermost(lane);
  if (!frame) {
    lose_addition(lane);
    return;
  }
  ppi_work *work = ppi_lane_work(lane) + PPI_DEPTH(lane->commit) - 1;
  if (!(frame->flags & PPI_FRAME_WORK)) *work = (ppi_work){0};
  work->items += amount.items;
  work->bytes += amount.bytes;
  work->flops += amount.flops;
  work->params += amount.params;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  frame->flags |= PPI_FRAME_WORK;
}

void pprof_work(const pprof_work_amount *work) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  add_work(lane, ppi_work_read(work));
  ppi_leave(thread);
}

void ppi_mark_flow(ppi_lane *lane, uint64_t flow) {
  add_flow(lane, flow);
}

void ppi_mark_work(ppi_lane *lane, ppi_work amount) {
  add_work(lane, amount);
}
