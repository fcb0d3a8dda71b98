// SPDX-License-Identifier: Apache-2.0
//
// Kernels and copies as a driver tells of them, from the launch to the sink:
// through the real source, over a stand-in for libcupti. In the test's clock a
// tick is a ns.
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "kernels/kernels.h"
#include "kernels_case.h"
#include "tests/support/sleeps.h"

namespace {

using pprof_test::Advance;
using pprof_test::cupti_;
using pprof_test::DeviceSession;
using pprof_test::KernelsTest;
using pprof_test::Sleeps;
using pprof_test::test_clock_ns;

PPROF_SITE(request, "request", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(detect, "detect", PPROF_CATEGORY_INFERENCE);

TEST_F(KernelsTest, BelongToTheRangesAroundTheirLaunch) {
  session_->Start();
  pprof_push(&request);
  pprof_push(&detect);
  uint64_t before = test_clock_ns;
  uint32_t first = Launch();
  uint64_t after = test_clock_ns;
  pprof_pop();
  uint32_t second = Launch();
  pprof_pop();
  uint64_t begin = test_clock_ns;
  Tell(second, begin + 5000, begin + 7500, "_Z6secondPf", 9);
  Tell(first, begin + 1000, begin + 4000);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(NameOf(kernels[0]), "kernel(float*)");
  EXPECT_EQ(kernels[0].depth, 2u);
  EXPECT_GE(kernels[0].start_ns, before - session_->base_ns);
  EXPECT_LE(kernels[0].start_ns, after - session_->base_ns);
  EXPECT_EQ(kernels[0].end_ns, kernels[0].start_ns);
  EXPECT_EQ(kernels[0].device_start_ns, begin + 1000 - session_->base_ns);
  EXPECT_EQ(kernels[0].device_end_ns, begin + 4000 - session_->base_ns);
  EXPECT_EQ(NameOf(kernels[1]), "second(float*)");
  EXPECT_EQ(kernels[1].depth, 1u);
  EXPECT_EQ(kernels[1].lane, kernels[0].lane);
  EXPECT_NE(kernels[1].stream, kernels[0].stream);
  for (const auto &kernel : kernels)
    EXPECT_EQ(session_->device_names[session_->stream_devices[kernel.stream]],
              "cuda:0");
  EXPECT_EQ(session_->stats.recorded, 4u);
  EXPECT_FALSE(session_->HasNote("kernels"));
}

TEST_F(KernelsTest, OfManyThreadsAreOnTheThreadThatLaunched) {
  static const char *const kNames[] = {"k0", "k1", "k2", "k3"};
  session_->Start();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([i] {
      for (int k = 0; k < 200; k++) {
        pprof_push(&detect);
        uint32_t correlation = Launch();
        uint64_t now = test_clock_ns;
        Tell(correlation, now + 10, now + 20, kNames[i]);
        pprof_pop();
      }
    });
  for (auto &thread : threads) thread.join();
  Look();
  session_->Stop();
  std::map<std::string, std::map<uint32_t, int>> by_name;
  std::map<uint32_t, int> ranges;
  for (const auto &kernel : session_->DeviceRanges())
    by_name[NameOf(kernel)][kernel.lane]++;
  for (const auto &event : session_->events)
    if (event.kind == PPROF_KIND_RANGE) ranges[event.lane]++;
  ASSERT_EQ(by_name.size(), 4u);
  for (const auto &name : by_name) {
    ASSERT_EQ(name.second.size(), 1u) << name.first;
    EXPECT_EQ(name.second.begin()->second, 200);
    EXPECT_EQ(ranges[name.second.begin()->first], 200);
  }
}

TEST_F(KernelsTest, HaveTheNamesThatPeopleWrite) {
  // Mangled by hand, as the C++ ABI of Itanium says; what is no such name
  // stays.
  const char *const names[][2] = {
      {"_Z6kernelPf", "kernel(float*)"},
      {"_ZN2at6native4fillIfEEvPT_i",
       "void at::native::fill<float>(float*, int)"},
      {"sm80_xmma_gemm", "sm80_xmma_gemm"},
      {"_Z", "_Z"},
      {"_Znn_", "_Znn_"},
  };
  session_->Start();
  for (const auto &name : names) {
    uint32_t correlation = Launch();
    Tell(correlation, test_clock_ns + 10, test_clock_ns + 20, name[0]);
  }
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 5u);
  for (size_t i = 0; i < 5; i++) EXPECT_EQ(NameOf(kernels[i]), names[i][1]);
}

TEST_F(KernelsTest, OfAGraphBelongToItsLaunch) {
  session_->Start();
  pprof_push(&detect);
  uint32_t correlation = Launch("cuGraphLaunch");
  pprof_pop();
  uint64_t now = test_clock_ns;
  for (uint64_t i = 0; i < 3; i++)
    Tell(correlation, now + i * 100, now + i * 100 + 50);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 3u);
  for (const auto &kernel : kernels) {
    EXPECT_EQ(kernel.depth, 1u);
    EXPECT_EQ(kernel.flags, (uint32_t)PPROF_FLAG_IN_GRAPH);
  }
}

