// SPDX-License-Identifier: Apache-2.0
//
// The hip backend: as the cuda backend, over libamdhip64. Not run on hardware:
// its calls are checked against a stand-in for the driver only.
//
// HIP has no context of its own beside the device, so a pool is a device (its
// ordinal + 1). Our calls share the thread's last error with the program's: one
// that fails here shows up in hipGetLastError, and before HIP 7 one that does
// not fail clears it.
#include <pthread.h>

#include "backend_util.h"
#include "hip_api.h"

static ppi_hip_api hip;

enum { INVALID_HANDLE = 400 };  // hipErrorInvalidHandle

pprof_status ppi_hip_load(const char *const *sonames, ppi_hip_api *out,
                          pprof_error *error) {
  static const ppi_symbol symbols[] = {
#define HIP_SYMBOL(name, optional, result, parameters) \
  {#name, NULL, offsetof(ppi_hip_api, name), optional},
      PPI_HIP_LIST(HIP_SYMBOL)
#undef HIP_SYMBOL
  };
  ppi_library library = {"hip", sonames, symbols,
                         sizeof symbols / sizeof *symbols};
  return ppi_library_load(&library, out, error);
}

// hipStreamGetDevice says the same, but HIP 5.2 does not have it.
static int stream_pool(void *stream, void **out_pool) {
  int device = hip.hipGetStreamDeviceId(stream);
  if (device < 0) return INVALID_HANDLE;
  *out_pool = (void *)(uintptr_t)(device + 1);
  return 0;
}

static int pool_current(void **out_pool) {
  int device = 0;
  int code = hip.hipGetDevice(&device);
  if (!code) *out_pool = (void *)(uintptr_t)(device + 1);
  return code;
}

// Only the collector's thread enters a pool, and nobody else's device is
// current there, so leaving needs nothing.
static int pool_enter(void *pool) {
  return hip.hipSetDevice((int)(uintptr_t)pool - 1);
}

static int pool_leave(void **out_pool) {
  *out_pool = NULL;
  return 0;
}

static int error_name(int code, const char **out_name) {
  *out_name = hip.hipGetErrorName(code);
  return 0;
}

void ppi_hip_use(const ppi_hip_api *functions, ppi_driver_api *out) {
  hip = *functions;
  *out = (ppi_driver_api){
      .init = hip.hipInit,
      .device_count = hip.hipGetDeviceCount,
      .stream_pool = stream_pool,
      .pool_current = pool_current,
      .stream_id = hip.hipStreamGetId,
      .stream_capturing = hip.hipStreamIsCapturing,
      .exchange_capture_mode = hip.hipThreadExchangeStreamCaptureMode,
      .pool_enter = pool_enter,
      .pool_leave = pool_leave,
      .stream_create = hip.hipStreamCreateWithFlags,
      .stream_destroy = hip.hipStreamDestroy,
      .event_create = hip.hipEventCreateWithFlags,
      .event_destroy = hip.hipEventDestroy,
      .event_record = hip.hipEventRecord,
      .event_query = hip.hipEventQuery,
      .event_elapsed = hip.hipEventElapsedTime,
      .error_name = error_name,
  };
}

static pprof_status load_once(ppi_driver_api *api, pprof_error *error) {
  static const char *const sonames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so.5", NULL};
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool loaded;
  ppi_hip_api functions;
  pthread_mutex_lock(&lock);
  pprof_status status =
      loaded ? PPROF_STATUS_OK : ppi_hip_load(sonames, &functions, error);
  if (!status && !loaded) ppi_hip_use(&functions, api);
  loaded = status == PPROF_STATUS_OK;
  pthread_mutex_unlock(&lock);
  return status;
}

static pprof_status hip_open(int index, void **out_context,
                             pprof_error *error) {
  static ppi_driver_api api;
  pprof_status status = load_once(&api, error);
  return status ? status
                : ppi_driver_open(&api, "hip", index, out_context, error);
}

const pprof_backend *pprof_backend_hip(void) {
  static const pprof_backend backend = {
      .size = sizeof(pprof_backend),
      .name = "hip",
      .caps = PPROF_BACKEND_CAPTURE,
      .open = hip_open,
      .close = ppi_driver_close,
      .collector_enter = ppi_driver_collector_enter,
      .stream_info = ppi_driver_stream_info,
      .event_create = ppi_driver_event_create,
      .event_destroy = ppi_driver_event_destroy,
      .event_record = ppi_driver_event_record,
      .event_query = ppi_driver_event_query,
      .event_elapsed = ppi_driver_event_elapsed,
      .anchor = ppi_driver_anchor,
      .pool_check = ppi_driver_pool_check,
      .error_text = ppi_driver_error_text,
      .caveat = "not run on hardware",
  };
  return &backend;
}
