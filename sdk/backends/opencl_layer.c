// SPDX-License-Identifier: Apache-2.0
//
// Stands between a program and its OpenCL drivers. Each command gets an event,
// and each queue profiling. The collector queries the events' absolute device
// times. A command's queue time falls inside its call, which maps device times
// to the host's.
#define CL_TARGET_OPENCL_VERSION 300
#include "opencl_layer.h"

#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend_util.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "bounded_clock.h"
#include "kernels/launch.h"
#include "opencl_injected.h"

#define MOST_PENDING 65536u  // commands; beyond that they are lost, and counted
#define MOST_DEVICES 32u
#define MOST_NAME 512u
#define MOST_PROPERTIES 32u

// A command, from its call until it is reported.
typedef struct command {
  struct command *next;
  cl_event event;  // ours to release; NULL: its times are known
  uint64_t begin, end;
  ppi_device_work work;
  char name[];
} command;

static struct {
  const cl_icd_dispatch *target;  // NULL: there is no layer in this process
  cl_icd_dispatch layer;
  int (*attach)(void);
  pthread_mutex_t mutex;  // the next lines up to `queues`
  command *pending, **pending_end;
  uint32_t num_pending;
  ppi_map queues;
  uint32_t next_correlation;  // atomic
  uint32_t generation;        // of the current process
  bool has_queue;             // atomic: the program has made one
  bool is_on;                 // atomic: commands are traced
  bool was_stopped;           // atomic
  bool has_ended;             // atomic: events are not queried any more
  uint64_t num_lost;          // atomic
  cl_device_id devices[MOST_DEVICES];
  cl_uint num_devices;
  pthread_mutex_t asking;  // locked to query events; guards the clocks
  ppi_bounded_clock clocks[MOST_DEVICES + 1];  // the last: of other devices
} opencl = {.mutex = PTHREAD_MUTEX_INITIALIZER,
            .asking = PTHREAD_MUTEX_INITIALIZER};

static bool is_own_process(void) {
  return opencl.generation == ppi_backend_generation;
}

// ---- devices and queues ----

// In the order of all platforms, as those of the backend.
static void find_devices(void) {
  cl_platform_id platforms[MOST_DEVICES];
  cl_uint num = 0;
  if (opencl.target->clGetPlatformIDs(MOST_DEVICES, platforms, &num)) return;
  num = PPI_MIN(num, MOST_DEVICES);
  for (cl_uint i = 0; i < num; i++) {
    cl_uint found = 0, room = MOST_DEVICES - opencl.num_devices;
    if (room == 0 || opencl.target->clGetDeviceIDs(
                         platforms[i], CL_DEVICE_TYPE_ALL, room,
                         opencl.devices + opencl.num_devices, &found))
      continue;
    opencl.num_devices += PPI_MIN(found, room);
  }
}

static cl_device_id parent_of(cl_device_id device) {
  cl_device_id parent = NULL;
  if (opencl.target->clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE,
                                     sizeof parent, &parent, NULL))
    return NULL;
  return parent;
}

// A part of a device has the number of the whole device.
static int device_of(cl_command_queue queue) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  cl_device_id device = NULL;
  pthread_once(&once, find_devices);
  opencl.target->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device,
                                       &device, NULL);
  for (int depth = 0; device && depth < 8; depth++) {
    for (cl_uint i = 0; i < opencl.num_devices; i++)
      if (opencl.devices[i] == device) return (int)i;
    device = parent_of(device);
  }
  return MOST_DEVICES;
}

// ---- commands, on the program's threads ----

typedef struct layer_call {
  uint32_t correlation;  // 0: not traced
  bool is_sample;
  uint64_t begin;
  cl_event own, *event;
} layer_call;

static void before_opencl_ends(void);

static void watch_end(void) {
  (void)atexit(before_opencl_ends);
}

// The program's launches may be wanted before any request says what to trace,
// so the first commands are recorded.
static bool is_on(void) {
  if (!__atomic_load_n(&opencl.is_on, __ATOMIC_ACQUIRE)) {
    if (__atomic_load_n(&opencl.was_stopped, __ATOMIC_RELAXED) ||
        !ppi_launches_are_open())
      return false;
    __atomic_store_n(&opencl.is_on, true, __ATOMIC_RELEASE);
  }
  return is_own_process();
}

