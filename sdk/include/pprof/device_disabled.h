// SPDX-License-Identifier: Apache-2.0
//
// device.h with PPROF_DISABLE: the same names, no code. Arguments are
// evaluated, and what is a declaration without it is one here, so that a
// program compiles in both ways or in none. device.h alone includes this file,
// behind its types.
#ifndef PPROF_DEVICE_DISABLED_H_
#define PPROF_DEVICE_DISABLED_H_

#include "pprof/base.h"
#include "pprof/mark.h"

#if defined(PPROF_DISABLE) && defined(PPROF_DEVICE_H_)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

static inline pprof_device *pprof_device_get(const pprof_backend *backend,
                                             int index) {
  return PPROF_NULL_;
}
static inline bool pprof_device_available(pprof_device *device,
                                          pprof_error *why_not) {
  static const pprof_error text = {"compiled with PPROF_DISABLE"};
  if (why_not) *why_not = text;
  return false;
}
static inline void pprof_device_push(pprof_device *device, void *stream,
                                     pprof_site *site) {}
static inline void pprof_device_pop(pprof_device *device, void *stream) {}
static inline void pprof_device_next(pprof_device *device, void *stream,
                                     pprof_site *site) {}
static inline pprof_range pprof_device_range_begin(pprof_device *device,
                                                   void *stream,
                                                   pprof_site *site) {
  pprof_range none = {0};
  return none;
}
static inline void pprof_device_range_end(pprof_range range, void *stream) {}
static inline void pprof_device_work(pprof_device *device, void *stream,
                                     const pprof_work_amount *work) {}
static inline void pprof_stream_name(pprof_device *device, void *stream,
                                     const char *name) {}
static inline int pprof_device_nothing_(pprof_device *device, void *stream) {
  return 0;
}
#define PPROF_DEVICE_SCOPE_N_(device, stream, n)                    \
  __attribute__((unused)) const int PPROF_CAT_(pprof_nothing_, n) = \
      pprof_device_nothing_(device, stream)
#define PPROF_DEVICE_SCOPE(device, stream, label) \
  PPROF_DEVICE_SCOPE_N_(device, stream, __COUNTER__)

static inline const pprof_backend *pprof_backend_cpu(void) {
  return PPROF_NULL_;
}
static inline const pprof_backend *pprof_backend_opencl(void) {
  return PPROF_NULL_;
}
static inline const pprof_backend *pprof_backend_cuda(void) {
  return PPROF_NULL_;
}
static inline const pprof_backend *pprof_backend_hip(void) {
  return PPROF_NULL_;
}

#pragma GCC diagnostic pop

#endif  // PPROF_DISABLE, from device.h

#endif  // PPROF_DEVICE_DISABLED_H_
