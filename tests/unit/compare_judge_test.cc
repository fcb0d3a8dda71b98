// SPDX-License-Identifier: Apache-2.0
//
// From samples to verdicts.
#include "compare/compare_judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

std::vector<double> Normal(size_t n, double mean, double deviation,
                           uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<double> values;
  while (values.size() < n) values.push_back(std::round(normal(random)));
  return values;
}

class CompareJudgeTest : public ::testing::Test {
 protected:
  const ppi_compare_stage *Stage(const std::string &name,
                                 const std::vector<double> &values) {
    kept_.push_back(std::make_unique<Kept>());
    Kept *kept = kept_.back().get();
    kept->name = name;
    kept->values.assign(values.begin(), values.end());
    kept->end = kept->values.size();
    kept->stage = {};
    kept->stage.name = &kept->name[0];
    kept->stage.category = &kept->category[0];
    kept->stage.values = kept->values.data();
    kept->stage.ends = &kept->end;
    kept->stage.num_runs = 1;
    kept->stage.num_values = kept->end;
    return &kept->stage;
  }
  // Runs of one call each.
  const ppi_compare_stage *Runs(const std::vector<double> &values) {
    Stage("decode", values);
    Kept *kept = kept_.back().get();
    for (size_t i = 1; i <= values.size(); i++) kept->ends.push_back(i);
    kept->stage.ends = kept->ends.data();
    kept->stage.num_runs = values.size();
    return &kept->stage;
  }
  void Add(const ppi_compare_stage *a, const ppi_compare_stage *b,
           double margin = 0.01, ppi_metric metric = PPI_METRIC_P50) {
    ppi_comparison comparison = {};
    comparison.stages[0] = a;
    comparison.stages[1] = b;
    comparison.metric = metric;
    comparison.margin = margin;
    all_.push_back(comparison);
  }
  void Judge() {
    ppi_judge(all_.data(), all_.size());
  }
  std::string Verdict(size_t i) {
    return ppi_verdict_name(all_[i].runs.verdict);
  }

  std::vector<ppi_comparison> all_;

 private:
  struct Kept {
    std::string name, category = "Inference";
    std::vector<float> values;
    size_t end;
    std::vector<size_t> ends;
    ppi_compare_stage stage;
  };
  std::vector<std::unique_ptr<Kept>> kept_;
};

TEST_F(CompareJudgeTest, TellsDirections) {
  auto base = Stage("decode", Normal(400, 1e6, 3e4, 1));
  Add(base, Stage("decode", Normal(400, 1.06e6, 3e4, 2)));
  Add(base, Stage("decode", Normal(400, 0.94e6, 3e4, 3)));
  Add(base, Stage("decode", Normal(4000, 1e6, 1e4, 4)));
  Judge();
  EXPECT_EQ(Verdict(0), "slower");
  EXPECT_EQ(Verdict(1), "faster");
  EXPECT_EQ(Verdict(2), "same");
  EXPECT_NEAR(all_[0].runs.ratio, 1.06, 0.01);
  EXPECT_LT(all_[0].runs.low, all_[0].runs.ratio);
  EXPECT_GT(all_[0].runs.high, all_[0].runs.ratio);
  EXPECT_LT(all_[0].runs.p, 0.05);
  EXPECT_STREQ(all_[0].runs.reason, "");
}

// A real change that is within what does not matter.
TEST_F(CompareJudgeTest, SmallChangesDoNotMatter) {
  auto base = Stage("decode", Normal(4000, 1e6, 1e4, 1));
  auto slower = Stage("decode", Normal(4000, 1.01e6, 1e4, 2));
  Add(base, slower, 0.05);
  Add(base, slower, 0);
  Judge();
  EXPECT_EQ(Verdict(0), "same");
  EXPECT_EQ(Verdict(1), "slower");
}

TEST_F(CompareJudgeTest, NoiseIsAmbiguous) {
  Add(Stage("decode", Normal(300, 1e6, 2e5, 1)),
      Stage("decode", Normal(300, 1.02e6, 2e5, 2)));
  Judge();
  EXPECT_EQ(Verdict(0), "ambiguous");
  EXPECT_TRUE(all_[0].runs.is_tested);
  EXPECT_GT(all_[0].runs.detectable, 0.05);
  EXPECT_EQ(std::string(all_[0].runs.reason).find("changes below "), 0u);
}

