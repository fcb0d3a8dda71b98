// SPDX-License-Identifier: Apache-2.0
//
// The life of a session: the order of its calls, its sinks and their failures,
// statistics, and what happens when memory runs out.
#include "pprof/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "base/mem.h"
#include "pprof/mark.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(range_site, "range", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

void Mark(int count) {
  for (int i = 0; i < count; i++) pprof_mark(&point_site);
}

TEST(SessionTest, OrderOfCalls) {
  LiveSession live;
  ASSERT_NE(nullptr, live.Create());
  EXPECT_EQ(nullptr, pprof_session_current());
  EXPECT_EQ(PPROF_STATUS_INVALID, live.Flush());
  EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  EXPECT_EQ(live.session(), pprof_session_current());
  EXPECT_EQ(PPROF_STATUS_BUSY, live.Start());
  Recording late;
  pprof_sink *sink = RecordingSink::Make(&late);
  EXPECT_EQ(PPROF_STATUS_BUSY, pprof_session_add_sink(live.session(), sink));
  RecordingSink::Destroy(sink);
  LiveSession second;
  EXPECT_EQ(PPROF_STATUS_BUSY, second.Start());
  EXPECT_EQ(PPROF_STATUS_OK, live.Flush());
  EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(nullptr, pprof_session_current());
  EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(PPROF_STATUS_BUSY, live.Start());  // a session starts once
  EXPECT_EQ(1u, live.recording.num_begun);
  EXPECT_EQ(1u, live.recording.num_finished);
  // The one that was refused may start now.
  EXPECT_EQ(PPROF_STATUS_OK, second.Start());
  EXPECT_EQ(PPROF_STATUS_OK, second.Stop());
}

TEST(SessionTest, DestroyStops) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Mark(3);
  live.Destroy();
  EXPECT_EQ(3u, live.recording.events.size());
  EXPECT_EQ(1u, live.recording.num_finished);
  EXPECT_EQ(1u, live.recording.num_destroyed);
  EXPECT_EQ(nullptr, pprof_session_current());
  pprof_session_destroy(nullptr);
}

TEST(SessionTest, OptionsAreCheckedBySize) {
  pprof_session *session = nullptr;
  pprof_error error = {};
  pprof_options options = {};
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_create(&options, &session, &error));
  EXPECT_NE(nullptr, strstr(error.text, "size"));
  struct {
    pprof_options known;
    uint64_t newer;
  } longer = {};
  longer.known.size = sizeof longer;
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_session_create(&longer.known, &session, &error));
  pprof_session_destroy(session);
  longer.newer = 1;
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_create(&longer.known, &session, &error));
  options.size = offsetof(pprof_options, spool_dir);  // an older caller
  options.spool_dir = reinterpret_cast<const char *>(1);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_create(&options, &session, &error));
  pprof_session_destroy(session);
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_create(nullptr, nullptr, &error));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_create(nullptr, &session, &error));
  pprof_session_destroy(session);
}

TEST(SessionTest, SixteenSinksAndNoMore) {
  LiveSession live;
  ASSERT_NE(nullptr, live.Create());
  pprof_sink none = {};
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_add_sink(live.session(), &none));
  none.size = sizeof none;
  for (int i = 1; i < 16; i++)
    EXPECT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live.session(), &none));
  EXPECT_EQ(PPROF_STATUS_BUSY, pprof_session_add_sink(live.session(), &none));
  // Without a single callback they do no harm.
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Mark(2);
  EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(2u, live.recording.events.size());
  live.Destroy();
}

TEST(SessionTest, CallbacksBeyondTheSizeOfASinkAreNotCalled) {
  LiveSession live;
  ASSERT_NE(nullptr, live.Create());
  Recording older;
  older.ready = []() -> bool { abort(); };
  pprof_sink *sink = RecordingSink::Make(&older);
  sink->size = offsetof(pprof_sink, ready);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live.session(), sink));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Mark(2);
  EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
  live.Destroy();
  EXPECT_EQ(2u, older.events.size());
  EXPECT_EQ(1u, older.num_destroyed);
}