// As PyTorch's backward: the caller waits in its range, another thread, which
// has none, launches.
TEST_F(KernelsTest, OfAThreadWithoutRangesAreWhereAnotherOneWaits) {
  session_->Start();
  std::promise<void> done;
  std::promise<pid_t> begun;
  std::thread waiting([&] {
    pprof_push(&request);
    pprof_push(&detect);
    begun.set_value((pid_t)syscall(SYS_gettid));
    done.get_future().wait();
    pprof_pop();
    pprof_pop();
  });
  pid_t tid = begun.get_future().get();
  while (!Sleeps(tid)) std::this_thread::yield();
  uint32_t inside = Launch();
  done.set_value();
  waiting.join();
  Advance(2000000);
  uint32_t after = Launch();
  uint64_t now = test_clock_ns;
  Tell(inside, now, now + 10);
  Tell(after, now + 20, now + 30);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].depth, 2u);
  EXPECT_EQ(kernels[0].flags, (uint32_t)PPROF_FLAG_BY_WAIT);
  for (const auto &event : session_->events)
    EXPECT_TRUE(event.kind != PPROF_KIND_RANGE ||
                event.lane == kernels[0].lane);
  EXPECT_EQ(kernels[1].depth, 0u);
  EXPECT_EQ(kernels[1].flags, 0u);
  EXPECT_NE(kernels[1].lane, kernels[0].lane);
  EXPECT_TRUE(
      session_->HasNote("kernels: 1 kernels and copies lie in a range"));
}

TEST_F(KernelsTest, OfAThreadThatHasGoneStayOnItsLane) {
  session_->Start();
  uint32_t correlation = 0;
  std::thread([&] {
    pprof_push(&detect);
    correlation = Launch();
    pprof_pop();
  }).join();
  for (int i = 0; i < 3; i++) Look();
  std::thread([&] {
    pprof_push(&request);
    pprof_pop();
  }).join();
  Look();
  Tell(correlation, test_clock_ns - 100, test_clock_ns);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  for (const auto &event : session_->events)
    EXPECT_EQ(event.lane == kernels[0].lane, NameOf(event) != "request");
}

