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

static inline pprof_device *pprof_device_get(const pprof_backend *backend,
                                             int index) {
  (void)backend;
  (void)index;
  return PPROF_NULL_;
}
static inline bool pprof_device_available(pprof_device *device,
                                          pprof_error *why_not) {
  static const pprof_error text = {"compiled with PPROF_DISABLE"};
  (void)device;
  if (why_not) *why_not = text;
  return false;
}
static inline void pprof_device_push(pprof_device *device, void *stream,
                                     pprof_site *site) {
  (void)device;
  (void)stream;
  (void)site;
}
static inline void pprof_device_pop(pprof_device *device, void *stream) {
  (void)device;
  (void)stream;
}
static inline void pprof_device_next(pprof_device *device, void *stream,
                                     pprof_site *site) {
  (void)device;
  (void)stream;
  (void)site;
}
static inline pprof_range pprof_device_range_begin(pprof_device *device,
                                                   void *stream,
                                                   pprof_site *site) {
  pprof_range none = {0};
  (void)device;
  (void)stream;
  (void)site;
  return none;
}
static inline void pprof_device_range_end(pprof_range range, void *stream) {
  (void)range;
  (void)stream;
}
static inline void pprof_device_work(pprof_device *device, void *stream,
                                     const pprof_work_amount *work) {
  (void)device;
  (void)stream;
  (void)work;
}
static inline void pprof_stream_name(pprof_device *device, void *stream,
                                     const char *name) {
  (void)device;
  (void)stream;
  (void)name;
}
static inline int pprof_device_nothing_(pprof_device *device, void *stream) {
  (void)device;
  (void)stream;
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

#endif  // PPROF_DISABLE, from device.h

#endif  // PPROF_DEVICE_DISABLED_H_