static cl_event *begin_call(layer_call *it, cl_event *given) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  *it = (layer_call){.event = given};
  if (!is_on()) return given;
  uint64_t begin = ppi_clock_ticks();
  pthread_once(&once, watch_end);
  while (!it->correlation)
    it->correlation =
        __atomic_add_fetch(&opencl.next_correlation, 1, __ATOMIC_RELAXED);
  it->is_sample = it->correlation % PPI_LAUNCH_SAMPLE == 0;
  if (!given) it->event = &it->own;
  ppi_launch_begin(it->correlation, PPI_LAUNCH_WORK);
  it->begin = ppi_clock_ticks();
  if (it->is_sample) ppi_launch_cost(it->begin - begin, false);
  return it->event;
}

static bool keep(command *made, cl_command_queue queue) {
  const ppi_map_key key = {0, (uintptr_t)queue};
  pthread_mutex_lock(&opencl.mutex);
  bool has_room = opencl.num_pending < MOST_PENDING;
  size_t number = has_room ? ppi_map_number(&opencl.queues, key) : SIZE_MAX;
  if (number != SIZE_MAX) {
    made->work.stream = (uint32_t)number + 1;
    *(opencl.pending ? opencl.pending_end : &opencl.pending) = made;
    opencl.pending_end = &made->next;
    opencl.num_pending++;
  }
  pthread_mutex_unlock(&opencl.mutex);
  return number != SIZE_MAX;
}

static void lose(uint64_t num) {
  __atomic_fetch_add(&opencl.num_lost, num, __ATOMIC_RELAXED);
}

static bool add_command(const layer_call *it, cl_command_queue queue,
                        uint64_t end, const ppi_device_work *what) {
  size_t size = strlen(what->name) + 1;
  command *made = ppi_alloc(sizeof *made + size);
  if (made) {
    *made = (command){
        .event = *it->event, .begin = it->begin, .end = end, .work = *what};
    memcpy(made->name, what->name, size);
    made->work.name = made->name;
    made->work.correlation = it->correlation;
    made->work.device = device_of(queue);
    if (keep(made, queue)) return true;
    ppi_free(made);
  }
  lose(1);
  return false;
}

static cl_int end_call(const layer_call *it, cl_int code,
                       cl_command_queue queue, const ppi_device_work *what) {
  if (!it->correlation) return code;
  uint64_t end = ppi_clock_ticks();
  bool is_given = it->event != &it->own, is_kept = false;
  if (code == CL_SUCCESS) {
    if (is_given) opencl.target->clRetainEvent(*it->event);
    is_kept = add_command(it, queue, end, what);
    if (!is_kept) opencl.target->clReleaseEvent(*it->event);
  }
  ppi_launch_end(it->correlation, is_kept);
  if (it->is_sample) ppi_launch_cost(ppi_clock_ticks() - end, true);
  return code;
}

static const char *name_of(cl_kernel kernel, char out[MOST_NAME]) {
  if (opencl.target->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, MOST_NAME,
                                     out, NULL) != CL_SUCCESS)
    return "?";
  return out;
}

// The size of a block is unknown if the driver chooses it.
static ppi_launch_shape shape_of(cl_uint dims, const size_t *global,
                                 const size_t *local) {
  ppi_launch_shape shape = {.limit = PPI_LIMIT_UNKNOWN};
  if (!global || !local) return shape;
  for (cl_uint i = 0; i < 3; i++) {
    size_t block = i < dims ? local[i] : 1, all = i < dims ? global[i] : 1;
    shape.block[i] = (uint32_t)PPI_MIN(block, UINT32_MAX);
    shape.grid[i] =
        block ? (uint32_t)PPI_MIN((all + block - 1) / block, UINT32_MAX) : 0;
  }
  return shape;
}

static cl_int CL_API_CALL
enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
               const size_t *offset, const size_t *global, const size_t *local,
               cl_uint num, const cl_event *wait, cl_event *event) {
  layer_call it;
  char name[MOST_NAME];
  cl_event *used = begin_call(&it, event);
  cl_int code = opencl.target->clEnqueueNDRangeKernel(
      queue, kernel, dims, offset, global, local, num, wait, used);
  const ppi_device_work what = {
      .kind = PPI_DEVICE_WORK_KERNEL,
      .name = it.correlation ? name_of(kernel, name) : "",
      .shape = shape_of(dims, global, local)};
  return end_call(&it, code, queue, &what);
}

static cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel,
                                       cl_uint num, const cl_event *wait,
                                       cl_event *event) {
  layer_call it;
  char name[MOST_NAME];
  const size_t one = 1;
  cl_event *used = begin_call(&it, event);
  cl_int code = opencl.target->clEnqueueTask(queue, kernel, num, wait, used);
  const ppi_device_work what = {
      .kind = PPI_DEVICE_WORK_KERNEL,
      .name = it.correlation ? name_of(kernel, name) : "",
      .shape = shape_of(1, &one, &one)};
  return end_call(&it, code, queue, &what);
}

