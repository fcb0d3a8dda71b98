// SPDX-License-Identifier: Apache-2.0
//
// The calls of a stage in eight bytes each, back in the order of time.
#include "compare/compare_calls.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/mem.h"

namespace {

using Call = std::pair<uint64_t, uint64_t>;  // start, duration

class CompareCallsTest : public ::testing::Test {
 protected:
  void TearDown() override {
    ppi_calls_clear(&calls_);
  }
  static void Add(ppi_calls *to, const std::vector<Call> &calls) {
    for (const Call &call : calls) ppi_calls_add(to, call.first, call.second);
  }
  std::vector<float> Durations(size_t num_skipped = 0) {
    std::vector<float> out(calls_.num - num_skipped);
    first_ns_ = calls_.first_ns;
    total_ns_ = calls_.total_ns;
    ppi_calls_durations(&calls_, num_skipped, out.data());
    return out;
  }

  ppi_calls calls_ = {};
  uint64_t first_ns_ = 0;
  double total_ns_ = 0;
};

TEST_F(CompareCallsTest, InTheOrderTheyCame) {
  Add(&calls_, {{5, 1}, {6, 200}, {1000, 3}});
  EXPECT_FALSE(calls_.is_out_of_order);
  EXPECT_EQ(Durations(), (std::vector<float>{1, 200, 3}));
  EXPECT_EQ(first_ns_, 1u);
  EXPECT_EQ(total_ns_, 204);
  EXPECT_EQ(calls_.num, 0u);
}

// As lanes come, one batch behind the other; of two that began at once the
// shorter one is first.
TEST_F(CompareCallsTest, InTheOrderOfTime) {
  Add(&calls_, {{70, 7}, {90, 9}, {10, 1}, {90, 2}, {80, 8}});
  EXPECT_TRUE(calls_.is_out_of_order);
  EXPECT_EQ(Durations(), (std::vector<float>{1, 7, 8, 2, 9}));
}

TEST_F(CompareCallsTest, TheShorterOfTwoIsTheFirst) {
  Add(&calls_, {{10, 5}, {10, 3}, {20, 1}});
  EXPECT_EQ(Durations(), (std::vector<float>{3, 5, 1}));
  EXPECT_EQ(first_ns_, 3u);
}

// Up to 2^31 ns between two of them, and more.
TEST_F(CompareCallsTest, FarApart) {
  uint64_t last = 0;
  std::vector<Call> calls{{0, 1}};
  std::vector<float> want{1};
  for (uint64_t since : {0x7fffffffULL, 0x80000000ULL, 0x80000001ULL,
                         0xffffffffULL, 0x100000000ULL, 1ULL << 60}) {
    calls.push_back({last += since, calls.size() + 1});
    want.push_back(static_cast<float>(calls.size()));
  }
  Add(&calls_, calls);
  EXPECT_EQ(Durations(), want);
  Add(&calls_, {calls.rbegin(), calls.rend()});
  EXPECT_EQ(Durations(), want);
}

TEST_F(CompareCallsTest, OfAnyTime) {
  Add(&calls_, {{UINT64_MAX, 1}, {0, UINT64_MAX}, {UINT64_MAX / 2, 2}});
  EXPECT_EQ(Durations(),
            (std::vector<float>{static_cast<float>(UINT64_MAX), 2, 1}));
  EXPECT_EQ(first_ns_, UINT64_MAX);
}

// More than are sorted one by one, in falling order.
TEST_F(CompareCallsTest, Many) {
  std::vector<float> want;
  for (uint64_t i = 0; i < 2000; i++) {
    Add(&calls_, {{10 * (2000 - i), 2000 - i}});
    want.push_back(static_cast<float>(i + 1));
  }
  EXPECT_EQ(Durations(), want);
  EXPECT_EQ(total_ns_, 2000 * 2001 / 2);
}

TEST_F(CompareCallsTest, TheFirstOnesAreNoSamples) {
  Add(&calls_, {{30, 3}, {10, 1}, {20, 2}});
  EXPECT_EQ(Durations(2), (std::vector<float>{3}));
  EXPECT_EQ(first_ns_, 1u);
  EXPECT_EQ(total_ns_, 6);
}

TEST_F(CompareCallsTest, MovedBehindOthers) {
  ppi_calls from = {};
  Add(&calls_, {{50, 5}, {60, 6}});
  Add(&from, {{55, 7}, {90, 9}, {40, 4}});
  ppi_calls_move(&from, &calls_);
  EXPECT_EQ(from.num, 0u);
  EXPECT_EQ(Durations(), (std::vector<float>{4, 5, 7, 6, 9}));
  EXPECT_EQ(first_ns_, 4u);
  EXPECT_EQ(total_ns_, 31);
}

TEST_F(CompareCallsTest, WithoutMemory) {
  const auto add = [this] {
    ppi_mem_fail_at(1);
    ppi_calls_add(&calls_, 1, 1);
  };
  EXPECT_EXIT(add(), testing::ExitedWithCode(3), "out of memory");
}

}  // namespace
