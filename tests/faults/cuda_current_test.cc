// SPDX-License-Identifier: Apache-2.0
//
// The markers of pprof/cuda.h: which device they find, and what they do where
// there is none.
#include <dlfcn.h>

#include <functional>
#include <thread>

#include "cuda_fixture.h"
#include "cupti.h"
#include "pprof/cuda.h"

namespace pprof_test {
namespace {

PPROF_SITE(more_site, "more", PPROF_CATEGORY_INFERENCE);

class CudaCurrentTest : public CudaFaultTest {
 protected:
  cudaStream_t Stream() const {
    return static_cast<cudaStream_t>(stream);
  }

  // On a thread of its own: there no context is current.
  static void Elsewhere(const std::function<void()> &run) {
    std::thread thread(run);
    thread.join();
  }

  // The program's driver is looked for now and then only.
  static void WaitUntilFound() {
    while (!pprof_cuda_device()) std::this_thread::yield();
  }

  uint64_t NumTimed() {
    uint64_t num = 0;
    for (const RecordedEvent &it : live.recording.events)
      num += it.event.kind == PPROF_KIND_DEVICE_RANGE &&
             !(it.event.flags & kUntimed);
    return num;
  }

  uint64_t NumDeviceRanges() {
    uint64_t num = 0;
    for (const RecordedEvent &it : live.recording.events)
      num += it.event.kind == PPROF_KIND_DEVICE_RANGE;
    return num;
  }
};

TEST_F(CudaCurrentTest, TellsWhetherTheProgramUsesIt) {
  if (RanInside({Driver()})) return;
  EXPECT_FALSE(ppi_cupti_source()->is_used());
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_NE(driver, nullptr) << dlerror();
  reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"))(0);
  EXPECT_FALSE(ppi_cupti_source()->is_used());
  UseCuda();
  EXPECT_TRUE(ppi_cupti_source()->is_used());
}

TEST_F(CudaCurrentTest, MarksTheCurrentContextsDevice) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  EXPECT_EQ(pprof_cuda_device(), device);
  pprof_cuda_push(Stream(), &device_site);
  pprof_cuda_next(Stream(), &more_site);
  pprof_cuda_pop(Stream());
  pprof_range range = pprof_cuda_range_begin(Stream(), &more_site);
  pprof_cuda_range_end(range, Stream());
  { PPROF_CUDA_SCOPE(Stream(), "scope"); }
  FlushTwice();
  Stop();
  EXPECT_EQ(NumDeviceRanges(), 4u);
  EXPECT_EQ(NumTimed(), 4u);
  ExpectTrust("unmatched", 0);
  EXPECT_TRUE(Notes().empty()) << table;
  EXPECT_EQ(fake->num_calls("cuInit"), 0u);
}

TEST_F(CudaCurrentTest, WorkGoesToTheOpenRange) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  pprof_work_amount work = {sizeof work, 3, 0, 0, 0};
  pprof_cuda_push(Stream(), &device_site);
  pprof_cuda_work(Stream(), &work);
  Elsewhere([&] { pprof_cuda_work(Stream(), &work); });
  pprof_cuda_pop(Stream());
  Stop();
  ASSERT_EQ(DeviceRanges().size(), 1u);
  EXPECT_EQ(DeviceRanges()[0].work.items, 3);
  ExpectTrust("flows_lost", 1);
}

// What the program has not loaded is not there; the path would find it.
TEST_F(CudaCurrentTest, LoadsNothing) {
  if (RanInside({Driver()})) return;
  ASSERT_EQ(live.Start(), PPROF_STATUS_OK);
  num_sessions++;
  EXPECT_EQ(pprof_cuda_device(), nullptr);
  pprof_cuda_push(nullptr, &device_site);
  pprof_cuda_next(nullptr, &device_site);
  pprof_cuda_pop(nullptr);
  { PPROF_CUDA_SCOPE(nullptr, "device"); }
  pprof_cuda_stream_name(nullptr, "nobody's");
  EXPECT_EQ(live.Stop(), PPROF_STATUS_OK);
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
  EXPECT_EQ(DeviceRanges().size(), 3u);
  EXPECT_EQ(NumTimed(), 0u);
  EXPECT_EQ(live.Stats().unmatched, 0u);
  EXPECT_NE(live.recording.notes["device"].find("no current CUDA context"),
            std::string::npos);
}

