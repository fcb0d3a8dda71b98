// SPDX-License-Identifier: Apache-2.0
#include "report/spans/union.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

class Union {
 public:
  ~Union() {
    ppi_union_clear(&set_);
  }
  void Add(uint64_t start, uint64_t end) {
    ASSERT_TRUE(ppi_union_add(&set_, start, end));
  }
  void Settle(uint64_t horizon) {
    ppi_union_settle(&set_, horizon);
  }
  uint64_t Measure() {
    return ppi_union_measure(&set_);
  }
  size_t NumSpans() const {
    return set_.num;
  }

 private:
  ppi_union set_ = {};
};

TEST(UnionTest, EndBeforeStartIsEmpty) {
  Union set;
  set.Add(10, 5);
  EXPECT_EQ(set.Measure(), 0u);
  set.Add(0, UINT64_MAX);
  EXPECT_EQ(set.Measure(), UINT64_MAX);
}

TEST(UnionTest, SettlingForgetsSpansAndKeepsTheMeasure) {
  Union set;
  for (uint64_t i = 0; i < 1000; i++) set.Add(i * 10, i * 10 + 5);
  set.Settle(9992);
  EXPECT_EQ(set.NumSpans(), 1u);
  EXPECT_EQ(set.Measure(), 5000u);
  set.Add(9000, 9995);  // only what lies behind the horizon is new
  EXPECT_EQ(set.Measure(), 5000u);
  set.Add(9000, 10000);
  EXPECT_EQ(set.Measure(), 5005u);
}

// Lines of nested spans, told in turns, each line in the order of its ends; now
// and then a span far back, and a horizon that nothing comes before again. More
// spans than are kept apart, and with 40 lines more of these.
TEST(UnionTest, LinesInTurnsEqualAMarkedLine) {
  for (uint64_t seed = 1; seed <= 24; seed++) {
    std::mt19937_64 random(seed);
    const size_t num_lines = seed % 3 == 0 ? 40 : 1 + seed % 3;
    constexpr uint64_t kEnd = 60000;
    std::vector<uint64_t> now(num_lines);
    std::vector<bool> marked(2 * kEnd);
    Union set;
    uint64_t horizon = 0;
    auto add = [&](uint64_t start, uint64_t end) {
      set.Add(start, end);
      for (uint64_t at = start; at < end; at++) marked[at] = true;
    };
    for (;;) {
      uint64_t &at = *std::min_element(now.begin(), now.end());
      if (at >= kEnd) break;
      if (random() % 50 == 0 && at > horizon) {
        horizon += random() % (at - horizon);
        set.Settle(horizon);
      }
      for (uint64_t i = random() % 40; i > 0; i--) {
        uint64_t outer = at += 1 + random() % 9;
        for (uint64_t j = random() % 4; j > 0; j--) {
          uint64_t inner = at += random() % 5;
          add(inner, at += random() % 5);
        }
        if (random() % 2) add(outer, at);
        if (random() % 40 == 0) {
          uint64_t back = horizon + random() % (at - horizon);
          add(back, back + random() % 9);
        }
      }
    }
    uint64_t expected = 0;
    for (bool mark : marked) expected += mark;
    EXPECT_EQ(set.Measure(), expected) << seed;
    EXPECT_EQ(set.Measure(), expected) << seed;
  }
}

TEST(UnionTest, BackwardsAndInNoOrder) {
  Union backwards, shuffled;
  std::vector<uint64_t> starts;
  for (uint64_t i = 5000; i-- > 0;) {
    backwards.Add(i * 10, i * 10 + 4);
    starts.push_back(i * 10);
  }
  std::shuffle(starts.begin(), starts.end(), std::mt19937_64(3));
  for (uint64_t start : starts) shuffled.Add(start, start + 4);
  EXPECT_EQ(backwards.Measure(), 20000u);
  EXPECT_EQ(backwards.NumSpans(), 5000u);
  EXPECT_EQ(shuffled.Measure(), 20000u);
  EXPECT_EQ(shuffled.NumSpans(), 5000u);
  for (uint64_t start : starts) shuffled.Add(start + 4, start + 10);
  EXPECT_EQ(shuffled.Measure(), 50000u);
  EXPECT_EQ(shuffled.NumSpans(), 1u);
}

TEST(UnionTest, ACopyGoesOnAlone) {
  ppi_union one = {}, two = {};
  ASSERT_TRUE(ppi_union_add(&one, 0, 10));
  ppi_union_settle(&one, 5);
  ASSERT_TRUE(ppi_union_add(&one, 30, 40));
  ASSERT_TRUE(ppi_union_copy(&two, &one));
  ASSERT_TRUE(ppi_union_add(&two, 0, 20));
  EXPECT_EQ(ppi_union_measure(&one), 20u);
  EXPECT_EQ(ppi_union_measure(&two), 30u);
  ppi_union_clear(&one);
  ppi_union_clear(&two);
}

TEST(UnionTest, EqualsAMarkedLine) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; round++) {
    Union set;
    std::vector<bool> marked(300);
    for (int i = 0; i < 120; i++) {
      uint64_t start = random() % 300, end = start + random() % 12;
      if (end > 300) end = 300;
      set.Add(start, end);
      for (uint64_t at = start; at < end; at++) marked[at] = true;
    }
    uint64_t expected = 0;
    for (bool mark : marked) expected += mark;
    EXPECT_EQ(set.Measure(), expected);
  }
}

}  // namespace
