// SPDX-License-Identifier: Apache-2.0
//
// A device's clock in the host's, by the calls that queued its commands.
#include "bounded_clock.h"

#include <gtest/gtest.h>

namespace {

class BoundedClockTest : public ::testing::Test {
 protected:
  void See(uint64_t begin, uint64_t end, uint64_t queued) {
    const ppi_clock_call call = {begin, end, queued};
    ppi_bounded_clock_see(&clock_, &call);
  }
  ppi_bounded_clock clock_ = {false, 0, 0, 0};
};

// Queued at 100 of the device, between 1 000 and 1 020 of the host: 910 apart,
// within 10.
TEST_F(BoundedClockTest, OneCallBoundsIt) {
  See(1000, 1020, 100);
  ASSERT_TRUE(clock_.is_known);
  EXPECT_EQ(ppi_bounded_clock_host(&clock_, 200), 1110u);
  EXPECT_EQ(ppi_bounded_clock_error(&clock_), 10u);
}

// [900, 920] and [915, 935] leave [915, 920].
TEST_F(BoundedClockTest, SeveralBoundItClosely) {
  See(1000, 1020, 100);
  See(2015, 2035, 1100);
  EXPECT_EQ(clock_.low, 915);
  EXPECT_EQ(clock_.high, 920);
  EXPECT_EQ(ppi_bounded_clock_host(&clock_, 1000), 1917u);
  EXPECT_EQ(ppi_bounded_clock_error(&clock_), 3u);
}

// A command starts after its call began, in the host's time as well.
TEST_F(BoundedClockTest, WhatACallQueuedIsNotBeforeIt) {
  See(1000, 1001, 100);
  See(5000, 9000, 4150);
  EXPECT_GE(ppi_bounded_clock_host(&clock_, 4150), 5000u);
  EXPECT_LE(ppi_bounded_clock_host(&clock_, 4150), 9000u);
}

// 10 ms later 2 000 ns more to either side, and what the new call says.
TEST_F(BoundedClockTest, ClocksRunApart) {
  See(1000, 1020, 100);
  See(10001000, 10011020, 10000100);
  EXPECT_EQ(clock_.low, 900);
  EXPECT_EQ(clock_.high, 920 + 2000);
}

TEST_F(BoundedClockTest, ACallThatDoesNotFitCountsAlone) {
  See(1000, 1020, 100);
  See(2000, 2010, 1900);
  EXPECT_EQ(clock_.low, 100);
  EXPECT_EQ(clock_.high, 110);
}

// A device that is ahead of the host.
TEST_F(BoundedClockTest, TheDeviceMayBeAhead) {
  See(1000, 1020, 5000);
  EXPECT_EQ(ppi_bounded_clock_host(&clock_, 5100), 1110u);
}

TEST_F(BoundedClockTest, WhatSaysNothingIsNotSeen) {
  See(1000, 1020, 0);
  See(1020, 1000, 100);
  EXPECT_FALSE(clock_.is_known);
}

TEST_F(BoundedClockTest, FarAwayTimesDoNotOverflow) {
  See(UINT64_MAX - 20, UINT64_MAX - 10, 1);
  See(10, 20, UINT64_MAX - 5);
  EXPECT_TRUE(clock_.is_known);
  EXPECT_LE(clock_.low, clock_.high);
}

}  // namespace
