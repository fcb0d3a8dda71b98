// SPDX-License-Identifier: Apache-2.0
//
// Threads that join and leave by the ten thousand, and sessions that come and
// go while other threads mark: every marker is accounted for, and nothing of
// the process grows with their number.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "inject/inject.h"
#include "mark/thread.h"
#include "pprof/mark.h"
#include "tests/support/long_run.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(brief_site, "brief", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(late_site, "late", PPROF_CATEGORY_USER_DEFINED);

// Counts, so that memory of the test's own stays flat.
struct CountingSink {
  pprof_sink base = {};
  uint64_t num_events = 0, num_lanes = 0, num_unordered = 0;
  std::map<uint32_t, uint64_t> totals;

  CountingSink() {
    base.size = sizeof base;
    base.define = [](pprof_sink *sink, const pprof_definition *definition) {
      Of(sink)->num_lanes +=
          pprof_definition_get_kind(definition) == PPROF_DEFINITION_LANE &&
          pprof_definition_id(definition) > 0;
      return PPROF_STATUS_OK;
    };
    base.events = [](pprof_sink *sink, const pprof_batch *batch) {
      Of(sink)->num_events += batch->num_events;
      for (size_t i = 0; i < batch->num_events; i++) {
        const pprof_event *event = pprof_batch_at(batch, i);
        Of(sink)->num_unordered += event->end_ns < event->start_ns;
      }
      return PPROF_STATUS_OK;
    };
    base.finish = [](pprof_sink *sink, const pprof_totals *told) {
      for (size_t i = 0; i < told->num_items; i++)
        if (told->items[i].lane == PPROF_ALL_LANES)
          Of(sink)->totals[told->items[i].key] = told->items[i].value;
      return PPROF_STATUS_OK;
    };
  }
  static CountingSink *Of(pprof_sink *sink) {
    return reinterpret_cast<CountingSink *>(sink);
  }
};

class Session {
 public:
  explicit Session(uint64_t memory_limit_bytes) {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = memory_limit_bytes;
    options.drain_interval_us = 300;
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_session_create(&options, &session_, nullptr));
    EXPECT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session_, &sink.base));
  }
  ~Session() {
    pprof_session_destroy(session_);
  }
  pprof_status Start() {
    return pprof_session_start(session_);
  }
  pprof_status Stop() {
    return pprof_session_stop(session_, nullptr);
  }
  uint64_t Total(ppi_total_key key) {
    return sink.totals[key];
  }

  CountingSink sink;

 private:
  pprof_session *session_ = nullptr;
};

size_t NumThreadBlocks() {
  size_t num = 0;
  for (ppi_thread *block = ppi_thread_list(); block; block = block->next) num++;
  return num;
}

// Marks in a destructor that runs after the library's own, too.
struct MarksWhenItEnds {
  ~MarksWhenItEnds() {
    pprof_mark(&late_site);
  }
};

// Five markers that begin something, one of them left to the thread's end.
constexpr uint64_t kMarksOfAThread = 5;
void LiveBriefly() {
  static thread_local MarksWhenItEnds object;
  (void)&object;
  pprof_push(&brief_site);
  pprof_mark(&point_site);
  pprof_range_end(pprof_range_begin(&brief_site));
  pprof_pop();
  pprof_push(&brief_site);
}

// How many threads run at once.
constexpr int kSpawners = 4;

void SpawnBriefThreads(uint64_t num_each) {
  std::vector<std::thread> spawners;
  for (int i = 0; i < kSpawners; i++)
    spawners.emplace_back([num_each] {
      for (uint64_t k = 0; k < num_each; k++) std::thread(LiveBriefly).join();
    });
  for (std::thread &spawner : spawners) spawner.join();
}

