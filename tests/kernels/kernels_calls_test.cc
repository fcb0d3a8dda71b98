// SPDX-License-Identifier: Apache-2.0
//
// Calls of CUDA as ranges, and memory as counters: through the real source,
// over a stand-in for libcupti.
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "kernels_case.h"

namespace {

using pprof_test::cupti_;
using pprof_test::DeviceSession;
using pprof_test::test_clock_ns;

PPROF_SITE(request, "request", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(detect, "detect", PPROF_CATEGORY_INFERENCE);

class KernelsCallsTest : public pprof_test::KernelsTest {
 protected:
  void Start(bool all = false) {
    ASSERT_EQ(ppi_session_set_device_calls(session_->get(), all),
              PPROF_STATUS_OK);
    session_->Start();
    EXPECT_EQ(ppi_session_set_device_calls(session_->get(), all),
              PPROF_STATUS_BUSY);
  }

  static uint32_t Call(const char *function, void (*inside)(void *) = nullptr,
                       void *argument = nullptr) {
    return cupti_->call(function, 0, inside, argument);
  }

  // "name/depth name/depth", in the order of their ends.
  std::string Ranges() {
    std::string out;
    for (const auto &event : session_->events)
      if (event.kind == PPROF_KIND_RANGE)
        out += (out.empty() ? "" : " ") + NameOf(event) + "/" +
               std::to_string(event.depth);
    return out;
  }

  std::vector<pprof_event> Counters() {
    std::vector<pprof_event> out;
    for (const auto &event : session_->events)
      if (event.kind == PPROF_KIND_COUNTER) out.push_back(event);
    return out;
  }

  static void TellMemory(uint32_t correlation, uint32_t operation,
                         uint64_t bytes, uint64_t time,
                         uint32_t kind = PPI_CUPTI_MEMORY_DEVICE,
                         uint32_t device = 0) {
    ppi_cupti_memory record = {};
    record.kind = PPI_CUPTI_KIND_MEMORY2;
    record.operation = operation;
    record.memory_kind = kind;
    record.correlation = correlation;
    record.bytes = bytes;
    record.time = time;
    record.device = device;
    record.context = 1;
    cupti_->deliver(&record, sizeof record);
  }
};

TEST_F(KernelsCallsTest, AWaitIsARangeInsideTheStageThatWaits) {
  Start();
  pprof_push(&detect);
  Call("cudaLaunchKernel");
  uint64_t before = test_clock_ns;
  Call("cudaStreamSynchronize", [](void *) { pprof_test::Advance(7000); });
  uint64_t after = test_clock_ns;
  pprof_pop();
  Look();
  session_->Stop();
  // What the runtime calls of the driver for it is a part of it.
  EXPECT_EQ(Ranges(), "cudaStreamSynchronize/1 detect/0");
  const pprof_event &wait = session_->events[0];
  EXPECT_GE(wait.start_ns, before - session_->base_ns);
  EXPECT_LE(wait.end_ns, after - session_->base_ns);
  EXPECT_GE(wait.end_ns - wait.start_ns, 7000u);
}

TEST_F(KernelsCallsTest, AWaitThatNoRangeIsAroundIsNone) {
  Start();
  Call("cudaStreamSynchronize");
  Call("cuStreamSynchronize");
  Look();
  session_->Stop();
  EXPECT_EQ(Ranges(), "");
  EXPECT_EQ(session_->stats.lost, 0u);
}

TEST_F(KernelsCallsTest, AllCallsAreToldWhereTheyAreAsked) {
  Start(true);
  Call("cudaLaunchKernel");
  pprof_push(&detect);
  Call("cudaMalloc");
  Call("cudaGetDevice");
  Call("cuMemcpyDtoH_v2");
  pprof_pop();
  Call("cuStreamSynchronize");
  Look();
  session_->Stop();
  EXPECT_EQ(Ranges(),
            "cudaLaunchKernel/0 cudaMalloc/1 cuMemcpyDtoH_v2/1 detect/0"
            " cuStreamSynchronize/0");
  for (const auto &event : session_->events) EXPECT_EQ(event.flags, 0u);
}

TEST_F(KernelsCallsTest, AKernelIsOfTheRangesAroundItsCall) {
  Start(true);
  pprof_push(&request);
  uint32_t correlation = Call("cudaLaunchKernel");
  pprof_pop();
  Tell(correlation, test_clock_ns + 10, test_clock_ns + 20);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].depth, 1u);
  EXPECT_EQ(Ranges(), "cudaLaunchKernel/1 request/0");
}

// A stop comes while the thread waits: the range ends with the session, and the
// end of the call is nobody's.
TEST_F(KernelsCallsTest, ACallThatIsUnderWayAtTheStopEndsWithIt) {
  Start();
  pprof_push(&detect);
  Call(
      "cudaStreamSynchronize",
      [](void *self) { static_cast<DeviceSession *>(self)->Stop(); },
      session_.get());
  pprof_pop();
  EXPECT_EQ(Ranges(), "cudaStreamSynchronize/1 detect/0");
  for (const auto &event : session_->events)
    EXPECT_TRUE(event.flags & PPROF_FLAG_CLIPPED);
  // And CUPTI has gone at its end.
  EXPECT_EQ(cupti_->num_subscribed, cupti_->num_unsubscribed);
}

