// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the device benchmark.
#include "device_kernels.h"

namespace {

__device__ uint64_t timer_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void do_nothing() {}

__global__ void spin(uint64_t ns, uint64_t *out_ns) {
  uint64_t start = timer_ns(), now = start;
  while (now - start < ns) now = timer_ns();
  if (out_ns) *out_ns = now - start;
}

__global__ void wait_for(const volatile uint32_t *open, uint64_t limit_ns) {
  uint64_t start = timer_ns();
  while (*open == 0 && timer_ns() - start < limit_ns) {
  }
}

__global__ void multiply_add(float *values, size_t num, int rounds) {
  size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (at >= num) return;
  float value = values[at];
  for (int i = 0; i < rounds; i++) value = fmaf(value, 0.999f, 0.5f);
  values[at] = value;
}

}  // namespace

void bench_launch_tiny(cudaStream_t stream) {
  do_nothing<<<1, 1, 0, stream>>>();
}

void bench_launch_spin(cudaStream_t stream, uint64_t ns, uint64_t *out_ns) {
  spin<<<1, 1, 0, stream>>>(ns, out_ns);
}

void bench_launch_gate(cudaStream_t stream, const uint32_t *open,
                       uint64_t limit_ns) {
  wait_for<<<1, 1, 0, stream>>>(open, limit_ns);
}

void bench_launch_model(cudaStream_t stream, float *values, size_t num,
                        int rounds) {
  const unsigned block = 256;
  unsigned blocks = static_cast<unsigned>((num + block - 1) / block);
  multiply_add<<<blocks, block, 0, stream>>>(values, num, rounds);
}