TEST(SessionTest, StatsAreExactAfterTheStop) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  for (int i = 0; i < 515; i++) pprof_push(&range_site);  // 3 too deep
  for (int i = 0; i < 517; i++) pprof_pop();              // 2 too many
  pprof_flow(1);
  {
    PPROF_SCOPE("outer");
    pprof_push(&range_site);
  }
  pprof_push(&range_site);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  pprof_stats stats = live.Stats();
  EXPECT_EQ(512u + 2 + 1, stats.recorded);
  EXPECT_EQ(3u, stats.lost);
  EXPECT_EQ(0u, stats.excluded);
  EXPECT_EQ(2u, stats.unmatched);
  EXPECT_EQ(1u, stats.abandoned);
  EXPECT_EQ(1u, stats.clipped);
  EXPECT_EQ(1u, stats.flows_lost);
  EXPECT_EQ(0u, stats.begun_before);
  EXPECT_GT(stats.spool_bytes, 0u);
  EXPECT_LE(stats.spool_bytes, 8u << 20);
  EXPECT_EQ(stats.recorded, live.recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(stats.recorded, live.recording.events.size());
  EXPECT_EQ(stats.lost, live.recording.Total(PPI_TOTAL_LOST));
  pprof_stats invalid = {};
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_stats(live.session(), &invalid));
  // A caller that knows fewer fields gets those only.
  pprof_stats older;
  memset(&older, 0xee, sizeof older);
  older.size = offsetof(pprof_stats, unmatched);
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_stats(live.session(), &older));
  EXPECT_EQ(515u, older.recorded);
  EXPECT_EQ(0xeeeeeeeeeeeeeeeeu, older.unmatched);
}

TEST(SessionTest, FlushDeliversWhatWasAccepted) {
  LiveSession live;
  live.options.drain_interval_us = kKeptAwayUs;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Mark(10);
  EXPECT_EQ(0u, live.recording.events.size());
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  EXPECT_EQ(10u, live.recording.events.size());
  EXPECT_EQ(10u, live.Stats().recorded);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
}

TEST(SessionTest, FailingSinkIsDetachedTheOthersGetAll) {
  LiveSession live;
  live.options.drain_interval_us = kKeptAwayUs;
  live.recording.fail_at_batch = 2;
  ASSERT_NE(nullptr, live.Create());
  Recording other;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(
                                 live.session(), RecordingSink::Make(&other)));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  for (int i = 0; i < 4; i++) {
    Mark(5);
    live.Flush();
  }
  EXPECT_EQ(PPROF_STATUS_IO, live.Stop());
  EXPECT_STRNE("", live.error.text);
  EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(5u, live.recording.events.size());
  EXPECT_EQ(1u, live.recording.num_finished);
  EXPECT_EQ(20u, other.events.size());
  EXPECT_EQ(20u, other.Total(PPI_TOTAL_RECORDED));
}

TEST(SessionTest, FlushTellsTheFirstErrorOfASink) {
  LiveSession live;
  live.recording.fail_at_batch = 1;
  live.recording.fail_status = PPROF_STATUS_CORRUPT;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Mark(1);
  EXPECT_EQ(PPROF_STATUS_CORRUPT, live.Flush());
  EXPECT_EQ(PPROF_STATUS_CORRUPT, live.Stop());
}

TEST(SessionTest, SinkThatFailsToBeginOrFinish) {
  LiveSession live;
  live.recording.begin_status = PPROF_STATUS_UNSUPPORTED;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Mark(5);
  EXPECT_EQ(PPROF_STATUS_UNSUPPORTED, live.Stop());
  EXPECT_EQ(0u, live.recording.events.size());
  EXPECT_EQ(1u, live.recording.num_finished);
  LiveSession next;
  next.recording.finish_status = PPROF_STATUS_IO;
  ASSERT_EQ(PPROF_STATUS_OK, next.Start());
  Mark(5);
  EXPECT_EQ(PPROF_STATUS_IO, next.Stop());
  EXPECT_EQ(5u, next.recording.events.size());
}

