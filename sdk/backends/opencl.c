// SPDX-License-Identifier: Apache-2.0
//
// Implements the opencl backend. A stream is a cl_command_queue of the
// application, made with CL_QUEUE_PROFILING_ENABLE; an event is a holder for
// the cl_event of a marker. Times are the marker's absolute END, mapped to the
// host by markers on a queue of our own.
//
// Flushing: a marker is not flushed by the thread that records it. Where the
// implementation starts work at once this costs nothing, where it batches, the
// application decides when a batch is full. A marker that nobody flushes must
// still end: the collector flushes its queue after FLUSH_AFTER_NS of CL_QUEUED;
// the holder keeps the queue retained until then.
#include "opencl.h"

#include <pthread.h>

#include "backend_util.h"
#include "base/mem.h"
#include "pprof/device.h"

#define OPENCL_POOL 0u  // absolute times: all events of a device compare
#define FLUSH_AFTER_NS 5000000u
#define PARENTS_LIMIT 8  // sub-devices of sub-devices

typedef struct opencl_context {
  cl_device_id device;
  cl_context anchor_context;  // made by the first anchor
  cl_command_queue anchor_queue;
  uint32_t generation;
} opencl_context;

typedef enum holder_state {
  HOLDER_IDLE,
  HOLDER_PENDING,
  HOLDER_TIMED,
  HOLDER_UNTIMED,
  HOLDER_FAILED
} holder_state;

// Recorded on a marking thread, read and emptied on the collector's. The caller
// excludes simultaneous use (it tracks the slot's state).
typedef struct opencl_event {
  cl_event marker;         // NULL unless PENDING
  cl_command_queue queue;  // retained while PENDING
  uint64_t queued_since_ns;
  uint64_t time_ns;
  holder_state state;
  bool flushed;
} opencl_event;

static pthread_mutex_t api_lock = PTHREAD_MUTEX_INITIALIZER;
static bool api_loaded;
static ppi_opencl_api api;  // constant once loaded

pprof_status ppi_opencl_load(const char *const *sonames, ppi_opencl_api *out,
                             pprof_error *error) {
  static const ppi_symbol symbols[] = {
#define SYMBOL(name) {#name, NULL, offsetof(ppi_opencl_api, name), false},
      PPI_OPENCL_LIST(SYMBOL)
#undef SYMBOL
  };
  ppi_library library = {"opencl", sonames, symbols,
                         sizeof symbols / sizeof *symbols};
  return ppi_library_load(&library, out, error);
}

static pprof_status load_once(pprof_error *error) {
  static const char *const sonames[] = {"libOpenCL.so.1", NULL};
  pthread_mutex_lock(&api_lock);
  pprof_status status =
      api_loaded ? PPROF_STATUS_OK : ppi_opencl_load(sonames, &api, error);
  api_loaded = status == PPROF_STATUS_OK;
  pthread_mutex_unlock(&api_lock);
  return status;
}

void ppi_opencl_use(const ppi_opencl_api *functions) {
  pthread_mutex_lock(&api_lock);
  api = *functions;
  api_loaded = true;
  pthread_mutex_unlock(&api_lock);
}

static pprof_status status_of(cl_int code) {
  switch (code) {
    case CL_SUCCESS:
      return PPROF_STATUS_OK;
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return PPROF_STATUS_NO_MEMORY;
    case CL_INVALID_VALUE:
    case CL_INVALID_COMMAND_QUEUE:
    case CL_INVALID_CONTEXT:
      return PPROF_STATUS_INVALID;
    case CL_PROFILING_INFO_NOT_AVAILABLE:
      return PPROF_STATUS_UNSUPPORTED;
    default:
      return PPROF_STATUS_DEVICE;
  }
}

// Takes `*left` devices off, over this platform's, and answers the one reached.
static cl_device_id device_on(cl_platform_id platform, cl_uint *left,
                              cl_uint *total) {
  cl_uint num = 0;
  cl_device_id found = NULL;
  if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &num) || !num)
    return NULL;
  cl_device_id *devices = ppi_alloc(num * sizeof *devices);
  if (!devices) return NULL;
  if (!api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, num, devices, NULL)) {
    *total += num;
    if (*left < num) found = devices[*left];
    *left -= found ? 0 : num;
  }
  ppi_free(devices);
  return found;
}

static pprof_status find_device(int index, cl_device_id *out,
                                pprof_error *error) {
  cl_uint num = 0, total = 0, left = (cl_uint)index;
  cl_int code = api.clGetPlatformIDs(0, NULL, &num);
  if (code || !num)
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "opencl: no platform found (clGetPlatformIDs: %d); is a "
                    "driver (ICD) installed?",
                    code);
  cl_platform_id *platforms = ppi_alloc(num * sizeof *platforms);
  if (!platforms)
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "opencl: out of memory");
  cl_device_id found = NULL;
  if (!api.clGetPlatformIDs(num, platforms, NULL) && index >= 0)
    for (cl_uint i = 0; i < num && !found; i++)
      found = device_on(platforms[i], &left, &total);
  ppi_free(platforms);
  if (!found)
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "opencl: there is no device %d; found %u on %u platform%s",
                    index, total, num, num == 1 ? "" : "s");
  *out = found;
  return PPROF_STATUS_OK;
}

