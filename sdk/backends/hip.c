// SPDX-License-Identifier: Apache-2.0
//
// Implements the hip backend like the cuda backend, over libamdhip64. Not run
// on hardware: its calls are checked against a stand-in for the driver only.
//
// HIP has no context of its own beside the device, so a pool is a device (its
// ordinal + 1). Our calls share the thread's last error with the program's: one
// that fails here shows up in hipGetLastError, and before HIP 7 one that does
// not fail clears it.
#include "hip.h"

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

// hipStreamGetDevice has the same answer, but HIP 5.2 lacks it.
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

static pprof_status load(ppi_driver_api *out, pprof_error *error) {
  static const char *const sonames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so.5", NULL};
  ppi_hip_api functions;
  pprof_status status = ppi_hip_load(sonames, &functions, error);
  if (status == PPROF_STATUS_OK) ppi_hip_use(&functions, out);
  return status;
}

static pprof_status hip_open(int index, void **out_context,
                             pprof_error *error) {
  static ppi_driver_source driver = {
      .name = "hip", .load = load, .lock = PTHREAD_MUTEX_INITIALIZER};
  return ppi_driver_open_source(&driver, index, out_context, error);
}

const pprof_backend *pprof_backend_hip(void) {
  static const pprof_backend backend = {
      PPI_DRIVER_ENTRIES,
      .name = "hip",
      .open = hip_open,
      .caveat = "not run on hardware",
  };
  return &backend;
}
