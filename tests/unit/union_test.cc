// SPDX-License-Identifier: Apache-2.0
#include "union.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

class Union {
 public:
  ~Union() {
    ppi_union_clear(&set_);
  }
  void Add(uint64_t start, uint64_t end) {
    ASSERT_EQ(ppi_union_add(&set_, start, end), PPROF_STATUS_OK);
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

TEST(UnionTest, TouchingSpansFuse) {
  Union set;
  set.Add(10, 20);
  set.Add(20, 30);
  EXPECT_EQ(set.Measure(), 20u);
  EXPECT_EQ(set.NumSpans(), 1u);
}

TEST(UnionTest, NestedAndEqualSpansCountOnce) {
  Union set;
  set.Add(10, 50);
  set.Add(20, 30);
  set.Add(10, 50);
  EXPECT_EQ(set.Measure(), 40u);
}

// The example on which an older merge of others lost spans: 30, not 10.
TEST(UnionTest, LaterSpansAreNotLost) {
  Union set;
  set.Add(0, 10);
  set.Add(5, 8);
  set.Add(20, 30);
  set.Add(40, 50);
  EXPECT_EQ(set.Measure(), 30u);
}

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