static pprof_status opencl_open(int index, void **out_context,
                                pprof_error *error) {
  pprof_status status = load_once(error);
  if (status) return status;
  ppi_backend_watch_fork();
  cl_device_id device = NULL;
  status = find_device(index, &device, error);
  if (status) return status;
  opencl_context *context = ppi_alloc(sizeof *context);
  if (!context)
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "opencl: out of memory");
  context->device = device;
  context->generation = ppi_backend_generation;
  *out_context = context;
  return PPROF_STATUS_OK;
}

static bool is_foreign(const opencl_context *context) {
  return context->generation != ppi_backend_generation;
}

static void opencl_close(void *handle) {
  opencl_context *context = handle;
  if (!is_foreign(context)) {
    if (context->anchor_queue) api.clReleaseCommandQueue(context->anchor_queue);
    if (context->anchor_context) api.clReleaseContext(context->anchor_context);
  }
  ppi_free(context);
}

static pprof_status opencl_collector_enter(void *context) {
  return is_foreign(context) ? PPROF_STATUS_UNAVAILABLE : PPROF_STATUS_OK;
}

// A queue of a sub-device belongs to the device it was cut from.
static bool is_part_of(cl_device_id device, cl_device_id whole) {
  for (int i = 0; device && i < PARENTS_LIMIT; i++) {
    if (device == whole) return true;
    cl_device_id parent = NULL;
    if (api.clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent,
                            &parent, NULL))
      return false;
    device = parent;
  }
  return false;
}

// Nothing is remembered per queue: two look-ups cost a few per cent of the
// marker they precede, and a handle may name another queue tomorrow. For the
// same reason stable_id, the handle, is stable only while the queue lives.
static pprof_status opencl_stream_info(void *handle, void *stream,
                                       pprof_stream_info *out) {
  const opencl_context *context = handle;
  cl_command_queue_properties properties = 0;
  cl_device_id device = NULL;
  if (!stream) return PPROF_STATUS_INVALID;
  if (is_foreign(context)) return PPROF_STATUS_UNAVAILABLE;
  if (api.clGetCommandQueueInfo(stream, CL_QUEUE_PROPERTIES, sizeof properties,
                                &properties, NULL) ||
      api.clGetCommandQueueInfo(stream, CL_QUEUE_DEVICE, sizeof device, &device,
                                NULL))
    return PPROF_STATUS_INVALID;
  if (device != context->device && !is_part_of(device, context->device))
    return PPROF_STATUS_INVALID;
  if (!(properties & CL_QUEUE_PROFILING_ENABLE))
    return PPROF_STATUS_UNSUPPORTED;
  out->stable_id = (uint64_t)(uintptr_t)stream;
  out->pool = OPENCL_POOL;
  out->capturing = false;
  return PPROF_STATUS_OK;
}

// Releases the marker. The event comes first: it may keep the queue's last
// command alive.
static void settle(opencl_event *event, holder_state state) {
  if (event->marker) {
    api.clReleaseEvent(event->marker);
    api.clReleaseCommandQueue(event->queue);
  }
  event->marker = NULL;
  event->queue = NULL;
  event->state = state;
}

static void opencl_event_destroy(void *context, uint64_t pool, size_t num,
                                 void **events) {
  (void)pool;
  for (size_t i = 0; i < num; i++) {
    if (!is_foreign(context)) settle(events[i], HOLDER_IDLE);
    ppi_free(events[i]);
  }
}

