// SPDX-License-Identifier: Apache-2.0
//
// Rows of streams: programs with more streams than the table has places,
// handles that come back, names.
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "device_fixture.h"

namespace pprof_test {
namespace {

constexpr size_t kPlaces = 256;
constexpr auto kNoTime = static_cast<uint32_t>(PPROF_FLAG_NO_DEVICE_TIME);

class DeviceStreamTest : public DeviceTest {
 protected:
  void RangeOn(void *one, uint64_t work_ns = kMs) {
    pprof_device_push(device, one, &site);
    scripted_stream_submit(one, work_ns);
    pprof_device_pop(device, one);
  }

  void *NewStream() {
    return scripted_stream_create(fake, 0);
  }

  // As many as there are places for, each used once.
  std::vector<void *> FillTable() {
    std::vector<void *> all;
    for (size_t i = 0; i < kPlaces; i++) {
      all.push_back(NewStream());
      RangeOn(all.back());
      if (i % 32 == 0) Settle(10);
    }
    Settle(10);
    return all;
  }

  void Settle(uint64_t ms) {
    Advance(ms * kMs);
    session.Flush();
  }

  // Long enough without use for a place to be offered.
  void LetIdle() {
    for (int i = 0; i < 15; i++) Settle(20);
  }

  static std::set<uint32_t> Rows(const std::vector<pprof_event> &ranges) {
    std::set<uint32_t> rows;
    for (const pprof_event &range : ranges) rows.insert(range.stream);
    return rows;
  }

  static size_t NumTimed(const std::vector<pprof_event> &ranges) {
    size_t num = 0;
    for (const pprof_event &range : ranges) num += !(range.flags & kNoTime);
    return num;
  }
};

// A program that makes a stream for every request.
TEST_F(DeviceStreamTest, StreamForEveryRequest) {
  constexpr size_t kRequests = 3000;
  session.Start();
  for (size_t i = 0; i < kRequests; i++) {
    RangeOn(NewStream());
    Settle(5);
  }
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), kRequests);
  EXPECT_EQ(NumTimed(ranges), kRequests);
  EXPECT_EQ(Rows(ranges).size(), kPlaces);
  for (const pprof_event &range : ranges)
    // Each look at the clock takes 5 ns, the collector's, too.
    EXPECT_NEAR(range.device_end_ns - range.device_start_ns, kMs, 10000);
  EXPECT_EQ(session.stats.lost, 0u);
  EXPECT_TRUE(session.HasNote("some rows show several"));
  EXPECT_FALSE(session.HasNote("host time only"));
}

TEST_F(DeviceStreamTest, UpToThePlacesEachHasItsRow) {
  session.Start();
  std::vector<void *> all = FillTable();
  LetIdle();
  for (void *one : all) RangeOn(one);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2 * kPlaces);
  for (size_t i = 0; i < kPlaces; i++)
    EXPECT_EQ(ranges[i].stream, ranges[kPlaces + i].stream);
  EXPECT_EQ(Rows(ranges).size(), kPlaces);
  EXPECT_FALSE(session.HasNote("256 streams"));
}

TEST_F(DeviceStreamTest, PlaceInUseIsNotGivenAway) {
  session.Start();
  std::vector<void *> all = FillTable();
  // Pending, open, and merely latest.
  scripted_stream_hold(all[0], true);
  RangeOn(all[0]);
  pprof_device_push(device, all[1], &other_site);
  for (size_t i = 3; i < 7; i++) RangeOn(all[i]);
  for (int i = 0; i < 15; i++) {
    Settle(20);
    RangeOn(all[2]);
  }
  // In use again, after they were left alone for long; this thread knows them.
  for (size_t i = 3; i < 7; i++) {
    scripted_stream_hold(all[i], true);
    RangeOn(all[i]);
  }
  for (size_t i = 0; i < kPlaces; i++) RangeOn(NewStream());
  pprof_device_pop(device, all[1]);
  for (size_t i = 3; i < 7; i++) scripted_stream_hold(all[i], false);
  scripted_stream_hold(all[0], false);
  auto ranges = Finish();
  std::set<uint32_t> kept;
  for (size_t i = 0; i < 7; i++) kept.insert(ranges[i].stream);
  size_t num_of_kept = 0, num_untimed = 0;
  for (const pprof_event &range : ranges) {
    num_of_kept += kept.count(range.stream);
    num_untimed += (range.flags & kNoTime) != 0;
  }
  EXPECT_EQ(num_of_kept, 7u + 2u + 8u + 15u);
  EXPECT_EQ(num_untimed, 7u);
  EXPECT_TRUE(session.HasNote("more than 256 streams at a time"));
}

