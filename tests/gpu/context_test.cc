// SPDX-License-Identifier: Apache-2.0
//
// Devices, contexts and streams of any origin.
#include <cuda.h>

#include <thread>

#include "gpu_session.h"

namespace pprof_gpu {
namespace {

PPROF_SITE(spin_site, "spin", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(other_site, "other", PPROF_CATEGORY_INFERENCE);

// A function of the driver without linking it, as of that version.
template <typename Function>
Function *DriverFunction(const char *name, unsigned version) {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
  EXPECT_CUDA(cudaGetDriverEntryPointByVersion(name, &found, version,
                                               cudaEnableDefault, &result));
  EXPECT_EQ(cudaDriverEntryPointSuccess, result) << name;
  return reinterpret_cast<Function *>(found);
}

// A context that the runtime knows nothing of; current while it lives.
class DriverContext {
 public:
  explicit DriverContext(int device) {
    auto create = DriverFunction<CUresult(CUcontext *, unsigned, CUdevice)>(
        "cuCtxCreate", 3020);
    EXPECT_EQ(CUDA_SUCCESS, create(&context_, 0, device));
  }
  ~DriverContext() {
    auto destroy = DriverFunction<CUresult(CUcontext)>("cuCtxDestroy", 4000);
    EXPECT_EQ(CUDA_SUCCESS, destroy(context_));
  }
  DriverContext(const DriverContext &) = delete;
  void MakeCurrent() {
    SetCurrent(context_);
  }
  static void SetCurrent(CUcontext context) {
    auto set = DriverFunction<CUresult(CUcontext)>("cuCtxSetCurrent", 4000);
    EXPECT_EQ(CUDA_SUCCESS, set(context));
  }
  static CUcontext Current() {
    auto get = DriverFunction<CUresult(CUcontext *)>("cuCtxGetCurrent", 4000);
    CUcontext context = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, get(&context));
    return context;
  }

 private:
  CUcontext context_ = nullptr;
};

class ContextTest : public GpuTest {
 protected:
  void Timed(cudaStream_t stream, pprof_site *site) {
    pprof_cuda_push(stream, site);
    ASSERT_CUDA(Spin(stream, 100 * kUs));
    pprof_cuda_pop(stream);
    ASSERT_CUDA(cudaStreamSynchronize(stream));
  }
};

TEST_F(ContextTest, DriverMadeContextBesideThePrimary) {
  CUcontext primary = DriverContext::Current();
  Stream first;
  {
    DriverContext own(0);
    {
      Stream second;
      pprof_cuda_stream_name(second, "second");
      // The first launch in a context loads the kernels into it.
      ASSERT_CUDA(Spin(second, kUs));
      ASSERT_CUDA(cudaStreamSynchronize(second));
      DriverContext::SetCurrent(primary);
      ASSERT_CUDA(Spin(first, kUs));
      ASSERT_CUDA(cudaStreamSynchronize(first));
      Session session;
      session.Start();
      for (int i = 0; i < 5; i++) {
        DriverContext::SetCurrent(primary);
        Timed(first, &spin_site);
        own.MakeCurrent();
        Timed(second, &other_site);
        session.Flush();
      }
      session.Stop();
      EXPECT_EQ(5u, session.Ranges("spin").size());
      EXPECT_EQ(5u, session.Ranges("other").size());
      for (const Range &range : session.Ranges()) {
        EXPECT_TRUE(range.IsTimed()) << range.name;
        EXPECT_GE(range.DeviceNs(), 100 * kUs);
        EXPECT_LT(range.DeviceNs(), 200 * kUs);
        EXPECT_EQ(0u, range.device);
      }
    }
  }
  DriverContext::SetCurrent(primary);
}

TEST_F(ContextTest, ContextThatDiesWithRangesOpen) {
  CUcontext primary = DriverContext::Current();
  Session session;
  session.Start();
  {
    DriverContext own(0);
    Stream stream;
    Timed(stream, &other_site);
    session.Flush();
    Timed(stream, &other_site);
    pprof_cuda_push(stream, &other_site);
    ASSERT_CUDA(Spin(stream, 10 * kUs));
  }
  DriverContext::SetCurrent(primary);
  Stream stream;
  for (int i = 0; i < 5; i++) {
    Timed(stream, &spin_site);
    session.Flush();
  }
  session.Stop();
  EXPECT_EQ(5u, session.Ranges("spin").size());
  for (const Range &range : session.Ranges("spin"))
    EXPECT_TRUE(range.IsTimed());
  EXPECT_EQ(3u, session.Ranges("other").size());
  EXPECT_EQ(0u, session.stats.lost);
}

TEST_F(ContextTest, NoCurrentContextIsHostTimeOnly) {
  CUcontext primary = DriverContext::Current();
  Session session;
  session.Start();
  DriverContext::SetCurrent(nullptr);
  EXPECT_EQ(nullptr, pprof_cuda_device());
  pprof_cuda_push(nullptr, &spin_site);
  // It became current meanwhile, as with the runtime's first call.
  DriverContext::SetCurrent(primary);
  pprof_cuda_pop(nullptr);
  session.Stop();
  ASSERT_EQ(1u, session.Ranges().size());
  EXPECT_FALSE(session.Ranges()[0].IsTimed());
  EXPECT_EQ(UINT64_MAX, session.Ranges()[0].device);
  EXPECT_EQ(0u, session.stats.unmatched);
  EXPECT_NE(std::string::npos, session.Report().find("no current CUDA context"))
      << session.Report();
}

TEST_F(ContextTest, NewThreadFindsTheDevice) {
  Stream stream;
  Session session;
  session.Start();
  // Nothing is current on a thread until its first call of the runtime.
  std::thread thread([&] {
    ASSERT_CUDA(cudaSetDevice(0));
    Timed(stream, &spin_site);
  });
  thread.join();
  session.Stop();
  ASSERT_EQ(1u, session.Ranges().size());
  EXPECT_TRUE(session.Ranges()[0].IsTimed());
}

TEST_F(ContextTest, DefaultStreamHasOneName) {
  Session session;
  session.Start();
  pprof_cuda_push(nullptr, &spin_site);
  ASSERT_CUDA(Spin(cudaStreamLegacy, 100 * kUs));
  pprof_cuda_pop(cudaStreamLegacy);
  pprof_cuda_push(cudaStreamLegacy, &spin_site);
  ASSERT_CUDA(Spin(nullptr, 100 * kUs));
  pprof_cuda_pop(nullptr);
  pprof_cuda_push(cudaStreamPerThread, &other_site);
  ASSERT_CUDA(Spin(cudaStreamPerThread, 100 * kUs));
  pprof_cuda_pop(cudaStreamPerThread);
  ASSERT_CUDA(cudaDeviceSynchronize());
  session.Stop();
  auto legacy = session.Ranges("spin"), own = session.Ranges("other");
  ASSERT_EQ(2u, legacy.size());
  ASSERT_EQ(1u, own.size());
  EXPECT_EQ(legacy[0].event.stream, legacy[1].event.stream);
  EXPECT_NE(legacy[0].event.stream, own[0].event.stream);
  for (const Range &range : session.Ranges()) {
    EXPECT_TRUE(range.IsTimed());
    EXPECT_GE(range.DeviceNs(), 100 * kUs);
  }
  EXPECT_EQ(0u, session.stats.unmatched);
}

TEST_F(ContextTest, DestroyedStreamAndItsHandleAgain) {
  Session session;
  session.Start();
  cudaStream_t first = nullptr;
  ASSERT_CUDA(cudaStreamCreate(&first));
  pprof_cuda_push(first, &spin_site);
  ASSERT_CUDA(Spin(first, 100 * kUs));
  ASSERT_CUDA(cudaStreamDestroy(first));
  ASSERT_CUDA(cudaDeviceSynchronize());
  cudaStream_t second = nullptr;
  ASSERT_CUDA(cudaStreamCreate(&second));
  Timed(second, &other_site);
  bool is_same = first == second;
  RecordProperty("handle_came_back", is_same);
  ASSERT_CUDA(cudaStreamDestroy(second));
  session.Stop();
  auto open = session.Ranges("spin"), later = session.Ranges("other");
  ASSERT_EQ(1u, open.size());
  ASSERT_EQ(1u, later.size());
  EXPECT_TRUE(open[0].event.flags & PPROF_FLAG_CLIPPED);
  EXPECT_TRUE(later[0].IsTimed());
  EXPECT_GE(later[0].DeviceNs(), 100 * kUs);
  EXPECT_NE(open[0].event.stream, later[0].event.stream);
  EXPECT_EQ(0u, session.stats.lost);
}

// run-tests leaves it out where there is one device only.
TEST_F(ContextTest, TwoDevices) {
  int num_devices = 0;
  ASSERT_CUDA(cudaGetDeviceCount(&num_devices));
  ASSERT_GE(num_devices, 2);
  cudaStream_t streams[2];
  for (int i = 0; i < 2; i++) {
    ASSERT_CUDA(cudaSetDevice(i));
    ASSERT_CUDA(cudaStreamCreate(&streams[i]));
    pprof_cuda_stream_name(streams[i], i ? "of 1" : "of 0");
  }
  Session session;
  session.Start();
  for (int i = 0; i < 2; i++) {
    ASSERT_CUDA(cudaSetDevice(i));
    pprof_cuda_push(streams[i], i ? &other_site : &spin_site);
    ASSERT_CUDA(Spin(streams[i], 100 * kUs));
  }
  // Device 1 is current: the pop finds the other's range by its stream.
  pprof_cuda_pop(streams[0]);
  pprof_cuda_pop(streams[1]);
  // On the default stream the current device decides.
  ASSERT_CUDA(cudaSetDevice(0));
  pprof_cuda_push(nullptr, &spin_site);
  ASSERT_CUDA(cudaSetDevice(1));
  pprof_cuda_push(nullptr, &other_site);
  ASSERT_CUDA(cudaSetDevice(0));
  pprof_cuda_pop(nullptr);
  ASSERT_CUDA(cudaSetDevice(1));
  pprof_cuda_pop(nullptr);
  for (int i = 0; i < 2; i++) {
    ASSERT_CUDA(cudaSetDevice(i));
    ASSERT_CUDA(cudaDeviceSynchronize());
    ASSERT_CUDA(cudaStreamDestroy(streams[i]));
  }
  session.Stop();
  ASSERT_CUDA(cudaSetDevice(0));
  for (const Range &range : session.Ranges("spin")) {
    EXPECT_EQ(0u, range.device);
    EXPECT_TRUE(range.IsTimed());
  }
  for (const Range &range : session.Ranges("other")) {
    EXPECT_EQ(1u, range.device);
    EXPECT_TRUE(range.IsTimed());
  }
  EXPECT_EQ(4u, session.Ranges().size());
}

}  // namespace
}  // namespace pprof_gpu
