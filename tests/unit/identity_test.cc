// SPDX-License-Identifier: Apache-2.0
//
// The accounting identity does not depend on the order in which device ranges
// come.
#include "report/spans/identity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

struct Result {
  uint64_t busy_ns;
  std::vector<uint64_t> idle_ns;
  bool operator==(const Result &other) const {
    return busy_ns == other.busy_ns && idle_ns == other.idle_ns;
  }
};

// Settled at the horizons, then wholly, as checkpoints and the end do.
Result Settle(const std::vector<ppi_device_side> &sides,
              const std::vector<uint64_t> &horizons, uint64_t end_ns) {
  ppi_identity identity = {};
  ppi_span span = {0, end_ns};
  const ppi_windows windows = {&span, 1, 1};
  const ppi_union in_steps = {};
  for (const ppi_device_side &side : sides)
    EXPECT_TRUE(ppi_identity_add(&identity, &side));
  for (uint64_t horizon : horizons)
    EXPECT_TRUE(ppi_identity_settle(&identity, &windows, &in_steps, horizon));
  Result result = {identity.busy[0].ns,
                   {identity.idle_ns, identity.idle_ns + PPI_NUM_IDLE}};
  ppi_identity_clear(&identity);
  return result;
}

// Streams that are busy for a part of the time, in the order of their starts.
std::vector<ppi_device_side> MakeSides(std::mt19937_64 *random, int num,
                                       int num_streams) {
  std::vector<ppi_device_side> sides;
  std::vector<uint64_t> free_ns(static_cast<size_t>(num_streams));
  for (int i = 0; i < num; i++) {
    uint64_t &at = free_ns[(*random)() % free_ns.size()];
    at += (*random)() % 40;
    ppi_device_side side = {};
    side.start_ns = at;
    side.submit_ns = at - std::min<uint64_t>(at, (*random)() % 60);
    side.end_ns = at += (*random)() % 10;
    side.error_ns = (*random)() % 3;
    sides.push_back(side);
  }
  return sides;
}

TEST(IdentityTest, OrderOfArrivalDecidesNothing) {
  std::mt19937_64 random(3);
  for (int num : {1, 2, 3, 10, 100, 3000}) {
    for (int num_streams : {1, 2, 7}) {
      std::vector<ppi_device_side> sides = MakeSides(&random, num, num_streams);
      auto by_start = [](const ppi_device_side &a, const ppi_device_side &b) {
        return a.start_ns < b.start_ns;
      };
      uint64_t end_ns = 0;
      for (const ppi_device_side &side : sides)
        end_ns = std::max(end_ns, side.end_ns + 5);
      const std::vector<uint64_t> horizons = {end_ns / 3, end_ns / 2,
                                              UINT64_MAX};
      const Result as_made = Settle(sides, horizons, end_ns);
      uint64_t sum_ns = as_made.busy_ns;
      for (uint64_t ns : as_made.idle_ns) sum_ns += ns;
      EXPECT_EQ(sum_ns, end_ns);
      std::vector<ppi_device_side> sorted = sides;
      std::stable_sort(sorted.begin(), sorted.end(), by_start);
      EXPECT_TRUE(Settle(sorted, horizons, end_ns) == as_made) << num;
      std::reverse(sorted.begin(), sorted.end());
      EXPECT_TRUE(Settle(sorted, horizons, end_ns) == as_made) << num;
      std::shuffle(sorted.begin(), sorted.end(), random);
      EXPECT_TRUE(Settle(sorted, horizons, end_ns) == as_made) << num;
    }
  }
}

TEST(IdentityTest, OverlapIsThatOfAllWindows) {
  ppi_span spans[] = {{10, 20}, {30, 50}, {60, 61}};
  const ppi_windows windows = {spans, 3, 3};
  EXPECT_EQ(0u, ppi_windows_overlap(&windows, 0, 10));
  EXPECT_EQ(15u, ppi_windows_overlap(&windows, 15, 40));
  EXPECT_EQ(31u, ppi_windows_overlap(&windows, 0, 100));
}

// Submitted at 5, on the device from 10 to 20; submitted at 15, from 50 to 60,
// and one beside it to 70; the window ends at 100.
TEST(IdentityTest, CourseSaysWhen) {
  for (const std::vector<uint64_t> &horizons :
       {std::vector<uint64_t>{UINT64_MAX}, {12, 55, 58, UINT64_MAX}}) {
    ppi_identity identity = {};
    identity.has_course = true;
    ppi_span span = {2, 100};
    const ppi_windows windows = {&span, 1, 1};
    const ppi_union in_steps = {};
    const ppi_device_side sides[] = {{10, 20, 5, 0, false, false, false},
                                     {50, 60, 15, 0, false, false, false},
                                     {55, 70, 16, 0, false, false, false}};
    for (const ppi_device_side &side : sides)
      ASSERT_TRUE(ppi_identity_add(&identity, &side));
    for (uint64_t horizon : horizons)
      ASSERT_TRUE(ppi_identity_settle(&identity, &windows, &in_steps, horizon));
    EXPECT_EQ(identity.course.start_ns, 2u);
    EXPECT_EQ(identity.course.bin_ns, 1u);
    const uint64_t ends[] = {10, 20, 50, 70, 100};
    const int kinds[] = {PPI_IDLE_NOT_SUBMITTED, PPI_COURSE_BUSY,
                         PPI_IDLE_QUEUED, PPI_COURSE_BUSY,
                         PPI_IDLE_NO_MORE_WORK};
    for (uint64_t at = 2, of = 0; at < 100; at++) {
      of += at == ends[of];
      for (int kind = 0; kind < PPI_COURSE_KINDS; kind++)
        EXPECT_EQ(identity.course.ns[kind][at - 2], kind == kinds[of]) << at;
    }
    ppi_identity_clear(&identity);
  }
}

// Of 10 000 ns each of 4096 bins has four: the first one 3 of one kind.
TEST(IdentityTest, CourseGetsCoarser) {
  ppi_course course = {};
  ASSERT_TRUE(ppi_course_add(&course, PPI_IDLE_QUEUED, 1000, 1003));
  ASSERT_TRUE(ppi_course_add(&course, PPI_COURSE_BUSY, 1003, 11000));
  EXPECT_EQ(course.bin_ns, 4u);
  EXPECT_EQ(course.ns[PPI_IDLE_QUEUED][0], 3u);
  EXPECT_EQ(course.ns[PPI_COURSE_BUSY][0], 1u);
  EXPECT_EQ(course.ns[PPI_COURSE_BUSY][2499], 4u);
  EXPECT_EQ(course.ns[PPI_COURSE_BUSY][2500], 0u);
  // The whole of time: bins of 2^52 ns.
  ASSERT_TRUE(ppi_course_add(&course, PPI_COURSE_BUSY, 11000, UINT64_MAX));
  EXPECT_EQ(course.bin_ns, UINT64_C(1) << 52);
  ppi_course_clear(&course);
}

}  // namespace
