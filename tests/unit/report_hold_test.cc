// SPDX-License-Identifier: Apache-2.0
//
// Held ranges come back as they went in, and few bytes hold many of them.
#include "report/spans/hold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/map.h"
#include "report/parts/merge.h"

namespace {

bool Same(const ppi_buffered &a, const ppi_buffered &b) {
  return a.start_ns == b.start_ns && a.end_ns == b.end_ns && a.site == b.site &&
         a.depth == b.depth && a.flags == b.flags;
}

bool IsBefore(const ppi_buffered &a, const ppi_buffered &b) {
  return ppi_buffered_order(&a, &b) < 0;
}

class HoldTest : public testing::Test {
 protected:
  ~HoldTest() override {
    ppi_hold_clear(&hold_, &pool_);
    ppi_hold_pool_clear(&pool_);
  }
  void Add(const ppi_buffered &range) {
    bool added = range.flags ? ppi_hold_add_slow(&hold_, &pool_, &range)
                             : ppi_hold_add(&hold_, &pool_, &range);
    ASSERT_TRUE(added);
  }
  static std::vector<ppi_buffered> Read(const ppi_hold &hold) {
    std::vector<ppi_buffered> all;
    for (size_t i = 0; i < hold.num_pages; i++) {
      ppi_buffered ranges[PPI_HOLD_WORDS];
      size_t num = ppi_hold_read(hold.pages[i], ranges);
      all.insert(all.end(), ranges, ranges + num);
    }
    return all;
  }
  void ExpectHeld(const std::vector<ppi_buffered> &want) {
    ExpectHeld(want, hold_);
  }
  static void ExpectHeld(const std::vector<ppi_buffered> &want,
                         const ppi_hold &hold) {
    std::vector<ppi_buffered> got = Read(hold);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); i++)
      EXPECT_TRUE(Same(got[i], want[i])) << i;
  }
  ppi_hold hold_ = {};
  ppi_hold_pool pool_ = {};
};

// Each limit of the short form, on it and beyond it.
TEST_F(HoldTest, WhatDoesNotFitIsHeldAtLength) {
  const uint64_t longest = (1u << 21) - 1, latest = (1u << 18) - 1;
  std::vector<ppi_buffered> ranges = {{0, 10, 1, 0, 0},
                                      {5, 10 + latest, 2, 0, 0},
                                      {5, 11 + 2 * latest, 2, 0, 0},
                                      {5, 5 + longest, 3, 255, 0},
                                      {5, 6 + longest, 3, 256, 0},
                                      {7, 7 + longest, 65535, 0, 0},
                                      {7, 8 + longest, 65536, 0, 0},
                                      {9, 9 + longest + 1, 4, 65535, 0},
                                      {9, 11 + longest, 4, 0, 1},
                                      {9, 12 + longest, 4, 0, 2},
                                      {3, UINT64_MAX, 1u << 21, 7, 3},
                                      {0, 0, 0, 0, 0}};
  for (const ppi_buffered &range : ranges) Add(range);
  ExpectHeld(ranges);
  EXPECT_TRUE(hold_.unsorted);
}

TEST_F(HoldTest, ALaneInOrderTakesAWordARange) {
  std::vector<ppi_buffered> ranges;
  for (uint64_t i = 0; i < 10000; i++)
    ranges.push_back({1000 * i, 1000 * i + 500, 7, 3, 0});
  for (const ppi_buffered &range : ranges) Add(range);
  ExpectHeld(ranges);
  EXPECT_FALSE(hold_.unsorted);
  EXPECT_LE(hold_.num_pages, 10000u / PPI_HOLD_WORDS + 5);
}

// Inner before outer; what is empty has no order.
TEST_F(HoldTest, KnowsWhetherItIsInOrder) {
  for (const ppi_buffered &range :
       {ppi_buffered{10, 20, 1, 2, 0}, ppi_buffered{20, 20, 1, 2, 0},
        ppi_buffered{10, 20, 1, 1, 0}, ppi_buffered{5, 20, 1, 0, 0}})
    Add(range);
  EXPECT_FALSE(hold_.unsorted);
  Add({7, 20, 1, 0, 0});
  EXPECT_TRUE(hold_.unsorted);
}

