// SPDX-License-Identifier: Apache-2.0
//
// Event pools: contexts that come and go, and slots that many threads share.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "device_fixture.h"

namespace pprof_test {
namespace {

constexpr auto kNoTime = static_cast<uint32_t>(PPROF_FLAG_NO_DEVICE_TIME);

class DevicePoolTest : public DeviceTest {
 protected:
  void RangeOn(void *one, uint64_t work_ns) {
    pprof_device_push(device, one, &site);
    scripted_stream_submit(one, work_ns);
    pprof_device_pop(device, one);
  }

  void Settle() {
    Advance(10 * kMs);
    session.Flush();
  }

  // Of any device's table, while the session runs: they are equally large.
  size_t NumSlots() {
    const ppi_spool &spool = ppi_recorder_in_force.spool;
    const void *table = ppi_spool_chunk(&spool, spool.header->tables[1]);
    return static_cast<const ppi_table *>(table)->num_slots;
  }

  // Ranges that have a device time.
  size_t NumTimed() {
    size_t num = 0;
    for (const pprof_event &range : session.DeviceRanges())
      num += !(range.flags & kNoTime);
    return num;
  }
};

TEST_F(DevicePoolTest, DestroyedContextEndsItsOwnTimesOnly) {
  void *first = scripted_stream_create(fake, 7);
  void *second = scripted_stream_create(fake, 8);
  pprof_stream_name(device, first, "first");
  pprof_stream_name(device, second, "second");
  session.Start();
  RangeOn(first, kMs);
  RangeOn(second, kMs);
  Settle();
  EXPECT_EQ(NumTimed(), 2u);
  // One range has ended and waits, another is open.
  scripted_stream_hold(first, true);
  RangeOn(first, kMs);
  pprof_range open = pprof_device_range_begin(device, first, &other_site);
  scripted_device_destroy_pool(fake, 7);
  Settle();
  pprof_device_range_end(open, first);
  for (int i = 0; i < 3; i++) RangeOn(second, kMs);
  Settle();
  auto ranges = Finish();
  EXPECT_EQ(ranges.size(), 7u);
  EXPECT_EQ(NumTimed(), 5u);
  EXPECT_EQ(session.stats.lost, 0u);
  EXPECT_EQ(session.stats.late, 0u);
  EXPECT_TRUE(session.HasNote("a context was destroyed or reset"));
  EXPECT_FALSE(session.HasNote("reported an error"));
}

// A reset: the program goes on with a new context, and more often than there is
// room for pools.
TEST_F(DevicePoolTest, TimesComeBackAfterEveryReset) {
  session.Start();
  for (uint64_t pool = 100; pool < 120; pool++) {
    void *pooled = scripted_stream_create(fake, pool);
    RangeOn(pooled, kMs);  // timed only if the collector made events in it
    Settle();
    RangeOn(pooled, kMs);
    Settle();
    scripted_device_destroy_pool(fake, pool);
    Settle();
  }
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 40u);
  for (size_t i = 1; i < ranges.size(); i += 2)
    EXPECT_FALSE(ranges[i].flags & kNoTime) << i;
  EXPECT_TRUE(session.HasNote("a context was destroyed or reset"));
  EXPECT_FALSE(session.HasNote("more than 8 contexts"));
  EXPECT_EQ(session.stats.lost, 0u);
  // The next session does not ask for what is gone.
  DeviceSession second;
  second.Start();
  Range(kMs);
  second.Stop();
  EXPECT_FALSE(second.HasNote("destroyed"));
}

TEST_F(DevicePoolTest, ContextThatComesLateFindsEvents) {
  std::vector<void *> streams;
  for (uint64_t pool = 1; pool < 8; pool++)
    streams.push_back(scripted_stream_create(fake, pool));
  session.Start();
  // The first takes all there is.
  scripted_stream_hold(stream, true);
  for (int i = 0; i < 3000; i++) {
    Range(1);
    if (i % 100 == 0) session.Flush();
  }
  scripted_stream_hold(stream, false);
  Settle();
  session.Flush();
  for (void *one : streams) RangeOn(one, 1);
  Settle();
  size_t before = NumTimed();
  for (void *one : streams) RangeOn(one, 1);
  Finish();
  EXPECT_EQ(NumTimed(), before + streams.size());
}

// Each thread takes slots ahead; what idle ones hold is nobody's loss.
TEST_F(DevicePoolTest, IdleThreadsHoldNothingBack) {
  constexpr int kThreads = 100;
  std::mutex mutex;
  std::condition_variable changed;
  int num_idle = 0;
  bool done = false;
  session.Start();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++)
    threads.emplace_back([&] {
      Range(1);
      std::unique_lock<std::mutex> lock(mutex);
      num_idle++;
      changed.notify_all();
      changed.wait(lock, [&] { return done; });
    });
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return num_idle == kThreads; });
  }
  Settle();
  scripted_stream_hold(stream, true);
  const size_t num_slots = NumSlots();
  for (size_t i = 0; i < num_slots + 100; i++) {
    Range(1);
    if (i % 20 == 0) session.Flush();
  }
  scripted_stream_hold(stream, false);
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(Finish().size(), num_slots + kThreads);
  EXPECT_EQ(session.stats.device_lost, 100u);
}

TEST_F(DevicePoolTest, ThreadsShareAStreamAndLoseNothing) {
  constexpr int kThreads = 4, kRounds = 20, kRanges = 25;
  session.Start();
  for (int round = 0; round < kRounds; round++) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
      threads.emplace_back([&] {
        for (int k = 0; k < kRanges; k++) Range(10);
      });
    for (std::thread &thread : threads) thread.join();
    Settle();
  }
  EXPECT_EQ(Finish().size(), size_t{kThreads * kRounds * kRanges});
  EXPECT_EQ(NumTimed(), size_t{kThreads * kRounds * kRanges});
  EXPECT_EQ(session.stats.lost, 0u);
}

}  // namespace
}  // namespace pprof_test