// The hooks stay until the range of another thread's call is closed.
TEST_F(KernelsCallsTest, TheHooksWaitForCallsThatAreUnderWay) {
  Start();
  std::promise<void> inside, over;
  struct Steps {
    std::promise<void> *inside;
    std::future<void> over;
  } steps = {&inside, over.get_future()};
  std::thread waiting([&] {
    pprof_push(&detect);
    Call(
        "cudaStreamSynchronize",
        [](void *argument) {
          auto *at = static_cast<Steps *>(argument);
          at->inside->set_value();
          at->over.wait();
        },
        &steps);
    pprof_pop();
  });
  inside.get_future().wait();
  session_->Stop();
  uint32_t gone = cupti_->num_unsubscribed;
  Launch();
  EXPECT_EQ(cupti_->num_unsubscribed, gone);
  over.set_value();
  waiting.join();
  EXPECT_EQ(cupti_->num_unsubscribed, gone + 1);
}

TEST_F(KernelsCallsTest, MemoryIsALevelWhereItWasTaken) {
  Start();
  pprof_push(&detect);
  uint32_t first = Call("cudaMalloc");
  uint64_t time = test_clock_ns;
  pprof_pop();
  TellMemory(first, PPI_CUPTI_MEMORY_TAKEN, 1 << 20, time);
  uint32_t second = Call("cuMemAlloc_v2");
  TellMemory(second, PPI_CUPTI_MEMORY_TAKEN, 4096, test_clock_ns);
  uint32_t third = Call("cuMemFree_v2");
  TellMemory(third, PPI_CUPTI_MEMORY_GIVEN, 1 << 20, test_clock_ns);
  Look();
  session_->Stop();
  auto levels = Counters();
  ASSERT_EQ(levels.size(), 3u);
  const double values[] = {1 << 20, (1 << 20) + 4096, 4096};
  const uint32_t depths[] = {1, 0, 0};
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(NameOf(levels[i]), "gpu:0");
    EXPECT_EQ(session_->site_categories[levels[i].site],
              (uint32_t)PPROF_CATEGORY_MEMORY);
    EXPECT_EQ(levels[i].value, values[i]);
    EXPECT_EQ(levels[i].depth, depths[i]);
    EXPECT_EQ(levels[i].flags, (uint32_t)PPROF_FLAG_RESERVED);
  }
  EXPECT_TRUE(session_->DeviceRanges().empty());
  EXPECT_FALSE(session_->HasNote("kernels"));
}

TEST_F(KernelsCallsTest, MemoryHasPlaces) {
  Start();
  uint64_t now = test_clock_ns;
  TellMemory(0, PPI_CUPTI_MEMORY_TAKEN, 1, now, PPI_CUPTI_MEMORY_DEVICE, 3);
  TellMemory(0, PPI_CUPTI_MEMORY_TAKEN, 2, now, PPI_CUPTI_MEMORY_ARRAY, 3);
  TellMemory(0, PPI_CUPTI_MEMORY_TAKEN, 4, now, PPI_CUPTI_MEMORY_PINNED);
  TellMemory(0, PPI_CUPTI_MEMORY_TAKEN, 8, now, PPI_CUPTI_MEMORY_MANAGED);
  // Memory of before the recording; pageable and static memory; no operation.
  TellMemory(0, PPI_CUPTI_MEMORY_GIVEN, 100, now, PPI_CUPTI_MEMORY_PINNED);
  TellMemory(0, PPI_CUPTI_MEMORY_TAKEN, 16, now, 1);
  TellMemory(0, PPI_CUPTI_MEMORY_TAKEN, 32, now, 6);
  TellMemory(0, 0, 64, now);
  Look();
  session_->Stop();
  std::string told;
  for (const auto &level : Counters())
    told += NameOf(level) + "=" + std::to_string((int)level.value) + " ";
  EXPECT_EQ(told, "gpu:3=1 gpu:3=3 pinned=4 managed=8 pinned=0 ");
}

// Not every such call is told: it is waited for a second, not ten.
TEST_F(KernelsCallsTest, MemoryIsAwaitedForASecond) {
  StartWithCheckpoints();
  Call("cudaMalloc");
  uint64_t called = test_clock_ns - session_->base_ns;
  Look();
  EXPECT_LE(checkpoints_.time_ns, called);
  pprof_test::Advance(1000000000);
  Look();
  EXPECT_GT(checkpoints_.time_ns, called);
}

// As a device range that the program marks.
TEST_F(KernelsCallsTest, AKernelServesTheFlowOfTheRangeAroundIt) {
  Start();
  uint32_t launched[4];
  pprof_push(&request);
  pprof_flow(17);
  launched[0] = Launch();
  pprof_push(&detect);
  launched[1] = Launch();
  pprof_pop();
  pprof_flow(18);
  launched[2] = Launch();
  pprof_pop();
  launched[3] = Launch();
  for (uint32_t launch : launched)
    Tell(launch, test_clock_ns + 10, test_clock_ns + 20);
  Look();
  session_->Stop();
  std::vector<uint32_t> numbers;
  for (const auto &kernel : session_->DeviceRanges())
    numbers.push_back(kernel.num_flows);
  // A batch of several is nobody's alone.
  EXPECT_EQ(numbers, (std::vector<uint32_t>{1, 1, 0, 0}));
}

}  // namespace