// Its place went to another one; there is room for it all the same.
TEST_F(DeviceStreamTest, StreamThatComesBackIsTimed) {
  session.Start();
  std::vector<void *> all = FillTable();
  LetIdle();
  std::vector<void *> more;
  for (size_t i = 0; i < kPlaces; i++) {
    more.push_back(NewStream());
    RangeOn(more.back());
  }
  LetIdle();
  for (void *one : all) RangeOn(one);
  for (void *one : all) RangeOn(one);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 4 * kPlaces);
  EXPECT_EQ(NumTimed(ranges), 4 * kPlaces);
  for (size_t i = 0; i < kPlaces; i++)
    EXPECT_EQ(ranges[2 * kPlaces + i].stream, ranges[3 * kPlaces + i].stream);
  EXPECT_EQ(Rows(ranges).size(), kPlaces);
}

TEST_F(DeviceStreamTest, NamedStreamKeepsItsRowForItself) {
  pprof_stream_name(device, stream, "first");
  session.Start();
  RangeOn(stream);
  for (size_t i = 1; i < kPlaces; i++) {
    RangeOn(NewStream());
    if (i % 32 == 0) Settle(10);
  }
  LetIdle();
  for (size_t i = 1; i < kPlaces; i++) RangeOn(NewStream());
  LetIdle();
  void *late = NewStream(), *later = NewStream();
  pprof_stream_name(device, late, "late");
  RangeOn(late);
  RangeOn(later);
  pprof_stream_name(device, later, "later");
  RangeOn(later);
  auto ranges = Finish();
  ASSERT_EQ(NumTimed(ranges), ranges.size());
  std::map<uint32_t, size_t> uses;
  for (const pprof_event &range : ranges) uses[range.stream]++;
  EXPECT_EQ(session.stream_names[ranges[0].stream], "first");
  EXPECT_EQ(uses[ranges[0].stream], 1u);
  size_t num = ranges.size();
  EXPECT_EQ(session.stream_names[ranges[num - 3].stream], "late");
  EXPECT_EQ(uses[ranges[num - 3].stream], 1u);
  // The row that it shared is not renamed.
  EXPECT_EQ(session.stream_names[ranges[num - 2].stream], "");
  EXPECT_EQ(session.stream_names[ranges[num - 1].stream], "later");
  EXPECT_EQ(uses[ranges[num - 1].stream], 1u);
}

// Where the stream cannot be asked any more, the handle's latest one is meant.
TEST_F(DeviceStreamTest, HandleMeansItsLatestStream) {
  session.Start();
  for (int i = 0; i < 8; i++) {
    scripted_stream_remake(stream);
    RangeOn(stream);
  }
  Settle(100);
  scripted_device_break(fake);
  RangeOn(stream);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 9u);
  EXPECT_EQ(Rows(ranges).size(), 8u);
  EXPECT_EQ(ranges[8].stream, ranges[7].stream);
}

TEST_F(DeviceStreamTest, ThreadsMakeStreamsTogether) {
  constexpr size_t kThreads = 4, kEach = 400;
  session.Start();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; i++)
    threads.emplace_back([&] {
      void *own = NewStream();
      for (size_t k = 0; k < kEach; k++) {
        RangeOn(NewStream(), 1000);
        RangeOn(own, 1000);
        Settle(4);
      }
    });
  for (std::thread &thread : threads) thread.join();
  auto ranges = Finish();
  EXPECT_EQ(ranges.size(), 2 * kThreads * kEach);
  EXPECT_EQ(session.stats.lost, 0u);
  EXPECT_LE(Rows(ranges).size(), kPlaces);
  for (const pprof_event &range : ranges) EXPECT_NE(range.stream, 0u);
}

}  // namespace
}  // namespace pprof_test
