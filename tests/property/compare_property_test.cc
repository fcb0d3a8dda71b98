// SPDX-License-Identifier: Apache-2.0
//
// How often `compare` is wrong: on a thousand pairs where nothing changed, and
// where one stage became 5 % slower. Durations as pipelines have them:
// autocorrelated, skewed, with spikes.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tools/compare_judge.h"

namespace {

constexpr size_t kStages = 6;

// How one stage's calls come about; `factor` is the change.
struct Shape {
  double phi, spread, spikes;
  size_t calls;
};
const Shape kShapes[kStages] = {{0.0, 0.05, 0.00, 200}, {0.3, 0.10, 0.02, 300},
                                {0.5, 0.05, 0.00, 400}, {0.7, 0.03, 0.01, 300},
                                {0.8, 0.05, 0.00, 300}, {0.5, 0.15, 0.05, 150}};

class Side {
 public:
  Side(std::mt19937_64 *random, double factor_of_third) {
    for (size_t i = 0; i < kStages; i++) {
      name_[i] = "stage " + std::to_string(i);
      Fill(random, kShapes[i], i == 2 ? factor_of_third : 1, &values_[i]);
      ends_[i] = values_[i].size();
      stages_[i] = {};
      stages_[i].name = &name_[i][0];
      stages_[i].category = &category_[0];
      stages_[i].values = values_[i].data();
      stages_[i].ends = &ends_[i];
      stages_[i].num_runs = 1;
      stages_[i].num_values = ends_[i];
    }
  }
  const ppi_compare_stage *stage(size_t i) const {
    return &stages_[i];
  }

 private:
  static void Fill(std::mt19937_64 *random, const Shape &shape, double factor,
                   std::vector<double> *out) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    double state = normal(*random);
    for (size_t i = 0; i < shape.calls; i++) {
      double value = 2e6 * std::exp(shape.spread * state);
      if (uniform(*random) < shape.spikes) value *= 1 + 4 * uniform(*random);
      out->push_back(std::round(value * factor));
      state = shape.phi * state +
              std::sqrt(1 - shape.phi * shape.phi) * normal(*random);
    }
  }

  std::string name_[kStages], category_ = "Inference";
  std::vector<double> values_[kStages];
  size_t ends_[kStages];
  ppi_compare_stage stages_[kStages];
};

std::vector<ppi_comparison> Judge(const Side &a, const Side &b,
                                  ppi_metric metric, double margin) {
  std::vector<ppi_comparison> all(kStages);
  for (size_t i = 0; i < kStages; i++) {
    all[i].stages[0] = a.stage(i);
    all[i].stages[1] = b.stage(i);
    all[i].metric = metric;
    all[i].margin = margin;
  }
  EXPECT_TRUE(ppi_judge(all.data(), all.size()));
  return all;
}

bool IsAlarm(const ppi_comparison &comparison) {
  return comparison.verdict == PPI_VERDICT_SLOWER ||
         comparison.verdict == PPI_VERDICT_FASTER;
}

// Pairs with any alarm in any of the six stages, with no margin to hide behind.
size_t FalseAlarms(ppi_metric metric, uint64_t seed, size_t num_pairs) {
  std::mt19937_64 random(seed);
  size_t alarms = 0;
  for (size_t pair = 0; pair < num_pairs; pair++) {
    Side a(&random, 1), b(&random, 1);
    bool any = false;
    for (const ppi_comparison &one : Judge(a, b, metric, 0))
      any |= IsAlarm(one);
    alarms += any;
  }
  return alarms;
}

TEST(ComparePropertyTest, AThousandPairsOfTheSame) {
  size_t alarms = FalseAlarms(PPI_METRIC_P50, 1, 1000);
  RecordProperty("alarms", static_cast<int>(alarms));
  EXPECT_LE(alarms, 50u);
}

TEST(ComparePropertyTest, PairsOfTheSameByMean) {
  size_t alarms = FalseAlarms(PPI_METRIC_MEAN, 2, 400);
  RecordProperty("alarms", static_cast<int>(alarms));
  EXPECT_LE(alarms, 20u);
}

TEST(ComparePropertyTest, PairsOfTheSameByTail) {
  size_t alarms = FalseAlarms(PPI_METRIC_P90, 3, 400);
  RecordProperty("alarms", static_cast<int>(alarms));
  EXPECT_LE(alarms, 20u);
}

// With the margin that the command line has; the other stages raise no alarm.
TEST(ComparePropertyTest, FindsFivePercent) {
  std::mt19937_64 random(4);
  size_t found = 0, others = 0, pairs = 500;
  for (size_t pair = 0; pair < pairs; pair++) {
    Side a(&random, 1), b(&random, 1.05);
    auto all = Judge(a, b, PPI_METRIC_P50, 0.01);
    found += all[2].verdict == PPI_VERDICT_SLOWER;
    for (size_t i = 0; i < kStages; i++) others += i != 2 && IsAlarm(all[i]);
  }
  RecordProperty("found", static_cast<int>(found));
  EXPECT_GE(found, pairs * 9 / 10);
  EXPECT_LE(others, pairs / 20);
}

// What it says it would have found in 9 of 10 measurements, it finds.
TEST(ComparePropertyTest, FindsWhatItSaysItWould) {
  std::mt19937_64 random(5);
  double detectable = 0;
  for (int i = 0; i < 50; i++) {
    Side a(&random, 1), b(&random, 1);
    detectable += Judge(a, b, PPI_METRIC_P50, 0.01)[2].detectable / 50;
  }
  EXPECT_LT(detectable, 0.05);
  size_t found = 0, pairs = 300;
  for (size_t pair = 0; pair < pairs; pair++) {
    Side a(&random, 1), b(&random, 1 + detectable);
    found += Judge(a, b, PPI_METRIC_P50, 0.01)[2].verdict == PPI_VERDICT_SLOWER;
  }
  RecordProperty("found", static_cast<int>(found));
  EXPECT_GE(found, pairs * 85 / 100);
}

}  // namespace
