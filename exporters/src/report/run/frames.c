// SPDX-License-Identifier: Apache-2.0
//
// Keeps the stack of open ranges while a sweep passes.
#include "report/run/frames.h"

#include "base/base.h"
#include "base/mem.h"

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

static bool add_launch(ppi_run *run, ppi_run_thread *thread,
                       const ppi_run_part *key, const ppi_point *point) {
  if (point->device_class == PPI_DEVICE_PAIRED) return true;
  ppi_run_part *part = ppi_run_part_of(&run->rows, thread, key);
  if (!part) return false;
  ppi_device_sums sums = {{0}};
  sums.ns[point->device_class] = point->value;
  ppi_device_spreads_add(&part->device, &sums, false);
  return true;
}

static bool own_submit(ppi_run *run, const ppi_run_lane *lane,
                       const ppi_point *point) {
  if (!lane->num_frames) return true;
  uint32_t real = lane->frames[lane->num_frames - 1].real;
  if (real == PPI_NO_FRAME) return true;
  const ppi_frame_around *frame = &lane->frames[real];
  ppi_run_site *site = run->ids.sites.items[frame->site];
  site->innermost.ns[point->device_class] += point->value;
  if (!run->details.operator_parts) return true;
  ppi_run_part key = {.op = frame->site, .launch = point->site};
  if (!(site->traits & PPI_TRAIT_OPERATOR)) {
    if (frame->real_around == PPI_NO_FRAME) return true;
    key.op = lane->frames[frame->real_around].site;
    key.child = frame->site;
    if (!ppi_run_is_operator(run, key.op)) return true;
  }
  return add_launch(run, lane->thread, &key, point);
}

// Counts work on a device for all ranges of the lane around its launch, once a
// path.
static bool use_device(ppi_run *run, ppi_run_lane *lane,
                       const ppi_point *point) {
  bool done = true;
  uint32_t at =
      lane->num_frames ? lane->frames[lane->num_frames - 1].real : PPI_NO_FRAME;
  for (uint32_t inner = at; at != PPI_NO_FRAME && done;
       at = lane->frames[at].real_around) {
    ppi_frame_around *frame = &lane->frames[at];
    uint32_t met = inner;
    while (met != at && lane->frames[met].path != frame->path)
      met = lane->frames[met].real_around;
    if (met != at || !frame->path) continue;
    const ppi_device_call_key key = {lane->thread->index, frame->path,
                                     frame->start_ns};
    if (!frame->call)
      done = ppi_device_calls_at(&run->device_calls, &key, frame->end_ns,
                                 &frame->call);
    done = done && ppi_device_calls_take(&run->device_calls, frame->call,
                                         &run->paths, point);
  }
  return done;
}

bool ppi_frames_meet_some(ppi_run *run, ppi_run_lane *lane, uint64_t until_ns) {
  ppi_run_thread *thread = lane->thread;
  bool done = true;
  while (lane->num_points && done) {
    const ppi_point *point = &thread->scopes.points[lane->num_points - 1];
    if (point->time_ns < until_ns) break;
    lane->num_points--;
    while (lane->num_frames &&
           lane->frames[lane->num_frames - 1].start_ns > point->time_ns)
      lane->num_frames--;
    if (point->kind == PPI_POINT_SUBMIT) done = own_submit(run, lane, point);
    if (run->details.kernels && ppi_is_kernel_or_copy(point) && done)
      done = use_device(run, lane, point);
    if (!thread->around) continue;
    find_around(lane, point, &thread->around[lane->num_points]);
    find_path(lane, &thread->around[lane->num_points]);
  }
  return done;
}

static void shift_frame(ppi_frame_around *frame, uint32_t from) {
  uint32_t *numbers[] = {&frame->real, &frame->real_around, &frame->owner};
  for (int i = 0; i < 3; i++)
    if (*numbers[i] != PPI_NO_FRAME && *numbers[i] >= from) ++*numbers[i];
}

