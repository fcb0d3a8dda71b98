// SPDX-License-Identifier: Apache-2.0
//
// Counts a thread's points under the ranges around them.
#include "report/run/points.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/run/event_calls.h"
#include "report/run/frames.h"

static pprof_status notify_memory(ppi_run *run, const ppi_point *point,
                                  const ppi_around *around) {
  const ppi_run_site *place = run->ids.sites.items[point->site];
  ppi_memory_change change = {(int64_t)point->value, point->is_reserved};
  return ppi_memory_own(&run->memory, place->name,
                        around->is_known ? around->site : 0, &change);
}

static pprof_status notify_kernel(ppi_run *run, const ppi_point *point,
                                  const ppi_around *around) {
  const ppi_run_site *site = run->ids.sites.items[point->site];
  // Paddle walks the host ranges: it never finds kernels launched outside.
  if (!around->is_known) return PPROF_STATUS_OK;
  const ppi_run_site *owner = run->ids.sites.items[around->site];
  ppi_paddle_kernel kernel = {
      .start_ns = point->device_start_ns,
      .end_ns = point->device_start_ns + point->value,
      .is_collective = ppi_paddle_is_collective(site->name),
      .any_communicates = around->any_communicates,
      .innermost_communicates = owner->traits & PPI_TRAIT_PADDLE_COMMUNICATION};
  return ppi_paddle_take(&run->distribution, &kernel);
}

static ppi_stray stray_of(const ppi_run_thread *thread, const ppi_point *point,
                          const ppi_around *around) {
  if (!thread->number) return PPI_STRAY_LAUNCH;
  if (around->is_known || (point->is_inside && !around->has_frames))
    return PPI_STRAY_RANGE;
  return point->is_graph ? PPI_STRAY_GRAPH : PPI_STRAY_NO_RANGE;
}

static pprof_status count_work(ppi_run *run, const ppi_run_thread *thread,
                               const ppi_point *point,
                               const ppi_around *around) {
  ppi_run_device *device = ppi_run_device_at(&run->ids, point->device);
  if (!device) return PPROF_STATUS_NO_MEMORY;
  run->kernels.num++;
  device->num_inside += around->path != 0;
  device->num_outside += around->path == 0;
  if (around->path) return PPROF_STATUS_OK;
  ppi_stray stray = stray_of(thread, point, around);
  run->kernels.num_stray[stray]++;
  run->kernels.stray_ns[stray] += point->value;
  return PPROF_STATUS_OK;
}

static bool lies_in(ppi_paths *paths, uint32_t number, uint32_t site) {
  const ppi_run_path *path = ppi_paths_item(paths, number);
  while (path && path->site != site) path = ppi_paths_item(paths, path->around);
  return path;
}

// A graph's kernel lies in the ranges of its capture, inside the ranges around
// its launch. Each launch is a call of the ranges of its capture. A range
// around both counts once.
static pprof_status enter_captured(ppi_run *run, const ppi_run_thread *thread,
                                   const ppi_point *point, ppi_around *around) {
  const ppi_capture none = {.num = 0};
  const ppi_capture *capture =
      point->captured ? &run->captures.items[point->captured - 1] : &none;
  pprof_status status = PPROF_STATUS_OK;
  if (run->paths.is_flat || !ppi_is_kernel_or_copy(point)) return status;
  for (size_t i = 0; i < capture->num && status == PPROF_STATUS_OK; i++) {
    uint32_t inner, call, site = capture->sites[i];
    if (lies_in(&run->paths, around->path, site)) continue;
    status = ppi_paths_find(&run->paths, around->path, site, &inner);
    if (status != PPROF_STATUS_OK || !inner) return status;
    around->path = inner;
    const ppi_device_call_key key = {thread->index, inner, point->time_ns};
    status = ppi_device_calls_at(&run->device_calls, &key,
                                 PPI_MAX(point->time_ns, 1u), &call);
    if (status == PPROF_STATUS_OK)
      status =
          ppi_device_calls_take(&run->device_calls, call, &run->paths, point);
  }
  return status;
}

static pprof_status notify_path(ppi_run *run, const ppi_run_thread *thread,
                                const ppi_point *point, ppi_around *around,
                                ppi_event_calls *open) {
  uint32_t own;
  pprof_status status = enter_captured(run, thread, point, around);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_paths_device(&run->paths, around->path, point, &own);
  if (!run->details.kernels || point->kind != PPI_POINT_SUBMIT ||
      status != PPROF_STATUS_OK)
    return status;
  if (point->device_class == PPI_DEVICE_OTHER && own)
    return ppi_event_calls_add(run, open, own, point);
  if (!ppi_is_kernel_or_copy(point)) return PPROF_STATUS_OK;
  status = count_work(run, thread, point, around);
  if (status != PPROF_STATUS_OK) return status;
  return ppi_event_calls_take(run, open, point);
}

pprof_status ppi_points_settle(ppi_run *run, ppi_run_thread *thread,
                               uint64_t horizon_ns) {
  const ppi_scopes *scopes = &thread->scopes;
  ppi_event_calls open = {.thread = thread->index, .horizon_ns = horizon_ns};
  pprof_status status = PPROF_STATUS_OK;
  if (thread->around) status = ppi_event_calls_begin(run, &open);
  for (size_t i = 0; thread->around && i < scopes->num_settled; i++) {
    const ppi_point *point = &scopes->points[i];
    if (status != PPROF_STATUS_OK) break;
    if (point->kind == PPI_POINT_MEMORY)
      status = notify_memory(run, point, &thread->around[i]);
    else if (run->details.paddle_distribution &&
             point->kind == PPI_POINT_SUBMIT &&
             point->device_class == PPI_DEVICE_KERNEL)
      status = notify_kernel(run, point, &thread->around[i]);
    if (run->details.paths && status == PPROF_STATUS_OK &&
        point->kind != PPI_POINT_MEMORY)
      status = notify_path(run, thread, point, &thread->around[i], &open);
  }
  ppi_event_calls_clear(&open);
  ppi_free(thread->around);
  thread->around = NULL;
  if (status == PPROF_STATUS_OK)
    status = ppi_scopes_carry(&thread->scopes, &run->sweep.borders);
  return status;
}
