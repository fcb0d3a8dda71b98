// SPDX-License-Identifier: Apache-2.0
//
// What a driver's tracing may answer, and bring, that it should not: nothing is
// lost but kernels, and what is lost is said. Over a stand-in for libcupti.
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "kernels_case.h"

namespace {

using pprof_test::cupti_;
using pprof_test::KernelsTest;
using pprof_test::test_clock_ns;

PPROF_SITE(detect, "detect", PPROF_CATEGORY_INFERENCE);

class KernelsErrorsTest : public KernelsTest {
 public:
  void Begin() {
    session_->Start();
  }

 protected:
  // A range with a kernel, and the stop.
  void Run() {
    session_->Start();
    pprof_push(&detect);
    uint32_t correlation = Launch();
    pprof_pop();
    Tell(correlation, test_clock_ns, test_clock_ns + 10);
    Look();
    session_->Stop();
  }
  std::string Notes() const {
    return ::testing::PrintToString(session_->notes);
  }
};

// Without these there is nothing to be had, and nothing stays behind.
TEST_F(KernelsErrorsTest, OfTheStartAreNotesAndLeaveNothing) {
  const char *const cases[][2] = {
      {"cuptiSubscribe", "CUPTI: no subscription: CUPTI_ERROR_UNKNOWN (999)"},
      {"cuptiActivityRegisterTimestampCallback",
       "CUPTI: its records cannot be had: CUPTI_ERROR_UNKNOWN (999)"},
      {"cuptiActivityRegisterCallbacks",
       "CUPTI: its records cannot be had: CUPTI_ERROR_UNKNOWN (999)"},
      {"cuptiActivityEnable",
       "CUPTI: no records of kernels: CUPTI_ERROR_UNKNOWN (999)"}};
  for (const auto &its : cases) {
    SCOPED_TRACE(its[0]);
    SetUp();
    cupti_->results[0] = {its[0], 999, 0};
    uint32_t subscribed = cupti_->num_subscribed - cupti_->num_unsubscribed;
    Run();
    EXPECT_EQ(cupti_->num_subscribed - cupti_->num_unsubscribed, subscribed);
    EXPECT_EQ(cupti_->num_kinds, 0u);
    EXPECT_EQ(session_->stats.recorded, 1u);
    EXPECT_TRUE(session_->DeviceRanges().empty());
    EXPECT_TRUE(session_->HasNote(std::string("kernels: ") + its[1]))
        << Notes();
  }
}

TEST_F(KernelsErrorsTest, WithoutAnExplanationHaveTheirNumber) {
  cupti_->results[0] = {"cuptiSubscribe", 4711, 0};
  cupti_->results[1] = {"cuptiGetResultString", 1, 0};
  Run();
  EXPECT_TRUE(
      session_->HasNote("kernels: CUPTI: no subscription: unknown (4711)"))
      << Notes();
}

// What it cannot do besides is left out.
TEST_F(KernelsErrorsTest, KernelsAreToldWhereCopiesCannotBe) {
  cupti_->results[0] = {"cuptiActivityEnable", 1, 1};
  cupti_->results[1] = {"cuptiActivitySetAttribute", 1, 0};
  Run();
  EXPECT_EQ(session_->DeviceRanges().size(), 1u);
  EXPECT_FALSE(session_->HasNote("kernels")) << Notes();
}

TEST_F(KernelsErrorsTest, WithoutCallbacksKernelsHaveNoLaunch) {
  cupti_->results[0] = {"cuptiEnableCallback", 1, 0};
  Run();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].lane, 0u);
  EXPECT_EQ(kernels[0].device_end_ns - kernels[0].device_start_ns, 10u);
  EXPECT_TRUE(session_->HasNote("kernels: 1 kernels and copies are of no"))
      << Notes();
}

// What does not wait for the collector is bounded: 128 buffers.
TEST_F(KernelsErrorsTest, WhatFindsNoRoomIsCounted) {
  session_->Start();
  cupti_->records_a_buffer = 2;
  pprof_push(&detect);
  for (int i = 0; i < 300; i++)
    Tell(Launch(), test_clock_ns, test_clock_ns + 10);
  pprof_pop();
  Look();
  session_->Stop();
  EXPECT_EQ(session_->DeviceRanges().size(), 2u * 128);
  EXPECT_EQ(session_->stats.device_lost, 300u - 2 * 128);
  EXPECT_TRUE(session_->HasNote("kernels: 44 kernels and copies were lost"))
      << Notes();
}