bool ppi_frames_push_slow(ppi_run *run, ppi_run_lane *lane, size_t place,
                          const ppi_buffered *range,
                          const ppi_frame_around *own) {
  uint32_t self = (uint32_t)place;
  if (lane->num_frames - place > MAX_OVERLAPS) return true;
  if (!PPI_ROOM(lane->frames, lane->frames_capacity, lane->num_frames + 1))
    return false;
  ppi_frame_around *grown = lane->frames;
  for (size_t i = lane->num_frames++; i > place; i--) {
    grown[i] = grown[i - 1];
    shift_frame(&grown[i], self);
  }
  grown[place] = ppi_frames_new(run, lane, self, range, own);
  return true;
}

// ---- the program's own device ranges: work that was launched inside ----

typedef struct ppi_event_calls {
  uint32_t thread;  // index
  uint64_t horizon_ns;
  uint32_t *numbers;  // of run->device_calls: those that are open
  size_t num, capacity;
} ppi_event_calls;

static ppi_device_call *call_of(ppi_run *run, uint32_t number) {
  return &run->device_calls.items[number - 1];
}

static bool push(ppi_run *run, ppi_event_calls *open, uint32_t number) {
  ppi_device_call *call = call_of(run, number);
  if (!PPI_PUSH(open->numbers, open->num, open->capacity, number)) return false;
  if (call->until_ns < open->horizon_ns) call->end_ns = call->until_ns;
  return true;
}

static bool begin_calls(ppi_run *run, ppi_event_calls *open) {
  bool done = true;
  for (size_t i = 0; i < run->device_calls.num_kept && done; i++) {
    const ppi_device_call *call = &run->device_calls.items[i];
    if (call->until_ns && call->thread == open->thread)
      done = push(run, open, (uint32_t)i + 1);
  }
  return done;
}

static bool open_call(ppi_run *run, ppi_event_calls *open, uint32_t path,
                      const ppi_point *point) {
  const ppi_device_call_key key = {open->thread, path, point->time_ns};
  uint32_t number;
  if (point->bytes <= point->time_ns) return true;
  if (!ppi_device_calls_at(&run->device_calls, &key, 0, &number)) return false;
  ppi_device_call *call = call_of(run, number);
  call->until_ns = point->bytes;
  call->thread = open->thread;
  return push(run, open, number);
}

static void drop_passed(ppi_run *run, ppi_event_calls *open, uint64_t time_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < open->num; i++)
    if (call_of(run, open->numbers[i])->until_ns >= time_ns)
      open->numbers[kept++] = open->numbers[i];
  open->num = kept;
}

// Of open calls of one path, only the innermost counts.
static bool is_inner(ppi_run *run, const ppi_event_calls *open, size_t at) {
  uint32_t path = call_of(run, open->numbers[at])->path;
  while (++at < open->num)
    if (call_of(run, open->numbers[at])->path == path) return false;
  return true;
}

static bool take_calls(ppi_run *run, ppi_event_calls *open,
                       const ppi_point *point) {
  drop_passed(run, open, point->time_ns);
  for (size_t i = 0; i < open->num; i++)
    if (is_inner(run, open, i) &&
        !ppi_device_calls_take(&run->device_calls, open->numbers[i],
                               &run->paths, point))
      return false;
  return true;
}

// ---- a thread's points, once a sweep has found the ranges around them ----

static bool notify_memory(ppi_run *run, const ppi_point *point,
                          const ppi_around *around) {
  const ppi_run_site *place = run->ids.sites.items[point->site];
  ppi_memory_change change = {(int64_t)point->value, point->is_reserved};
  return ppi_memory_own(&run->memory, place->name,
                        around->is_known ? around->site : 0, &change);
}