// A walk's level stays for as long as a run: two runs of it do differ, and
// nothing in them says by how much.
TEST_F(CompareJudgeTest, LevelsThatStayForARun) {
  auto walk = [](unsigned seed, double mean) {
    std::vector<double> values = Normal(2000, 0, 1000, seed);
    double at = mean;
    for (double &value : values) value = at += value;
    return values;
  };
  Add(Stage("decode", walk(1, 1e6)), Stage("decode", walk(2, 1.03e6)));
  Judge();
  EXPECT_EQ(Verdict(0), "ambiguous");
  EXPECT_EQ(std::string(all_[0].runs.reason).find("levels stay for some "), 0u)
      << all_[0].runs.reason;
}

TEST_F(CompareJudgeTest, SaysWhyItCannotTell) {
  auto base = Stage("decode", Normal(400, 1e6, 3e4, 1));
  Add(base, nullptr);
  Add(nullptr, base);
  Add(base, Stage("decode", {1000000}));
  Add(Stage("decode", {}), base);
  Add(base, base, 0.01, PPI_METRIC_P99);
  Add(base, Stage("decode", std::vector<double>(50, 0)));
  Judge();
  const char *const reasons[] = {
      "only in A",
      "only in B",
      "B has 1 samples, p50 needs 9",
      "A has 0 samples, p50 needs 9",
      "A has 400 samples, p99 needs 500",
      "takes no time in B",
  };
  for (size_t i = 0; i < all_.size(); i++) {
    EXPECT_EQ(Verdict(i), "ambiguous");
    EXPECT_FALSE(all_[i].runs.is_tested);
    EXPECT_STREQ(all_[i].runs.reason, reasons[i]);
    EXPECT_EQ(all_[i].runs.ratio, 0);
  }
}

// A slow drift: many calls, but hardly two that are independent.
TEST_F(CompareJudgeTest, DependentCallsAreFew) {
  std::vector<double> drift;
  for (int i = 0; i < 200; i++) drift.push_back(1e6 + 1e3 * i);
  Add(Stage("decode", drift), Stage("decode", drift), 0.01, PPI_METRIC_P90);
  Judge();
  EXPECT_FALSE(all_[0].runs.is_tested);
  EXPECT_NE(std::string(all_[0].runs.reason).find("independent samples"),
            std::string::npos);
}

TEST_F(CompareJudgeTest, AllSamplesEqual) {
  auto base = Stage("decode", std::vector<double>(50, 1000000));
  Add(base, Stage("decode", std::vector<double>(50, 1000000)));
  Add(base, Stage("decode", std::vector<double>(50, 1100000)));
  Judge();
  EXPECT_EQ(Verdict(0), "same");
  EXPECT_EQ(Verdict(1), "slower") << all_[1].runs.reason << all_[1].runs.p;
  EXPECT_NEAR(all_[1].runs.ratio, 1.1, 1e-9);
}

// What is significant alone is not among many.
TEST_F(CompareJudgeTest, ManyStagesRaiseTheBar) {
  auto a = Stage("decode", Normal(400, 1e6, 5e4, 1));
  auto b = Stage("decode", Normal(400, 1.03e6, 5e4, 2));
  Add(a, b, 0);
  Judge();
  double alone = all_[0].runs.p, detectable = all_[0].runs.detectable;
  double low = all_[0].runs.low;
  for (uint64_t i = 0; i < 40; i++)
    Add(Stage("other", Normal(400, 1e6, 5e4, 100 + i)),
        Stage("other", Normal(400, 1e6, 5e4, 200 + i)), 0);
  Judge();
  EXPECT_GT(all_[0].runs.p, alone);
  EXPECT_GT(all_[0].runs.detectable, detectable);
  EXPECT_DOUBLE_EQ(all_[0].runs.low, low);
}

// A stage whose calls turn out to depend on each other too much was looked at
// all the same: what is left is no smaller a family.
TEST_F(CompareJudgeTest, WhatIsLookedAtCounts) {
  auto a = Stage("decode", Normal(400, 1e6, 3e4, 1));
  auto b = Stage("decode", Normal(400, 1.03e6, 3e4, 2));
  std::vector<double> drift;
  for (int i = 0; i < 200; i++) drift.push_back(1e6 + 1e3 * i);
  Add(a, b, 0);
  Judge();
  double alone = all_[0].runs.p;
  Add(Stage("drift", drift), Stage("drift", drift), 0.01, PPI_METRIC_P90);
  Judge();
  EXPECT_FALSE(all_[1].runs.is_tested);
  EXPECT_DOUBLE_EQ(all_[0].runs.p, 2 * alone);
}

