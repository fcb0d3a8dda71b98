// SPDX-License-Identifier: Apache-2.0
//
// A file built with per-thread default streams: stream 0 is the thread's own.
// What gpu_session.h calls is common to both modes: it names its streams.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1

#include <set>
#include <thread>

#include "gpu_session.h"

namespace pprof_gpu {
namespace {

PPROF_SITE(spin_site, "spin", PPROF_CATEGORY_INFERENCE);

class PerThreadTest : public GpuTest {};

TEST_F(PerThreadTest, StreamZeroIsTheThreadsOwn) {
  constexpr size_t kThreads = 3;
  Session session;
  session.Start();
  // Were stream 0 the legacy one, its events would wait for this kernel of a
  // stream that blocks it.
  Stream blocking(cudaStreamDefault);
  Gate gate;
  gate.Close(blocking);
  std::thread threads[kThreads];
  for (std::thread &thread : threads)
    thread = std::thread([&] {
      ASSERT_CUDA(cudaSetDevice(0));
      pprof_cuda_push(nullptr, &spin_site);
      ASSERT_CUDA(Spin(nullptr, 100 * kUs));
      pprof_cuda_pop(cudaStreamPerThread);
      ASSERT_CUDA(cudaStreamSynchronize(nullptr));
    });
  for (std::thread &thread : threads) thread.join();
  session.Flush();
  EXPECT_TRUE(IsBusy(blocking));
  gate.Open();
  session.Stop();
  auto ranges = session.Ranges("spin");
  ASSERT_EQ(kThreads, ranges.size());
  std::set<uint32_t> streams;
  for (const Range &range : ranges) {
    EXPECT_TRUE(range.IsTimed());
    EXPECT_GE(range.DeviceNs(), 100 * kUs);
    streams.insert(range.event.stream);
  }
  // Each is a row of its own.
  EXPECT_EQ(kThreads, streams.size());
  EXPECT_EQ(0u, session.stats.unmatched);
}

}  // namespace
}  // namespace pprof_gpu
