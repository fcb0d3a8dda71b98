// SPDX-License-Identifier: Apache-2.0
//
// A processor may read its clock a little before it has what another thread
// wrote. What two threads begin and end has no negative length for that, and
// steps follow each other without a gap.
#include <gtest/gtest.h>
#include <pprof/mark.h>

#include <atomic>

#include "base/clock.h"
#include "recording_sink.h"

namespace pprof_test {
namespace {

pprof_site site = {"work", 0, 0, 0, {0, 0}};

std::atomic<uint64_t> now_ns{0};
uint64_t Now() {
  return now_ns;
}

class EarlyClockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    now_ns = 1000;
    ppi_clock_inject(Now, 1000000000);
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  void TearDown() override {
    live_.Destroy();
    ppi_clock_inject(nullptr, 0);
  }
  void Stop() {
    now_ns = 9000;
    ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  }

  LiveSession live_;
};

TEST_F(EarlyClockTest, RangeHasNoLength) {
  now_ns = 3000;
  const pprof_range range = pprof_range_begin(&site);
  now_ns = 2700;
  pprof_range_end(range);
  Stop();
  ASSERT_EQ(1u, live_.recording.Named("work").size());
  const pprof_event event = live_.recording.Named("work")[0].event;
  EXPECT_EQ(2000u, event.start_ns);
  EXPECT_EQ(2000u, event.end_ns);
}

TEST_F(EarlyClockTest, StepsFollowEachOther) {
  for (uint64_t at : {3000u, 2700u, 2800u, 5000u}) {
    now_ns = at;
    pprof_step(0);
  }
  Stop();
  const auto steps = live_.recording.Named("ProfileStep");
  ASSERT_EQ(5u, steps.size());
  const uint64_t borders[] = {0, 2000, 2000, 2000, 4000, 8000};
  for (size_t i = 0; i < steps.size(); i++) {
    EXPECT_EQ(borders[i], steps[i].event.start_ns) << i;
    EXPECT_EQ(borders[i + 1], steps[i].event.end_ns) << i;
  }
}

}  // namespace
}  // namespace pprof_test
