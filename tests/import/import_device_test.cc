// SPDX-License-Identifier: Apache-2.0
//
// What of a trace is device work, and what only lies beside it.
#include "imported.h"

namespace pprof_test {
namespace {

// On the stream or thread `tid` of process `pid`; `more` begins with a comma.
std::string On(const std::string &ph, const std::string &name, int pid, int tid,
               int ts, const std::string &more = "") {
  return "{\"ph\":\"" + ph + "\",\"name\":\"" + name +
         "\",\"pid\":" + std::to_string(pid) +
         ",\"tid\":" + std::to_string(tid) + ",\"ts\":" + std::to_string(ts) +
         more + "}";
}

std::string Cat(const std::string &cat, const std::string &more = "") {
  return ",\"cat\":\"" + cat + "\"" + more;
}

TEST(ImportDeviceTest, LaunchArrowsOfAllAgesAreNoFlows) {
  for (const char *cat :
       {"ac2g", "async_gpu", "async_cpu_to_gpu", "async_npu"}) {
    Imported trace;
    trace.ReadEvents(
        On("X", "call", 1, 2, 10, Cat("cuda_runtime", ",\"dur\":5")) + "," +
        On("X", "gemm", 0, 7, 20, Cat("kernel", ",\"dur\":5")) + "," +
        On("s", "cudaLaunchKernel", 1, 2, 10, Cat(cat, ",\"id\":4")) + "," +
        On("f", "cudaLaunchKernel", 0, 7, 20,
           Cat(cat, ",\"id\":4,\"bp\":\"e\"")));
    const ImportedRun &run = trace.run();
    EXPECT_TRUE(run.The("call").flows.empty()) << cat;
    EXPECT_EQ(run.The("gemm").event.start_ns, 0u) << cat << ": the launch";
    EXPECT_EQ(run.The("gemm").thread, 2u) << cat;
    EXPECT_FALSE(run.HasNote("arrows")) << cat;
  }
}

TEST(ImportDeviceTest, WaitsShownOnAStreamAreNoWork) {
  Imported trace;
  trace.ReadEvents(
      On("X", "call", 1, 2, 10, Cat("cuda_runtime", ",\"dur\":5")) + "," +
      On("X", "Stream Sync", 0, 7, 20,
         Cat("cuda_sync", ",\"dur\":5,\"args\":{\"stream\":7}")));
  const ImportedEvent &wait = trace.run().The("Stream Sync");
  EXPECT_EQ(wait.category, "CudaSync");
  EXPECT_EQ(wait.event.kind, uint32_t{PPROF_KIND_DEVICE_RANGE});
  EXPECT_EQ(wait.event.flags, uint32_t{PPROF_FLAG_PROJECTED});
}

}  // namespace
}  // namespace pprof_test
