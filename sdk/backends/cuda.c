// SPDX-License-Identifier: Apache-2.0
//
// Implements the cuda backend with events of the driver library, found at run
// time. It serves programs of the CUDA Runtime (cudaStream_t is CUstream) and
// of the driver alike, and leaves the runtime's last error alone. No CUDA
// header or library is needed to build it.
//
//   pprof_device *gpu = pprof_device_get(pprof_backend_cuda(), 0);
//   pprof_device_push(gpu, stream, &site);  // stream: cudaStream_t, CUstream
//
// Stream NULL is the legacy default stream of the current context. A program
// built with per-thread default streams passes (void *)2,
// cudaStreamPerThread, instead.
#include "cuda_symbols.h"

// The names without _ptsz: there NULL is the legacy stream, whatever the
// program was built with. A newer name (third place) is preferred where it
// exists.
#define CUDA_LIST(X)                                                         \
  X(init, "cuInit", NULL, false)                                             \
  X(device_count, "cuDeviceGetCount", NULL, false)                           \
  X(stream_pool, "cuStreamGetCtx", NULL, false)                              \
  X(pool_current, "cuCtxGetCurrent", NULL, false)                            \
  X(stream_id, "cuStreamGetId", NULL, true)                                  \
  X(stream_capturing, "cuStreamIsCapturing", NULL, false)                    \
  X(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", NULL, false) \
  X(pool_enter, "cuCtxPushCurrent_v2", NULL, false)                          \
  X(pool_leave, "cuCtxPopCurrent_v2", NULL, false)                           \
  X(stream_create, "cuStreamCreate", NULL, false)                            \
  X(stream_destroy, "cuStreamDestroy_v2", NULL, false)                       \
  X(event_create, "cuEventCreate", NULL, false)                              \
  X(event_destroy, "cuEventDestroy_v2", NULL, false)                         \
  X(event_record, "cuEventRecord", NULL, false)                              \
  X(event_elapsed, "cuEventElapsedTime", "cuEventElapsedTime_v2", false)     \
  X(error_name, "cuGetErrorName", NULL, false)                               \
  X(context_id, "cuCtxGetId", NULL, true)                                    \
  X(event_record_flags, "cuEventRecordWithFlags", NULL, true)                \
  X(capture_info, "cuStreamGetCaptureInfo_v2", NULL, true)

const ppi_symbol *ppi_cuda_symbols(size_t *out_num) {
  static const ppi_symbol symbols[] = {
#define CUDA_SYMBOL(member, name, newer, optional) \
  {name, newer, offsetof(ppi_driver_api, member), optional},
      CUDA_LIST(CUDA_SYMBOL)
#undef CUDA_SYMBOL
  };
  *out_num = sizeof symbols / sizeof *symbols;
  return symbols;
}

pprof_status ppi_cuda_load(const char *const *sonames, ppi_driver_api *out,
                           pprof_error *error) {
  ppi_library library = {"cuda", sonames, NULL, 0};
  library.symbols = ppi_cuda_symbols(&library.num_symbols);
  pprof_status status = ppi_library_load(&library, out, error);
  // Not asked for: it waits for the lock under which threads record.
  if (!status) out->event_query = NULL;
  return status;
}

static pprof_status load(ppi_driver_api *out, pprof_error *error) {
  static const char *const sonames[] = {"libcuda.so.1", NULL};
  return ppi_cuda_load(sonames, out, error);
}

static pprof_status cuda_open(int index, void **out_context,
                              pprof_error *error) {
  static ppi_driver_source driver = {
      .name = "cuda", .load = load, .lock = PTHREAD_MUTEX_INITIALIZER};
  return ppi_driver_open_source(&driver, index, out_context, error);
}

const pprof_backend *pprof_backend_cuda(void) {
  static const pprof_backend backend = {
      PPI_DRIVER_ENTRIES,
      .name = "cuda",
      .open = cuda_open,
      .event_record_in_graph = ppi_driver_event_record_in_graph,
  };
  return &backend;
}
