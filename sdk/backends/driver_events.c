// SPDX-License-Identifier: Apache-2.0
//
// Implements device events over a driver's function table, for the cuda and hip
// backends. Recording and stream_info run on marking threads, all else on the
// collector's.
#include "driver_events.h"

#include <stdio.h>

#include "base/mem.h"

#define STREAM_NON_BLOCKING 1u
#define CAPTURE_MODE_RELAXED 2
#define CAPTURE_ACTIVE 1
#define RECORD_EXTERNAL 1u
#define LAST_DEFAULT_STREAM 2u

enum {
  CODE_INVALID_VALUE = 1,
  CODE_OUT_OF_MEMORY = 2,
  CODE_NOT_INITIALIZED = 3,
  CODE_DEINITIALIZED = 4,
  CODE_NO_DEVICE = 100,
  CODE_INVALID_DEVICE = 101,
  CODE_INVALID_CONTEXT = 201,
  CODE_INVALID_HANDLE = 400,
  CODE_NOT_READY = 600,
  CODE_CONTEXT_IS_DESTROYED = 709,
  CODE_NOT_PERMITTED = 800,
  CODE_NOT_SUPPORTED = 801,
  CODE_CAPTURE_FIRST = 900,  // what stream capture forbids
  CODE_CAPTURE_IMPLICIT = 906,
  CODE_CAPTURE_LAST = 908
};

#define POOL_ADDRESS_BITS 48

typedef struct anchor_stream {
  struct anchor_stream *next;
  uint64_t pool;
  void *stream;
} anchor_stream;

typedef struct driver_context {
  const ppi_driver_api *api;
  anchor_stream *anchors;  // the collector's thread only
  uint32_t generation;
  // Latched: the device is unusable, and every further call can only return
  // this same error.
  int dead;             // atomic
  char error_text[80];  // the collector's thread only
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
  // The program may not need this driver until later. It is initialised here
  // only on request for the device.
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

pprof_status ppi_driver_open_source(ppi_driver_source *source, int index,
                                    void **out_context, pprof_error *error) {
  pthread_mutex_lock(&source->lock);
  pprof_status status =
      source->loaded ? PPROF_STATUS_OK : source->load(&source->api, error);
  source->loaded = status == PPROF_STATUS_OK;
  pthread_mutex_unlock(&source->lock);
  if (status != PPROF_STATUS_OK) return status;
  return ppi_driver_open(&source->api, source->name, index, out_context, error);
}

// False after a sticky error, and in a forked child, which must not call the
// driver.
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
    case CODE_INVALID_CONTEXT:
    case CODE_CONTEXT_IS_DESTROYED:
      return PPROF_STATUS_UNAVAILABLE;
    case CODE_NOT_PERMITTED:
    case CODE_NOT_SUPPORTED:
      return PPROF_STATUS_UNSUPPORTED;
  }
  if (code >= CODE_CAPTURE_FIRST && code <= CODE_CAPTURE_LAST)
    return PPROF_STATUS_UNSUPPORTED;
  int none = 0;
  __atomic_compare_exchange_n(&context->dead, &none, code, false,
                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return PPROF_STATUS_DEVICE;
}

// The names are a table of the driver's; it is asked nothing of the device, and
// nothing at all once it is gone.
const char *ppi_driver_error_text(void *handle) {
  driver_context *context = handle;
  int code = __atomic_load_n(&context->dead, __ATOMIC_RELAXED);
  if (context->generation != ppi_backend_generation)
    return "a forked child cannot use it";
  if (!code) return NULL;
  const char *name = code == CODE_DEINITIALIZED
                         ? "the driver has shut down"
                         : error_name(context->api, code);
  snprintf(context->error_text, sizeof context->error_text, "%s (%d)", name,
           code);
  return context->error_text;
}

// The default streams are 0, 1 and 2. One on a thread without a current context
// is the caller's mistake; for any other stream, the context is gone.
static pprof_status stream_status(driver_context *context, const void *stream,
                                  int code) {
  bool is_default = (uintptr_t)stream <= LAST_DEFAULT_STREAM;
  if (code == CODE_INVALID_DEVICE ||
      (code == CODE_INVALID_CONTEXT && is_default))
    return PPROF_STATUS_INVALID;
  return status_of(context, code);
}

// A destroyed or reset context takes its events with it. A new one may have its
// address, but not its number. Without numbers, only the address identifies it.
static int name_pool(const ppi_driver_api *api, void *handle,
                     uint64_t *out_pool) {
  unsigned long long id = 0;
  int code = api->context_id ? api->context_id(handle, &id) : 0;
  *out_pool = (uint64_t)(uintptr_t)handle | (uint64_t)id << POOL_ADDRESS_BITS;
  return code;
}

static void *pool_handle(uint64_t pool) {
  return (void *)(uintptr_t)(pool & ((1ull << POOL_ADDRESS_BITS) - 1));
}

static int check_pool(const ppi_driver_api *api, uint64_t pool) {
  uint64_t now = pool;
  int code = name_pool(api, pool_handle(pool), &now);
  if (code) return code;
  return now == pool ? 0 : CODE_CONTEXT_IS_DESTROYED;
}

static int enter_pool(const ppi_driver_api *api, uint64_t pool) {
  int code = check_pool(api, pool);
  return code ? code : api->pool_enter(pool_handle(pool));
}

static int ask_event(const ppi_driver_api *api, void *event) {
  float none;
  return api->event_query ? api->event_query(event)
                          : api->event_elapsed(&none, event, event);
}

