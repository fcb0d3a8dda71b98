// SPDX-License-Identifier: Apache-2.0
#include "compare/compare_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

void ExpectSorted(std::vector<float> values) {
  std::vector<float> scratch(values.size()), want = values;
  std::sort(want.begin(), want.end());
  std::shuffle(values.begin(), values.end(), std::mt19937(2));
  for (size_t i = 0; i < want.size(); i += want.size() / 50 + 1)
    EXPECT_EQ(ppi_nth_sample(values.data(), values.size(), i), want[i]) << i;
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
  ExpectSorted({1e30f, -1, 0.5f, -1e-30f, 0, 2.5f, -7e20f, 1e-40f});
}

TEST(CompareSortTest, DurationsAsTheyAre) {
  std::mt19937_64 random(1);
  for (size_t n : {2u, 100u, 5000u}) {
    std::vector<float> values;
    for (size_t i = 0; i < n; i++)
      values.push_back(static_cast<float>(random() >> (24 + random() % 40)));
    ExpectSorted(values);
  }
}

}  // namespace