TEST_F(KernelsErrorsTest, AKernelWithoutANameIsAQuestion) {
  session_->Start();
  Tell(Launch(), test_clock_ns, test_clock_ns + 10, nullptr);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(NameOf(kernels[0]), "?");
}

// Copies of kinds that came after this was written.
TEST_F(KernelsErrorsTest, ACopyOfAnUnknownKindIsACopy) {
  session_->Start();
  ppi_cupti_memcpy record = {};
  record.kind = PPI_CUPTI_KIND_MEMCPY;
  record.copy_kind = 200;
  record.correlation = Launch("cuMemcpyHtoDAsync_v2");
  record.start = test_clock_ns;
  record.end = record.start + 10;
  cupti_->deliver(&record, sizeof record);
  Look();
  session_->Stop();
  auto copies = session_->DeviceRanges();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(NameOf(copies[0]), "MEMCPY");
}

// Sizes below zero are none.
TEST_F(KernelsErrorsTest, ALaunchThatMakesNoSenseHasNoShape) {
  session_->Start();
  ppi_cupti_kernel record = {};
  record.kind = PPI_CUPTI_KIND_CONCURRENT_KERNEL;
  record.grid[0] = record.block[0] = record.static_shared = -1;
  record.name = "k";
  record.correlation = Launch();
  record.start = test_clock_ns;
  record.end = record.start + 10;
  cupti_->deliver(&record, sizeof record);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].attributes, 0u);
}

// They come with the next one.
TEST_F(KernelsErrorsTest, AFlushThatFailsLosesNothing) {
  session_->Start();
  cupti_->results[0] = {"cuptiActivityFlushAll", 1, 0};
  for (int i = 0; i < 3; i++) {
    Tell(Launch(), test_clock_ns, test_clock_ns + 10);
    Look();
  }
  EXPECT_TRUE(session_->DeviceRanges().empty());
  cupti_->results[0] = {nullptr, 0, 0};
  Look();
  session_->Stop();
  EXPECT_EQ(session_->DeviceRanges().size(), 3u);
}

// Its hooks are still in a forked child's memory; its session is the parent's.
TEST_F(KernelsErrorsTest, CallsOfAForkedChildAreNotLookedAt) {
  session_->Start();
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int i = 0; i < 10; i++) Launch();
    Launch("cuGraphLaunch");
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Tell(Launch(), test_clock_ns, test_clock_ns + 10);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_NE(kernels[0].lane, 0u);
}

// The end of a call whose begin nobody saw: it began before the recording.
// A kernel that the reset has kept from running is never told; those of the
// next context are of other streams, whatever their numbers.
TEST_F(KernelsErrorsTest, AResetOfTheContextTakesWhatItHasNotDone) {
  StartWithCheckpoints();
  pprof_push(&detect);
  uint32_t done = Launch();
  Launch();
  pprof_pop();
  Tell(done, test_clock_ns, test_clock_ns + 10, "before", 7, 1);
  cupti_->reset();
  pprof_push(&detect);
  uint32_t next = Launch();
  pprof_pop();
  Tell(next, test_clock_ns, test_clock_ns + 10, "after", 7, 2);
  Look();
  uint64_t now = test_clock_ns - session_->base_ns;
  // Nobody waits for it for ever.
  pprof_test::Advance(11000000000);
  Look();
  EXPECT_GT(checkpoints_.time_ns, now);
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(NameOf(kernels[0]), "before");
  EXPECT_EQ(NameOf(kernels[1]), "after");
  EXPECT_NE(kernels[0].stream, kernels[1].stream);
  for (const auto &kernel : kernels) EXPECT_EQ(kernel.depth, 1u);
  EXPECT_EQ(session_->stats.lost, 0u);
  EXPECT_FALSE(session_->HasNote("kernels"));
}

TEST_F(KernelsErrorsTest, AnEndWithoutABeginIsNoLaunch) {
  uint32_t correlation = cupti_->call(
      "cuLaunchKernel", 0,
      [](void *test) { static_cast<KernelsErrorsTest *>(test)->Begin(); },
      this);
  Tell(correlation, test_clock_ns, test_clock_ns + 10);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].lane, 0u);
}

}  // namespace