// By their names as people write them, and by the configuration.
TEST_F(KernelsTest, OfCollectivesAreCommunication) {
  const struct {
    const char *name;
    bool is_communication;
  } cases[] = {{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", true},
               {"_ZN5mori26kernelPf", false},
               {"_ZN4mori6kernelEPf", true},
               {"multimem_all_reduce_kernel", true},
               {"my_exchange_kernel", true},
               {"gemm", false}};
  const char *const globs[] = {"my_exchange*"};
  const uint32_t categories[] = {PPROF_CATEGORY_COMMUNICATION};
  ppi_choice choice = {};
  choice.categorised = globs;
  choice.categories = categories;
  choice.num_categorised = 1;
  session_->Start();
  ASSERT_EQ(ppi_names_choose(ppi_recorder_in_force.names, &choice),
            PPROF_STATUS_OK);
  for (const auto &each : cases)
    for (int call = 0; call < 2; call++)
      Tell(Launch(), test_clock_ns + 10, test_clock_ns + 20, each.name);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 12u);
  for (size_t i = 0; i < kernels.size(); i++)
    EXPECT_EQ((kernels[i].flags & PPROF_FLAG_COMMUNICATION) != 0,
              cases[i / 2].is_communication)
        << NameOf(kernels[i]);
}

ppi_device_limits LimitsOfA100(int) {
  return {2048, 32, 65536, 167936, 1024, 8};
}

ppi_cupti_kernel Shaped(int grid, uint16_t registers) {
  ppi_cupti_kernel record = {};
  record.kind = PPI_CUPTI_KIND_CONCURRENT_KERNEL;
  record.registers = registers;
  record.grid[0] = grid;
  record.grid[1] = record.grid[2] = 1;
  record.block[0] = 64;
  record.block[1] = 4;
  record.block[2] = 1;
  record.static_shared = 1024;
  record.dynamic_shared = 2048;
  record.name = "gemm";
  return record;
}

// Each way once, whatever number of kernels has it.
TEST_F(KernelsTest, SayHowTheyWereLaunched) {
  ppi_kernel_source a100 = *ppi_cupti_source();
  a100.limits = LimitsOfA100;
  ASSERT_EQ(ppi_session_set_kernels(session_->get(), &a100, true),
            PPROF_STATUS_OK);
  session_->Start();
  for (int i = 0; i < 6; i++) {
    ppi_cupti_kernel record = Shaped(i % 2 ? 132 : 7, 64);
    record.correlation = Launch();
    record.start = test_clock_ns;
    record.end = record.start + 10;
    cupti_->deliver(&record, sizeof record);
  }
  Look();
  Tell(Launch(), test_clock_ns, test_clock_ns + 10);  // no block
  TellCopy(Launch("cuMemcpyHtoDAsync_v2"), test_clock_ns, test_clock_ns + 5, 8);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 8u);
  for (size_t i = 0; i < 6; i++)
    EXPECT_EQ(kernels[i].attributes, 1 + i % 2) << i;
  EXPECT_EQ(kernels[6].attributes, 0u);
  EXPECT_EQ(kernels[7].attributes, 0u);
  const std::string rest =
      ",1,1],\"block\":[64,4,1],\"registers per thread\":64,"
      "\"shared memory\":3072,\"theoretical occupancy %\":50.00,"
      "\"occupancy limit\":\"registers\"}";
  ASSERT_EQ(session_->attributes.size(), 2u);
  EXPECT_EQ(session_->attributes[1],
            std::vector<std::string>{"{\"grid\":[7" + rest});
  EXPECT_EQ(session_->attributes[2],
            std::vector<std::string>{"{\"grid\":[132" + rest});
}

TEST_F(KernelsTest, OfMoreShapesThanAreToldApartHaveNone) {
  session_->Start();
  cupti_->records_a_buffer = 500;
  for (int i = 0; i < static_cast<int>(PPI_MOST_SHAPES) + 3; i++) {
    ppi_cupti_kernel record = Shaped(i + 1, 32);
    record.correlation = Launch();
    record.start = test_clock_ns;
    record.end = record.start + 10;
    cupti_->deliver(&record, sizeof record);
    if (i % 2000 == 1999) Look();
  }
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), PPI_MOST_SHAPES + 3);
  EXPECT_EQ(kernels[PPI_MOST_SHAPES - 1].attributes, PPI_MOST_SHAPES);
  EXPECT_EQ(kernels[PPI_MOST_SHAPES].attributes, 0u);
  EXPECT_EQ(session_->attributes.size(), PPI_MOST_SHAPES);
  EXPECT_TRUE(
      session_->HasNote("kernels: 3 kernels are reported without their"));
}