// Welch by hand: the logarithms' means differ by 0.1, each with a deviation of
// 0.01 over three runs: t = 0.1 / (0.01 * sqrt(2 / 3)) = 12.25 with 4 degrees
// of freedom, p = 2.55e-4, and t(0.975, 4) = 2.776 makes +-2.27 %.
TEST_F(CompareJudgeTest, ProgramsByTheirRuns) {
  auto runs = [this](double mean) {
    std::vector<double> values;
    for (double off : {-0.01, 0.0, 0.01})
      values.push_back(1e8 * std::exp(mean + off));
    return Runs(values);
  };
  Add(runs(0), runs(0.1), 0);
  Add(runs(0), runs(0.0), 0.05);
  Add(runs(0), runs(0.02), 0);
  Judge();
  EXPECT_STREQ(ppi_verdict_name(all_[0].programs.verdict), "slower");
  EXPECT_NEAR(all_[0].programs.ratio, std::exp(0.1), 1e-4);
  EXPECT_NEAR(all_[0].programs.p_rank, 2.55e-4, 2e-6);
  EXPECT_NEAR(all_[0].programs.p, 3 * 2.55e-4, 6e-6);
  EXPECT_NEAR(std::log(all_[0].programs.high), 0.1 + 2.776 * 0.008165, 1e-4);
  EXPECT_STREQ(ppi_verdict_name(all_[1].programs.verdict), "same");
  EXPECT_STREQ(ppi_verdict_name(all_[2].programs.verdict), "ambiguous");
  EXPECT_STREQ(all_[2].programs.reason, "6 more runs a side");
}

// Two equal runs, ten of 0.03 +- 0.02. By the two alone runs would not differ:
// t = 4.5 with 9 degrees of freedom, p = 0.0015. Both sides together have a
// spread of 0.02: t = 0.03 / (0.02 * sqrt(1 / 2 + 1 / 10)) = 1.936, p = 0.0848.
TEST_F(CompareJudgeTest, TwoRunsThatAreAlikeByChance) {
  std::vector<double> values;
  for (int i = 0; i < 10; i++)
    values.push_back(1e8 * std::exp(i % 2 ? 0.05 : 0.01));
  Add(Runs({1e8, 1e8}), Runs(values), 0);
  Judge();
  EXPECT_STREQ(ppi_verdict_name(all_[0].programs.verdict), "ambiguous");
  EXPECT_NEAR(all_[0].programs.p_rank, 0.0848, 2e-4);
}

TEST_F(CompareJudgeTest, OneRunEachSaysNothingOfPrograms) {
  auto base = Stage("decode", Normal(400, 3.22e6, 3e5, 1));
  Add(base, Stage("decode", Normal(400, 2.12e6, 2e5, 2)));
  Judge();
  EXPECT_EQ(Verdict(0), "faster");
  EXPECT_STREQ(ppi_verdict_name(all_[0].programs.verdict), "ambiguous");
  EXPECT_STREQ(all_[0].programs.reason, "one run each");
  // Runs of one program differed by a hundredth, with 9 degrees of freedom.
  all_[0].history = {9 * 1e-4, 9, 0.04};
  Judge();
  EXPECT_STREQ(ppi_verdict_name(all_[0].programs.verdict), "faster");
  // They once differed by more than these two do.
  all_[0].history = {9 * 1e-4, 9, 0.5};
  Judge();
  EXPECT_STREQ(ppi_verdict_name(all_[0].programs.verdict), "ambiguous");
}

// Their noise is that between them: none is within.
TEST_F(CompareJudgeTest, RunsOfOneCall) {
  Add(Runs(Normal(10, 1e6, 1e5, 1)), Runs(Normal(10, 1.02e6, 1e5, 2)), 0,
      PPI_METRIC_MEAN);
  Judge();
  EXPECT_EQ(Verdict(0), "ambiguous");
  EXPECT_GT(std::log(all_[0].runs.high / all_[0].runs.low), 0.08);
}

TEST_F(CompareJudgeTest, NothingToJudge) {
  ppi_judge(nullptr, 0);
}

}  // namespace
