// SPDX-License-Identifier: Apache-2.0
//
// The statistics of `compare`, against values from tables and by hand.
#include "tools/compare_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using Samples = std::vector<std::vector<double>>;

struct Runs {
  explicit Runs(const Samples &runs) {
    for (const auto &run : runs) {
      values.insert(values.end(), run.begin(), run.end());
      ends.push_back(values.size());
    }
    view = {values.data(), ends.data(), ends.size()};
  }
  std::vector<double> values;
  std::vector<size_t> ends;
  ppi_runs view;
};

std::vector<double> Normal(size_t n, double mean, double deviation,
                           double phi = 0) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double state = normal(random);
  for (size_t i = 0; i < n; i++) {
    values.push_back(mean + deviation * state);
    state = phi * state + std::sqrt(1 - phi * phi) * normal(random);
  }
  return values;
}

// Tables of Student's distribution; with one degree the tail of 1 is 1/4.
TEST(CompareStatsTest, StudentIsThatOfTables) {
  EXPECT_DOUBLE_EQ(ppi_student_tail(0, 3), 0.5);
  EXPECT_NEAR(ppi_student_tail(1, 1), 0.25, 1e-12);
  EXPECT_NEAR(ppi_student_tail(-1, 1), 0.75, 1e-12);
  EXPECT_NEAR(ppi_student_tail(1.812461, 10), 0.05, 1e-7);
  EXPECT_NEAR(ppi_student_quantile(0.025, 5), 2.570582, 1e-6);
  EXPECT_NEAR(ppi_student_quantile(0.005, 20), 2.845340, 1e-6);
  EXPECT_NEAR(ppi_student_quantile(0.025, 1e6), 1.959966, 1e-5);
  EXPECT_NEAR(ppi_student_quantile(0.975, 5), -2.570582, 1e-6);
  EXPECT_EQ(ppi_student_tail(INFINITY, 4), 0);
}

// 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which is no less than the one
// before.
TEST(CompareStatsTest, HolmCorrectsInOrder) {
  double p[] = {0.01, 0.04, 0.03, 0.005, 0.9};
  size_t scratch[5];
  ppi_holm(p, 4, scratch);
  EXPECT_DOUBLE_EQ(p[0], 0.03);
  EXPECT_DOUBLE_EQ(p[1], 0.06);
  EXPECT_DOUBLE_EQ(p[2], 0.06);
  EXPECT_DOUBLE_EQ(p[3], 0.02);
  EXPECT_DOUBLE_EQ(p[4], 0.9);
  double sure[] = {0.7, 0.8};
  ppi_holm(sure, 2, scratch);
  EXPECT_DOUBLE_EQ(sure[0], 1);
  ppi_holm(nullptr, 0, nullptr);
}

// U = 0 of 9, so z = 4.5 / sqrt(9 * 7 / 12) = 1.96396; beyond it lie 0.121006
// with four degrees.
TEST(CompareStatsTest, RanksOfSeparateSamples) {
  Runs a(Samples{{1, 2, 3}}), b(Samples{{4, 5, 6}});
  ppi_rank_test test;
  ASSERT_TRUE(ppi_rank_test_of(&a.view, &b.view, PPI_METRIC_P50, &test));
  EXPECT_DOUBLE_EQ(test.shift, 1);
  EXPECT_NEAR(test.p, 0.121006, 1e-5);
  ASSERT_TRUE(ppi_rank_test_of(&b.view, &a.view, PPI_METRIC_P50, &test));
  EXPECT_DOUBLE_EQ(test.shift, 0);
  EXPECT_NEAR(test.p, 0.121006, 1e-5);
}

// Of the nine pairs B is greater in 4 and equal in 4: (4 + 2) / 9. The ranks
// are 2 and 5, so t = 1 / sqrt(2.7 * 2 / 3) = 0.745356 with four degrees.
TEST(CompareStatsTest, RanksOfTies) {
  Runs a(Samples{{1, 1, 2}}), b(Samples{{1, 2, 2}});
  ppi_rank_test test;
  ASSERT_TRUE(ppi_rank_test_of(&a.view, &b.view, PPI_METRIC_MEAN, &test));
  EXPECT_NEAR(test.shift, 6.0 / 9, 1e-12);
  EXPECT_NEAR(test.p, 0.497470, 1e-5);
}