TEST_F(KernelsTest, CopiesSayTheirBytes) {
  session_->Start();
  uint32_t correlation = Launch("cuMemcpyHtoDAsync_v2");
  uint64_t now = test_clock_ns;
  TellCopy(correlation, now + 10, now + 110, 4096);
  Look();
  session_->Stop();
  auto copies = session_->DeviceRanges();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(NameOf(copies[0]), "MEMCPY_HtoD");
}

// A copy that the host waits for is over before its call is.
TEST_F(KernelsTest, AreToldBeforeTheirCallIsOver) {
  session_->Start();
  uint32_t correlation = cupti_->call(
      "cuMemcpyDtoH_v2", 0,
      [](void *argument) {
        auto *test = static_cast<KernelsTest *>(argument);
        uint64_t now = test_clock_ns;
        // The call's number is not known inside: it is the next one's less 1.
        static uint32_t next;
        next = cupti_->call("cuStreamSynchronize", 0, nullptr, nullptr);
        TellCopy(next - 1, now + 10, now + 20, 64);
        test->Look();
      },
      this);
  EXPECT_NE(correlation, 0u);
  auto copies = session_->DeviceRanges();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_NE(copies[0].lane, 0u);
}

TEST_F(KernelsTest, WithoutAKnownLaunchAreTheProcesss) {
  session_->Start();
  uint64_t now = test_clock_ns;
  Tell(4000000, now + 10, now + 20);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].lane, 0u);
  EXPECT_EQ(kernels[0].depth, 0u);
  EXPECT_EQ(kernels[0].device_end_ns - kernels[0].device_start_ns, 10u);
  EXPECT_TRUE(session_->HasNote("kernels: 1 kernels and copies are of no"));
}

TEST_F(KernelsTest, TimesWithoutSenseAreNone) {
  session_->Start();
  uint64_t early = test_clock_ns;
  Advance(1000);
  Tell(Launch(), early, early + 10);  // before its launch
  uint64_t now = test_clock_ns;
  Tell(Launch(), now + 20, now + 10);  // ends first
  Tell(Launch(), 0, 0);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 3u);
  for (const auto &kernel : kernels) {
    EXPECT_EQ(kernel.flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
    EXPECT_EQ(kernel.device_end_ns, 0u);
  }
  EXPECT_TRUE(session_->HasNote("kernels: 3 kernels and copies have times"));
}

// What begins before a checkpoint's time was told, or is listed: kernels that
// still run are neither.
TEST_F(KernelsTest, ACheckpointIsOfBeforeWhatIsStillAwaited) {
  StartWithCheckpoints();
  uint64_t begin = test_clock_ns - session_->base_ns;
  pprof_push(&detect);
  uint32_t correlation = Launch();
  Look();
  EXPECT_GT(checkpoints_.time_ns, begin);
  EXPECT_LE(checkpoints_.time_ns, begin + 1000);
  uint64_t now = test_clock_ns;
  Tell(correlation, now - 100, now);
  Look();
  EXPECT_GT(checkpoints_.time_ns, begin + 100000000);
  pprof_pop();
  session_->Stop();
}

// A graph's kernels come one after the other; how many, nobody says.
TEST_F(KernelsTest, AGraphIsAwaitedUntilNothingHasComeForASecond) {
  StartWithCheckpoints();
  uint64_t begin = test_clock_ns - session_->base_ns;
  uint32_t correlation = Launch("cuGraphLaunch");
  uint64_t now = test_clock_ns;
  Tell(correlation, now, now + 10);
  Look();
  EXPECT_LE(checkpoints_.time_ns, begin + 1000);
  Advance(1100000000);
  Look();
  EXPECT_GT(checkpoints_.time_ns, begin + 1000000000);
  session_->Stop();
}

