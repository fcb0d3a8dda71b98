// SPDX-License-Identifier: Apache-2.0
//
// Scenario S: two steps of 50 ms on one device with kernel records; the full
// worked example of the reference for the tables.
#pragma once

#include "event_feed.h"

namespace pprof_test {

inline void ScenarioSStep(EventFeed *feed, uint64_t o) {
  auto host = [&](const char *name, uint32_t category, double from, double to) {
    feed->Range(1, name, category, o + static_cast<uint64_t>(from * 1e6),
                o + static_cast<uint64_t>(to * 1e6));
  };
  auto device = [&](uint32_t stream, const char *name, uint32_t category,
                    uint64_t launch, uint64_t from, uint64_t to) {
    feed->OnDevice(1, stream, name, category, o + launch * kMs, o + from * kMs,
                   o + to * kMs);
  };
  feed->Step(o, o + 50 * kMs);
  host("reader", PPROF_CATEGORY_DATALOADER, 0, 5);
  host("cudaLaunchKernel", PPROF_CATEGORY_RUNTIME, 8, 9);
  host("matmul compute", PPROF_CATEGORY_OPERATOR_INNER, 7, 11);
  host("matmul", PPROF_CATEGORY_OPERATOR, 6, 12);
  host("cudaLaunchKernel", PPROF_CATEGORY_RUNTIME, 14, 15);
  host("relu", PPROF_CATEGORY_OPERATOR, 13, 17);
  host("Forward", PPROF_CATEGORY_FORWARD, 5, 20);
  host("cudaLaunchKernel", PPROF_CATEGORY_RUNTIME, 22, 23);
  host("matmul_grad", PPROF_CATEGORY_OPERATOR, 21, 31);
  host("cudaLaunchKernel", PPROF_CATEGORY_RUNTIME, 32, 33);
  host("c_allreduce_sum", PPROF_CATEGORY_OPERATOR, 31, 34);
  host("Backward", PPROF_CATEGORY_BACKWARD, 20, 35);
  host("cudaLaunchKernel", PPROF_CATEGORY_RUNTIME, 37, 38);
  host("adam", PPROF_CATEGORY_OPERATOR, 36, 41);
  host("cudaMemcpyAsync", PPROF_CATEGORY_RUNTIME, 41, 41.5);
  host("GpuMemcpyAsync:CPU->GPU", PPROF_CATEGORY_USER_DEFINED, 41, 42);
  host("Optimization Step", PPROF_CATEGORY_OPTIMIZATION, 35, 42);
  host("postproc", PPROF_CATEGORY_PYTHON_USER_DEFINED, 43, 47);
  device(7, "gemm_k", PPROF_CATEGORY_KERNEL, 8, 10, 22);
  device(7, "relu_k", PPROF_CATEGORY_KERNEL, 14, 22, 26);
  device(7, "gemm_bw", PPROF_CATEGORY_KERNEL, 22, 26, 40);
  device(13, "ncclAllReduce", PPROF_CATEGORY_KERNEL, 32, 34, 44);
  device(7, "adam_k", PPROF_CATEGORY_KERNEL, 37, 44, 47);
  device(14, "MEMCPY_HtoD", PPROF_CATEGORY_MEMCPY, 41, 43, 45);
}

inline void FillScenarioS(EventFeed *feed) {
  feed->Lane(1, 100, "main");
  feed->Device(1, "GPU0");
  for (uint32_t stream : {7u, 13u, 14u}) feed->Stream(stream, 1);
  feed->AddWindow(0, 100 * kMs);
  ScenarioSStep(feed, 0);
  ScenarioSStep(feed, 50 * kMs);
  feed->Total(PPI_TOTAL_CPU_PROCESS_NS, 131 * kMs);
  feed->Total(PPI_TOTAL_CPU_ELAPSED_NS, 100 * kMs);
  feed->Total(PPI_TOTAL_CPU_SYSTEM_BUSY_TICKS, 225);
  feed->Total(PPI_TOTAL_CPU_SYSTEM_IDLE_TICKS, 775);
  feed->Total(PPI_TOTAL_CRASH_SAFE, 1);
  feed->Total(PPI_TOTAL_CLOCK_ERROR_NS, 25);
  feed->Total(PPI_TOTAL_OWN_COST, 40100);
  feed->Total(PPI_TOTAL_OWN_COST_TOTAL_NS, 20000);
}

}  // namespace pprof_test
