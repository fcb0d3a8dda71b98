// SPDX-License-Identifier: Apache-2.0
//
// Signals whose handlers mark meet threads that join, mark and leave: whatever
// they interrupt, every marker is recorded or counted lost.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "mark/thread.h"
#include "pprof/mark.h"
#include "tests/support/long_run.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(work_site, "work", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(signal_site, "signal", PPROF_CATEGORY_USER_DEFINED);

std::atomic<uint64_t> num_handled, num_threads;

void MarkInHandler(int) {
  num_handled.fetch_add(1, std::memory_order_relaxed);
  pprof_push(&signal_site);
  pprof_mark(&signal_site);
  pprof_pop();
}
constexpr uint64_t kMarksOfAHandler = 2;

class Handling {
 public:
  Handling() {
    struct sigaction action = {};
    action.sa_handler = MarkInHandler;
    action.sa_flags = SA_RESTART;
    num_handled = num_threads = 0;
    sigaction(SIGUSR1, &action, &before_);
  }
  ~Handling() {
    sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  struct sigaction before_ = {};
};

struct MarksWhenItEnds {
  ~MarksWhenItEnds() {
    pprof_mark(&point_site);
  }
};

constexpr uint64_t kMarksOfAThread = 5;
void LiveBriefly(std::atomic<pid_t> *place) {
  static thread_local MarksWhenItEnds object;
  (void)&object;
  *place = gettid();
  pprof_push(&work_site);
  pprof_push_name("named", PPROF_CATEGORY_OPERATOR);
  pprof_range_end(pprof_range_begin(&work_site));
  pprof_pop();
  pprof_thread_name("brief");
  pprof_mark(&point_site);
#ifdef __SANITIZE_THREAD__
  // It has left a thread before the destructors that late signals cause.
  sigset_t signals;
  sigfillset(&signals);
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
#endif
}

// Brief threads, one after the other in each of a few places, and a thread that
// signals them as often as it can. They end when `num_signals` were handled.
class Storm {
 public:
  explicit Storm(uint64_t num_each, uint64_t num_signals = 0) {
    for (std::atomic<pid_t> &place : places_)
      spawners_.emplace_back([num_each, num_signals, &place] {
        uint64_t i = 0;
        for (; i < num_each || num_handled < num_signals; i++)
          std::thread(LiveBriefly, &place).join();
        num_threads += i;
        place = 0;
      });
    signaller_ = std::thread([this] {
      while (!done_)
        for (const std::atomic<pid_t> &place : places_)
          if (pid_t thread = place) tgkill(getpid(), thread, SIGUSR1);
    });
  }
  ~Storm() {
    for (std::thread &spawner : spawners_) spawner.join();
    done_ = true;
    signaller_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::atomic<pid_t> places_[3] = {};
  std::vector<std::thread> spawners_;
  std::thread signaller_;
};

TEST(SignalsTest, HandlersThatMarkMeetThreadsThatJoinAndLeave) {
  const uint64_t num_each = Rounds(1500, 20000);
  Handling handling;
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  { Storm storm(num_each, num_each / 10); }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  const Recording &recording = live.recording;
  EXPECT_EQ(recording.events.size(), recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(
      num_threads * kMarksOfAThread + num_handled * kMarksOfAHandler,
      recording.Total(PPI_TOTAL_RECORDED) + recording.Total(PPI_TOTAL_LOST));
  EXPECT_FALSE(recording.undefined_site);
  // A signal that comes last of all attaches its thread once more.
  size_t num_blocks = 0;
  for (ppi_thread *t = ppi_thread_list(); t; t = t->next) num_blocks++;
  EXPECT_LE(num_blocks, 16u);
  RecordProperty("handled", static_cast<int>(num_handled));
}

TEST(SignalsTest, HandlersThatMarkWhileSessionsComeAndGo) {
  Handling handling;
  std::atomic<bool> done{false};
  std::thread sessions([&] {
    while (!done) {
      LiveSession live;
      live.options.memory_limit_bytes = 2u << 20;
      live.options.drain_interval_us = 200;
      EXPECT_EQ(PPROF_STATUS_OK, live.Start());
      EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
      EXPECT_EQ(live.recording.events.size(),
                live.recording.Total(PPI_TOTAL_RECORDED));
    }
  });
  { Storm storm(Rounds(500, 10000)); }
  done = true;
  sessions.join();
}

}  // namespace
}  // namespace pprof_test