TEST_F(KernelsTest, CallsThatGiveNoWorkAreNotAwaited) {
  StartWithCheckpoints();
  uint64_t begin = test_clock_ns - session_->base_ns;
  cupti_->call("cuLaunchKernel", 700, nullptr, nullptr);  // fails
  cupti_->call(
      "cuLaunchKernel", 0, [](void *) { cupti_->capture_node(1); }, nullptr);
  Look();
  EXPECT_GT(checkpoints_.time_ns, begin + 50000000);
  Launch("cuMemsetD8Async");  // of no bytes: no record will come
  Look();
  EXPECT_LT(checkpoints_.time_ns, begin + 200000000);
  Advance(11000000000);
  Look();
  EXPECT_GT(checkpoints_.time_ns, begin + 10000000000);
  session_->Stop();
}

TEST_F(KernelsTest, AnotherToolKeepsItAndNothingElseIsCalled) {
  cupti_->results[0] = {"cuptiSubscribe", PPI_CUPTI_MULTIPLE_SUBSCRIBERS, 0};
  session_->Start();
  uint32_t calls = cupti_->num_calls;
  pprof_push(&detect);
  Launch();
  pprof_pop();
  Look();
  session_->Stop();
  EXPECT_EQ(cupti_->num_calls, calls);
  EXPECT_EQ(session_->stats.recorded, 1u);
  EXPECT_TRUE(session_->HasNote("kernels: CUPTI: another tool"));
}

TEST_F(KernelsTest, ErrorsAreNotes) {
  cupti_->results[0] = {"cuptiActivityEnable", 999, 0};
  uint32_t left = cupti_->num_unsubscribed;
  session_->Start();
  session_->Stop();
  EXPECT_EQ(cupti_->num_unsubscribed, left + 1);
  EXPECT_TRUE(session_->HasNote(
      "kernels: CUPTI: no records of kernels: CUPTI_ERROR_UNKNOWN (999)"));
}

// The clock is 5 ns later at each look: one call in 64 has one look at its
// begin and one at its end more than between them.
TEST_F(KernelsTest, WhatTheyCostIsToldAndIsInTheOverhead) {
  StartWithCheckpoints();
  session_->Stop();
  uint64_t without_ns = checkpoints_.own_cost_ns;
  EXPECT_FALSE(session_->HasNote("kernels: launches took"));
  session_.reset();
  LeaveCupti();
  session_.reset(new DeviceSession);
  ASSERT_EQ(ppi_session_set_kernels(session_->get(), ppi_cupti_source(), true),
            PPROF_STATUS_OK);
  StartWithCheckpoints();
  std::thread([] {
    for (int i = 0; i < 130; i++) Launch();
  }).join();
  session_->Stop();
  // To the end of the hook: at the begin for who waits, for the launch and
  // then, at the end for the launch and then; and what looks the collector has
  // at the clock meanwhile.
  const uint64_t cost_ns = checkpoints_.own_cost_ns - without_ns;
  EXPECT_GE(cost_ns, 2 * 64 * (15 + 10u));
  char said[80];
  snprintf(said, sizeof said,
           "kernels: launches took the host %.3f us more each (by 2 timed)",
           static_cast<double>(cost_ns) / 1e3 / (2 * 64));
  EXPECT_TRUE(session_->HasNote(said))
      << ::testing::PrintToString(session_->notes);
}

TEST_F(KernelsTest, WhatTheDriverHasLostIsTold) {
  session_->Start();
  cupti_->dropped = 17;
  session_->Stop();
  EXPECT_TRUE(session_->HasNote("kernels: 17 kernels and copies were lost"));
  EXPECT_EQ(session_->stats.device_lost, 17u);
}

TEST_F(KernelsTest, WhetherTheDriverHasLostSomeMayBeUnknown) {
  session_->Start();
  cupti_->results[0] = {"cuptiActivityGetNumDroppedRecords", 1, 0};
  session_->Stop();
  EXPECT_TRUE(session_->HasNote("is not known"));
}

