// SPDX-License-Identifier: Apache-2.0
//
// Whose lane it is. Sessions use one address range in turn, so a lane that a
// thread has kept from the last session is another's memory in this one. A
// thread keeps it when it is seen inside a marker while that session ends: the
// tests say so of it at just that moment, as pprof_step does before it looks.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "inject/inject.h"
#include "mark/attach.h"
#include "mark/thread.h"
#include "pprof/device.h"
#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "spool/lane.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(open_site, "open", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(other_site, "other", PPROF_CATEGORY_USER_DEFINED);

// A thread that does one thing after the other, each when it is asked.
class Worker {
 public:
  Worker() : thread_([this] { Loop(); }) {
    Do([this] { self_ = ppi_thread_attach(); });
  }
  ~Worker() {
    Do([this] { done_ = true; });
    thread_.join();
  }
  void Do(std::function<void()> work) {
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = std::move(work);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !work_; });
  }
  ppi_thread *self() {
    return self_;
  }
  void SetBusy(uint32_t busy) {
    __atomic_store_n(&self_->busy, busy, __ATOMIC_SEQ_CST);
  }

 private:
  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!done_) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      work_();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool done_ = false;
  ppi_thread *self_ = nullptr;
  std::thread thread_;
};

class LaneOwnerTest : public ::testing::Test {
 protected:
  // A session in which `mark` gives `stale` its lanes; the thread is seen
  // inside a marker while it ends, and goes on afterwards.
  void RunFirstSession(const std::function<void()> &mark) {
    std::atomic<bool> has_marked{false};
    LiveSession first;
    first.options.memory_limit_bytes = 2u << 20;
    first.options.drain_interval_us = kKeptAwayUs;
    first.recording.kept = [&](uint32_t, uint64_t *) {
      if (has_marked) stale_.SetBusy(1);
      return false;
    };
    ASSERT_EQ(PPROF_STATUS_OK, first.Start());
    mark();
    has_marked = true;  // the collector comes once more, when it ends
    ASSERT_EQ(PPROF_STATUS_OK, first.Stop());
    ASSERT_EQ(0u, first.recording.notes.count("stuck"));
    stale_.SetBusy(0);
  }
  void StartSecondSession() {
    const ppi_capture capture = Cycle(0, 0, 0, 1, 0);
    live_.options.memory_limit_bytes = 2u << 20;
    live_.options.drain_interval_us = kKeptAwayUs;
    ASSERT_NE(nullptr, live_.Create());
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_session_set_capture(live_.session(), &capture));
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  // The thread of the one event with this name.
  uint64_t ThreadOf(const char *name) {
    const auto found = live_.recording.Named(name);
    return found.size() == 1 ? live_.recording.lane_threads[found[0].event.lane]
                             : 0;
  }

  Worker owner_;
  Worker stale_;  // its block is the newer one
  LiveSession live_;
};

TEST_F(LaneOwnerTest, ThreadEntersNoLaneOfAnotherThread) {
  RunFirstSession([this] { stale_.Do([] { pprof_mark(&other_site); }); });
  StartSecondSession();
  owner_.Do([] { pprof_push(&open_site); });
  stale_.Do([] { pprof_mark(&other_site); });
  owner_.Do([] { pprof_pop(); });
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(owner_.self()->tid, ThreadOf("open"));
  EXPECT_EQ(stale_.self()->tid, ThreadOf("other"));
}

TEST_F(LaneOwnerTest, NorByWayOfADomain) {
  const uint32_t domain = pprof_inject_domain_("lane_owner_test");
  const auto mark = [domain] {
    pprof_inject_mark_(domain, nullptr, "other", 0);
  };
  RunFirstSession([&] { stale_.Do(mark); });
  StartSecondSession();
  owner_.Do([] { pprof_push(&open_site); });
  stale_.Do(mark);
  owner_.Do([] { pprof_pop(); });
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(owner_.self()->tid, ThreadOf("open"));
  EXPECT_EQ(stale_.self()->tid, ThreadOf("other"));
}

// What lies where its lane was is nobody's yet, and stays as it is.
TEST_F(LaneOwnerTest, CollectorCutsNoLaneOfAnEarlierSession) {
  const ppi_lane *old = nullptr;
  RunFirstSession([&] {
    owner_.Do([] { pprof_mark(&open_site); });
    stale_.Do([] { pprof_mark(&other_site); });
    old = stale_.self()->stacks[0].lane;
  });
  StartSecondSession();
  owner_.Do([] { pprof_push(&open_site); });
  ASSERT_NE(old, owner_.self()->stacks[0].lane);
  pprof_step(1);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  EXPECT_EQ(0u, old->stack_epoch);
  EXPECT_EQ(0u, old->edge);
  EXPECT_EQ(0u, old->commit);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
}

TEST_F(LaneOwnerTest, LaneHasOneOwnerAndNobodyElseLetsItBeCut) {
  RunFirstSession([this] { stale_.Do([] { pprof_mark(&other_site); }); });
  StartSecondSession();
  owner_.Do([] { pprof_push(&open_site); });
  const ppi_lane *lane = owner_.self()->stacks[0].lane;
  const uint32_t epoch = lane->stack_epoch;
  EXPECT_EQ(owner_.self(), ppi_thread_owning(lane));
  owner_.SetBusy(1);  // inside a marker
  pprof_step(1);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  EXPECT_EQ(epoch, lane->stack_epoch) << "cut under its owner's hands";
  owner_.SetBusy(0);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  EXPECT_NE(epoch, lane->stack_epoch);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
}

// Between the collector's two stores of a cut: it has taken the edge, and the
// stack is not empty yet. What begins then is lost, and its end counts for
// nothing, but behind another edge; the range that is cut began before.
TEST_F(LaneOwnerTest, AMarkerThatMeetsACutIsCountedOnce) {
  enum { kMeanwhile, kBehindIt, kBehindTheNext };
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  for (int ends : {kMeanwhile, kBehindIt, kBehindTheNext}) {
    SCOPED_TRACE(ends);
    LiveSession live;
    live.options.drain_interval_us = kKeptAwayUs;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    Worker owner;  // no range can be open on it from before
    owner.Do([] { pprof_push(&open_site); });
    ppi_lane *lane = owner.self()->stacks[0].lane;
    ppi_session_new_epoch(live.session());
    const uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
    ASSERT_NE(epoch, lane->stack_epoch);
    lane->edge = epoch;
    owner.Do([&] {
      pprof_push(&other_site);
      pprof_device_push(device, nullptr, &other_site);
      if (ends == kMeanwhile) pprof_pop();
    });
    ppi_lane_cut(&ppi_recorder_in_force.spool, lane, epoch);
    owner.Do([&] {
      pprof_push(&other_site);
      pprof_pop();
      pprof_device_pop(device, nullptr);
      if (ends == kBehindIt) pprof_pop();
    });
    if (ends == kBehindTheNext) {
      ppi_session_new_epoch(live.session());
      owner.Do([] { pprof_pop(); });
    }
    owner.Do([] { pprof_pop(); });
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ(2u, live.recording.Total(PPI_TOTAL_RECORDED));
    EXPECT_EQ(2u, live.recording.Total(PPI_TOTAL_LOST));
    EXPECT_EQ(ends == kBehindTheNext ? 2u : 1u,
              live.recording.Total(PPI_TOTAL_BEGUN_BEFORE));
    EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED));
  }
}

}  // namespace
}  // namespace pprof_test
