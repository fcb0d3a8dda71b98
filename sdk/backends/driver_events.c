// SPDX-License-Identifier: Apache-2.0
//
// What the cuda and hip backends do with a driver's function table. Recording
// and stream_info run on marking threads, all else on the collector's.
#include "driver_events.h"

#include "backend_util.h"
#include "mem.h"

#define STREAM_NON_BLOCKING 1u
#define CAPTURE_MODE_RELAXED 2

enum {
  CODE_INVALID_VALUE = 1,
  CODE_OUT_OF_MEMORY = 2,
  CODE_NOT_INITIALIZED = 3,
  CODE_NO_DEVICE = 100,
  CODE_INVALID_DEVICE = 101,
  CODE_INVALID_CONTEXT = 201,
  CODE_INVALID_HANDLE = 400,
  CODE_NOT_READY = 600,
  CODE_NOT_PERMITTED = 800,
  CODE_NOT_SUPPORTED = 801,
  CODE_CAPTURE_FIRST = 900,  // what stream capture forbids
  CODE_CAPTURE_IMPLICIT = 906,
  CODE_CAPTURE_LAST = 908
};

typedef struct anchor_stream {
  struct anchor_stream *next;
  void *pool;
  void *stream;
} anchor_stream;

typedef struct driver_context {
  const ppi_driver_api *api;
  anchor_stream *anchors;  // the collector's thread only
  uint32_t generation;
  // Latched: the driver's context is gone or unusable, and touching it again
  // can at best return the same error.
  uint32_t dead;
} driver_context;

static const char *error_name(const ppi_driver_api *api, int code) {
  const char *name = NULL;
  if (api->error_name(code, &name) || !name) return "unknown error";
  return name;
}

static pprof_status fail_open(const ppi_driver_api *api, const char *name,
                              const char *what, int code, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_UNAVAILABLE, "%s: %s: %s (%d)", name,
                  what, error_name(api, code), code);
}

pprof_status ppi_driver_open(const ppi_driver_api *api, const char *name,
                             int index, void **out_context,
                             pprof_error *error) {
  int num = 0;
  int code = api->device_count(&num);
  // The program may do without this driver until later; it is initialised here
  // only because somebody asked for the device.
  if (code == CODE_NOT_INITIALIZED) {
    code = api->init(0);
    if (code) return fail_open(api, name, "initialising", code, error);
    code = api->device_count(&num);
  }
  if (code == CODE_NO_DEVICE) code = 0, num = 0;
  if (code) return fail_open(api, name, "counting devices", code, error);
  if (index < 0 || index >= num)
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "%s: there is no device %d; found %d", name, index, num);
  driver_context *context = ppi_alloc(sizeof *context);
  if (!context)
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "%s: out of memory", name);
  ppi_backend_watch_fork();
  context->api = api;
  context->generation = ppi_backend_generation;
  *out_context = context;
  return PPROF_STATUS_OK;
}

// False after a sticky error, and in a forked child, which must not call in.
static bool is_usable(const driver_context *context) {
  return context->generation == ppi_backend_generation &&
         !__atomic_load_n(&context->dead, __ATOMIC_RELAXED);
}

static pprof_status status_of(driver_context *context, int code) {
  switch (code) {
    case 0:
      return PPROF_STATUS_OK;
    case CODE_NOT_READY:
      return PPROF_STATUS_BUSY;
    case CODE_INVALID_VALUE:
    case CODE_INVALID_HANDLE:
      return PPROF_STATUS_INVALID;
    case CODE_OUT_OF_MEMORY:
      return PPROF_STATUS_NO_MEMORY;
    case CODE_NOT_PERMITTED:
    case CODE_NOT_SUPPORTED:
      return PPROF_STATUS_UNSUPPORTED;
  }
  if (code >= CODE_CAPTURE_FIRST && code <= CODE_CAPTURE_LAST)
    return PPROF_STATUS_UNSUPPORTED;
  __atomic_store_n(&context->dead, 1, __ATOMIC_RELAXED);
  return PPROF_STATUS_DEVICE;
}

// The default stream of a thread that has made nothing current is the caller's
// mistake, not the end of the device.
static pprof_status stream_status(driver_context *context, int code) {
  if (code == CODE_INVALID_CONTEXT || code == CODE_INVALID_DEVICE)
    return PPROF_STATUS_INVALID;
  return status_of(context, code);
}

static void *pool_handle(uint64_t pool) {
  return (void *)(uintptr_t)pool;
}

void ppi_driver_close(void *handle) {
  driver_context *context = handle;
  while (context->anchors) {
    anchor_stream *anchor = context->anchors;
    void *left;
    context->anchors = anchor->next;
    if (is_usable(context) && !context->api->pool_enter(anchor->pool)) {
      context->api->stream_destroy(anchor->stream);
      context->api->pool_leave(&left);
    }
    ppi_free(anchor);
  }
  ppi_free(context);
}

pprof_status ppi_driver_collector_enter(void *handle) {
  driver_context *context = handle;
  int mode = CAPTURE_MODE_RELAXED;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  // In any other mode our queries would break a capture that some thread of
  // the program has begun.
  return status_of(context, context->api->exchange_capture_mode(&mode));
}