void ppi_driver_close(void *handle) {
  driver_context *context = handle;
  while (context->anchors) {
    anchor_stream *anchor = context->anchors;
    void *left;
    context->anchors = anchor->next;
    if (is_usable(context) && !enter_pool(context->api, anchor->pool)) {
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
  // In any other mode, our queries would break a capture that a thread of the
  // program has begun.
  return status_of(context, context->api->exchange_capture_mode(&mode));
}

// Asks only questions that a capture survives. Asking a capturing stream for
// its number ends the capture. So does any call on the legacy stream while a
// stream that it waits for captures (driver 580, in every mode).
pprof_status ppi_driver_stream_info(void *handle, void *stream,
                                    pprof_stream_info *out) {
  driver_context *context = handle;
  const ppi_driver_api *api = context->api;
  void *owner = NULL;
  int capture = 0;
  unsigned long long id = 0;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  int code = api->stream_capturing(stream, &capture);
  bool implicit = code == CODE_CAPTURE_IMPLICIT;
  if (code && !implicit) return stream_status(context, stream, code);
  out->capturing = implicit || capture != 0;
  if (out->capturing_only) return PPROF_STATUS_OK;
  bool is_numbered =
      !out->capturing && api->stream_id && !api->stream_id(stream, &id);
  if (is_numbered && out->known && out->known->stable_id == id) {
    out->stable_id = id;
    out->pool = out->known->pool;
    return PPROF_STATUS_OK;
  }
  // The handle serves where the driver does not number its streams; it may
  // come back for another stream.
  if (!is_numbered && !out->capturing)
    id = (unsigned long long)(uintptr_t)stream;
  code =
      implicit ? api->pool_current(&owner) : api->stream_pool(stream, &owner);
  if (!code) code = name_pool(api, owner, &out->pool);
  if (code) return stream_status(context, stream, code);
  out->stable_id = id;
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
  int mode = CAPTURE_MODE_RELAXED;
  void *left;
  if (!pool) return PPROF_STATUS_INVALID;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  int code = check_pool(context->api, pool);
  // On a thread of the program's, too: as the collector's is for good.
  if (!code) code = context->api->exchange_capture_mode(&mode);
  if (code) return status_of(context, code);
  code = context->api->pool_enter(pool_handle(pool));
  if (!code) {
    code = create_events(context->api, num, out_events);
    context->api->pool_leave(&left);
  }
  context->api->exchange_capture_mode(&mode);
  return status_of(context, code);
}

void ppi_driver_event_destroy(void *handle, uint64_t pool, size_t num,
                              void **events) {
  driver_context *context = handle;
  void *left;
  // The driver took the events of a dead context with it.
  if (!pool || !is_usable(context)) return;
  if (status_of(context, enter_pool(context->api, pool))) return;
  for (size_t i = 0; i < num; i++) context->api->event_destroy(events[i]);
  context->api->pool_leave(&left);
}

pprof_status ppi_driver_event_record(void *handle, void *event, void *stream) {
  driver_context *context = handle;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  return stream_status(context, stream,
                       context->api->event_record(event, stream));
}

pprof_status ppi_driver_event_query(void *handle, void *event) {
  driver_context *context = handle;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  return status_of(context, ask_event(context->api, event));
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

static pprof_status make_anchor_stream(driver_context *context, uint64_t pool,
                                       void **out_stream) {
  void *left;
  anchor_stream *anchor = ppi_alloc(sizeof *anchor);
  if (!anchor) return PPROF_STATUS_NO_MEMORY;
  int code = enter_pool(context->api, pool);
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

static pprof_status find_anchor_stream(driver_context *context, uint64_t pool,
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
  // A stream that went with its context must not even be asked about.
  int code = check_pool(context->api, pool);
  pprof_status status = code ? status_of(context, code)
                             : find_anchor_stream(context, pool, &stream);
  if (status) return status;
  uint64_t before_ns = ppi_backend_now_ns(), after_ns = before_ns;
  code = context->api->event_record(out->event, stream);
  if (code) return status_of(context, code);
  do {
    code = ask_event(context->api, out->event);
    after_ns = ppi_backend_now_ns();
  } while (code == CODE_NOT_READY && after_ns - before_ns < PPI_ANCHOR_WAIT_NS);
  if (code) return status_of(context, code);
  out->host_before_ns = before_ns;
  out->host_after_ns = after_ns;
  out->device_ns = 0;
  return PPROF_STATUS_OK;
}

pprof_status ppi_driver_pool_check(void *handle, uint64_t pool) {
  driver_context *context = handle;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  return status_of(context, check_pool(context->api, pool));
}

// While another stream captures, one harmless call recognizes the legacy
// stream; no other call is made on it.
pprof_status ppi_driver_event_record_in_graph(void *handle, void *event,
                                              void *stream,
                                              uint64_t *out_capture) {
  driver_context *context = handle;
  const ppi_driver_api *api = context->api;
  int state = 0;
  unsigned long long id = 0;
  if (!is_usable(context)) return PPROF_STATUS_DEVICE;
  if (!api->event_record_flags || !api->capture_info)
    return PPROF_STATUS_UNSUPPORTED;
  int code = api->stream_capturing(stream, &state);
  if (!code && state == CAPTURE_ACTIVE)
    code = api->capture_info(stream, &state, &id, NULL, NULL, NULL);
  if (!code && state != CAPTURE_ACTIVE) return PPROF_STATUS_UNSUPPORTED;
  if (!code) code = api->event_record_flags(event, stream, RECORD_EXTERNAL);
  *out_capture = id;
  return stream_status(context, stream, code);
}
