// SPDX-License-Identifier: Apache-2.0
//
// Device ranges for CUDA programs, typed: a cudaStream_t is all they take.
//
// Example:
//   PPROF_SITE(detect, "detect", PPROF_CATEGORY_INFERENCE);
//   pprof_cuda_push(stream, &detect);
//   launch(stream);  // detect_kernel<<<grid, block, 0, stream>>>(...)
//   pprof_cuda_pop(stream);
//   {
//     PPROF_CUDA_SCOPE(stream, "classify");
//     launch(stream);
//   }
//
// A device range is a span on a stream: from the moment the stream reaches the
// event recorded at the begin to the moment it reaches the one recorded at the
// end, gaps between kernels included. The host goes on meanwhile. So put one
// range around a stage, not around each small kernel; docs/device-timing.md has
// what both events cost.
//
// Nothing of CUDA is needed to include this; cuda_runtime.h may stand before
// it or after it. A CUstream is a cudaStream_t.
//
// The device is that of the context current on the calling thread, as for a
// kernel launch: the stream belongs to it. Where none is current yet (no CUDA
// call was made that needs one), a range has its host side only, and the
// report says so. No call here loads a driver, makes a context, waits for the
// device or touches the program's last error. The first range on a device opens
// it (pprof_device_get); open it before the work starts with pprof_cuda_device.
//
// Stream 0 is what it is to the CUDA calls around it: with nvcc
// --default-stream per-thread, or CUDA_API_PER_THREAD_DEFAULT_STREAM defined
// before the first include, cudaStreamPerThread; otherwise the legacy default
// stream, as is cudaStreamLegacy.
#ifndef PPROF_CUDA_H_
#define PPROF_CUDA_H_

#include "pprof/base.h"
#include "pprof/device.h"
#include "pprof/mark.h"

PPROF_BEGIN_C_

// As the CUDA headers have it.
typedef struct CUstream_st *cudaStream_t;

// pprof_cuda_device is the device of the context that is current on this
// thread.
//
// Result: NULL when there is none; device calls take NULL for host time only.
// Cost:   asks the driver once; the first time for a device, pprof_device_get.
//         Until the program has loaded its driver, looks for it at most once a
//         millisecond.
//
// Example:
//   // Behind the program's own cudaSetDevice: opened now, not in the first
//   // request.
//   pprof_error why;
//   pprof_device *device = pprof_cuda_device();
//   if (!pprof_device_available(device, &why))
//     fprintf(stderr, "no device times: %s\n", why.text);
PPROF_API pprof_device *pprof_cuda_device(void) PPROF_OFF_(PPROF_NULL_);

// For inline code only. `stream` is one that pprof_cuda_stream_ gave.
PPROF_API void pprof_cuda_pop_(void *stream) PPROF_OFF_();
PPROF_API void pprof_cuda_next_(void *stream, pprof_site *site) PPROF_OFF_();
PPROF_API void pprof_cuda_work_(void *stream, const pprof_work_amount *work)
    PPROF_OFF_();
PPROF_API pprof_device_token pprof_cuda_scope_push_(void *stream,
                                                    pprof_site *site)
    PPROF_OFF_(pprof_no_device_scope_());

// For inline code only. A stream has one name here: NULL, never
// cudaStreamLegacy (1), for the legacy default stream.
static inline void *pprof_cuda_stream_(cudaStream_t stream) {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || \
    defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
  const uintptr_t per_thread = 2;  // cudaStreamPerThread
  if (!stream) return PPROF_CAST_(void *, per_thread);
#endif
  return PPROF_CAST_(uintptr_t, stream) == 1 ? PPROF_NULL_
                                             : PPROF_CAST_(void *, stream);
}

// pprof_cuda_push is pprof_device_push on the current device: it opens a range
// of this thread on `stream`, inside the thread's innermost one there.
//
// Cost: while nothing records, one load and one branch; else one device event
//       recorded in `stream`.
static inline void pprof_cuda_push(cudaStream_t stream, pprof_site *site) {
  if (!PPROF_RECORDS_()) return;
  pprof_device_push(pprof_cuda_device(), pprof_cuda_stream_(stream), site);
}

// pprof_cuda_pop is pprof_device_pop. The range is found by thread and stream,
// also when another device is current by now; of several on stream 0 of
// different devices, that of the current device.
//
// Cost: one device event recorded in `stream`.
static inline void pprof_cuda_pop(cudaStream_t stream) {
  pprof_cuda_pop_(pprof_cuda_stream_(stream));
}

