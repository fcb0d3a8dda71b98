// SPDX-License-Identifier: Apache-2.0
#include "report/figures/histogram.h"
#include "base/rank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

class Histogram {
 public:
  ~Histogram() {
    ppi_histogram_clear(&histogram_);
  }
  void Add(uint64_t value) {
    ASSERT_TRUE(ppi_histogram_add(&histogram_, value));
  }
  void Merge(const Histogram &other) {
    ASSERT_TRUE(ppi_histogram_merge(&histogram_, &other.histogram_));
  }
  uint64_t Quantile(double q) const {
    return ppi_histogram_quantile(&histogram_, q);
  }
  bool IsExact() const {
    return histogram_.octaves == nullptr;
  }

 private:
  ppi_histogram histogram_ = {};
};

TEST(SpreadTest, KeepsSumsAndExtremes) {
  ppi_spread a = {}, b = {}, empty = {};
  ppi_spread_add(&a, 3);
  ppi_spread_add(&a, 5);
  ppi_spread_add(&b, UINT64_MAX);
  ppi_spread_merge(&a, &empty);
  EXPECT_EQ(a.n, 2u);
  EXPECT_EQ(a.sum, 8u);
  EXPECT_EQ(a.min, 3u);
  EXPECT_EQ(a.max, 5u);
  EXPECT_EQ(static_cast<uint64_t>(a.sum_squares), 34u);
  ppi_spread_merge(&empty, &b);
  EXPECT_EQ(empty.min, UINT64_MAX);
  // (2^64 - 1)^2 = 2^128 - 2^65 + 1
  EXPECT_EQ(static_cast<uint64_t>(b.sum_squares >> 64), UINT64_MAX - 1);
  EXPECT_EQ(static_cast<uint64_t>(b.sum_squares), 1u);
}

TEST(HistogramTest, EmptyAnswersZero) {
  Histogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), 0u);
}

// The least rank that has the share of all values at or below it.
TEST(RankTest, IsTheNearestFromAbove) {
  EXPECT_EQ(ppi_rank_of(5, 50 * PPI_RANK_PERCENT), 3u);
  EXPECT_EQ(ppi_rank_of(100, 99 * PPI_RANK_PERCENT), 99u);
  EXPECT_EQ(ppi_rank_of(101, 99 * PPI_RANK_PERCENT), 100u);
  EXPECT_EQ(ppi_rank_of(1000, 999000), 999u);  // p99.9
  EXPECT_EQ(ppi_rank_of(1, 1), 1u);
  EXPECT_EQ(ppi_rank_of(7, 0), 0u);
  EXPECT_EQ(ppi_rank_of(0, PPI_RANK_ALL), 0u);
  EXPECT_EQ(ppi_rank_of(UINT64_MAX, PPI_RANK_ALL), UINT64_MAX);
}

TEST(HistogramTest, FewValuesAreExact) {
  Histogram histogram;
  for (uint64_t value : {500000u, 100000u, 300000u, 200000u, 400000u})
    histogram.Add(value);
  EXPECT_EQ(histogram.Quantile(0), 100000u);
  EXPECT_EQ(histogram.Quantile(0.5), 300000u);
  EXPECT_EQ(histogram.Quantile(0.9), 500000u);
  EXPECT_EQ(histogram.Quantile(1), 500000u);
}

TEST(HistogramTest, ManyValuesAreWithinOnePercent) {
  Histogram histogram;
  std::mt19937_64 random(1);
  std::vector<uint64_t> values;
  for (int i = 0; i < 20000; i++) {
    values.push_back(random() >> (random() % 64));
    histogram.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  EXPECT_FALSE(histogram.IsExact());
  for (double q : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    size_t rank = static_cast<size_t>(std::ceil(q * 20000.0)) - 1;
    double expected = static_cast<double>(values[rank]);
    double got = static_cast<double>(histogram.Quantile(q));
    EXPECT_LE(std::fabs(got - expected), expected * 0.01) << q;
  }
}

// Buckets: 61 952 to 62 463, whose middle is above 62 070, and 1 000 to 1 007.
TEST(HistogramTest, NoAnswerLiesOutsideTheExtremes) {
  Histogram equal, two, merged;
  for (int i = 0; i < 300; i++) equal.Add(62070);
  EXPECT_FALSE(equal.IsExact());
  for (double q : {0.0, 0.5, 0.99, 1.0}) EXPECT_EQ(equal.Quantile(q), 62070u);
  for (int i = 0; i < 300; i++) two.Add(i % 2 == 0 ? 1000 : 62070);
  EXPECT_EQ(two.Quantile(0), 1000u);
  EXPECT_EQ(two.Quantile(0.25), 1004u);
  EXPECT_EQ(two.Quantile(0.99), 62070u);
  merged.Merge(equal);
  EXPECT_EQ(merged.Quantile(0.5), 62070u);
  merged.Merge(two);
  EXPECT_EQ(merged.Quantile(0), 1000u);
  EXPECT_EQ(merged.Quantile(0.99), 62070u);
}

TEST(HistogramTest, MergingInAnyOrderIsTheSame) {
  for (size_t total : {200u, 256u, 257u, 5000u}) {
    Histogram parts[3], forward, backward;
    std::mt19937_64 random(total);
    for (size_t i = 0; i < total; i++)
      parts[random() % 3].Add(random() % 100000);
    for (int i : {0, 1, 2}) forward.Merge(parts[i]);
    for (int i : {2, 0, 1}) backward.Merge(parts[i]);
    EXPECT_EQ(forward.IsExact(), total <= PPI_HISTOGRAM_EXACT);
    EXPECT_EQ(backward.IsExact(), forward.IsExact());
    for (double q = 0; q <= 1; q += 0.01)
      EXPECT_EQ(forward.Quantile(q), backward.Quantile(q));
  }
}

}  // namespace
