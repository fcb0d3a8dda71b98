// SPDX-License-Identifier: Apache-2.0
//
// Keeps the stack of open ranges while a sweep passes.
#include "report/run/frames.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/parts/threads.h"

// A frame below more frames that overlap its range partly is not kept.
enum { MAX_OVERLAPS = 1024 };

static void find_around(const ppi_run_lane *lane, const ppi_point *point,
                        ppi_around *around) {
  if (!lane->num_frames) return;
  around->has_frames = true;
  const ppi_frame_around *frame = &lane->frames[lane->num_frames - 1];
  uint32_t owner = point->kind == PPI_POINT_MEMORY ? frame->owner : frame->real;
  around->any_communicates |= frame->communicates;
  if (owner == PPI_NO_FRAME) return;
  frame = &lane->frames[owner];
  if (around->is_known && around->start_ns >= frame->start_ns) return;
  around->is_known = true;
  around->start_ns = frame->start_ns;
  around->site = frame->site;
}

// Finds the path of the innermost range of all lanes of the thread; a Runtime
// range has its caller's.
static void find_path(const ppi_run_lane *lane, ppi_around *around) {
  if (!lane->num_frames) return;
  uint32_t real = lane->frames[lane->num_frames - 1].real;
  if (real == PPI_NO_FRAME) return;
  const ppi_frame_around *frame = &lane->frames[real];
  if (around->path && around->path_start_ns >= frame->start_ns) return;
  around->path = frame->path;
  around->path_start_ns = frame->start_ns;
}

static pprof_status add_launch(ppi_run *run, ppi_run_thread *thread,
                               const ppi_run_part *key,
                               const ppi_point *point) {
  if (point->device_class == PPI_DEVICE_PAIRED) return PPROF_STATUS_OK;
  ppi_run_part *part = ppi_run_part_of(&run->rows, thread, key);
  if (!part) return PPROF_STATUS_NO_MEMORY;
  ppi_device_sums sums = {{0}};
  sums.ns[point->device_class] = point->value;
  ppi_device_spreads_add(&part->device, &sums, false);
  return PPROF_STATUS_OK;
}

static pprof_status own_submit(ppi_run *run, const ppi_run_lane *lane,
                               const ppi_point *point) {
  if (!lane->num_frames) return PPROF_STATUS_OK;
  uint32_t real = lane->frames[lane->num_frames - 1].real;
  if (real == PPI_NO_FRAME) return PPROF_STATUS_OK;
  const ppi_frame_around *frame = &lane->frames[real];
  ppi_run_site *site = run->ids.sites.items[frame->site];
  site->innermost.ns[point->device_class] += point->value;
  if (!run->details.operator_parts) return PPROF_STATUS_OK;
  ppi_run_part key = {.op = frame->site, .launch = point->site};
  if (!(site->traits & PPI_TRAIT_OPERATOR)) {
    if (frame->real_around == PPI_NO_FRAME) return PPROF_STATUS_OK;
    key.op = lane->frames[frame->real_around].site;
    key.child = frame->site;
    if (!ppi_run_is_operator(run, key.op)) return PPROF_STATUS_OK;
  }
  return add_launch(run, lane->thread, &key, point);
}

// Counts work on a device for all ranges of the lane around its launch, once a
// path.
static pprof_status use_device(ppi_run *run, ppi_run_lane *lane,
                               const ppi_point *point) {
  pprof_status status = PPROF_STATUS_OK;
  uint32_t at =
      lane->num_frames ? lane->frames[lane->num_frames - 1].real : PPI_NO_FRAME;
  for (uint32_t inner = at; at != PPI_NO_FRAME && !status;
       at = lane->frames[at].real_around) {
    ppi_frame_around *frame = &lane->frames[at];
    uint32_t met = inner;
    while (met != at && lane->frames[met].path != frame->path)
      met = lane->frames[met].real_around;
    if (met != at || !frame->path) continue;
    const ppi_device_call_key key = {lane->thread->index, frame->path,
                                     frame->start_ns};
    if (!frame->call)
      status = ppi_device_calls_at(&run->device_calls, &key, frame->end_ns,
                                   &frame->call);
    if (status == PPROF_STATUS_OK)
      status = ppi_device_calls_take(&run->device_calls, frame->call,
                                     &run->paths, point);
  }
  return status;
}

pprof_status ppi_frames_meet(ppi_run *run, ppi_run_lane *lane,
                             uint64_t until_ns) {
  ppi_run_thread *thread = lane->thread;
  pprof_status status = PPROF_STATUS_OK;
  while (lane->num_points && status == PPROF_STATUS_OK) {
    const ppi_point *point = &thread->scopes.points[lane->num_points - 1];
    if (point->time_ns < until_ns) break;
    lane->num_points--;
    while (lane->num_frames &&
           lane->frames[lane->num_frames - 1].start_ns > point->time_ns)
      lane->num_frames--;
    if (point->kind == PPI_POINT_SUBMIT) status = own_submit(run, lane, point);
    if (run->details.kernels && ppi_is_kernel_or_copy(point) && !status)
      status = use_device(run, lane, point);
    if (!thread->around) continue;
    find_around(lane, point, &thread->around[lane->num_points]);
    find_path(lane, &thread->around[lane->num_points]);
  }
  return status;
}

static void shift_frame(ppi_frame_around *frame, uint32_t from) {
  uint32_t *numbers[] = {&frame->real, &frame->real_around, &frame->owner};
  for (int i = 0; i < 3; i++)
    if (*numbers[i] != PPI_NO_FRAME && *numbers[i] >= from) ++*numbers[i];
}

pprof_status ppi_frames_push_slow(ppi_run *run, ppi_run_lane *lane,
                                  size_t place, const ppi_buffered *range,
                                  const ppi_frame_around *own) {
  uint32_t self = (uint32_t)place;
  if (lane->num_frames - place > MAX_OVERLAPS) return PPROF_STATUS_OK;
  if (!PPI_ROOM(lane->frames, lane->frames_capacity, lane->num_frames + 1))
    return PPROF_STATUS_NO_MEMORY;
  ppi_frame_around *grown = lane->frames;
  for (size_t i = lane->num_frames++; i > place; i--) {
    grown[i] = grown[i - 1];
    shift_frame(&grown[i], self);
  }
  grown[place] = ppi_frames_new(run, lane, self, range, own);
  return PPROF_STATUS_OK;
}