static pprof_status opencl_event_create(void *context, uint64_t pool,
                                        size_t num, void **out_events) {
  if (pool != OPENCL_POOL) return PPROF_STATUS_INVALID;
  for (size_t i = 0; i < num; i++) {
    out_events[i] = ppi_alloc(sizeof(opencl_event));
    if (out_events[i]) continue;
    opencl_event_destroy(context, pool, i, out_events);
    return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

static pprof_status opencl_event_record(void *context, void *handle,
                                        void *stream) {
  opencl_event *event = handle;
  cl_event marker;
  if (!stream) return PPROF_STATUS_INVALID;
  if (is_foreign(context)) return PPROF_STATUS_UNAVAILABLE;
  // An empty wait list waits for all that was enqueued before, on a queue out
  // of order as well.
  cl_int code = api.clEnqueueMarkerWithWaitList(stream, 0, NULL, &marker);
  if (code) return status_of(code);
  // Only an event that was recorded and never read still holds a marker here.
  settle(event, HOLDER_PENDING);
  api.clRetainCommandQueue(stream);
  event->marker = marker;
  event->queue = stream;
  event->queued_since_ns = 0;
  event->flushed = false;
  return PPROF_STATUS_OK;
}

static void flush_if_stuck(opencl_event *event) {
  if (event->flushed) return;
  uint64_t now_ns = ppi_backend_now_ns();
  if (!event->queued_since_ns) event->queued_since_ns = now_ns;
  if (now_ns - event->queued_since_ns < FLUSH_AFTER_NS) return;
  event->flushed = true;
  api.clFlush(event->queue);
}

// The time is read as soon as there is one: the marker, and with it the
// application's queue and context, is let go at once.
static void read_time(opencl_event *event) {
  cl_ulong end_ns = 0;
  cl_int code = api.clGetEventProfilingInfo(
      event->marker, CL_PROFILING_COMMAND_END, sizeof end_ns, &end_ns, NULL);
  event->time_ns = end_ns;
  settle(event, code ? HOLDER_UNTIMED : HOLDER_TIMED);
}

static pprof_status opencl_event_query(void *context, void *handle) {
  opencl_event *event = handle;
  if (event->state == HOLDER_FAILED || is_foreign(context))
    return PPROF_STATUS_DEVICE;
  if (event->state != HOLDER_PENDING) return PPROF_STATUS_OK;
  cl_int execution = 0;
  cl_int code =
      api.clGetEventInfo(event->marker, CL_EVENT_COMMAND_EXECUTION_STATUS,
                         sizeof execution, &execution, NULL);
  if (!code && execution == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
    // The program failed something before the marker (a user event, say);
    // that is no fault of the device and costs this time only.
    settle(event, HOLDER_UNTIMED);
    return PPROF_STATUS_OK;
  }
  if (code || execution < 0) {
    settle(event, HOLDER_FAILED);
    return PPROF_STATUS_DEVICE;
  }
  if (execution == CL_QUEUED) flush_if_stuck(event);
  if (execution != CL_COMPLETE) return PPROF_STATUS_BUSY;
  read_time(event);
  return PPROF_STATUS_OK;
}

static pprof_status event_time(void *context, opencl_event *event,
                               int64_t *out_ns) {
  pprof_status status = opencl_event_query(context, event);
  if (status) return status;
  if (event->state == HOLDER_UNTIMED) return PPROF_STATUS_UNSUPPORTED;
  if (event->state != HOLDER_TIMED) return PPROF_STATUS_INVALID;
  *out_ns = (int64_t)event->time_ns;
  return PPROF_STATUS_OK;
}

static pprof_status opencl_event_elapsed(void *context, void *from, void *to,
                                         int64_t *out_ns) {
  int64_t from_ns = 0, to_ns = 0;
  pprof_status status =
      from ? event_time(context, from, &from_ns) : PPROF_STATUS_OK;
  if (!status) status = event_time(context, to, &to_ns);
  if (!status) *out_ns = to_ns - from_ns;
  return status;
}

static pprof_status make_anchor_queue(opencl_context *context) {
  cl_int code = CL_SUCCESS;
  if (!context->anchor_context)
    context->anchor_context =
        api.clCreateContext(NULL, 1, &context->device, NULL, NULL, &code);
  if (!context->anchor_context) return status_of(code);
  context->anchor_queue =
      api.clCreateCommandQueue(context->anchor_context, context->device,
                               CL_QUEUE_PROFILING_ENABLE, &code);
  return context->anchor_queue ? PPROF_STATUS_OK : status_of(code);
}

static pprof_status opencl_anchor(void *handle, uint64_t pool,
                                  pprof_anchor *out) {
  opencl_context *context = handle;
  opencl_event *event = out->event;
  if (pool != OPENCL_POOL || !event) return PPROF_STATUS_INVALID;
  if (is_foreign(context)) return PPROF_STATUS_DEVICE;
  pprof_status status =
      context->anchor_queue ? PPROF_STATUS_OK : make_anchor_queue(context);
  if (status) return status;
  uint64_t before_ns = ppi_backend_now_ns(), after_ns = before_ns;
  status = opencl_event_record(context, event, context->anchor_queue);
  if (status) return status;
  api.clFlush(context->anchor_queue);
  do {
    status = opencl_event_query(context, event);
    after_ns = ppi_backend_now_ns();
  } while (status == PPROF_STATUS_BUSY &&
           after_ns - before_ns < PPI_ANCHOR_WAIT_NS);
  int64_t device_ns = 0;
  if (!status) status = event_time(context, event, &device_ns);
  if (status) return status;
  out->host_before_ns = before_ns;
  out->host_after_ns = after_ns;
  out->device_ns = device_ns;
  return PPROF_STATUS_OK;
}

const pprof_backend *pprof_backend_opencl(void) {
  static const pprof_backend backend = {
      .size = sizeof(pprof_backend),
      .name = "opencl",
      .caps = PPROF_BACKEND_ABSOLUTE_TIME,
      .open = opencl_open,
      .close = opencl_close,
      .collector_enter = opencl_collector_enter,
      .stream_info = opencl_stream_info,
      .event_create = opencl_event_create,
      .event_destroy = opencl_event_destroy,
      .event_record = opencl_event_record,
      .event_query = opencl_event_query,
      .event_elapsed = opencl_event_elapsed,
      .anchor = opencl_anchor,
      .untimed_hint =
          "the command queue was made without CL_QUEUE_PROFILING_ENABLE",
  };
  return &backend;
}
