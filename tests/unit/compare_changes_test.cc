// SPDX-License-Identifier: Apache-2.0
//
// Where programs changed, over commits.
#include "compare/compare_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "tests/support/long_run.h"

namespace {

using pprof_test::Rounds;
using Runs = std::vector<ppi_past_run>;

std::vector<ppi_change> Find(const Runs &runs, size_t stages = 1) {
  ppi_change changes[PPI_MOST_CHANGES];
  size_t num = ppi_changes_find(runs.data(), runs.size(), stages, changes);
  return {changes, changes + num};
}

enum class Spread { kNormal, kHeavy, kPoints };

const struct {
  const char *name;
  Spread spread;
} kSpreads[] = {{"normal", Spread::kNormal},
                {"Student's, 3 degrees", Spread::kHeavy},
                {"1 %, points differ by 2 %", Spread::kPoints}};

// `each` runs at each of `points`, that differ by 2 % unless said otherwise.
Runs Make(uint64_t seed, size_t points, size_t each, Spread spread) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(3);
  Runs runs;
  for (size_t point = 0; point < points; point++) {
    double level = spread == Spread::kPoints ? 0.02 * normal(random) : 0;
    for (size_t i = 0; i < each; i++)
      runs.push_back({spread == Spread::kHeavy ? 0.02 * heavy(random)
                      : spread == Spread::kPoints
                          ? level + 0.01 * normal(random)
                          : 0.02 * normal(random),
                      point});
  }
  return runs;
}

TEST(CompareChangesTest, TwoChanges) {
  Runs runs = Make(1, 40, 1, Spread::kNormal);
  for (auto &run : runs)
    run.figure += run.point < 12 ? 1 : run.point < 30 ? 1.2 : 1.1;
  auto changes = Find(runs);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].point, 12u);
  EXPECT_EQ(changes[1].point, 30u);
  EXPECT_NEAR(changes[0].after - changes[0].before, 0.2, 0.02);
  EXPECT_NEAR(changes[1].after - changes[1].before, -0.1, 0.02);
}

// Levels of 0 and 1, each of -0.5, 0 and 0.5 about it: t = 1 / sqrt(0.25 * 2 /
// 3) = 2.449 with 4 degrees of freedom, p = 0.07: no change. Two runs are no
// level.
TEST(CompareChangesTest, FewRuns) {
  EXPECT_TRUE(
      Find({{-0.5, 0}, {0, 1}, {0.5, 2}, {0.5, 3}, {1, 4}, {1.5, 5}}).empty());
  EXPECT_EQ(Find({{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 4}, {1, 5}}).size(), 1u);
  EXPECT_EQ(Find({{0, 0}, {0, 0}, {0, 1}, {1, 2}, {1, 2}, {1, 3}}).size(), 1u);
  EXPECT_TRUE(Find({{0, 0}, {0, 0}, {0, 1}, {1, 2}, {1, 2}, {1, 2}}).empty());
  EXPECT_TRUE(Find({{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 3}}).empty());
  EXPECT_TRUE(Find({}).empty());
  EXPECT_TRUE(Find({{0, 0}, {0, 0}, {0, 0}, {5, 0}, {5, 0}, {5, 0}}).empty());
}

// Points at -0.5, 0.5, 0.5 and 1.5, of five equal runs each. Twenty runs of
// their own would change with the second point: t = 6.0 with 18 degrees of
// freedom. Of four points it is 4 / 3 / sqrt(1 / 3 * 4 / 3) = 2.0 with 2, p =
// 0.18: points differ anyway.
TEST(CompareChangesTest, RunsOfOnePointAreAlike) {
  Runs runs;
  const double levels[] = {-0.5, 0.5, 0.5, 1.5};
  for (size_t i = 0; i < 20; i++) runs.push_back({levels[i / 5], i / 5});
  EXPECT_TRUE(Find(runs).empty());
  for (size_t i = 0; i < 20; i++) runs[i].point = i;
  EXPECT_FALSE(Find(runs).empty());
}