// The program's first CUDA call comes after the range's begin, as in
// `push; kernel<<<>>>(); pop`.
TEST_F(CudaCurrentTest, RangeAroundTheFirstCall) {
  if (RanInside({Driver()})) return;
  ASSERT_EQ(live.Start(), PPROF_STATUS_OK);
  num_sessions++;
  pprof_cuda_push(nullptr, &device_site);
  UseCuda();
  WaitUntilFound();
  pprof_cuda_pop(nullptr);
  pprof_cuda_push(nullptr, &more_site);
  pprof_cuda_pop(nullptr);
  EXPECT_EQ(live.Stop(), PPROF_STATUS_OK);
  ASSERT_EQ(DeviceRanges().size(), 1u);
  EXPECT_EQ(DeviceRanges()[0].event.flags, kUntimed);
  EXPECT_EQ(live.recording.Named("more").size(), 1u);
  EXPECT_EQ(live.Stats().unmatched, 0u);
}

// Of a range that was opened without a context, also inside another one.
TEST_F(CudaCurrentTest, NextTakesOverFromNoContext) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  pprof_cuda_push(Stream(), &device_site);
  fake->fail("cuCtxGetDevice", 201, 1, FAKE_FAULT_ONCE);
  pprof_cuda_push(Stream(), &more_site);
  pprof_cuda_next(Stream(), &device_site);
  pprof_mark(&host_site);
  pprof_cuda_pop(Stream());
  pprof_cuda_pop(Stream());
  FlushTwice();
  Stop();
  EXPECT_EQ(NumDeviceRanges(), 3u);
  EXPECT_EQ(NumTimed(), 2u);
  auto taken_over = live.recording.Named("more");
  ASSERT_EQ(taken_over.size(), 1u);
  EXPECT_LE(taken_over[0].event.end_ns,
            live.recording.Named("host").at(0).event.start_ns);
  ExpectTrust("unmatched", 0);
}

TEST_F(CudaCurrentTest, InnermostEndsFirstOnAnyDevice) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  for (cudaStream_t on : {Stream(), cudaStream_t()}) {
    fake->fail("cuCtxGetDevice", 201, 1, FAKE_FAULT_ONCE);
    pprof_cuda_push(on, &more_site);
    pprof_cuda_push(on, &device_site);
    pprof_mark(&host_site);
    pprof_cuda_pop(on);
    pprof_mark(&host_site);
    pprof_cuda_pop(on);
  }
  FlushTwice();
  Stop();
  auto marks = live.recording.Named("host");
  auto outer = live.recording.Named("more");
  ASSERT_EQ(marks.size(), 4u);
  ASSERT_EQ(outer.size(), 2u);
  ASSERT_EQ(DeviceRanges().size(), 2u);
  for (size_t i = 0; i < 2; i++) {
    EXPECT_LE(DeviceRanges()[i].event.end_ns, marks[2 * i + 1].event.start_ns);
    EXPECT_GE(outer[i].event.end_ns, marks[2 * i + 1].event.start_ns);
  }
  ExpectTrust("unmatched", 0);
}

// The range is the thread's and the stream's, whatever is current at its end.
TEST_F(CudaCurrentTest, PopNeedsNoContext) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  pprof_cuda_push(Stream(), &device_site);
  uint64_t before = fake->num_calls("cuCtxGetDevice");
  pprof_cuda_pop(Stream());
  EXPECT_EQ(fake->num_calls("cuCtxGetDevice"), before);
  // The default stream is one of each context: here the current one counts.
  pprof_cuda_push(nullptr, &device_site);
  fake->fail("cuCtxGetDevice", 201, 1, FAKE_FAULT_ONCE);
  pprof_cuda_pop(nullptr);
  FlushTwice();
  Stop();
  EXPECT_EQ(DeviceRanges().size(), 2u);
  EXPECT_EQ(NumTimed(), 2u);
  ExpectTrust("unmatched", 0);
  EXPECT_TRUE(Notes().empty()) << table;
}