// A source that can be had from the third time on.
struct LateSource {
  static int times;
  static pprof_status Start(pprof_error *error) {
    if (++times < 3)
      return ppi_fail(error, PPROF_STATUS_BUSY, "there is nothing yet");
    return ppi_cupti_source()->start(error);
  }
};
int LateSource::times;

TEST_F(KernelsTest, ASourceThatComesLaterIsAskedAgain) {
  ppi_kernel_source late = *ppi_cupti_source();
  late.start = LateSource::Start;
  LateSource::times = 0;
  ASSERT_EQ(ppi_session_set_kernels(session_->get(), &late, true),
            PPROF_STATUS_OK);
  session_->Start();
  for (int i = 0; i < 3; i++) Look();
  uint32_t correlation = Launch();
  Tell(correlation, test_clock_ns + 10, test_clock_ns + 20);
  Look();
  session_->Stop();
  EXPECT_EQ(session_->DeviceRanges().size(), 1u);
  EXPECT_FALSE(session_->HasNote("kernels"));
}

TEST_F(KernelsTest, ASourceThatNeverComesIsANote) {
  ppi_kernel_source late = *ppi_cupti_source();
  late.start = LateSource::Start;
  LateSource::times = -1000;
  ASSERT_EQ(ppi_session_set_kernels(session_->get(), &late, true),
            PPROF_STATUS_OK);
  session_->Start();
  Look();
  session_->Stop();
  EXPECT_TRUE(session_->HasNote("kernels: there is nothing yet"));
}

bool IsUsed() {
  return true;
}

// Whoever asked for nothing of the kind is told what is missing.
TEST_F(KernelsTest, ADeviceInUseThatNothingTimesIsANote) {
  ppi_kernel_source used = *ppi_cupti_source();
  used.is_used = IsUsed;
  ASSERT_EQ(ppi_session_set_kernels(session_->get(), &used, false),
            PPROF_STATUS_OK);
  session_->Start();
  Launch();
  session_->Stop();
  EXPECT_TRUE(
      session_->HasNote("cuda: used, and nothing timed its work. "
                        "Next: pprof-report run --kernels"))
      << ::testing::PrintToString(session_->notes);
  EXPECT_TRUE(session_->DeviceRanges().empty());
}

TEST_F(KernelsTest, ADeviceThatNobodyUsesIsNone) {
  ASSERT_EQ(ppi_session_set_kernels(session_->get(), ppi_cupti_source(), false),
            PPROF_STATUS_OK);
  session_->Start();
  session_->Stop();
  EXPECT_FALSE(session_->HasNote("cuda"));
}

TEST_F(KernelsTest, TheHooksGoAtTheEndOfTheNextCall) {
  session_->Start();
  session_->Stop();
  EXPECT_EQ(cupti_->num_kinds, 0u);
  uint32_t finalized = cupti_->num_finalized;
  Launch();
  EXPECT_EQ(cupti_->num_finalized, finalized + 1);
  Launch();
  EXPECT_EQ(cupti_->num_finalized, finalized + 1);
}

TEST_F(KernelsTest, TheNextSessionTakesOverWhatIsThere) {
  session_->Start();
  Launch();
  session_.reset();
  session_.reset(new DeviceSession);
  ppi_session_set_kernels(session_->get(), ppi_cupti_source(), true);
  uint32_t subscribed = cupti_->num_subscribed;
  session_->Start();
  EXPECT_EQ(cupti_->num_subscribed, subscribed);
  uint32_t correlation = Launch();
  Tell(correlation, test_clock_ns + 10, test_clock_ns + 20);
  Look();
  session_->Stop();
  ASSERT_EQ(session_->DeviceRanges().size(), 1u);
  EXPECT_FALSE(session_->HasNote("kernels"))
      << ::testing::PrintToString(session_->notes);
}

}  // namespace
