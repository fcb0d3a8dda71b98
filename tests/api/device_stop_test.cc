// SPDX-License-Identifier: Apache-2.0
//
// A stop that meets a device which has not done its work: how long it waits,
// what it makes of the ranges, and that it is done with them.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/clock.h"
#include "pprof/device.h"
#include "pprof/mark.h"
#include "tests/support/recording_sink.h"
#include "tests/support/scripted_backend.h"

namespace pprof_test {
namespace {

PPROF_SITE(site, "work", PPROF_CATEGORY_INFERENCE);

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kWaitMs = 50;

// Time passes by being read, so that who waits for it is done after a number of
// looks, however long they take.
std::atomic<uint64_t> clock_ns{1000000000000};
std::atomic<uint64_t> step_ns{5};

uint64_t Now() {
  return clock_ns.fetch_add(step_ns);
}

class DeviceStopTest : public testing::Test {
 protected:
  void SetUp() override {
    step_ns = 5;
    ppi_clock_inject(Now, 1000000000);
    scripted_script script = {};
    script.now = Now;
    fake = scripted_device_create(&script);
    device = pprof_device_get(scripted_device_backend(fake),
                              scripted_device_index(fake));
    stream = scripted_stream_create(fake, 0);
    hanging = scripted_stream_create(fake, 0);
    scripted_stream_hold(hanging, true);
    // The collector comes only when it is asked.
    live.options.drain_interval_us = kKeptAwayUs;
    live.options.stop_wait_ms = kWaitMs;
    ASSERT_EQ(live.Start(), PPROF_STATUS_OK);
    ASSERT_EQ(live.Flush(), PPROF_STATUS_OK);
  }

  void TearDown() override {
    live.Destroy();
    ppi_clock_inject(nullptr, 0);
    EXPECT_STREQ(scripted_device_first_violation(fake), "");
    EXPECT_EQ(scripted_device_num_live_events(fake), 0u);
  }

  void Range(void *on, uint64_t work_ns) {
    pprof_device_push(device, on, &site);
    scripted_stream_submit(on, work_ns);
    pprof_device_pop(device, on);
  }

  // For so long, by the clock.
  uint64_t StopNs() {
    step_ns = kMs / 20;
    uint64_t start = clock_ns;
    EXPECT_EQ(live.Stop(), PPROF_STATUS_OK);
    uint64_t passed = clock_ns - start;
    step_ns = 5;
    return passed;
  }

  std::vector<uint32_t> Flags() {
    std::vector<uint32_t> flags;
    for (const RecordedEvent &range : live.recording.events)
      flags.push_back(range.event.flags);
    return flags;
  }

  LiveSession live;
  scripted_device *fake = nullptr;
  pprof_device *device = nullptr;
  void *stream = nullptr, *hanging = nullptr;
};

constexpr uint32_t kLate = PPROF_FLAG_LATE | PPROF_FLAG_NO_DEVICE_TIME;

TEST_F(DeviceStopTest, WaitsForWhatComesInTime) {
  Range(stream, 10 * kMs);
  uint64_t passed_ns = StopNs();
  EXPECT_EQ(Flags(), std::vector<uint32_t>{0});
  EXPECT_GE(passed_ns, 10 * kMs);
  EXPECT_LT(passed_ns, kWaitMs * kMs);
}

TEST_F(DeviceStopTest, WaitsNoLongerThanItSays) {
  Range(hanging, 1);
  Range(hanging, 1);
  uint64_t passed_ns = StopNs();
  EXPECT_EQ(Flags(), (std::vector<uint32_t>{kLate, kLate}));
  EXPECT_EQ(live.Stats().late, 2u);
  EXPECT_GE(passed_ns, kWaitMs * kMs);
  // What else it does looks at the clock some hundred times.
  EXPECT_LT(passed_ns, (kWaitMs + 20) * kMs);
}

TEST_F(DeviceStopTest, OneThatHangsTakesNoOthersTime) {
  Range(hanging, 1);
  Range(stream, 10 * kMs);
  Range(stream, 10 * kMs);
  EXPECT_GE(StopNs(), kWaitMs * kMs);
  EXPECT_EQ(live.Stats().late, 1u);
  uint64_t num_timed = 0;
  for (uint32_t flags : Flags()) num_timed += flags == 0;
  EXPECT_EQ(num_timed, 2u);
}

TEST_F(DeviceStopTest, DoesNotWaitWithoutPendingRanges) {
  pprof_mark(&site);
  EXPECT_LT(StopNs(), kWaitMs * kMs / 2);
}

TEST_F(DeviceStopTest, FlushDoesNotWaitForDevices) {
  Range(hanging, 1);
  pprof_mark(&site);
  EXPECT_EQ(live.Flush(), PPROF_STATUS_OK);
  EXPECT_EQ(live.recording.events.size(), 1u);
  StopNs();
  EXPECT_EQ(live.recording.events.size(), 2u);
}

// Events that come after the stop are nobody's: they were destroyed, and using
// one again would be a violation.
TEST_F(DeviceStopTest, WhatWasLateIsNotTouchedAgain) {
  Range(hanging, 1);
  pprof_device_push(device, hanging, &site);
  pprof_range open = pprof_device_range_begin(device, hanging, &site);
  StopNs();
  EXPECT_EQ(scripted_device_num_live_events(fake), 0u);
  size_t records = scripted_device_num_records(fake);
  scripted_stream_hold(hanging, false);
  pprof_device_pop(device, hanging);
  pprof_device_range_end(open, hanging);
  EXPECT_EQ(scripted_device_num_records(fake), records);
  EXPECT_EQ(live.recording.events.size(), 3u);

  LiveSession second;
  second.options.drain_interval_us = kKeptAwayUs;
  ASSERT_EQ(second.Start(), PPROF_STATUS_OK);
  ASSERT_EQ(second.Flush(), PPROF_STATUS_OK);
  pprof_device_pop(device, hanging);
  pprof_device_range_end(open, hanging);
  Range(hanging, 1);
  step_ns = kMs / 20;
  EXPECT_EQ(second.Stop(), PPROF_STATUS_OK);
  ASSERT_EQ(second.recording.events.size(), 1u);
  EXPECT_EQ(second.recording.events[0].event.flags, 0u);
}

}  // namespace
}  // namespace pprof_test