TEST(CompareStatsTest, EqualSamplesTellNothing) {
  Runs a(Samples{std::vector<double>(20, 5)}), none(Samples{});
  ppi_rank_test test;
  ASSERT_TRUE(ppi_rank_test_of(&a.view, &a.view, PPI_METRIC_P50, &test));
  EXPECT_DOUBLE_EQ(test.shift, 0.5);
  EXPECT_DOUBLE_EQ(test.p, 1);
  ASSERT_TRUE(ppi_rank_test_of(&a.view, &none.view, PPI_METRIC_P50, &test));
  EXPECT_DOUBLE_EQ(test.p, 1);
}

// A tail that grows moves no median: only the test of the tail sees it.
TEST(CompareStatsTest, TailsHaveATestOfTheirOwn) {
  std::vector<double> base = Normal(2000, 1000, 50), tail = base;
  for (size_t i = 0; i < tail.size(); i += 50) tail[i] += 1000;
  Runs a(Samples{base}), b(Samples{tail});
  ppi_rank_test test;
  ASSERT_TRUE(ppi_rank_test_of(&a.view, &b.view, PPI_METRIC_P99, &test));
  EXPECT_LT(test.p, 0.001);
  EXPECT_GT(test.shift, 0.5);
  ASSERT_TRUE(ppi_rank_test_of(&a.view, &b.view, PPI_METRIC_P50, &test));
  EXPECT_GT(test.p, 0.05);
}

// (1 + 0.8) / (1 - 0.8) = 9; the best block of such a series of 10 000 has
// (1.5 * (2 * 0.8 / (1 - 0.64))^2)^(1/3) * 10 000^(1/3) = 67.
TEST(CompareStatsTest, DependenceOfAnAutoregressiveSeries) {
  std::vector<double> values = Normal(10000, 0, 1, 0.8);
  ppi_dependence depends = ppi_dependence_of(values.data(), values.size());
  EXPECT_NEAR(depends.time, 9, 1.5);
  EXPECT_NEAR(static_cast<double>(depends.block_len), 67, 20);
  EXPECT_LT(depends.block_time, depends.time);
}

TEST(CompareStatsTest, DependenceOfSimpleSeries) {
  std::vector<double> same(100, 0.1), other;
  for (int i = 0; i < 100; i++) other.push_back(i % 2);
  EXPECT_EQ(ppi_dependence_of(same.data(), 100).time, 1);
  EXPECT_EQ(ppi_dependence_of(other.data(), 100).time, 1);
  EXPECT_EQ(ppi_dependence_of(other.data(), 3).time, 1);
  EXPECT_EQ(ppi_dependence_of(nullptr, 0).time, 1);
  std::vector<double> independent = Normal(10000, 0, 1);
  EXPECT_LT(ppi_dependence_of(independent.data(), 10000).time, 1.2);
  // No less than n^(1/3).
  EXPECT_EQ(ppi_dependence_of(independent.data(), 1000).block_len, 10u);
}

TEST(CompareStatsTest, PercentilesAreThoseOfNearestRank) {
  Runs runs(Samples{{7, 3, 1, 9, 5}, {10, 2, 8, 4, 6}});
  const double expected[] = {5.5, 5, 9, 10};
  for (unsigned m = 0; m < PPI_NUM_METRICS; m++) {
    ppi_estimate estimate;
    ASSERT_TRUE(
        ppi_estimate_of(&runs.view, static_cast<ppi_metric>(m), 1, &estimate));
    EXPECT_DOUBLE_EQ(estimate.value, expected[m]);
    EXPECT_EQ(estimate.n, 10u);
  }
}