TEST_F(CudaCurrentTest, RangesAreTheThreadsAndTheStreams) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  cudaStream_t second = static_cast<cudaStream_t>(fake->stream_create(context));
  fake->fail("cuCtxGetDevice", 201, 1, FAKE_FAULT_ONCE);
  pprof_cuda_push(second, &more_site);
  pprof_cuda_push(Stream(), &device_site);
  Elsewhere([&] { pprof_cuda_pop(second); });
  pprof_cuda_pop(second);
  pprof_mark(&host_site);
  pprof_cuda_pop(Stream());
  FlushTwice();
  Stop();
  auto first = live.recording.Named("more");
  ASSERT_EQ(first.size(), 1u);
  EXPECT_LE(first[0].event.end_ns,
            live.recording.Named("host").at(0).event.start_ns);
  EXPECT_EQ(NumTimed(), 1u);
  // The other thread's.
  ExpectTrust("unmatched", 1);
}

TEST_F(CudaCurrentTest, LegacyStreamHasOneName) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  cudaStream_t legacy = reinterpret_cast<cudaStream_t>(1);
  pprof_cuda_push(nullptr, &device_site);
  pprof_cuda_pop(legacy);
  pprof_cuda_push(legacy, &device_site);
  pprof_cuda_pop(nullptr);
  FlushTwice();
  Stop();
  ASSERT_EQ(DeviceRanges().size(), 2u);
  EXPECT_EQ(DeviceRanges()[0].event.stream, DeviceRanges()[1].event.stream);
  EXPECT_EQ(NumTimed(), 2u);
  ExpectTrust("unmatched", 0);
}

TEST_F(CudaCurrentTest, NoContextOnThisThread) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  Elsewhere([&] {
    EXPECT_EQ(pprof_cuda_device(), nullptr);
    pprof_cuda_push(nullptr, &device_site);
    pprof_cuda_pop(nullptr);
  });
  Stop();
  ASSERT_EQ(DeviceRanges().size(), 1u);
  EXPECT_EQ(DeviceRanges()[0].event.flags, kUntimed);
  ASSERT_EQ(Notes().size(), 1u) << table;
  EXPECT_NE(Notes()[0].find("no current CUDA context"), std::string::npos);
}

// After a sticky error the driver does not even say which device it is.
TEST_F(CudaCurrentTest, BrokenContextKeepsItsDevice) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  fake->fail("cuCtxGetDevice", 719, 1, FAKE_FAULT_STICKY);
  EXPECT_EQ(pprof_cuda_device(), device);
  for (int i = 0; i < 3; i++) {
    pprof_cuda_push(Stream(), &device_site);
    pprof_cuda_pop(Stream());
  }
  FlushTwice();
  Stop();
  EXPECT_EQ(DeviceRanges().size(), 3u);
  EXPECT_EQ(NumTimed(), 0u);
  ExpectErrorNote("CUDA_ERROR_LAUNCH_FAILED (719)");
}

TEST_F(CudaCurrentTest, DriverThatIsGone) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  fake->fail("cuCtxGetDevice", 4, 1, FAKE_FAULT_ONCE);
  EXPECT_EQ(pprof_cuda_device(), nullptr);
  fake->fail("cuCtxGetDevice", 3, 1, FAKE_FAULT_ONCE);
  EXPECT_EQ(pprof_cuda_device(), nullptr);
  EXPECT_NE(pprof_cuda_device(), nullptr);
}

TEST_F(CudaCurrentTest, OffAsksNobody) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  uint64_t before = fake->num_calls(nullptr);
  pprof_work_amount work = {sizeof work, 1, 0, 0, 0};
  pprof_cuda_push(Stream(), &device_site);
  pprof_cuda_next(Stream(), &device_site);
  pprof_cuda_work(Stream(), &work);
  pprof_cuda_pop(Stream());
  EXPECT_EQ(pprof_cuda_range_begin(Stream(), &device_site).id, 0u);
  pprof_cuda_range_end({0}, Stream());
  { PPROF_CUDA_SCOPE(Stream(), "off"); }
  EXPECT_EQ(fake->num_calls(nullptr), before);
}

TEST_F(CudaCurrentTest, ForkedChildLeavesTheDriverAlone) {
  if (RanInside({Driver()})) return;
  UseCuda();
  WaitUntilFound();
  Start();
  pid_t pid = fork();
  if (pid == 0) {
    pprof_cuda_push(Stream(), &device_site);
    pprof_cuda_next(Stream(), &device_site);
    pprof_cuda_pop(Stream());
    _exit(pprof_cuda_device() ? 1 : 0);
  }
  EXPECT_EQ(WaitFor(pid), 0);
  EXPECT_EQ(fake->num_calls_of_children(), 0u);
  Stop();
}

}  // namespace
}  // namespace pprof_test