// Copies and sets: the call, its kind, its bytes, and the parameters and
// arguments before those of events.
#define LIST(...) __VA_ARGS__
#define MOVES(X)                                                               \
  X(clEnqueueReadBuffer, COPY, "MEMCPY_DtoH", size,                            \
    LIST(cl_mem from, cl_bool blocks, size_t at, size_t size, void *to),       \
    LIST(from, blocks, at, size, to))                                          \
  X(clEnqueueWriteBuffer, COPY, "MEMCPY_HtoD", size,                           \
    LIST(cl_mem to, cl_bool blocks, size_t at, size_t size, const void *from), \
    LIST(to, blocks, at, size, from))                                          \
  X(clEnqueueCopyBuffer, COPY, "MEMCPY_DtoD", size,                            \
    LIST(cl_mem from, cl_mem to, size_t at, size_t to_at, size_t size),        \
    LIST(from, to, at, to_at, size))                                           \
  X(clEnqueueFillBuffer, SET, "MEMSET", size,                                  \
    LIST(cl_mem to, const void *value, size_t value_size, size_t at,           \
         size_t size),                                                         \
    LIST(to, value, value_size, at, size))                                     \
  X(clEnqueueReadBufferRect, COPY, "MEMCPY_DtoH", size[0] * size[1] * size[2], \
    LIST(cl_mem from, cl_bool blocks, const size_t *at, const size_t *to_at,   \
         const size_t *size, size_t row, size_t slice, size_t to_row,          \
         size_t to_slice, void *to),                                           \
    LIST(from, blocks, at, to_at, size, row, slice, to_row, to_slice, to))     \
  X(clEnqueueWriteBufferRect, COPY, "MEMCPY_HtoD",                             \
    size[0] * size[1] * size[2],                                               \
    LIST(cl_mem to, cl_bool blocks, const size_t *at, const size_t *from_at,   \
         const size_t *size, size_t row, size_t slice, size_t from_row,        \
         size_t from_slice, const void *from),                                 \
    LIST(to, blocks, at, from_at, size, row, slice, from_row, from_slice,      \
         from))                                                                \
  X(clEnqueueCopyBufferRect, COPY, "MEMCPY_DtoD", size[0] * size[1] * size[2], \
    LIST(cl_mem from, cl_mem to, const size_t *at, const size_t *to_at,        \
         const size_t *size, size_t row, size_t slice, size_t to_row,          \
         size_t to_slice),                                                     \
    LIST(from, to, at, to_at, size, row, slice, to_row, to_slice))             \
  X(clEnqueueReadImage, COPY, "MEMCPY_AtoH", 0,                                \
    LIST(cl_mem from, cl_bool blocks, const size_t *at, const size_t *size,    \
         size_t row, size_t slice, void *to),                                  \
    LIST(from, blocks, at, size, row, slice, to))                              \
  X(clEnqueueWriteImage, COPY, "MEMCPY_HtoA", 0,                               \
    LIST(cl_mem to, cl_bool blocks, const size_t *at, const size_t *size,      \
         size_t row, size_t slice, const void *from),                          \
    LIST(to, blocks, at, size, row, slice, from))                              \
  X(clEnqueueSVMMemcpy, COPY, "MEMCPY", size,                                  \
    LIST(cl_bool blocks, void *to, const void *from, size_t size),             \
    LIST(blocks, to, from, size))                                              \
  X(clEnqueueSVMMemFill, SET, "MEMSET", size,                                  \
    LIST(void *to, const void *value, size_t value_size, size_t size),         \
    LIST(to, value, value_size, size))

// A failing call may have no size.
#define MOVE(function, what, title, bytes_of, parameters, arguments)          \
  static cl_int CL_API_CALL layer_##function(                                 \
      cl_command_queue queue, parameters, cl_uint num, const cl_event *wait,  \
      cl_event *event) {                                                      \
    layer_call it;                                                            \
    cl_event *used = begin_call(&it, event);                                  \
    cl_int code = opencl.target->function(queue, arguments, num, wait, used); \
    const ppi_device_work work = {                                            \
        .kind = PPI_DEVICE_WORK_##what,                                       \
        .name = title,                                                        \
        .bytes = code == CL_SUCCESS ? (uint64_t)(bytes_of) : 0};              \
    return end_call(&it, code, queue, &work);                                 \
  }
MOVES(MOVE)
#undef MOVE

