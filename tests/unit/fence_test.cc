// SPDX-License-Identifier: Apache-2.0
//
// A thread's stores may reach others late, in their order, until it fences or
// somebody else calls membarrier. No machine delays them for long, so the test
// does: from inside a marker, it takes back what the marker has stored, and
// lets it arrive with the next membarrier. What others do meanwhile must not
// rely on the stores' absence.
#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "mark/thread.h"
#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_USER_DEFINED);

// What one thread has stored and nobody else has seen yet.
class StoreBuffer {
 public:
  void Hold(std::function<void()> arrive) {
    std::lock_guard<std::mutex> lock(mutex_);
    arrive_ = std::move(arrive);
    holds_ = true;
  }
  void Drain() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (holds_) arrive_();
    holds_ = false;
  }
  bool holds() const {
    return holds_;
  }

 private:
  std::mutex mutex_;
  std::function<void()> arrive_;
  std::atomic<bool> holds_{false};
};

StoreBuffer *TheBuffer() {
  static StoreBuffer *buffer = new StoreBuffer;
  return buffer;
}

thread_local bool is_marking;
std::atomic<uint64_t> ticks{1000000000};
std::atomic<bool> is_inside, is_over;
std::atomic<bool> outstays;  // it goes on only when it is over
std::atomic<uint64_t> num_cut;

// The clock, which a marker reads after it said that its thread is busy and
// looked at the epoch. It stays there, at least until what it said arrives.
uint64_t Now() {
  const uint64_t now = ticks.fetch_add(1000);
  if (!is_marking) return now;
  ppi_thread *self = ppi_thread_self;
  const ppi_lane *lane = self->stacks[0].lane;
  const uint32_t epoch = lane->stack_epoch;
  TheBuffer()->Hold(
      [self] { __atomic_store_n(&self->busy, 1, __ATOMIC_SEQ_CST); });
  __atomic_store_n(&self->busy, 0, __ATOMIC_SEQ_CST);
  is_inside = true;
  while (!is_over && (TheBuffer()->holds() || outstays)) sched_yield();
  TheBuffer()->Drain();
  num_cut += __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE) != epoch;
  is_inside = false;
  return now;
}

class FenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ppi_clock_inject(Now, 1000000000);
    live_.options.memory_limit_bytes = 2u << 20;
    live_.options.stop_wait_ms = 100000;
    live_.options.drain_interval_us = kKeptAwayUs;
    is_inside = is_over = outstays = false;
    num_cut = 0;
  }
  void TearDown() override {
    live_.Destroy();
    ppi_clock_inject(nullptr, 0);
  }

  // A thread with a lane of this session that is held inside a push.
  std::thread HeldThread() {
    std::thread held([] {
      pprof_mark(&outer_site);
      is_marking = true;
      pprof_push(&outer_site);
      is_marking = false;
    });
    while (!is_inside) sched_yield();
    return held;
  }

  LiveSession live_;
};

TEST_F(FenceTest, StopWaitsForAMarkerThatHasJustBegun) {
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  std::thread held = HeldThread();
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_FALSE(is_inside) << "the session ended around a marker";
  is_over = true;
  held.join();
  EXPECT_EQ(2u, live_.recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(2u, live_.recording.events.size());
}

TEST_F(FenceTest, StopNamesAMarkerThatOutstaysIt) {
  live_.options.stop_wait_ms = 1;
  outstays = true;
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  std::thread held = HeldThread();
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_TRUE(is_inside);
  is_over = true;
  held.join();
  EXPECT_EQ(1u, live_.recording.notes.count("stuck"));
  EXPECT_EQ(live_.recording.events.size(),
            live_.recording.Total(PPI_TOTAL_RECORDED));
}

TEST_F(FenceTest, NobodyCutsTheStackOfAMarkerThatHasJustBegun) {
  const ppi_capture capture = Cycle(0, 0, 0, 1, 0);
  ASSERT_NE(nullptr, live_.Create());
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_session_set_capture(live_.session(), &capture));
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  outstays = true;
  std::thread held = HeldThread();
  pprof_step(1);
  live_.Flush();
  is_over = true;
  held.join();
  EXPECT_EQ(0u, num_cut) << "the collector cut it under its owner's hands";
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(1u, live_.recording.Named("outer").back().event.flags &
                    PPROF_FLAG_CLIPPED);
}

// What a checkpoint does not name as open at its time was not.
TEST_F(FenceTest, CheckpointSeesWhatHasBegunBefore) {
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  std::atomic<bool> has_begun{false};
  std::thread late([&] {
    pprof_mark(&outer_site);
    ppi_lane *lane = ppi_thread_self->stacks[0].lane;
    const uint64_t before = lane->commit;
    pprof_push(&outer_site);
    const uint64_t after = lane->commit;
    TheBuffer()->Hold([lane, after] {
      __atomic_store_n(&lane->commit, after, __ATOMIC_RELEASE);
    });
    __atomic_store_n(&lane->commit, before, __ATOMIC_RELEASE);
    has_begun = true;
    while (!is_over) sched_yield();
    TheBuffer()->Drain();
    pprof_pop();
  });
  while (!has_begun) sched_yield();
  EXPECT_EQ(PPROF_STATUS_OK, live_.Flush());
  is_over = true;
  const size_t num_open = live_.recording.num_open.back();
  late.join();
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  // Beside the step.
  EXPECT_EQ(2u, num_open);
}

}  // namespace

void ArriveEverything() {
  TheBuffer()->Drain();
}

}  // namespace pprof_test

extern "C" {
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  long given[6];
  va_list arguments;
  va_start(arguments, number);
  for (long &argument : given) argument = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_membarrier && given[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    pprof_test::ArriveEverything();
  return __real_syscall(number, given[0], given[1], given[2], given[3],
                        given[4], given[5]);
}
}
