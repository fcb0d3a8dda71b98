// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the GPU tests.
#include "kernels.h"

namespace pprof_gpu {
namespace {

constexpr unsigned long long kLongestHoldNs = 20000000000ull;

__device__ unsigned long long NowNs() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void SpinFor(unsigned long long ns) {
  unsigned long long start = NowNs();
  while (NowNs() - start < ns) {
  }
}

// Says how long it ran.
__global__ void SpinAndStamp(unsigned long long ns, unsigned long long *out) {
  unsigned long long start = NowNs(), now = start;
  while (now - start < ns) now = NowNs();
  *out = now - start;
}

__global__ void HoldUntil(const volatile unsigned *go) {
  unsigned long long start = NowNs();
  while (*go == 0 && NowNs() - start < kLongestHoldNs) {
  }
}

__global__ void Fail() {
  asm volatile("trap;");
}

}  // namespace

const void *SpinKernel() {
  return reinterpret_cast<const void *>(SpinFor);
}

const void *SpinStampedKernel() {
  return reinterpret_cast<const void *>(SpinAndStamp);
}

const void *HoldKernel() {
  return reinterpret_cast<const void *>(HoldUntil);
}

const void *TrapKernel() {
  return reinterpret_cast<const void *>(Fail);
}

}  // namespace pprof_gpu
