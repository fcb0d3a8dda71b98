// SPDX-License-Identifier: Apache-2.0
//
// Every call of pprof/cuda.h, compiled by cuda_header_test.sh as C and as C++,
// with the CUDA headers before it (CUDA_FIRST), after it (CUDA_LAST) or not at
// all, for either default-stream mode, with PPROF_DISABLE and without.
#ifdef CUDA_FIRST
#include <cuda_runtime_api.h>
#endif
#include <pprof/cuda.h>
#include <pprof/pprof.h>
#ifdef CUDA_LAST
#include <cuda_runtime_api.h>
#endif

PPROF_SITE(site, "model", PPROF_CATEGORY_INFERENCE);

static int evaluated;

static cudaStream_t stream_of(uintptr_t handle) {
  evaluated++;
  return (cudaStream_t)handle;
}

static void mark_all(void) {
  pprof_work_amount work = {sizeof work, 1, 0, 0, 0};
  pprof_range range;
  pprof_cuda_stream_name(stream_of(0), "models");
  pprof_cuda_push(stream_of(0), &site);
  pprof_cuda_work(stream_of(0), &work);
  pprof_cuda_next(stream_of(0), &site);
  pprof_cuda_pop(stream_of(0));
  range = pprof_cuda_range_begin(stream_of(0), &site);
  pprof_cuda_range_end(range, stream_of(0));
  PPROF_CUDA_SCOPE(stream_of(0), "one");
  PPROF_CUDA_SCOPE(stream_of(0), "two");
}

#ifndef PPROF_DISABLE
// The default streams by their one name, others as they are.
static int check_streams(void) {
  uintptr_t expected = EXPECTED_STREAM_0;
  if ((uintptr_t)pprof_cuda_stream_((cudaStream_t)0) != expected) return 2;
  if (pprof_cuda_stream_((cudaStream_t)1) != NULL) return 3;
  if ((uintptr_t)pprof_cuda_stream_((cudaStream_t)2) != 2) return 4;
  if ((uintptr_t)pprof_cuda_stream_((cudaStream_t)4096) != 4096) return 5;
  return 0;
}
#endif

int main(void) {
  mark_all();
  if (evaluated != 9) return 1;
  if (pprof_cuda_device() != NULL) return 6;
#ifdef PPROF_DISABLE
  return 0;
#else
  return check_streams();
#endif
}