// The runs of the first points that any stage's new change makes an alarm of.
bool IsAlarm(const std::vector<Runs> &stages, size_t num) {
  for (const auto &runs : stages) {
    ppi_change changes[PPI_MOST_CHANGES];
    bool is_new[PPI_MOST_CHANGES];
    size_t found = ppi_changes_find(runs.data(), num, stages.size(), changes);
    if (!found) continue;
    ppi_changes_mark(runs.data(), num, stages.size(), changes, found, is_new);
    for (size_t i = 0; i < found; i++)
      if (is_new[i] && changes[i].after > changes[i].before) return true;
  }
  return false;
}

// Levels of 0 and 0.2, each figure 0.05 to one side. The 13th night makes three
// runs of the new level, which is no proof for a year. The change is new once,
// though the test is not as sure on each night that follows.
TEST(CompareChangesTest, ANewChangeIsSureForAYear) {
  Runs runs;
  size_t alarms = 0, first = 0;
  for (size_t i = 0; i < 30; i++) {
    runs.push_back({(i % 2 ? 0.05 : -0.05) + (i < 10 ? 0 : 0.2), i});
    if (i < 5 || !IsAlarm({runs}, i + 1)) continue;
    if (!alarms++) first = i;
  }
  EXPECT_EQ(alarms, 1u);
  EXPECT_GT(first, 12u);
}

// Looked at each night, at most 5 % of years of ten stages have an alarm where
// nothing changed. One stage is 5 % slower from the 200th night on: how many
// nights later the alarm comes.
TEST(CompareChangesTest, HowOftenAYearOfNightsIsWrong) {
  const size_t stages = 10, nights = 365, years = Rounds(4, 1000);
  printf("| runs | years with an alarm | nights until +5 %%: half, 90 %% |\n");
  printf("|---|---:|---:|\n");
  for (const auto &kind : kSpreads) {
    size_t alarms = 0;
    std::vector<size_t> delays;
    for (size_t year = 0; year < years; year++) {
      std::vector<Runs> all;
      for (size_t k = 0; k < stages; k++)
        all.push_back(
            Make(5000000 + year * stages + k, nights, 1, kind.spread));
      bool any = false;
      for (size_t night = 6; night <= nights && !any; night++)
        any = IsAlarm(all, night);
      alarms += any;
      for (auto &run : all[0]) run.figure += run.point >= 200 ? 0.0488 : 0;
      size_t night = 201;
      while (night < nights && !IsAlarm(all, night)) night++;
      delays.push_back(night - 200);
    }
    std::sort(delays.begin(), delays.end());
    printf("| %s | %zu of %zu | %zu, %zu |\n", kind.name, alarms, years,
           delays[years / 2], delays[years * 9 / 10]);
    fflush(stdout);
    EXPECT_LE(alarms, years / 20 + (years < 1000 ? 2 : 0));
  }
}

// Of pasts of ten stages where nothing changed at most 5 % have any change; 5 %
// in one stage is found within one point of its place in 75 of 100.
TEST(CompareChangesTest, HowOftenItIsWrong) {
  const size_t stages = 10, pasts = Rounds(200, 1000);
  printf("| points | runs each | runs | any change | +5 %% found |\n");
  printf("|---:|---:|---|---:|---:|\n");
  for (const auto &kind : kSpreads)
    for (auto shape : {std::pair<size_t, size_t>{30, 1}, {30, 3}, {100, 1}}) {
      size_t alarms = 0, found = 0;
      for (size_t past = 0; past < pasts; past++) {
        bool any = false;
        for (size_t k = 0; k < stages; k++) {
          Runs runs = Make(10000 + past * stages + k, shape.first, shape.second,
                           kind.spread);
          any |= !Find(runs, stages).empty();
          if (k) continue;
          size_t at = shape.first * 2 / 3;
          for (auto &run : runs) run.figure += run.point >= at ? 0.0488 : 0;
          for (const auto &change : Find(runs, stages))
            found += change.point + 1 >= at && change.point <= at + 1;
        }
        alarms += any;
      }
      printf("| %zu | %zu | %s | %zu of %zu | %zu |\n", shape.first,
             shape.second, kind.name, alarms, pasts, found);
      fflush(stdout);
      EXPECT_LE(alarms, pasts / 20 + (pasts < 1000 ? 3 : 0));
      if (kind.spread == Spread::kNormal) {
        EXPECT_GE(found, pasts * 75 / 100);
      }
    }
}

}  // namespace
