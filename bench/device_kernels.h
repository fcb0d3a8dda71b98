// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the device benchmark, launched from C. Times are those of
// %globaltimer, in ns.
#ifndef BENCH_DEVICE_KERNELS_H_
#define BENCH_DEVICE_KERNELS_H_

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A kernel that does nothing.
void bench_launch_tiny(cudaStream_t stream);
// One thread that runs for `ns`; `out_ns` (device memory, may be NULL) receives
// how long it really ran.
void bench_launch_spin(cudaStream_t stream, uint64_t ns, uint64_t *out_ns);
// One thread that waits until `*open` (mapped host memory) is not 0, but no
// longer than `limit_ns`.
void bench_launch_gate(cudaStream_t stream, const uint32_t *open,
                       uint64_t limit_ns);
// Arithmetic that fills the device: `rounds` multiply-adds on each of `num`
// values.
void bench_launch_model(cudaStream_t stream, float *values, size_t num,
                        int rounds);

#ifdef __cplusplus
}
#endif

#endif  // BENCH_DEVICE_KERNELS_H_
