// SPDX-License-Identifier: Apache-2.0
//
// cuda.h with PPROF_DISABLE: the same names, no code. Arguments are
// evaluated, and what is a declaration without it is one here, so that a
// program compiles in both ways or in none. cuda.h alone includes this file,
// behind its types.
#ifndef PPROF_CUDA_DISABLED_H_
#define PPROF_CUDA_DISABLED_H_

#include "pprof/base.h"
#include "pprof/device.h"
#include "pprof/mark.h"

#if defined(PPROF_DISABLE) && defined(PPROF_CUDA_H_)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

static inline pprof_device *pprof_cuda_device(void) {
  return PPROF_NULL_;
}
static inline void pprof_cuda_push(cudaStream_t stream, pprof_site *site) {}
static inline void pprof_cuda_pop(cudaStream_t stream) {}
static inline void pprof_cuda_next(cudaStream_t stream, pprof_site *site) {}
static inline pprof_range pprof_cuda_range_begin(cudaStream_t stream,
                                                 pprof_site *site) {
  pprof_range none = {0};
  return none;
}
static inline void pprof_cuda_range_end(pprof_range range,
                                        cudaStream_t stream) {}
static inline void pprof_cuda_work(cudaStream_t stream,
                                   const pprof_work_amount *work) {}
static inline void pprof_cuda_stream_name(cudaStream_t stream,
                                          const char *name) {}
static inline int pprof_cuda_nothing_(cudaStream_t stream) {
  return 0;
}
#define PPROF_CUDA_SCOPE_N_(stream, n)                              \
  __attribute__((unused)) const int PPROF_CAT_(pprof_nothing_, n) = \
      pprof_cuda_nothing_(stream)
#define PPROF_CUDA_SCOPE(stream, label) PPROF_CUDA_SCOPE_N_(stream, __COUNTER__)

#pragma GCC diagnostic pop

#endif  // PPROF_DISABLE, from cuda.h

#endif  // PPROF_CUDA_DISABLED_H_