TEST_F(HoldTest, PassesOnWhatTheHorizonHasPassed) {
  std::mt19937_64 random(1);
  std::vector<ppi_buffered> ranges;
  uint64_t at = 0;
  for (int i = 0; i < 3000; i++) {
    at += random() % 5;
    ranges.push_back({at - std::min<uint64_t>(at, random() % 30), at, 1, 0, 0});
  }
  std::sort(ranges.begin(), ranges.end(), IsBefore);
  for (const ppi_buffered &range : ranges) Add(range);
  ppi_hold passed = {};
  for (uint64_t horizon = 0; horizon < at + 700;
       horizon += 1 + random() % 700) {
    ASSERT_TRUE(ppi_hold_pass(&hold_, &pool_, horizon, &passed));
    std::vector<ppi_buffered> want, want_passed;
    for (const ppi_buffered &range : ranges)
      if (range.end_ns > horizon || range.start_ns >= horizon)
        want.push_back(range);
      else
        want_passed.push_back(range);
    ExpectHeld(want);
    std::sort(want_passed.begin(), want_passed.end(), IsBefore);
    ASSERT_TRUE(ppi_hold_sort(&passed, &pool_));
    ExpectHeld(want_passed, passed);
  }
  EXPECT_EQ(hold_.num_pages, 0u);
  EXPECT_TRUE(ppi_hold_pass(&passed, &pool_, UINT64_MAX, nullptr));
  EXPECT_EQ(passed.num_pages, 0u);
  EXPECT_GT(pool_.num, 3u);
}

// They are on several pages, and an empty one there is still to come.
TEST_F(HoldTest, PassesOnAllThatEndAtTheHorizon) {
  std::vector<ppi_buffered> ranges = {{100, 100, 1, 40, 0}};
  for (uint16_t i = 1; i <= 40; i++)
    ranges.push_back({100u - i, 100, 1, static_cast<uint16_t>(40 - i), 0});
  for (const ppi_buffered &range : ranges) Add(range);
  ASSERT_LT(1u, hold_.num_pages);
  ppi_hold passed = {};
  ASSERT_TRUE(ppi_hold_pass(&hold_, &pool_, 100, &passed));
  ExpectHeld({ranges[0]});
  ExpectHeld({ranges.begin() + 1, ranges.end()}, passed);
  ppi_hold_clear(&passed, &pool_);
}

TEST_F(HoldTest, KnowsWhetherItIsBehind) {
  ppi_hold before = {};
  Add({10, 20, 1, 0, 0});
  EXPECT_TRUE(ppi_hold_is_behind(&hold_, &before));
  const ppi_buffered ahead = {1, 19, 1, 0, 0}, beside = {19, 20, 1, 0, 0};
  ASSERT_TRUE(ppi_hold_add(&before, &pool_, &ahead));
  EXPECT_TRUE(ppi_hold_is_behind(&hold_, &before));
  ASSERT_TRUE(ppi_hold_add(&before, &pool_, &beside));
  EXPECT_FALSE(ppi_hold_is_behind(&hold_, &before));
  ppi_hold_clear(&before, &pool_);
}

TEST_F(HoldTest, MergesLanesFromTheLastEnd) {
  std::mt19937_64 random(2);
  ppi_run_lane lanes[7] = {};
  std::vector<ppi_buffered> all;
  ppi_merge merge = {};
  merge.horizon_ns = UINT64_MAX;
  merge.pool = &pool_;
  for (ppi_run_lane &lane : lanes) {
    for (uint64_t i = random() % 2000; i > 0; i--) {
      uint64_t end = random() % 5000;
      ppi_buffered range = {end - std::min<uint64_t>(end, random() % 9), end,
                            static_cast<uint32_t>(random() % 3), 0, 0};
      ASSERT_TRUE(ppi_hold_add_slow(&lane.nested, &pool_, &range));
      all.push_back(range);
    }
    ASSERT_TRUE(ppi_merge_hold(&merge, &lane, &lane.nested, false));
  }
  ppi_run_open open[2] = {};
  for (ppi_run_open &item : open) {
    item.buffered = {random() % 5000, UINT64_MAX, 0, 0, PPI_BUFFERED_OPEN};
    item.lane = &lanes[0];
    all.push_back(item.buffered);
  }
  ASSERT_TRUE(ppi_merge_open(&merge, open, 2));
  ASSERT_TRUE(ppi_merge_start(&merge));
  std::sort(all.begin(), all.end(),
            [](const ppi_buffered &a, const ppi_buffered &b) {
              return ppi_buffered_order(&a, &b) > 0;
            });
  for (const ppi_buffered &want : all) {
    const ppi_merge_cursor *top = ppi_merge_top(&merge);
    ASSERT_NE(top, nullptr);
    ASSERT_TRUE(Same(top->range, want));
    ppi_merge_next(&merge, &merge.cursors[merge.winner]);
    ppi_merge_replay(&merge);
  }
  EXPECT_EQ(ppi_merge_top(&merge), nullptr);
  ppi_merge_clear(&merge);
  for (ppi_run_lane &lane : lanes) ppi_hold_clear(&lane.nested, &pool_);
}

TEST(MapTest, NumbersKeysAsTheyCome) {
  ppi_map map = {};
  for (int round = 0; round < 2; round++)
    for (uint64_t i = 0; i < 5000; i++)
      ASSERT_EQ(ppi_map_number(&map, {i % 7 << 32, i * i}), i);
  EXPECT_EQ(map.num, 5000u);
  ppi_map_clear(&map);
}

}  // namespace
