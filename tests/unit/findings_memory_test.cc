// SPDX-License-Identifier: Apache-2.0
//
// Memory that grows, and memory that only looks like it.
#include <functional>
#include <random>

#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

constexpr double kMB = 1e6;

void Level(EventFeed *feed, const char *place, uint64_t time_ns, double bytes,
           uint32_t flags = 0) {
  pprof_event event = {};
  event.kind = PPROF_KIND_COUNTER;
  event.site = feed->Site(place, PPROF_CATEGORY_MEMORY);
  event.lane = 1;
  event.start_ns = event.end_ns = time_ns;
  event.value = bytes;
  event.flags = flags;
  feed->Add(1, event);
}

// 400 steps of 10 ms; in each the level goes up by 50 MB and back to `left`.
EventFeed Steps(const std::function<double(uint64_t)> &left, uint64_t num = 400,
                uint32_t flags = 0) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < num; i++) {
    uint64_t now_ns = i * 10 * kMs;
    feed.Step(now_ns, now_ns + 10 * kMs);
    Level(&feed, "gpu:0", now_ns + 2 * kMs, left(i) + 50 * kMB, flags);
    Level(&feed, "gpu:0", now_ns + 9 * kMs, left(i), flags);
  }
  feed.AddWindow(0, num * 10 * kMs);
  return feed;
}

std::string Said(EventFeed feed) {
  return FindingsReport(&feed).Text("memory-grows");
}

TEST(FindingsMemoryTest, WhatEachStepKeepsIsAProblem) {
  EventFeed feed = Steps(
      [](uint64_t i) { return 100 * kMB + 1 * kMB * static_cast<double>(i); });
  FindingsReport report(&feed);
  EXPECT_NE(std::string::npos, report.Problems().find("memory-grows"));
  // 1 MB each 10 ms.
  const ppi_finding finding = report.Get("memory-grows");
  ASSERT_EQ(5u, finding.num_values);
  EXPECT_STREQ("rate", finding.values[4].name);
  EXPECT_NEAR(100 * kMB, finding.values[4].number, 1 * kMB);
  EXPECT_EQ(0u, report.Text("memory-grows")
                    .find("Memory in use on gpu:0 grows: its lowest level "
                          "rises by "))
      << report.Text("memory-grows");
}

TEST(FindingsMemoryTest, ReservedMemoryIsSaidWhereNoneInUseIsKnown) {
  EventFeed feed = Steps(
      [](uint64_t i) { return 100 * kMB + 1 * kMB * static_cast<double>(i); },
      400, PPROF_FLAG_RESERVED);
  EXPECT_EQ(0u, FindingsReport(&feed)
                    .Text("memory-grows")
                    .find("Memory reserved on gpu:0 grows: "));
}

TEST(FindingsMemoryTest, WhatIsGivenBackIsNone) {
  EXPECT_EQ("", Said(Steps([](uint64_t) { return 100 * kMB; })));
  // Each 80 steps all is given back.
  EXPECT_EQ("", Said(Steps([](uint64_t i) {
              return 100 * kMB + 1 * kMB * static_cast<double>(i % 80);
            })));
}

TEST(FindingsMemoryTest, ACacheThatFillsIsNone) {
  EXPECT_EQ("", Said(Steps([](uint64_t i) {
              return 100 * kMB + 5 * kMB * static_cast<double>(i < 90 ? i : 90);
            })));
}

TEST(FindingsMemoryTest, ALevelThatRisesOnceOrTwiceIsNone) {
  EXPECT_EQ(
      "", Said(Steps([](uint64_t i) { return (i < 200 ? 100 : 200) * kMB; })));
  EXPECT_EQ("", Said(Steps([](uint64_t i) {
              return (i < 220 ? 100 : i < 280 ? 150 : 200) * kMB;
            })));
}

TEST(FindingsMemoryTest, LittleAndFewAreNone) {
  // 300 steps of 20 kB: 6 % of what there is.
  EXPECT_EQ("", Said(Steps([](uint64_t i) {
              return 100 * kMB + 0.02 * kMB * static_cast<double>(i);
            })));
  EXPECT_EQ("", Said(Steps(
                    [](uint64_t i) {
                      return 100 * kMB + 10 * kMB * static_cast<double>(i);
                    },
                    40)));
}

TEST(FindingsMemoryTest, ALevelThatVariesIsNone) {
  std::mt19937_64 random(3);
  for (int run = 0; run < 300; run++) {
    const std::string said = Said(Steps([&](uint64_t) {
      return (100 + static_cast<double>(random() % 60)) * kMB;
    }));
    EXPECT_EQ("", said) << run;
  }
}

TEST(FindingsMemoryTest, GrowthIsSeenWhateverTheOrderAndTheTimeOfTheRun) {
  for (uint64_t start_ns :
       {uint64_t{0}, uint64_t{1} << 40, uint64_t{3} << 61}) {
    ppi_low_water forth = {}, back = {};
    for (uint64_t i = 0; i < 400; i++) {
      ppi_low_water_add(&forth, start_ns + i * 999983, 1000000 + i * 1000);
      ppi_low_water_add(&back, start_ns + (399 - i) * 999983,
                        1000000 + (399 - i) * 1000);
    }
    const ppi_growth one = ppi_low_water_growth(&forth);
    const ppi_growth other = ppi_low_water_growth(&back);
    EXPECT_EQ(400u, one.num_levels);
    EXPECT_LE(16u, one.num_lows);
    EXPECT_EQ(one.bytes, other.bytes);
    EXPECT_EQ(one.least_bytes, other.least_bytes);
    // 1000 bytes each 999 983 ns.
    EXPECT_NEAR(1000.0 / 999983, one.bytes / static_cast<double>(one.span_ns),
                0.05 / 999);
    EXPECT_LT(0, one.least_bytes);
    EXPECT_GE(one.bytes, one.least_bytes);
  }
}

TEST(FindingsMemoryTest, TimesThatAreFarApartAreNone) {
  ppi_low_water low = {};
  ppi_low_water_add(&low, UINT64_MAX, 5);
  for (uint64_t i = 0; i < 200; i++) ppi_low_water_add(&low, i, i);
  EXPECT_EQ(0u, ppi_low_water_growth(&low).num_levels);
}

}  // namespace
}  // namespace pprof_test
