// SPDX-License-Identifier: Apache-2.0
//
// Who gets which slot of the process's table of ranges: a thread its own
// neighbours, again and again, and in need whatever lies idle.
#include "mark/range_slots.h"

#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/session.h>
#include <string.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "mark/thread.h"
#include "tests/support/patient_flush.h"

namespace {

constexpr uint32_t kGroup = 32;

PPROF_SITE(slot_site, "range", PPROF_CATEGORY_USER_DEFINED);

uint32_t IndexOf(pprof_range range) {
  return static_cast<uint32_t>(range.id & 0xffff) - 1;
}

class RangeSlotsTest : public testing::Test {
 protected:
  void SetUp() override {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = 8u << 20;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_create(&options, &session_, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session_));
  }

  void TearDown() override {
    pprof_session_stop(session_, nullptr);
    pprof_stats stats = {};
    stats.size = sizeof stats;
    pprof_session_stats(session_, &stats);
    EXPECT_EQ(recorded_, stats.recorded);
    EXPECT_EQ(lost_, stats.lost);
    pprof_session_destroy(session_);
  }

  // The slots of `num` ranges that are open at the same time.
  std::vector<uint32_t> UseOnThisThread(size_t num) {
    std::vector<pprof_range> ranges;
    std::vector<uint32_t> indices;
    for (size_t i = 0; i < num; i++) {
      ranges.push_back(pprof_range_begin(&slot_site));
      if (ranges.back().id)
        indices.push_back(IndexOf(ranges.back()));
      else
        lost_++;
    }
    for (pprof_range range : ranges) pprof_range_end(range);
    recorded_ += indices.size();
    return indices;
  }

  std::vector<uint32_t> UseOnAnotherThread(size_t num) {
    std::vector<uint32_t> indices;
    std::thread([&] { indices = UseOnThisThread(num); }).join();
    return indices;
  }

  void Drain() {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_test::FlushPatiently(session_));
  }

  static std::set<uint32_t> GroupsOf(const std::vector<uint32_t> &indices) {
    std::set<uint32_t> groups;
    for (uint32_t index : indices) groups.insert(index / kGroup);
    return groups;
  }

  pprof_session *session_ = nullptr;
  uint64_t recorded_ = 0, lost_ = 0;
};

TEST_F(RangeSlotsTest, NoGroupIsTwoThreads) {
  const std::set<uint32_t> here = GroupsOf(UseOnThisThread(40));
  const std::set<uint32_t> there = GroupsOf(UseOnAnotherThread(40));
  EXPECT_EQ(2u, here.size());
  EXPECT_EQ(2u, there.size());
  for (uint32_t group : here) EXPECT_EQ(0u, there.count(group));
}

TEST_F(RangeSlotsTest, SlotsComeBackToTheirThread) {
  const std::set<uint32_t> here = GroupsOf(UseOnThisThread(kGroup));
  UseOnAnotherThread(kGroup);
  for (int i = 0; i < 20; i++) {
    Drain();
    for (uint32_t group : GroupsOf(UseOnThisThread(kGroup)))
      EXPECT_EQ(1u, here.count(group));
  }
}

TEST_F(RangeSlotsTest, SlotThatAnotherThreadEndedComesBack) {
  const pprof_range range = pprof_range_begin(&slot_site);
  std::thread([&] { pprof_range_end(range); }).join();
  recorded_++;
  Drain();
  const std::vector<uint32_t> next = UseOnThisThread(kGroup);
  EXPECT_EQ(1, std::count(next.begin(), next.end(), IndexOf(range)));
}

TEST_F(RangeSlotsTest, EverySlotServesTheOneThreadThatNeedsThem) {
  // One is the step's that is open.
  const size_t all = ppi_recorder_in_force.ranges->max_slots - 1;
  std::vector<uint32_t> indices = UseOnThisThread(all + 3);
  EXPECT_EQ(3u, lost_);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  EXPECT_EQ(all, indices.size());
}

TEST_F(RangeSlotsTest, WhatIdleThreadsGaveBackServesOthers) {
  const size_t all = ppi_recorder_in_force.ranges->max_slots - 1;
  UseOnAnotherThread(all);
  ASSERT_EQ(0u, lost_);
  Drain();
  // That thread's block keeps a few, by the size of the table.
  const size_t kept = 1 + (all + 1) / 256;
  EXPECT_EQ(all - kept, UseOnThisThread(all - kept).size());
  EXPECT_EQ(0u, lost_);
}

// However many threads there are, what lies in their blocks is a part only.
TEST_F(RangeSlotsTest, ManyThreadsWithOneRangeEachLoseNone) {
  const size_t num = ppi_recorder_in_force.ranges->max_slots * 3 / 4;
  for (size_t i = 0; i < num; i++) {
    static ppi_thread thread;
    memset(static_cast<void *>(&thread), 0, sizeof thread);
    thread.number = static_cast<uint32_t>(i);
    ASSERT_NE(0u, ppi_range_slot_take(ppi_recorder_in_force.ranges, &thread))
        << i;
  }
}

TEST_F(RangeSlotsTest, NextSessionBeginsAnew) {
  UseOnThisThread(5);
  pprof_session_stop(session_, nullptr);
  pprof_session_destroy(session_);
  recorded_ = 0;
  SetUp();
  const size_t all = ppi_recorder_in_force.ranges->max_slots - 1;
  EXPECT_EQ(all, UseOnThisThread(all).size());
}

}  // namespace
