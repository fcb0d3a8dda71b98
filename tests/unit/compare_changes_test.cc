// SPDX-License-Identifier: Apache-2.0
//
// Where programs changed, over commits.
#include "compare/compare_history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using Runs = std::vector<ppi_past_run>;

std::vector<ppi_change> Find(const Runs &runs, size_t stages = 1) {
  ppi_change changes[PPI_MOST_CHANGES];
  size_t num = ppi_changes_find(runs.data(), runs.size(), stages, changes);
  return {changes, changes + num};
}

// `each` runs at each of `points`, that differ by 2 %.
Runs Make(uint64_t seed, size_t points, size_t each, bool is_heavy) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(3);
  Runs runs;
  for (size_t point = 0; point < points; point++)
    for (size_t i = 0; i < each; i++)
      runs.push_back(
          {0.02 * (is_heavy ? heavy(random) : normal(random)), point});
  return runs;
}

TEST(CompareChangesTest, TwoChanges) {
  Runs runs = Make(1, 40, 1, false);
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
  EXPECT_EQ(Find({{0, 0}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, {1, 1}}).size(), 1u);
  EXPECT_TRUE(Find({{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 3}}).empty());
  EXPECT_TRUE(Find({}).empty());
  EXPECT_TRUE(Find({{0, 0}, {0, 0}, {0, 0}, {5, 0}, {5, 0}, {5, 0}}).empty());
}

// Of 1 000 pasts of ten stages where nothing changed at most 5 % have any
// change; 5 % in one stage at a known place is found within one point in 9
// of 10.
TEST(CompareChangesTest, HowOftenItIsWrong) {
  const size_t stages = 10, pasts = 1000;
  printf("| points | runs each | runs | any change | +5 %% found |\n");
  printf("|---:|---:|---|---:|---:|\n");
  for (bool is_heavy : {false, true})
    for (auto shape : {std::pair<size_t, size_t>{30, 1}, {30, 3}, {100, 1}}) {
      size_t alarms = 0, found = 0;
      for (size_t past = 0; past < pasts; past++) {
        bool any = false;
        for (size_t k = 0; k < stages; k++) {
          Runs runs = Make(10000 + past * stages + k, shape.first, shape.second,
                           is_heavy);
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
             shape.second, is_heavy ? "Student's, 3 degrees" : "normal", alarms,
             pasts, found);
      fflush(stdout);
      EXPECT_LE(alarms, pasts * 5 / 100);
      if (!is_heavy) {
        EXPECT_GE(found, pasts * 85 / 100);
      }
    }
}

}  // namespace
