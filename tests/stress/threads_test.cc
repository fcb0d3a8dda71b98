// SPDX-License-Identifier: Apache-2.0
//
// Four threads mark, and hand ranges to one another, while sessions start, step
// through windows and stop. For the sanitizers; the sums must hold as well.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/long_run.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_FORWARD);
PPROF_SITE(wander_site, "wander", PPROF_CATEGORY_COMMUNICATION);
PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

class ThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (uint32_t i = 0; i < 4; i++)
      threads_.emplace_back([this, i] { Work(i); });
  }
  void TearDown() override {
    done_ = true;
    for (std::thread &thread : threads_) thread.join();
  }

  static void ExpectWhole(const LiveSession &live) {
    const Recording &recording = live.recording;
    EXPECT_EQ(recording.events.size(), recording.Total(PPI_TOTAL_RECORDED));
    EXPECT_FALSE(recording.undefined_site);
    EXPECT_FALSE(recording.gap);
    EXPECT_EQ(0u, recording.notes.count("stuck"));
    std::map<uint32_t, uint64_t> by_lane;
    for (const auto &event : recording.events) {
      EXPECT_LE(event.event.start_ns, event.event.end_ns);
      by_lane[event.event.lane]++;
    }
    for (const auto &lane : by_lane)
      EXPECT_EQ(lane.second, recording.Total(PPI_TOTAL_RECORDED, lane.first));
  }

 private:
  void Work(uint32_t self) {
    for (uint64_t i = 1; !done_; i++) {
      PPROF_SCOPE("scope");
      pprof_push(&outer_site);
      pprof_flow(i);
      pprof_flow(i + 1);
      pprof_work_amount work = {sizeof work, 1, 2, 3, 4};
      pprof_work(&work);
      pprof_range range = pprof_range_begin(&wander_site);
      pprof_range_flow(range, i);
      pprof_range_work(range, &work);
      // The next thread ends it; what lay there before is ended here.
      uint64_t other = handed_[(self + 1) % 4].exchange(range.id);
      pprof_range_end(pprof_range{other});
      pprof_range_end(pprof_range{handed_[self].exchange(0)});
      pprof_push_name(i % 2 ? "even" : "odd", PPROF_CATEGORY_OPERATOR);
      pprof_mark(&point_site);
      pprof_count(&point_site, (double)i);
      pprof_pop();
      if (i % 64 == 0) pprof_step(1);
      if (i % 1024 == 0) pprof_thread_name("renamed");
      if (i % 7) pprof_pop();  // else the scope closes it
    }
  }

  std::atomic<bool> done_{false};
  std::atomic<uint64_t> handed_[4] = {};
  std::vector<std::thread> threads_;
};

TEST_F(ThreadsTest, SessionsComeAndGo) {
  for (int i = 0; i < 8; i++) {
    LiveSession live;
    live.options.memory_limit_bytes = 4u << 20;
    live.options.drain_interval_us = 300;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    for (int k = 0; k < 3; k++) live.Flush();
    live.Stats();
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    ExpectWhole(live);
  }
}

TEST_F(ThreadsTest, WindowsOpenAndClose) {
  for (uint64_t i = 0; i < Seeds(3); i++) {
    const ppi_capture capture = Cycle(1, 1, 1, 2, 0);
    LiveSession live;
    live.options.memory_limit_bytes = 4u << 20;
    live.options.drain_interval_us = 300;
    ASSERT_NE(nullptr, live.Create());
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_session_set_capture(live.session(), &capture));
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    for (int k = 0; k < 8; k++) {
      pprof_step(1);
      live.Flush();
    }
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    ExpectWhole(live);
  }
}

TEST_F(ThreadsTest, ThreadsComeAndGoToo) {
  for (int i = 0; i < 3; i++) {
    LiveSession live;
    live.options.memory_limit_bytes = 4u << 20;
    live.options.drain_interval_us = 300;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    for (int k = 0; k < 10; k++) {
      std::thread brief([] {
        pprof_push(&outer_site);
        pprof_mark(&point_site);
      });
      brief.join();
    }
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    ExpectWhole(live);
  }
}

}  // namespace
}  // namespace pprof_test
