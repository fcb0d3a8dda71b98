// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose truth is known: one that runs for a given time, one that runs
// until the host lets it end, one that fails. Launched by the calling file, so
// that its default-stream mode holds.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pprof_gpu {

// What cudaLaunchKernel takes for the kernels below.
const void *SpinKernel();
const void *SpinStampedKernel();
const void *HoldKernel();
const void *TrapKernel();

// Runs for `ns` of the device's own clock.
static inline cudaError_t Spin(cudaStream_t stream, uint64_t ns) {
  unsigned long long length = ns;
  void *arguments[] = {&length};
  return cudaLaunchKernel(SpinKernel(), dim3(1), dim3(1), arguments, 0, stream);
}

// The same; `*out_ns` (device memory) is how long it ran.
static inline cudaError_t SpinStamped(cudaStream_t stream, uint64_t ns,
                                      uint64_t *out_ns) {
  unsigned long long length = ns;
  void *arguments[] = {&length, &out_ns};
  return cudaLaunchKernel(SpinStampedKernel(), dim3(1), dim3(1), arguments, 0,
                          stream);
}

// Runs until `*go` (host memory that the device sees) is not 0; 20 s at most.
static inline cudaError_t Hold(cudaStream_t stream, volatile uint32_t *go) {
  void *arguments[] = {&go};
  return cudaLaunchKernel(HoldKernel(), dim3(1), dim3(1), arguments, 0, stream);
}

// Ends in an illegal instruction: an error of the context for good.
static inline cudaError_t Trap(cudaStream_t stream) {
  return cudaLaunchKernel(TrapKernel(), dim3(1), dim3(1), nullptr, 0, stream);
}

// A launch that the runtime refuses; it becomes the program's last error.
static inline cudaError_t LaunchTooWide(cudaStream_t stream) {
  unsigned long long length = 1;
  void *arguments[] = {&length};
  return cudaLaunchKernel(SpinKernel(), dim3(1), dim3(4096), arguments, 0,
                          stream);
}

}  // namespace pprof_gpu