// ---- queues ----

static void note_queue(void) {
  if (__atomic_exchange_n(&opencl.has_queue, true, __ATOMIC_ACQ_REL)) return;
  if (opencl.attach) opencl.attach();
}

static cl_command_queue CL_API_CALL
create_queue(cl_context context, cl_device_id device,
             cl_command_queue_properties properties, cl_int *code) {
  note_queue();
  cl_command_queue queue = opencl.target->clCreateCommandQueue(
      context, device, properties | CL_QUEUE_PROFILING_ENABLE, NULL);
  if (queue && code) *code = CL_SUCCESS;
  if (queue) return queue;
  return opencl.target->clCreateCommandQueue(context, device, properties, code);
}

// False: there is no room for one more, or the queue is on the device.
static bool with_profiling(const cl_queue_properties *given,
                           cl_queue_properties out[MOST_PROPERTIES]) {
  size_t num = 0;
  bool has_any = false;
  for (; given && given[num]; num += 2) {
    if (num + 5 > MOST_PROPERTIES) return false;
    out[num] = given[num];
    out[num + 1] = given[num + 1];
    if (given[num] != CL_QUEUE_PROPERTIES) continue;
    if (given[num + 1] & CL_QUEUE_ON_DEVICE) return false;
    has_any = true;
    out[num + 1] |= CL_QUEUE_PROFILING_ENABLE;
  }
  if (!has_any) {
    out[num++] = CL_QUEUE_PROPERTIES;
    out[num++] = CL_QUEUE_PROFILING_ENABLE;
  }
  out[num] = 0;
  return true;
}

static cl_command_queue CL_API_CALL
create_queue_with(cl_context context, cl_device_id device,
                  const cl_queue_properties *properties, cl_int *code) {
  cl_queue_properties own[MOST_PROPERTIES];
  note_queue();
  cl_command_queue queue =
      with_profiling(properties, own)
          ? opencl.target->clCreateCommandQueueWithProperties(context, device,
                                                              own, NULL)
          : NULL;
  if (queue && code) *code = CL_SUCCESS;
  if (queue) return queue;
  return opencl.target->clCreateCommandQueueWithProperties(context, device,
                                                           properties, code);
}

// ---- the layer ----

#define PUT(function, mine) \
  if (opencl.layer.function) opencl.layer.function = (mine)