// Only the questions that a capture survives: asking a capturing stream for its
// number ends the capture, and so does any word to the legacy stream while a
// stream that it waits for captures (seen with driver 580, in every mode).
pprof_status ppi_driver_stream_info(void *handle, void *stream,
                                    pprof_stream_info *out) {
  driver_context *context = handle;
  const ppi_driver_api *api = context->api;
  void *pool = NULL;
  int capture = 0;
  unsigned long long id = 0;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  int code = api->stream_capturing(stream, &capture);
  bool implicit = code == CODE_CAPTURE_IMPLICIT;
  if (code && !implicit) return stream_status(context, code);
  code = implicit ? api->pool_current(&pool) : api->stream_pool(stream, &pool);
  if (code) return stream_status(context, code);
  bool capturing = implicit || capture != 0;
  // The handle serves where the driver does not number its streams; it may
  // come back for another stream.
  if (!capturing && (!api->stream_id || api->stream_id(stream, &id)))
    id = (unsigned long long)(uintptr_t)stream;
  out->stable_id = id;
  out->pool = (uint64_t)(uintptr_t)pool;
  out->capturing = capturing;
  return PPROF_STATUS_OK;
}

static int create_events(const ppi_driver_api *api, size_t num, void **events) {
  for (size_t i = 0; i < num; i++) {
    int code = api->event_create(&events[i], 0);
    if (!code) continue;
    while (i-- > 0) api->event_destroy(events[i]);
    return code;
  }
  return 0;
}

pprof_status ppi_driver_event_create(void *handle, uint64_t pool, size_t num,
                                     void **out_events) {
  driver_context *context = handle;
  void *left;
  if (!pool) return PPROF_STATUS_INVALID;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  int code = context->api->pool_enter(pool_handle(pool));
  if (code) return status_of(context, code);
  code = create_events(context->api, num, out_events);
  context->api->pool_leave(&left);
  return status_of(context, code);
}

void ppi_driver_event_destroy(void *handle, uint64_t pool, size_t num,
                              void **events) {
  driver_context *context = handle;
  void *left;
  // The driver took the events of a dead context with it.
  if (!pool || !is_usable(context)) return;
  int code = context->api->pool_enter(pool_handle(pool));
  if (status_of(context, code)) return;
  for (size_t i = 0; i < num; i++) context->api->event_destroy(events[i]);
  context->api->pool_leave(&left);
}

pprof_status ppi_driver_event_record(void *handle, void *event, void *stream) {
  driver_context *context = handle;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  return stream_status(context, context->api->event_record(event, stream));
}

pprof_status ppi_driver_event_query(void *handle, void *event) {
  driver_context *context = handle;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  return status_of(context, context->api->event_query(event));
}

pprof_status ppi_driver_event_elapsed(void *handle, void *from, void *to,
                                      int64_t *out_ns) {
  driver_context *context = handle;
  float elapsed_ms = 0;
  if (!from) return PPROF_STATUS_UNSUPPORTED;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  int code = context->api->event_elapsed(&elapsed_ms, from, to);
  pprof_status status = status_of(context, code);
  double elapsed_ns = (double)elapsed_ms * 1e6;
  if (!status) *out_ns = (int64_t)(elapsed_ns + (elapsed_ns < 0 ? -0.5 : 0.5));
  return status;
}

static pprof_status make_anchor_stream(driver_context *context, void *pool,
                                       void **out_stream) {
  void *left;
  anchor_stream *anchor = ppi_alloc(sizeof *anchor);
  if (!anchor) return PPROF_STATUS_NO_MEMORY;
  int code = context->api->pool_enter(pool);
  if (!code) {
    code = context->api->stream_create(&anchor->stream, STREAM_NON_BLOCKING);
    context->api->pool_leave(&left);
  }
  if (code) {
    ppi_free(anchor);
    return status_of(context, code);
  }
  anchor->pool = pool;
  anchor->next = context->anchors;
  context->anchors = anchor;
  *out_stream = anchor->stream;
  return PPROF_STATUS_OK;
}

static pprof_status find_anchor_stream(driver_context *context, void *pool,
                                       void **out_stream) {
  for (anchor_stream *anchor = context->anchors; anchor; anchor = anchor->next)
    if (anchor->pool == pool) {
      *out_stream = anchor->stream;
      return PPROF_STATUS_OK;
    }
  return make_anchor_stream(context, pool, out_stream);
}

pprof_status ppi_driver_anchor(void *handle, uint64_t pool, pprof_anchor *out) {
  driver_context *context = handle;
  void *stream = NULL;
  if (!pool || !out->event) return PPROF_STATUS_INVALID;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  pprof_status status = find_anchor_stream(context, pool_handle(pool), &stream);
  if (status) return status;
  uint64_t before_ns = ppi_backend_now_ns(), after_ns = before_ns;
  int code = context->api->event_record(out->event, stream);
  if (code) return status_of(context, code);
  do {
    code = context->api->event_query(out->event);
    after_ns = ppi_backend_now_ns();
  } while (code == CODE_NOT_READY && after_ns - before_ns < PPI_ANCHOR_WAIT_NS);
  if (code) return status_of(context, code);
  out->host_before_ns = before_ns;
  out->host_after_ns = after_ns;
  out->device_ns = 0;
  return PPROF_STATUS_OK;
}