// pprof_cuda_next is pprof_device_next: the end of one stage is the start of
// the other. With none open the end is counted unmatched.
//
// Cost: one device event recorded in `stream`.
//
// Example:
//   PPROF_SITE(upload, "upload", PPROF_CATEGORY_MEMCPY);
//   PPROF_SITE(detect, "detect", PPROF_CATEGORY_INFERENCE);
//   pprof_cuda_push(stream, &upload);
//   launch(stream);
//   pprof_cuda_next(stream, &detect);
//   launch(stream);
//   pprof_cuda_pop(stream);
static inline void pprof_cuda_next(cudaStream_t stream, pprof_site *site) {
  if (!PPROF_RECORDS_())
    pprof_cuda_pop_(pprof_cuda_stream_(stream));
  else
    pprof_cuda_next_(pprof_cuda_stream_(stream), site);
}

// pprof_cuda_range_begin is pprof_device_range_begin on the current device.
//
// Result: id 0 while nothing records, or when it could not be kept.
// Cost:   as pprof_cuda_push.
//
// Example:
//   PPROF_SITE(batch, "batch", PPROF_CATEGORY_INFERENCE);
//   pprof_range range = pprof_cuda_range_begin(stream, &batch);
//   pprof_range_flow(range, 4711);  // it serves request 4711
//   launch(stream);
//   pprof_cuda_range_end(range, other_stream);  // which waits for `stream`
static inline pprof_range pprof_cuda_range_begin(cudaStream_t stream,
                                                 pprof_site *site) {
  pprof_range none = {0};
  if (!PPROF_RECORDS_()) return none;
  return pprof_device_range_begin(pprof_cuda_device(),
                                  pprof_cuda_stream_(stream), site);
}

// pprof_cuda_range_end is pprof_device_range_end: any thread, any stream of the
// device it began on.
//
// Cost: one device event recorded in `stream`.
static inline void pprof_cuda_range_end(pprof_range range,
                                        cudaStream_t stream) {
  if (range.id) pprof_device_range_end(range, pprof_cuda_stream_(stream));
}

// pprof_cuda_work adds `work` to the range that pprof_cuda_pop would end. Rates
// are over the range's time on the device.
//
// Example:
//   pprof_work_amount work = {sizeof work, 0, 4096, 0, 0};  // 4 KiB moved
//   pprof_cuda_work(stream, &work);
static inline void pprof_cuda_work(cudaStream_t stream,
                                   const pprof_work_amount *work) {
  if (PPROF_RECORDS_()) pprof_cuda_work_(pprof_cuda_stream_(stream), work);
}

// pprof_cuda_stream_name is pprof_stream_name on the current device. Called
// before the start it also has the events of the context ready for the first
// range.
static inline void pprof_cuda_stream_name(cudaStream_t stream,
                                          const char *name) {
  pprof_stream_name(pprof_cuda_device(), pprof_cuda_stream_(stream), name);
}

static inline pprof_device_token pprof_cuda_scope_enter_(cudaStream_t stream,
                                                         pprof_site *site) {
  pprof_device_token none = {{0}, PPROF_NULL_};
  if (!PPROF_RECORDS_()) return none;
  return pprof_cuda_scope_push_(pprof_cuda_stream_(stream), site);
}

// PPROF_CUDA_SCOPE is PPROF_DEVICE_SCOPE on the current device: a range of
// category INFERENCE that ends with the enclosing block.
//
// Cost: while nothing records, two loads and two branches; else two device
//       events recorded in `stream`.
#define PPROF_CUDA_SCOPE(stream, label) \
  PPROF_CUDA_SCOPE_N_(stream, label, __COUNTER__)

#define PPROF_CUDA_SCOPE_N_(stream, label, n)                              \
  PPROF_SITE(PPROF_CAT_(pprof_site_, n), label, PPROF_CATEGORY_INFERENCE); \
  __attribute__((cleanup(pprof_device_scope_exit_), unused))               \
  const pprof_device_token                                                 \
  PPROF_CAT_(pprof_token_, n) =                                            \
      pprof_cuda_scope_enter_(stream, &PPROF_CAT_(pprof_site_, n))

PPROF_END_C_

#endif  // PPROF_CUDA_H_