// The mean of 4 000 independent samples: 0.1 / sqrt(4000); its median: that
// times sqrt(pi / 2).
TEST(CompareStatsTest, ErrorsOfIndependentSamples) {
  Runs runs(Samples{Normal(4000, 1e6, 1e5)});
  ppi_estimate estimate;
  ASSERT_TRUE(ppi_estimate_of(&runs.view, PPI_METRIC_MEAN, 1, &estimate));
  EXPECT_NEAR(estimate.log_error, 0.001581, 0.0003);
  EXPECT_GT(estimate.independent, 3000);
  ASSERT_TRUE(ppi_estimate_of(&runs.view, PPI_METRIC_P50, 1, &estimate));
  EXPECT_NEAR(estimate.log_error, 0.001982, 0.0005);
}

// Times the root of 9, the dependence.
TEST(CompareStatsTest, ErrorsOfDependentSamples) {
  Runs runs(Samples{Normal(4000, 1e6, 1e5, 0.8)});
  ppi_estimate estimate;
  ASSERT_TRUE(ppi_estimate_of(&runs.view, PPI_METRIC_MEAN, 1, &estimate));
  EXPECT_NEAR(estimate.log_error, 3 * 0.001581, 0.0012);
  EXPECT_NEAR(estimate.independent, 4000 / 9.0, 150);
}

// Each run is sure of itself, and they differ: log(1.21) / 2, to one degree.
TEST(CompareStatsTest, RunsThatDiffer) {
  Runs runs(Samples{std::vector<double>(50, 1.00e6),
                    std::vector<double>(50, 1.21e6)});
  ppi_estimate estimate;
  ASSERT_TRUE(ppi_estimate_of(&runs.view, PPI_METRIC_MEAN, 1, &estimate));
  EXPECT_NEAR(estimate.log_error, 0.0953102, 1e-6);
  EXPECT_NEAR(estimate.degrees, 1, 1e-9);
  EXPECT_DOUBLE_EQ(estimate.value, 1.105e6);
}

TEST(CompareStatsTest, NothingAndOneSample) {
  Runs none(Samples{}), one(Samples{{42}});
  ppi_estimate estimate;
  ASSERT_TRUE(ppi_estimate_of(&none.view, PPI_METRIC_P50, 1, &estimate));
  EXPECT_EQ(estimate.n, 0u);
  ASSERT_TRUE(ppi_estimate_of(&one.view, PPI_METRIC_P50, 1, &estimate));
  EXPECT_EQ(estimate.n, 1u);
  EXPECT_DOUBLE_EQ(estimate.value, 42);
}

// Longer than what is resampled.
TEST(CompareStatsTest, LongRunsAreThinned) {
  Runs runs(Samples{Normal(100000, 1e6, 1e5)});
  ppi_estimate estimate;
  ppi_rank_test test;
  ASSERT_TRUE(ppi_estimate_of(&runs.view, PPI_METRIC_P50, 1, &estimate));
  EXPECT_EQ(estimate.n, 100000u);
  EXPECT_NEAR(estimate.value, 1e6, 2000);
  EXPECT_LT(estimate.log_error, 0.002);
  ASSERT_TRUE(ppi_rank_test_of(&runs.view, &runs.view, PPI_METRIC_P50, &test));
  EXPECT_NEAR(test.p, 1, 1e-9);
}

TEST(CompareStatsTest, TheSameSeedGivesTheSameError) {
  Runs runs(Samples{Normal(300, 1e6, 1e5, 0.5)});
  ppi_estimate first, second, other;
  ASSERT_TRUE(ppi_estimate_of(&runs.view, PPI_METRIC_P50, 5, &first));
  ASSERT_TRUE(ppi_estimate_of(&runs.view, PPI_METRIC_P50, 5, &second));
  ASSERT_TRUE(ppi_estimate_of(&runs.view, PPI_METRIC_P50, 6, &other));
  EXPECT_EQ(first.log_error, second.log_error);
  EXPECT_NE(first.log_error, other.log_error);
}

TEST(CompareStatsTest, MetricsHaveNames) {
  ppi_metric metric;
  ASSERT_TRUE(ppi_metric_find("p99=5", 3, &metric));
  EXPECT_EQ(metric, PPI_METRIC_P99);
  EXPECT_STREQ(ppi_metric_name(metric), "p99");
  EXPECT_FALSE(ppi_metric_find("p9", 2, &metric));
  EXPECT_FALSE(ppi_metric_find("", 0, &metric));
}

}  // namespace
