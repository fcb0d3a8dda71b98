// SPDX-License-Identifier: Apache-2.0
//
// Device events over a GPU driver, shared by the cuda and hip backends: both
// drivers have the same terms and error numbers; a table of functions is all
// that differs. Tests hand in a table of their own.
#pragma once

#include <pthread.h>

#include "backend_util.h"
#include "pprof/device.h"

PPROF_BEGIN_C_

// Results are the driver's numbers, 0 for success. A pool is what events and
// streams must share: a CUcontext, or a HIP device. Handles are opaque.
typedef struct ppi_driver_api {
  int (*init)(unsigned flags);
  int (*device_count)(int *out_num);
  // For a stream; NULL is the default stream of the current context.
  int (*stream_pool)(void *stream, void **out_pool);
  int (*pool_current)(void **out_pool);
  int (*stream_id)(void *stream, unsigned long long *out_id);  // may be NULL
  int (*stream_capturing)(void *stream, int *out_state);
  int (*exchange_capture_mode)(int *mode);
  // Make a pool current on this thread, and undo that.
  int (*pool_enter)(void *pool);
  int (*pool_leave)(void **out_pool);
  int (*stream_create)(void **out_stream, unsigned flags);
  int (*stream_destroy)(void *stream);
  int (*event_create)(void **out_event, unsigned flags);
  int (*event_destroy)(void *event);
  int (*event_record)(void *event, void *stream);
  // May be NULL: the time from an event to itself has the same answer, and with
  // CUDA takes no lock that recording threads hold.
  int (*event_query)(void *event);
  int (*event_elapsed)(float *out_ms, void *from, void *to);
  int (*error_name)(int code, const char **out_name);
  // These may be NULL.
  // A number that no other context of the process had or will have.
  int (*context_id)(void *pool, unsigned long long *out_id);
  int (*event_record_flags)(void *event, void *stream, unsigned flags);
  int (*capture_info)(void *stream, int *out_state, unsigned long long *out_id,
                      void *graph, void *dependencies, size_t *num);
} ppi_driver_api;

// A driver that is loaded when the first device of it is opened.
typedef struct ppi_driver_source {
  const char *name;  // begins error texts
  pprof_status (*load)(ppi_driver_api *out, pprof_error *error);
  pthread_mutex_t lock;
  bool loaded;
  ppi_driver_api api;
} ppi_driver_source;
pprof_status ppi_driver_open_source(ppi_driver_source *source, int index,
                                    void **out_context, pprof_error *error);

// `api` is borrowed for the life of the context; `name` begins error texts.
pprof_status ppi_driver_open(const ppi_driver_api *api, const char *name,
                             int index, void **out_context, pprof_error *error);

// The remaining entries of a pprof_backend. A pool is the context's address
// and, above it, part of the context's number: after a device reset the primary
// context has its old address, and the events of its former life must not be
// touched. Its caps are PPI_DRIVER_CAPS.
void ppi_driver_close(void *context);
pprof_status ppi_driver_collector_enter(void *context);
pprof_status ppi_driver_stream_info(void *context, void *stream,
                                    pprof_stream_info *out);
pprof_status ppi_driver_event_create(void *context, uint64_t pool, size_t num,
                                     void **out_events);
void ppi_driver_event_destroy(void *context, uint64_t pool, size_t num,
                              void **events);
pprof_status ppi_driver_event_record(void *context, void *event, void *stream);
pprof_status ppi_driver_event_query(void *context, void *event);
pprof_status ppi_driver_event_elapsed(void *context, void *from, void *to,
                                      int64_t *out_ns);
pprof_status ppi_driver_anchor(void *context, uint64_t pool, pprof_anchor *out);
pprof_status ppi_driver_pool_check(void *context, uint64_t pool);
pprof_status ppi_driver_event_record_in_graph(void *context, void *event,
                                              void *stream,
                                              uint64_t *out_capture);
const char *ppi_driver_error_text(void *context);

// The entries that are equal in all drivers' backends.
#define PPI_DRIVER_CAPS (PPROF_BACKEND_CAPTURE | PPROF_BACKEND_CREATE_ANYWHERE)
#define PPI_DRIVER_ENTRIES                                                  \
  .size = sizeof(pprof_backend), .caps = PPI_DRIVER_CAPS,                   \
  .close = ppi_driver_close, .collector_enter = ppi_driver_collector_enter, \
  .stream_info = ppi_driver_stream_info,                                    \
  .event_create = ppi_driver_event_create,                                  \
  .event_destroy = ppi_driver_event_destroy,                                \
  .event_record = ppi_driver_event_record,                                  \
  .event_query = ppi_driver_event_query,                                    \
  .event_elapsed = ppi_driver_event_elapsed, .anchor = ppi_driver_anchor,   \
  .pool_check = ppi_driver_pool_check, .error_text = ppi_driver_error_text

PPROF_END_C_