TEST(LifetimesTest, ThreadsJoinAndLeaveByTheTenThousand) {
  const uint64_t num_each = Rounds(2500, 16384);
  Session session(8u << 20);
  ASSERT_EQ(PPROF_STATUS_OK, session.Start());
  SpawnBriefThreads(num_each / 10);
  const size_t num_blocks = NumThreadBlocks();
  const uint64_t num_mappings = NumMappings();
  SpawnBriefThreads(num_each - num_each / 10);
  // A thread that joins may find a block that is just being given back.
  EXPECT_LE(NumThreadBlocks(), num_blocks + 2 * kSpawners);
  if (!kIsSanitized) {
    EXPECT_LE(NumMappings(), num_mappings + 64);
  }
  // Far fewer than threads: what a thread leaves is used again.
  EXPECT_LE(
      ppi_recorder_in_force.spool.header->num_lane_slots,
      ppi_recorder_in_force.spool.header->num_chunks * PPI_LANES_PER_CHUNK);
  ASSERT_EQ(PPROF_STATUS_OK, session.Stop());
  const uint64_t begun = kSpawners * num_each * kMarksOfAThread;
  EXPECT_EQ(begun,
            session.Total(PPI_TOTAL_RECORDED) + session.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(session.sink.num_events, session.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(0u, session.sink.num_unordered);
  RecordProperty("threads", static_cast<int>(kSpawners * num_each));
  RecordProperty("lost", static_cast<int>(session.Total(PPI_TOTAL_LOST)));
}

// Markers of all kinds, balanced or not, until told to stop.
class Markers {
 public:
  explicit Markers(int num) {
    for (int i = 0; i < num; i++) threads_.emplace_back([this, i] { Work(i); });
  }
  ~Markers() {
    done_ = true;
    for (std::thread &thread : threads_) thread.join();
  }

 private:
  void Work(int self) {
    for (uint64_t i = 1; !done_; i++) {
      PPROF_SCOPE("scope");
      pprof_push(&brief_site);
      pprof_flow(i);
      pprof_mark(&point_site);
      handed_[self] = pprof_range_begin(&brief_site).id;
      pprof_range_end(pprof_range{handed_[(self + 1) % 4].exchange(0)});
      pprof_push_name(i % 2 ? "even" : "odd", PPROF_CATEGORY_OPERATOR);
      pprof_pop();
      if (i % 3) pprof_pop();
      if (i % 512 == 0) pprof_step(1);
    }
  }

  std::atomic<bool> done_{false};
  std::atomic<uint64_t> handed_[4] = {};
  std::vector<std::thread> threads_;
};

void RunSessions(uint64_t num) {
  for (uint64_t i = 0; i < num; i++) {
    Session session(2u << 20);
    ASSERT_EQ(PPROF_STATUS_OK, session.Start()) << i;
    if (i % 2) sched_yield();
    ASSERT_EQ(PPROF_STATUS_OK, session.Stop()) << i;
    ASSERT_EQ(session.sink.num_events, session.Total(PPI_TOTAL_RECORDED)) << i;
    ASSERT_EQ(0u, session.sink.num_unordered) << i;
  }
}

TEST(LifetimesTest, SessionsByTheTenThousandWhileOthersMark) {
  const uint64_t num = Rounds(300, 10000);
  Markers markers(4);
  RunSessions(num / 10);
  const uint64_t num_files = NumOpenFiles(), num_threads = NumThreads();
  const uint64_t num_mappings = NumMappings(), bytes = ResidentBytes();
  const size_t num_blocks = NumThreadBlocks();
  RunSessions(num - num / 10);
  EXPECT_EQ(num_files, NumOpenFiles());
  EXPECT_EQ(num_threads, NumThreads());
  // One more for each session's collector would be seen.
  EXPECT_LE(NumThreadBlocks(), num_blocks + 2);
  if (kIsSanitized) return;
  EXPECT_LE(NumMappings(), num_mappings + 16);
  EXPECT_LE(ResidentBytes(), bytes + (2u << 20));
}

// A step is taken under the session that lives by then, and whoever steps all
// the time is nearly always inside a marker when one ends.
class Steppers {
 public:
  Steppers() {
    for (int i = 0; i < 4; i++) threads_.emplace_back([this] { Work(); });
  }
  ~Steppers() {
    done_ = true;
    for (std::thread &thread : threads_) thread.join();
  }

 private:
  void Work() {
    const uint32_t domain = pprof_inject_domain_("lifetimes_test");
    const pprof_work_amount amount = {sizeof amount, 1, 2, 3, 4};
    for (uint64_t i = 1; !done_; i++) {
      pprof_step(1);
      pprof_push(&brief_site);
      pprof_flow(i);
      pprof_work(&amount);
      pprof_mark(&point_site);
      pprof_inject_push_(domain, nullptr, i % 2 ? "even" : "odd", 0);
      pprof_range_end(pprof_range_begin(&brief_site));
      pprof_inject_pop_(domain);
      pprof_pop();
    }
  }

  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

TEST(LifetimesTest, SessionsOfAMillisecondWhileOthersMarkAndStep) {
  Steppers steppers;
  RunSessions(Rounds(400, 20000));
}

}  // namespace
}  // namespace pprof_test
