// SPDX-License-Identifier: Apache-2.0
//
// A thread's cache of names by their addresses and by their texts: whatever an
// address holds, what it holds now is recorded.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pprof/pprof.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

using Counts = std::map<std::string, int>;

Counts CountsOf(const LiveSession &live) {
  Counts counts;
  for (const auto &recorded : live.recording.events) counts[recorded.name]++;
  return counts;
}

void Pair(const char *name, uint32_t category = PPROF_CATEGORY_FORWARD) {
  pprof_push_name(name, category);
  pprof_pop();
}

// Far more names than places, most of them alike but for their end, of lengths
// on both sides of what is compared at once and kept beside the cache.
TEST(NameCacheTest, MoreNamesThanPlaces) {
  std::vector<std::string> names;
  for (size_t i = 0; i < 1500; i++)
    names.push_back(std::string(i % 131, 'n') + std::to_string(i));
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Counts expected;
  for (int round = 0; round < 3; round++)
    for (size_t i = 0; i < names.size(); i += 1 + i % 3) {
      Pair(names[i].c_str());
      expected[names[i]]++;
    }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(expected, CountsOf(live));
  EXPECT_EQ(0u, live.Stats().lost);
}

TEST(NameCacheTest, OneAddressManyTexts) {
  std::array<char, 64> text;
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Counts expected;
  for (int i = 0; i < 600; i++) {
    std::string name(static_cast<size_t>(i * 7 % 61),
                     static_cast<char>('a' + i % 3));
    memcpy(text.data(), name.c_str(), name.size() + 1);
    Pair(text.data());
    expected[name.empty() ? "(no name)" : name]++;
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(expected, CountsOf(live));
}

// Texts that begin alike, one the beginning of the other.
TEST(NameCacheTest, LongerAndShorterByTurns) {
  std::array<char, 64> text;
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Counts expected;
  for (int i = 0; i < 3; i++)
    for (size_t len : {48u, 47u, 49u, 1u, 63u, 0u, 16u}) {
      std::string name(len, 'x');
      memcpy(text.data(), name.c_str(), len + 1);
      Pair(text.data());
      expected[name.empty() ? "(no name)" : name]++;
    }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(expected, CountsOf(live));
}

// Its text changes with each marker for a while, then it stays.
TEST(NameCacheTest, AddressThatSettles) {
  std::array<char, 64> text;
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Counts expected;
  for (int i = 0; i < 120; i++) {
    const int which = i % 40 < 20 ? i % 7 : 3;
    std::string name = "a name of some length, number " + std::to_string(which);
    memcpy(text.data(), name.c_str(), name.size() + 1);
    Pair(text.data());
    expected[name.empty() ? "(no name)" : name]++;
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(expected, CountsOf(live));
}

// Known texts come from addresses that were never seen, and have other numbers
// in each session.
TEST(NameCacheTest, KnownTextsFromNewAddresses) {
  std::vector<std::unique_ptr<std::string>> texts;
  for (int session = 0; session < 3; session++) {
    LiveSession live;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    Counts expected;
    for (int i = 0; i < 60; i++) {
      texts.push_back(std::make_unique<std::string>(
          "a name of some length, number " +
          std::to_string((i * 7 + session * 3) % 20)));
      Pair(texts.back()->c_str());
      expected[*texts.back()]++;
    }
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ(expected, CountsOf(live));
  }
}

TEST(NameCacheTest, OneNameInManyCategories) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const uint32_t categories[] = {
      PPROF_CATEGORY_FORWARD, PPROF_CATEGORY_BACKWARD, PPROF_CATEGORY_OPERATOR};
  for (int i = 0; i < 30; i++) Pair("one", categories[i % 3]);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  std::map<uint32_t, int> sites;
  for (const auto &recorded : live.recording.events)
    sites[recorded.event.site]++;
  ASSERT_EQ(3u, sites.size());
  for (const auto &site : sites) EXPECT_EQ(10, site.second);
}

// What one session's cache knows is nothing to the next one.
TEST(NameCacheTest, EachSessionAnew) {
  for (int session = 0; session < 3; session++) {
    LiveSession live;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    const std::string own = "only in session " + std::to_string(session);
    Pair(own.c_str());
    for (int i = 0; i < 4; i++) Pair("in all of them");
    Pair(own.c_str());
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ((Counts{{own, 2}, {"in all of them", 4}}), CountsOf(live));
  }
}

}  // namespace
}  // namespace pprof_test
