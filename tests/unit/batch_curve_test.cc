// SPDX-License-Identifier: Apache-2.0
//
// What tries of `search-batch` say together.
#include "batch/batch_print.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

constexpr uint64_t kSecond = 1000000000;

// A try that ended well with so many batches, each of which took a second.
ppi_batch_try Made(size_t batch, uint64_t num_batches) {
  ppi_batch_try one = {};
  one.batch = batch;
  one.started = one.survived = true;
  snprintf(one.result, sizeof one.result, "ok");
  one.num_runs = num_batches ? 1 : 0;
  one.num_batches = num_batches;
  one.span_ns = num_batches * kSecond;
  one.p99_ns = kSecond;
  return one;
}

std::string Judged(const std::vector<ppi_batch_try> &before, ppi_batch_try now,
                   ppi_batch_demand demand = {}) {
  ppi_batch_judge(before.data(), before.size(), &demand, &now);
  EXPECT_EQ(std::string(now.result) == "ok", now.survived);
  return now.result;
}

TEST(BatchCurveTest, AsManyBatchesWhateverTheSize) {
  const std::vector<ppi_batch_try> before = {Made(1, 100), Made(2, 100)};
  EXPECT_EQ("ok", Judged(before, Made(4, 100)));
  EXPECT_EQ("ok", Judged(before, Made(4, 130)));
  EXPECT_EQ("stopped early", Judged(before, Made(4, 99)));
  EXPECT_EQ("stopped early", Judged(before, Made(4, 25)));
  EXPECT_EQ("stopped early", Judged(before, Made(4, 0)));
}

TEST(BatchCurveTest, AsManyBatchesAsTheItemsMake) {
  const std::vector<ppi_batch_try> before = {Made(1, 99), Made(2, 49)};
  EXPECT_EQ("ok", Judged(before, Made(4, 24)));
  EXPECT_EQ("ok", Judged(before, Made(3, 32)));
  EXPECT_EQ("stopped early", Judged(before, Made(4, 20)));
}

// One try alone does not say which it is: what either allows is good.
TEST(BatchCurveTest, WhatIsNotKnownIsNotHeldAgainstATry) {
  const std::vector<ppi_batch_try> one = {Made(1, 100)};
  EXPECT_EQ("ok", Judged({}, Made(1, 3)));
  EXPECT_EQ("ok", Judged({}, Made(1, 0)));
  EXPECT_EQ("ok", Judged(one, Made(2, 100)));
  EXPECT_EQ("ok", Judged(one, Made(2, 50)));
  EXPECT_EQ("stopped early", Judged(one, Made(2, 30)));
  const std::vector<ppi_batch_try> neither = {Made(1, 100), Made(2, 170)};
  EXPECT_EQ("ok", Judged(neither, Made(4, 10)));
  const std::vector<ppi_batch_try> no_logs = {Made(1, 0), Made(2, 0)};
  EXPECT_EQ("ok", Judged(no_logs, Made(4, 0)));
  // What failed says nothing of how many there are.
  std::vector<ppi_batch_try> failed = {Made(1, 100), Made(2, 100), Made(8, 3)};
  failed[2].survived = false;
  EXPECT_EQ("ok", Judged(failed, Made(4, 100)));
}

TEST(BatchCurveTest, WhatIsAskedFor) {
  // The first batch of a run is no part of what is counted.
  EXPECT_EQ("ok", Judged({}, Made(1, 99), {0, 100}));
  EXPECT_EQ("stopped early", Judged({}, Made(1, 98), {0, 100}));
  EXPECT_EQ("stopped early", Judged({}, Made(1, 0), {0, 1}));
  EXPECT_EQ("ok", Judged({}, Made(1, 9), {kSecond, 0}));
  EXPECT_EQ("too slow", Judged({}, Made(1, 9), {kSecond - 1, 0}));
  ppi_batch_try no_memory = Made(2, 10);
  no_memory.says_no_memory = true;
  EXPECT_EQ("stopped early, out of memory", Judged({Made(1, 100)}, no_memory));
}

TEST(BatchCurveTest, LargestFastestAndKnee) {
  // Items/s: 1, 2, 3.6, 4, 3.9.
  std::vector<ppi_batch_try> tries = {Made(1, 10), Made(2, 10), Made(4, 10),
                                      Made(8, 10), Made(16, 10)};
  const double rates[] = {1, 2, 3.6, 4, 3.9};
  for (size_t i = 0; i < tries.size(); i++)
    tries[i].span_ns = static_cast<uint64_t>(
        10.0 * static_cast<double>(tries[i].batch) / rates[i] * 1e9);
  ppi_batch_curve curve;
  ppi_batch_curve_of(tries.data(), tries.size(), &curve);
  EXPECT_EQ(16u, curve.largest->batch);
  EXPECT_EQ(8u, curve.fastest->batch);
  EXPECT_EQ(4u, curve.knee->batch);
  tries[3].survived = tries[4].survived = false;
  ppi_batch_curve_of(tries.data(), tries.size(), &curve);
  EXPECT_EQ(4u, curve.largest->batch);
  EXPECT_EQ(4u, curve.knee->batch);
  ppi_batch_curve_of(tries.data(), 0, &curve);
  EXPECT_EQ(nullptr, curve.largest);
  EXPECT_EQ(nullptr, curve.knee);
}

TEST(BatchCurveTest, TheUsualLimitGrowsWithTheBatch) {
  ppi_batch_try first = Made(2, 10);
  first.wall_ns = kSecond;
  EXPECT_EQ(60 * kSecond, ppi_batch_limit_of(&first, 2));
  EXPECT_EQ(60 * kSecond, ppi_batch_limit_of(&first, 12));
  EXPECT_EQ(160 * kSecond, ppi_batch_limit_of(&first, 32));
  first.wall_ns = 100 * kSecond;
  EXPECT_EQ(1000 * kSecond, ppi_batch_limit_of(&first, 1));
}

}  // namespace