#define PUT_MOVE(function, what, title, bytes, parameters, arguments) \
  PUT(function, layer_##function);

int pprof_inject_opencl_(uint32_t num, const void *target, uint32_t *out_num,
                         const void **out_layer, int (*attach)(void)) {
  const uint32_t all = sizeof opencl.layer / sizeof(void *);
  const uint32_t least =
      offsetof(cl_icd_dispatch, clEnqueueNDRangeKernel) / sizeof(void *) + 1;
  if (opencl.target || !target || num < least) return CL_INVALID_VALUE;
  memcpy(&opencl.layer, target, PPI_MIN(num, all) * sizeof(void *));
  opencl.target = target;
  opencl.attach = attach;
  ppi_backend_watch_fork();
  opencl.generation = ppi_backend_generation;
  PUT(clCreateCommandQueue, create_queue);
  PUT(clCreateCommandQueueWithProperties, create_queue_with);
  PUT(clEnqueueNDRangeKernel, enqueue_kernel);
  PUT(clEnqueueTask, enqueue_task);
  MOVES(PUT_MOVE)
  *out_num = PPI_MIN(num, all);
  *out_layer = &opencl.layer;
  return CL_SUCCESS;
}

// ---- finished commands ----

static command *take_pending(void) {
  pthread_mutex_lock(&opencl.mutex);
  command *pending = opencl.pending;
  opencl.pending = NULL;
  pthread_mutex_unlock(&opencl.mutex);
  return pending;
}

// Reports these before commands that came meanwhile.
static void put_back(command *first, command **end) {
  pthread_mutex_lock(&opencl.mutex);
  if (!opencl.pending) opencl.pending_end = end;
  *end = opencl.pending;
  opencl.pending = first;
  pthread_mutex_unlock(&opencl.mutex);
}

// Once drivers have gone nothing is given back to them.
static void forget(command *it) {
  if (it->event && !__atomic_load_n(&opencl.has_ended, __ATOMIC_ACQUIRE))
    opencl.target->clReleaseEvent(it->event);
  ppi_free(it);
  pthread_mutex_lock(&opencl.mutex);
  opencl.num_pending--;
  pthread_mutex_unlock(&opencl.mutex);
}

static uint64_t time_of(const command *it, cl_profiling_info what) {
  cl_ulong ns = 0;
  cl_int code = opencl.target->clGetEventProfilingInfo(it->event, what,
                                                       sizeof ns, &ns, NULL);
  return code == CL_SUCCESS ? ns : 0;
}

static void read_times(command *it) {
  const ppi_clock_call call = {ppi_clock_ns_of(it->begin),
                               ppi_clock_ns_of(it->end),
                               time_of(it, CL_PROFILING_COMMAND_QUEUED)};
  ppi_bounded_clock *clock = &opencl.clocks[it->work.device];
  uint64_t start_ns = time_of(it, CL_PROFILING_COMMAND_START);
  uint64_t end_ns = time_of(it, CL_PROFILING_COMMAND_END);
  ppi_bounded_clock_see(clock, &call);
  if (start_ns && end_ns && clock->is_known) {
    // Its call began before it; a tick is what rounding may take.
    it->work.start = PPI_MAX(
        ppi_clock_ticks_of(ppi_bounded_clock_host(clock, start_ns)), it->begin);
    it->work.end =
        PPI_MAX(ppi_clock_ticks_of(ppi_bounded_clock_host(clock, end_ns)),
                it->work.start);
    it->work.error = ppi_clock_ticks_of(ppi_bounded_clock_error(clock));
  }
  opencl.target->clReleaseEvent(it->event);
  it->event = NULL;
}

typedef enum fate { RUNS, DONE, FAILED } fate;

static fate look_at(command *it) {
  cl_int state = CL_COMPLETE;
  if (!it->event) return DONE;
  if (__atomic_load_n(&opencl.has_ended, __ATOMIC_ACQUIRE)) return RUNS;
  cl_int code = opencl.target->clGetEventInfo(
      it->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  if (code != CL_SUCCESS || state < 0) return FAILED;
  if (state != CL_COMPLETE) return RUNS;
  read_times(it);
  return DONE;
}

// Drivers go at the end of the process, before the session does.
static void before_opencl_ends(void) {
  if (!is_own_process()) return;
  pthread_mutex_lock(&opencl.asking);
  command *first = take_pending(), **end = &first;
  for (command *it = first; it; end = &it->next, it = it->next) look_at(it);
  if (first) put_back(first, end);
  __atomic_store_n(&opencl.has_ended, true, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&opencl.asking);
}

static void flush(bool all, ppi_device_work_taker *take, void *taker) {
  command *kept = NULL, **end = &kept, *next;
  pthread_mutex_lock(&opencl.asking);
  for (command *it = take_pending(); it; it = next) {
    next = it->next;
    it->next = NULL;
    fate its = look_at(it);
    if (its == RUNS && !all) {
      *end = it;
      end = &it->next;
      continue;
    }
    if (its == DONE) take(taker, &it->work);
    if (its == RUNS) lose(1);
    // A failed command has nothing to wait for.
    if (its == FAILED)
      ppi_launch_reported(it->work.correlation, ppi_clock_ticks());
    forget(it);
  }
  if (kept) put_back(kept, end);
  pthread_mutex_unlock(&opencl.asking);
}

static pprof_status start(pprof_error *error) {
  if (!opencl.target || !__atomic_load_n(&opencl.has_queue, __ATOMIC_ACQUIRE))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "not traced: the program has not used OpenCL, or "
                    "OPENCL_LAYERS does not name libpprof_nvtx.so");
  if (!is_own_process() || __atomic_load_n(&opencl.has_ended, __ATOMIC_ACQUIRE))
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "OpenCL: not in a forked child, nor when the process ends");
  __atomic_store_n(&opencl.num_lost, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&opencl.is_on, true, __ATOMIC_RELEASE);
  return PPROF_STATUS_OK;
}

static void stop(void) {
  __atomic_store_n(&opencl.was_stopped, true, __ATOMIC_RELAXED);
  __atomic_store_n(&opencl.is_on, false, __ATOMIC_RELEASE);
}

static bool num_dropped(uint64_t *out) {
  *out = __atomic_load_n(&opencl.num_lost, __ATOMIC_RELAXED);
  return true;
}

static bool is_used(void) {
  return __atomic_load_n(&opencl.has_queue, __ATOMIC_ACQUIRE);
}

const ppi_kernel_source *ppi_opencl_source(void) {
  static const ppi_kernel_source source = {.backend = "opencl",
                                           .start = start,
                                           .flush = flush,
                                           .stop = stop,
                                           .num_dropped = num_dropped,
                                           .is_used = is_used};
  return &source;
}
