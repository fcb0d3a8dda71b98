// SPDX-License-Identifier: Apache-2.0
//
// The statistics of `compare`, against values from tables and by hand.
#include "compare/compare_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compare/compare_ratio.h"

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
  std::vector<float> values;
  std::vector<size_t> ends;
  ppi_runs view;
};

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

TEST(CompareStatsTest, PercentilesAreThoseOfNearestRank) {
  Runs runs(Samples{{7, 3, 1, 9, 5}, {10, 2, 8, 4, 6}});
  const double expected[PPI_NUM_METRICS] = {5.5, 5, 9, 10, 5.5, 5.5};
  for (unsigned m = 0; m < PPI_NUM_METRICS; m++) {
    const ppi_estimate estimate =
        ppi_estimate_of(&runs.view, static_cast<ppi_metric>(m));
    EXPECT_DOUBLE_EQ(estimate.value, expected[m]);
    EXPECT_EQ(estimate.n, 10u);
  }
}

TEST(CompareStatsTest, NothingAndOneSample) {
  Runs none(Samples{}), one(Samples{{42}});
  EXPECT_EQ(ppi_estimate_of(&none.view, PPI_METRIC_P50).n, 0u);
  const ppi_estimate estimate = ppi_estimate_of(&one.view, PPI_METRIC_P50);
  EXPECT_EQ(estimate.n, 1u);
  EXPECT_DOUBLE_EQ(estimate.value, 42);
}

TEST(CompareStatsTest, MetricsHaveNames) {
  ppi_metric metric;
  ASSERT_TRUE(ppi_metric_find("p99=5", 3, &metric));
  EXPECT_EQ(metric, PPI_METRIC_P99);
  EXPECT_STREQ(ppi_metric_name(metric), "p99");
  EXPECT_DOUBLE_EQ(ppi_metric_share(metric), 0.99);
  EXPECT_FALSE(ppi_metric_find("p9", 2, &metric));
  EXPECT_FALSE(ppi_metric_find("", 0, &metric));
}

}  // namespace