TEST(SessionTest, SinkThatIsNotReadyDelaysAndLosesNothingThatFits) {
  std::atomic<bool> ready{false};
  LiveSession live;
  live.options.stop_wait_ms = 20;
  live.recording.ready = [&] { return ready.load(); };
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Mark(100);
  EXPECT_EQ(PPROF_STATUS_BUSY, live.Flush());
  EXPECT_EQ(0u, live.recording.events.size());
  ready = true;
  // The cycle that the first flush asked for may answer this one.
  while (live.Flush() != PPROF_STATUS_OK) {
  }
  EXPECT_EQ(100u, live.recording.events.size());
  ready = false;
  Mark(10);
  EXPECT_EQ(PPROF_STATUS_IO, live.Stop());
  EXPECT_EQ(100u, live.recording.events.size());
  EXPECT_EQ(10u, live.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(10u, live.Stats().missed);
}

TEST(SessionTest, RecordsThatAreNotKeptKeepTheirMemory) {
  std::atomic<bool> keeps{false};
  std::atomic<uint64_t> delivered{0};
  LiveSession live;
  live.options.memory_limit_bytes = 2u << 20;
  live.recording.kept = [&](uint32_t, uint64_t *out_seq) {
    *out_seq = delivered;
    return keeps.load();
  };
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  for (int i = 0; i < 30; i++) {
    Mark(2000);
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  }
  uint64_t lost = live.Stats().lost;
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(60000u, lost + live.Stats().recorded);
  keeps = true;
  delivered = UINT64_MAX;
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  for (int i = 0; i < 30; i++) {
    Mark(2000);
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  }
  EXPECT_EQ(lost, live.Stats().lost);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(120000u, live.recording.events.size() + lost);
}

TEST(SessionTest, HundredSessionsWhileTwoThreadsMark) {
  std::atomic<bool> done{false};
  auto work = [&] {
    while (!done) {
      PPROF_SCOPE("outer");
      pprof_push(&range_site);
      pprof_range range = pprof_range_begin(&range_site);
      pprof_push_name("dynamic", PPROF_CATEGORY_FORWARD);
      pprof_pop();
      pprof_range_end(range);
      pprof_pop();
    }
  };
  std::thread first(work), second(work);
  for (int i = 0; i < 100; i++) {
    LiveSession live;
    live.options.memory_limit_bytes = 2u << 20;
    live.options.drain_interval_us = 200;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    pprof_step(1);
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    ASSERT_EQ(live.recording.events.size(),
              live.recording.Total(PPI_TOTAL_RECORDED));
    ASSERT_FALSE(live.recording.undefined_site);
    ASSERT_FALSE(live.recording.gap);
    ASSERT_EQ(0u, live.recording.notes.count("stuck"));
  }
  done = true;
  first.join();
  second.join();
}

TEST(SessionTest, StartThatFailedMayBeRepeated) {
  LiveSession live;
  ASSERT_NE(nullptr, live.Create());
  for (uint64_t n = 1; n < 30; n++) {
    ppi_mem_fail_at(n);
    pprof_status status = live.Start();
    ppi_mem_fail_at(0);
    if (status == PPROF_STATUS_OK) break;
    ASSERT_EQ(PPROF_STATUS_NO_MEMORY, status) << n;
    ASSERT_EQ(nullptr, pprof_session_current());
  }
  pprof_status status = live.Start();
  ASSERT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_BUSY);
  Mark(1);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(1u, live.recording.events.size());
  EXPECT_EQ(0u, live.recording.events[0].event.window);
}

// Time passes by being read: the checkpoint of the second never comes.
std::atomic<uint64_t> clock_ns{1000000000000};
uint64_t Now() {
  return clock_ns.fetch_add(5);
}

struct CheckedSink {
  pprof_sink base;
  std::atomic<uint64_t> num_events;
  std::atomic<bool> is_checked;  // once there were many
};

TEST(SessionTest, ACheckpointComesAfterManyRecords) {
  const uint64_t many = uint64_t{1} << 18;
  CheckedSink sink = {};
  sink.base.size = sizeof sink.base;
  sink.base.events = [](pprof_sink *self, const pprof_batch *batch) {
    reinterpret_cast<CheckedSink *>(self)->num_events += batch->num_events;
    return PPROF_STATUS_OK;
  };
  sink.base.checkpoint = [](pprof_sink *self, const pprof_checkpoint *) {
    auto *checked = reinterpret_cast<CheckedSink *>(self);
    if (checked->num_events >= many) checked->is_checked = true;
    return PPROF_STATUS_OK;
  };
  sink.base.destroy = [](pprof_sink *) {};
  ppi_clock_inject(Now, 1000000000);
  pprof_session *session = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_create(nullptr, &session, nullptr));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, &sink.base));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  while (sink.num_events < 2 * many && !sink.is_checked) Mark(100);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, nullptr));
  EXPECT_TRUE(sink.is_checked);
  pprof_session_destroy(session);
  ppi_clock_inject(nullptr, 0);
}

// Every allocation of a whole session fails once, with all later ones.
TEST(SessionTest, OutOfMemoryAtAnyPointIsAClearStatus) {
  bool whole = false;
  for (uint64_t n = 1; n < 500 && !whole; n++) {
    LiveSession live;
    live.options.memory_limit_bytes = 2u << 20;
    live.options.spool_dir = "memory";
    ppi_mem_fail_at(n);
    pprof_status status = PPROF_STATUS_NO_MEMORY;
    if (live.Create()) status = live.Start();
    if (status == PPROF_STATUS_OK) {
      pprof_push(&range_site);
      Mark(3);
      pprof_pop();
      pprof_range_end(pprof_range_begin(&range_site));
      pprof_step(1);
      status = live.Stop();
    }
    ppi_mem_fail_at(0);
    if (status == PPROF_STATUS_OK) {
      // What is called a success is whole.
      EXPECT_EQ(7u, live.recording.events.size()) << n;
      EXPECT_EQ(7u, live.recording.Total(PPI_TOTAL_RECORDED)) << n;
      EXPECT_EQ(7u, live.Stats().recorded) << n;
      whole = live.recording.info.count("uuid") != 0 && n > 40;
    } else {
      ASSERT_EQ(PPROF_STATUS_NO_MEMORY, status) << n;
    }
    ASSERT_EQ(nullptr, pprof_session_current());
  }
  EXPECT_TRUE(whole);
}

}  // namespace
}  // namespace pprof_test