static bool notify_kernel(ppi_run *run, const ppi_point *point,
                          const ppi_around *around) {
  const ppi_run_site *site = run->ids.sites.items[point->site];
  // Paddle walks the host ranges: it never finds kernels launched outside.
  if (!around->is_known) return true;
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

static bool count_work(ppi_run *run, const ppi_run_thread *thread,
                       const ppi_point *point, const ppi_around *around) {
  ppi_run_device *device = ppi_run_device_at(&run->ids, point->device);
  if (!device) return false;
  run->kernels.num++;
  device->num_inside += around->path != 0;
  device->num_outside += around->path == 0;
  if (around->path) return true;
  ppi_stray stray = stray_of(thread, point, around);
  run->kernels.num_stray[stray]++;
  run->kernels.stray_ns[stray] += point->value;
  return true;
}

static bool lies_in(ppi_paths *paths, uint32_t number, uint32_t site) {
  const ppi_run_path *path = ppi_paths_item(paths, number);
  while (path && path->site != site) path = ppi_paths_item(paths, path->around);
  return path;
}

// A graph's kernel lies in the ranges of its capture, inside the ranges around
// its launch. Each launch is a call of the ranges of its capture. A range
// around both counts once.
static bool enter_captured(ppi_run *run, const ppi_run_thread *thread,
                           const ppi_point *point, ppi_around *around) {
  const ppi_capture none = {.num = 0};
  const ppi_capture *capture =
      point->captured ? &run->captures.items[point->captured - 1] : &none;
  bool done = true;
  if (run->paths.is_flat || !ppi_is_kernel_or_copy(point)) return true;
  for (size_t i = 0; i < capture->num && done; i++) {
    uint32_t inner, call, site = capture->sites[i];
    if (lies_in(&run->paths, around->path, site)) continue;
    done = ppi_paths_find(&run->paths, around->path, site, &inner);
    if (!done || !inner) return done;
    around->path = inner;
    const ppi_device_call_key key = {thread->index, inner, point->time_ns};
    done = ppi_device_calls_at(&run->device_calls, &key,
                               PPI_MAX(point->time_ns, 1u), &call) &&
           ppi_device_calls_take(&run->device_calls, call, &run->paths, point);
  }
  return done;
}

static bool notify_path(ppi_run *run, const ppi_run_thread *thread,
                        const ppi_point *point, ppi_around *around,
                        ppi_event_calls *open) {
  uint32_t own;
  bool done = enter_captured(run, thread, point, around);
  if (!done) return false;
  done = ppi_paths_device(&run->paths, around->path, point, &own);
  if (!run->details.kernels || point->kind != PPI_POINT_SUBMIT || !done)
    return done;
  if (point->device_class == PPI_DEVICE_OTHER && own)
    return open_call(run, open, own, point);
  if (!ppi_is_kernel_or_copy(point)) return true;
  if (!count_work(run, thread, point, around)) return false;
  return take_calls(run, open, point);
}

bool ppi_points_settle(ppi_run *run, ppi_run_thread *thread,
                       uint64_t horizon_ns) {
  const ppi_scopes *scopes = &thread->scopes;
  ppi_event_calls open = {.thread = thread->index, .horizon_ns = horizon_ns};
  bool done = true;
  if (thread->around) done = begin_calls(run, &open);
  for (size_t i = 0; thread->around && i < scopes->num_settled; i++) {
    const ppi_point *point = &scopes->points[i];
    if (!done) break;
    if (point->kind == PPI_POINT_MEMORY)
      done = notify_memory(run, point, &thread->around[i]);
    else if (run->details.paddle_distribution &&
             point->kind == PPI_POINT_SUBMIT &&
             point->device_class == PPI_DEVICE_KERNEL)
      done = notify_kernel(run, point, &thread->around[i]);
    if (run->details.paths && done && point->kind != PPI_POINT_MEMORY)
      done = notify_path(run, thread, point, &thread->around[i], &open);
  }
  ppi_free(open.numbers);
  ppi_free(thread->around);
  thread->around = NULL;
  return done && ppi_scopes_carry(&thread->scopes, &run->sweep.borders);
}
