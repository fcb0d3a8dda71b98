// SPDX-License-Identifier: Apache-2.0
//
// How sure `compare` is of a figure and of a ratio, against what is known of
// such series.
#include "compare/compare_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
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
  std::vector<float> values;
  std::vector<size_t> ends;
  ppi_runs view;
};

std::vector<double> Normal(size_t n, double mean, double deviation,
                           double phi = 0, uint64_t seed = 7) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double state = normal(random);
  for (size_t i = 0; i < n; i++) {
    values.push_back(mean + deviation * state);
    state = phi * state + std::sqrt(1 - phi * phi) * normal(random);
  }
  return values;
}

class CompareRatioTest : public ::testing::Test {
 protected:
  void Open(const Samples &a, const Samples &b, ppi_metric metric) {
    ppi_ratio_close(&ratio_);
    a_ = std::make_unique<Runs>(a);
    b_ = std::make_unique<Runs>(b);
    ppi_ratio_open(&ratio_, &a_->view, &b_->view, metric);
  }
  void TearDown() override {
    ppi_ratio_close(&ratio_);
  }
  double Reach(double p = 0.025) {
    return ppi_ratio_reach(&ratio_, p);
  }

  ppi_ratio ratio_ = {};

 private:
  std::unique_ptr<Runs> a_, b_;
};

// The difference of two means of 4 000 independent samples of a spread of 0.1
// is known to 1.96 * 0.1 * sqrt(2 / 4000) = 0.00438; the difference of two
// shares of a half, to 1.96 * 0.5 * sqrt(2 / 4000) = 0.0219. No less, and not
// twice as much.
TEST_F(CompareRatioTest, IndependentSamples) {
  Samples a{Normal(4000, 1e6, 1e5)};
  Samples b{Normal(4000, 1e6, 1e5, 0, 8)};
  Open(a, b, PPI_METRIC_MEAN);
  EXPECT_GT(Reach(), 0.0043);
  EXPECT_LT(Reach(), 0.0088);
  EXPECT_GT(ratio_.sides[0].independent, 2000);
  Open(a, b, PPI_METRIC_P50);
  EXPECT_GT(Reach(), 0.0219);
  EXPECT_LT(Reach(), 0.044);
}

// (1 + 0.8) / (1 - 0.8) = 9 times the variance.
TEST_F(CompareRatioTest, DependentSamples) {
  Samples a{Normal(4000, 1e6, 1e5, 0.8)};
  Samples b{Normal(4000, 1e6, 1e5, 0.8, 8)};
  Open(a, b, PPI_METRIC_MEAN);
  EXPECT_GT(Reach(), 3 * 0.00438 * 0.8);
  EXPECT_LT(Reach(), 3 * 0.00438 * 2);
  EXPECT_NEAR(ratio_.sides[0].independent, 4000 / 9.0, 200);
}

// Independent noise hides it from the first correlations: 0.2 * 0.97, no more
// than 1.5 % of which is gone at the next. The time is 1 + 0.2 * (65.7 - 1).
TEST_F(CompareRatioTest, NoiseHidesNoDependence) {
  std::vector<double> sides[2];
  for (uint64_t i = 0; i < 2; i++) {
    sides[i] = Normal(4000, 0, std::sqrt(0.2), 0.97, 10 + i);
    std::vector<double> noise = Normal(4000, 0, std::sqrt(0.8), 0, 20 + i);
    for (size_t k = 0; k < 4000; k++)
      sides[i][k] = 1e6 + 1e5 * (sides[i][k] + noise[k]);
  }
  Samples a{sides[0]}, b{sides[1]};
  Open(a, b, PPI_METRIC_MEAN);
  EXPECT_GT(Reach(), std::sqrt(13.9) * 0.00438 * 0.8);
  EXPECT_LT(ratio_.sides[0].independent, 4000 / 8.0);
}

// What alternates is as sure as what is independent, and no surer.
TEST_F(CompareRatioTest, NeverSurerThanIndependent) {
  std::vector<double> values;
  for (int i = 0; i < 400; i++) values.push_back(i % 2 ? 1.1e6 : 0.9e6);
  Samples a{values};
  Open(a, a, PPI_METRIC_MEAN);
  EXPECT_GT(Reach(), 1.95 * 0.1 * std::sqrt(2.0 / 400));
  EXPECT_NEAR(ratio_.sides[0].independent, 400, 1e-3);
}

// Three runs of each that agree tell more than one alone.
TEST_F(CompareRatioTest, RunsThatAgree) {
  Samples three, one;
  for (uint64_t i = 0; i < 3; i++)
    three.push_back(Normal(300, 1e6, 1e5, 0.5, 30 + i));
  one.push_back(three[0]);
  Open(one, one, PPI_METRIC_MEAN);
  double alone = Reach();
  Open(three, three, PPI_METRIC_MEAN);
  EXPECT_LT(Reach(), alone);
}

// 4 of 10 calls of A take 100 ns and the others 200, the other way round in B:
// the medians are 200 and 100. B's becomes 200 too when a tenth of its calls
// is taken for longer, and A's 100 when a tenth is taken for shorter.
TEST_F(CompareRatioTest, LevelsBetweenTwoLengths) {
  std::vector<double> a, b;
  for (int i = 0; i < 1000; i++) {
    a.push_back(i * 7 % 10 < 4 ? 100 : 200);
    b.push_back(i * 7 % 10 < 6 ? 100 : 200);
  }
  Open(Samples{a}, Samples{b}, PPI_METRIC_P50);
  EXPECT_DOUBLE_EQ(ppi_ratio_at(&ratio_, 0), 0.5);
  EXPECT_NEAR(ppi_ratio_at(&ratio_, 0.19), 0.5, 0.01);
  EXPECT_NEAR(ppi_ratio_at(&ratio_, 0.21), 2, 0.02);
  EXPECT_NEAR(ppi_ratio_at(&ratio_, -0.7), 0.5, 0.01);
}

// Equal samples tell of no change; shifted ones, of a change as large as that
// and no larger.
TEST_F(CompareRatioTest, LikelyOnlyWithinTheMargin) {
  std::vector<double> values = Normal(1000, 1e6, 1e4), more;
  for (double value : values) more.push_back(1.1 * value);
  Samples a{values}, b{more};
  for (ppi_metric metric : {PPI_METRIC_MEAN, PPI_METRIC_P50, PPI_METRIC_P99}) {
    Open(a, a, metric);
    EXPECT_EQ(ppi_ratio_p(&ratio_, 0), 1);
    // Ten calls lie beyond p99.
    double most = metric == PPI_METRIC_P99 ? 0.1 : 0.01;
    Open(a, b, metric);
    EXPECT_LT(ppi_ratio_p(&ratio_, 0.05), most);
    EXPECT_EQ(ppi_ratio_p(&ratio_, 0.11), 1);
    Open(b, a, metric);
    EXPECT_LT(ppi_ratio_p(&ratio_, 0.05), most);
  }
}

// Levels apart say nothing of how long a level stays: the dependence is that
// of the calls about each side's own median, too.
TEST_F(CompareRatioTest, SidesApartKeepTheirDependence) {
  std::vector<double> drift, other;
  for (int i = 0; i < 200; i++) {
    drift.push_back(1e6 + 100 * i);
    other.push_back(1.5e6 + 100 * i);
  }
  Open(Samples{drift}, Samples{other}, PPI_METRIC_P50);
  EXPECT_GT(ppi_ratio_p(&ratio_, 0.01), 1e-9);
  EXPECT_LT(ratio_.sides[0].independent, 11);
}

}  // namespace
