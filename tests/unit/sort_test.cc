// SPDX-License-Identifier: Apache-2.0
//
// Sorting by a number does what sorting by comparison does.
#include "base/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/mem.h"

namespace {

struct Item {
  uint64_t time;
  uint32_t depth, number;
};

uint64_t TimeOf(const void *item) {
  return static_cast<const Item *>(item)->time;
}

bool IsBefore(const Item &a, const Item &b) {
  if (a.time != b.time) return a.time < b.time;
  if (a.depth != b.depth) return a.depth < b.depth;
  return a.number < b.number;
}

int Compare(const void *left, const void *right) {
  const Item &a = *static_cast<const Item *>(left);
  const Item &b = *static_cast<const Item *>(right);
  return IsBefore(b, a) - IsBefore(a, b);
}

std::vector<Item> Make(size_t num, uint64_t low, uint64_t span) {
  std::mt19937_64 random(num);
  std::vector<Item> items(num);
  uint32_t number = 0;
  for (Item &item : items)
    item = {low + random() % span, static_cast<uint32_t>(random() % 2),
            number++};
  return items;
}

void ExpectSorted(std::vector<Item> items) {
  std::vector<Item> want = items;
  std::sort(want.begin(), want.end(), IsBefore);
  ppi_sort(items.data(), items.size(), sizeof(Item), TimeOf, Compare);
  for (size_t i = 0; i < items.size(); i++)
    ASSERT_EQ(want[i].number, items[i].number) << i << " of " << items.size();
}

TEST(SortTest, OfAnyNumber) {
  for (size_t num : {0, 1, 2, 255, 256, 257, 5000})
    ExpectSorted(Make(num, 0, 1000));
}

TEST(SortTest, OfAnySpanOfKeys) {
  const uint64_t most = UINT64_MAX;
  for (uint64_t span : {1ull, 2ull, 2047ull, 2048ull, 2049ull, 1ull << 40})
    ExpectSorted(Make(3000, most - span, span));
  ExpectSorted(Make(3000, 0, most));
}

TEST(SortTest, WhatIsInOrderStaysAsItIs) {
  std::vector<Item> items = Make(1000, 7, 1u << 30);
  std::sort(items.begin(), items.end(), IsBefore);
  ExpectSorted(items);
}

// By their ends or starts ranges that nest are nearly in order.
TEST(SortTest, OfRangesThatNest) {
  for (size_t num : {100, 1000}) {
    std::vector<Item> items;
    for (uint32_t i = 0; i < num; i++)
      items.push_back({i % 10 ? i : i + 9ull, i % 3, i});
    items[0].time = 2 * num;
    ExpectSorted(items);
  }
}

TEST(SortTest, OfAFewSortedStretches) {
  for (size_t num : {1, 2, 3, 7, 16, 17}) {
    std::vector<Item> items = Make(1001 * num, 0, 5000);
    for (size_t i = 0; i < num; i++)
      std::sort(items.begin() + 1001 * i, items.begin() + 1001 * (i + 1),
                IsBefore);
    ExpectSorted(items);
  }
}

TEST(SortTest, ANumberAtAPlaceIsTheSortedOnes) {
  for (uint64_t span : {1ull, 300ull, 1ull << 40, ~0ull}) {
    for (size_t num : {1, 256, 257, 5000}) {
      std::vector<uint64_t> numbers;
      for (const Item &item : Make(num, 0, span)) numbers.push_back(item.time);
      // One far away, so that all others share a slot.
      numbers[0] = UINT64_MAX;
      std::vector<uint64_t> want = numbers;
      std::sort(want.begin(), want.end());
      for (size_t at : {size_t{0}, num / 3, num - 1}) {
        std::vector<uint64_t> moved = numbers;
        ASSERT_EQ(want[at], ppi_number_at(moved.data(), num, at))
            << at << " of " << num;
      }
    }
  }
}

TEST(SortTest, EqualOnesStayInTheirOrderWithoutComparison) {
  for (size_t num : {10, 256, 257, 3000}) {
    std::vector<Item> items = Make(num, 5, 7), want = items;
    std::stable_sort(
        want.begin(), want.end(),
        [](const Item &a, const Item &b) { return a.time < b.time; });
    ASSERT_TRUE(ppi_sort(items.data(), num, sizeof(Item), TimeOf, nullptr));
    for (size_t i = 0; i < num; i++)
      ASSERT_EQ(want[i].number, items[i].number) << i << " of " << num;
  }
  std::vector<Item> items = Make(1000, 5, 7);
  ppi_mem_fail_at(1);
  EXPECT_FALSE(ppi_sort(items.data(), 1000, sizeof(Item), TimeOf, nullptr));
  ppi_mem_fail_at(0);
  for (uint32_t i = 0; i < 1000; i++) ASSERT_EQ(i, items[i].number);
}

TEST(SortTest, OfNumbers) {
  for (size_t num : {0, 1, 100, 256, 257, 5000}) {
    for (bool has_memory : {true, false}) {
      std::vector<uint64_t> numbers;
      for (const Item &item : Make(num, 0, UINT64_MAX))
        numbers.push_back(item.time);
      std::vector<uint64_t> want = numbers;
      std::sort(want.begin(), want.end());
      if (!has_memory) ppi_mem_fail_at(1);
      ppi_sort_numbers(numbers.data(), num);
      ppi_mem_fail_at(0);
      ASSERT_EQ(want, numbers);
    }
  }
}

TEST(SortTest, OfKeysWithValues) {
  std::mt19937_64 random(3);
  const auto is_before = [](const ppi_keyed &a, const ppi_keyed &b) {
    return a.key != b.key ? a.key < b.key : a.value < b.value;
  };
  for (size_t num : {0, 1, 2, 9, 100, 256, 257, 5000, 20000}) {
    for (uint64_t span : {1ull, 50ull, 1ull << 33, ~0ull}) {
      std::vector<ppi_keyed> items(num);
      // Half of them far from the rest: not even.
      for (size_t i = 0; i < num; i++)
        items[i] = {random() % span / (i % 2 ? 1 : 1000), random() % 7};
      std::vector<ppi_keyed> want = items;
      std::sort(want.begin(), want.end(), is_before);
      if (num % 2) ppi_mem_fail_at(1);
      ppi_sort_keyed(items.data(), num);
      ppi_mem_fail_at(0);
      for (size_t i = 0; i < num; i++) {
        ASSERT_EQ(want[i].key, items[i].key) << i << " of " << num;
        ASSERT_EQ(want[i].value, items[i].value) << i << " of " << num;
      }
    }
  }
}

TEST(SortTest, WithoutMemoryToo) {
  ppi_mem_fail_at(1);
  ExpectSorted(Make(1000, 0, 100));
  ppi_mem_fail_at(0);
}

}  // namespace
