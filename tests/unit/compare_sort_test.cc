// SPDX-License-Identifier: Apache-2.0
#include "compare/compare_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

void ExpectSorted(std::vector<double> values) {
  std::vector<double> scratch(values.size()), want = values;
  std::sort(want.begin(), want.end());
  ppi_sort_samples(values.data(), scratch.data(), values.size());
  EXPECT_EQ(want, values);
}

TEST(CompareSortTest, FewAndEqualOnes) {
  ExpectSorted({});
  ExpectSorted({7});
  ExpectSorted({3, 3, 3});
  ExpectSorted({256, 1, 255, 0, 65536, 1});
}

TEST(CompareSortTest, NumbersOfAnySize) {
  ExpectSorted({1e300, -1, 0.5, -1e-300, 0, 2.5, -7e200, 1e-320});
}

TEST(CompareSortTest, DurationsAsTheyAre) {
  std::mt19937_64 random(1);
  for (size_t n : {2u, 100u, 5000u}) {
    std::vector<double> values;
    for (size_t i = 0; i < n; i++)
      values.push_back(static_cast<double>(random() >> (24 + random() % 40)));
    ExpectSorted(values);
  }
}

}  // namespace
