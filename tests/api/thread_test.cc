// SPDX-License-Identifier: Apache-2.0
//
// Threads come, leave and are interrupted: lanes, names, destructors, signals,
// and a thread that never leaves its marker.
#include "mark/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "session/collect/spool_counts.h"
#include "spool/chunks.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(late_site, "late", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(signal_site, "signal", PPROF_CATEGORY_USER_DEFINED);

TEST(ThreadTest, OpenFramesOfALeavingThreadAreAbandoned) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::thread leaving([] {
    pprof_thread_name("leaving");
    pprof_push(&outer_site);
    pprof_push(&inner_site);
    pprof_mark(&late_site);
  });
  leaving.join();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  uint32_t lane = live.recording.LaneNamed("leaving");
  auto events = live.recording.OfLane(lane);
  ASSERT_EQ(3u, events.size());
  EXPECT_EQ("inner", events[1].name);
  EXPECT_EQ("outer", events[2].name);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ABANDONED, events[1].event.flags);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ABANDONED, events[2].event.flags);
  EXPECT_EQ(2u, live.recording.Total(PPI_TOTAL_ABANDONED, lane));
  EXPECT_EQ(3u, live.recording.Total(PPI_TOTAL_RECORDED, lane));
}

// Lets a thread go once the stop has begun, before the collector looks at
// lanes again.
struct LettingGo {
  pprof_sink base;
  std::atomic<bool> armed, go;
  std::thread *leaving;

  static bool Ready(pprof_sink *base) {
    auto *self = reinterpret_cast<LettingGo *>(base);
    if (self->armed && self->leaving->joinable() &&
        __atomic_load_n(&ppi_epoch_page[1], __ATOMIC_ACQUIRE) == 0) {
      self->go = true;
      self->leaving->join();
    }
    return true;
  }
};

TEST(ThreadTest, OpenFramesOfAThreadThatLeavesWhileStoppingAreClipped) {
  LiveSession live;
  live.options.stop_wait_ms = 60000;  // what is waited for in vain
  std::atomic<bool> pushed{false};
  LettingGo sink = {};
  sink.base.size = sizeof sink.base;
  sink.base.ready = LettingGo::Ready;
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_session_add_sink(live.session(), &sink.base));
  std::thread leaving([&] {
    while (!pushed) sched_yield();
    pprof_thread_name("leaving");
    pprof_push(&outer_site);
    pushed = false;
    while (!sink.go) sched_yield();
  });
  sink.leaving = &leaving;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pushed = true;
  while (pushed) sched_yield();
  sink.armed = true;
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_FALSE(leaving.joinable());
  auto events = live.recording.OfLane(live.recording.LaneNamed("leaving"));
  ASSERT_EQ(1u, events.size());
  EXPECT_EQ("outer", events[0].name);
  EXPECT_EQ((uint32_t)PPROF_FLAG_CLIPPED, events[0].event.flags);
}

struct InDestructor {
  ~InDestructor() {
    pprof_mark(&late_site);
  }
};

TEST(ThreadTest, MarkersInDestructorsOfAThreadAreRecorded) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  // Its key is newer than the library's, so its destructor comes later.
  pthread_key_t key;
  ASSERT_EQ(0, pthread_key_create(&key, [](void *) {
              pprof_push(&inner_site);
              pprof_pop();
            }));
  std::thread leaving([&] {
    static thread_local InDestructor object;
    (void)&object;
    pthread_setspecific(key, &outer_site);
    pprof_push(&outer_site);
  });
  leaving.join();
  pthread_key_delete(key);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(1u, live.recording.Named("outer").size());
  EXPECT_EQ(1u, live.recording.Named("late").size());
  EXPECT_EQ(1u, live.recording.Named("inner").size());
  EXPECT_EQ(0u, live.recording.Named("inner")[0].event.depth);
  EXPECT_EQ(3u, live.recording.Total(PPI_TOTAL_RECORDED));
}

TEST(ThreadTest, MarkerInAtexitOfARunningSession) {
  pid_t pid = fork();
  if (pid == 0) {
    static LiveSession live;
    if (live.Start() != PPROF_STATUS_OK) _exit(2);
    atexit([] {
      pprof_mark(&late_site);
      if (live.Stop() != PPROF_STATUS_OK) _exit(3);
      pprof_mark(&late_site);
      _exit(live.recording.Named("late").size() == 1 ? 0 : 4);
    });
    exit(1);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status));
}

TEST(ThreadTest, NamesAreThoseGivenLastAndCutAt63) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::string longer(100, 'x');
  std::promise<uint32_t> tid;
  std::thread named([&] {
    pprof_thread_name("first");
    pprof_mark(&late_site);
    pprof_thread_name(nullptr);
    pprof_thread_name("second");
    tid.set_value((uint32_t)gettid());
  });
  named.join();
  std::thread cut([&] {
    pprof_thread_name(longer.c_str());
    pprof_mark(&late_site);
  });
  cut.join();
  std::thread system([] {
    pthread_setname_np(pthread_self(), "of-the-system");
    pprof_mark(&late_site);
  });
  system.join();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(UINT32_MAX, live.recording.LaneNamed("first"));
  uint32_t lane = live.recording.LaneNamed("second");
  ASSERT_NE(UINT32_MAX, lane);
  EXPECT_EQ(tid.get_future().get(), live.recording.lane_threads[lane]);
  EXPECT_NE(UINT32_MAX, live.recording.LaneNamed(longer.substr(0, 63)));
  EXPECT_NE(UINT32_MAX, live.recording.LaneNamed("of-the-system"));
  EXPECT_EQ("process", live.recording.lanes[0]);
}

TEST(ThreadTest, ShortThreadsReuseLanesAndChunks) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  uint32_t chunks_after_first = 0;
  for (int i = 0; i < 2000; i++) {
    std::thread brief([] {
      pprof_push(&outer_site);
      pprof_pop();
    });
    brief.join();
    if (i % 10 == 0) {
      ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
    }
    const ppi_spool *spool = &ppi_recorder_in_force.spool;
    if (i == 20) chunks_after_first = ppi_spool_chunks_free(spool);
    // Ten threads between two flushes hold a lane and a ring chunk each.
    if (i > 20) {
      ASSERT_GE(ppi_spool_chunks_free(spool) + 20, chunks_after_first) << i;
      ASSERT_LE(spool->header->num_lane_slots, 24u) << i;
    }
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(2000u, live.recording.events.size());
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(2000u, live.recording.Total(PPI_TOTAL_RECORDED));
}

TEST(ThreadTest, NamesOfThreadsTakeNoRoomOfSites) {
  PPROF_SITE(new_site, "of a site that came late", PPROF_CATEGORY_USER_DEFINED);
  LiveSession live;
  live.options.memory_limit_bytes = 2u << 20;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const std::string name(60, 'n');
  pprof_thread_name("first");
  pprof_mark(&late_site);
  for (int i = 0; i < 2000; i++) {
    std::thread brief([&] {
      pprof_thread_name(name.c_str());
      pprof_mark(&late_site);
    });
    brief.join();
    if (i % 10 == 0) {
      ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
    }
  }
  pprof_mark(&new_site);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(1u, live.recording.Named("of a site that came late").size());
  EXPECT_EQ(2001u, live.recording.Named("late").size());
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_NAMES_OVERFLOWED));
}

TEST(ThreadTest, TheSameNameAgainTakesNoRoom) {
  LiveSession live;
  live.options.memory_limit_bytes = 2u << 20;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_mark(&late_site);
  for (int i = 0; i < 10000; i++) pprof_thread_name("again and again");
  pprof_thread_name("at last");
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_NE(UINT32_MAX, live.recording.LaneNamed("at last"));
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_NAMES_OVERFLOWED));
}

TEST(ThreadTest, CountsOfThreadsThatLeftStay) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  for (int i = 0; i < 10; i++) {
    std::thread brief([] {
      pprof_pop();
      pprof_flow(1);
      for (int k = 0; k < 513; k++) pprof_push(&outer_site);
    });
    brief.join();
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(10u, live.recording.Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(10u, live.recording.Total(PPI_TOTAL_FLOWS_LOST));
  EXPECT_EQ(10u, live.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(5120u, live.recording.Total(PPI_TOTAL_ABANDONED));
}

// A clock that raises a signal, so that its handler interrupts a marker at a
// known point.
std::atomic<uint64_t> ticks{1};
thread_local int raise_in = 0;
std::atomic<int> num_handled{0};

uint64_t RaisingClock() {
  if (raise_in > 0 && --raise_in == 0) raise(SIGUSR1);
  return ticks.fetch_add(1, std::memory_order_relaxed);
}

void MarkInHandler(int) {
  num_handled++;
  pprof_push(&signal_site);
  pprof_mark(&signal_site);
  pprof_pop();
}

TEST(ThreadTest, MarkersThatInterruptAMarkerAreCountedLost) {
  struct sigaction action = {}, before = {};
  action.sa_handler = MarkInHandler;
  ASSERT_EQ(0, sigaction(SIGUSR1, &action, &before));
  ppi_clock_inject(RaisingClock, 1000000000);
  {
    LiveSession live;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    pprof_thread_name("interrupted");
    pprof_mark(&late_site);
    raise_in = 1;
    pprof_push(&outer_site);  // the handler runs inside
    EXPECT_EQ(1, num_handled);
    raise(SIGUSR1);  // and here between two markers
    raise_in = 1;
    pprof_pop();
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ(3, num_handled);
    // Twice a push and a mark are lost; their pops found nothing to end.
    uint32_t lane = live.recording.LaneNamed("interrupted");
    EXPECT_EQ(4u, live.recording.Total(PPI_TOTAL_LOST, lane));
    EXPECT_EQ(2u, live.recording.Named("signal").size());
    EXPECT_EQ(1u, live.recording.Named("outer").size());
    EXPECT_EQ(4u, live.recording.Total(PPI_TOTAL_RECORDED, lane));
    EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED));
  }
  ppi_clock_inject(nullptr, 0);
  sigaction(SIGUSR1, &before, nullptr);
}

// A clock whose handler steps; one that runs while the clock is read would wait
// for the lock that its own thread has, and counts instead.
thread_local bool is_read = false;
int num_steps = 0, num_inside = 0;

uint64_t ClockOfSchedules() {
  is_read = true;
  if (raise_in > 0 && --raise_in == 0) raise(SIGUSR1);
  is_read = false;
  return ticks.fetch_add(1, std::memory_order_relaxed);
}

void StepInHandler(int) {
  if (is_read) {
    num_inside++;
    return;
  }
  num_steps++;
  pprof_step(1);
}

TEST(ThreadTest, StepsInHandlersWaitForAScheduleThatChanges) {
  struct sigaction action = {}, before = {};
  action.sa_handler = StepInHandler;
  ASSERT_EQ(0, sigaction(SIGUSR1, &action, &before));
  ppi_clock_inject(ClockOfSchedules, 1000000000);
  {
    LiveSession live;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    const pprof_schedule span = pprof_schedule_span(0, 9);
    raise_in = 1;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_set_schedule(live.session(), &span));
    EXPECT_EQ(0, raise_in);
    EXPECT_EQ(0, num_inside);
    EXPECT_EQ(1, num_steps);
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ(2u, live.recording.Named("ProfileStep").size());
  }
  ppi_clock_inject(nullptr, 0);
  sigaction(SIGUSR1, &before, nullptr);
}

// A clock that holds a thread inside its marker.
thread_local bool hold = false;
std::promise<void> *held, *let_go;

uint64_t HoldingClock() {
  if (hold) {
    hold = false;
    held->set_value();
    let_go->get_future().wait();
  }
  return ticks.fetch_add(1000, std::memory_order_relaxed);
}

void StuckIn(void (*marker)()) {
  std::promise<void> is_held, may_go;
  held = &is_held;
  let_go = &may_go;
  LiveSession live;
  live.options.memory_limit_bytes = 2u << 20;
  live.options.stop_wait_ms = 1;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::promise<void> is_out, go_on;
  std::thread stuck([&] {
    pprof_thread_name("stuck");
    pprof_push(&outer_site);
    pprof_mark(&late_site);
    hold = true;
    marker();
    is_out.set_value();
    go_on.get_future().wait();
    pprof_push(&inner_site);
    pprof_pop();
  });
  is_held.get_future().wait();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(1u, live.recording.notes.count("stuck"));
  EXPECT_EQ(1u, live.recording.Named("late").size());
  // While it is in there, what it uses must stay: no other session starts.
  LiveSession refused;
  refused.options.stop_wait_ms = 1;
  EXPECT_EQ(PPROF_STATUS_BUSY, refused.Start());
  may_go.set_value();  // the rest of its marker falls into no hole
  is_out.get_future().wait();
  LiveSession next;
  next.options.memory_limit_bytes = 2u << 20;
  next.options.stop_wait_ms = 1;
  ASSERT_EQ(PPROF_STATUS_OK, next.Start());
  go_on.set_value();
  stuck.join();
  ASSERT_EQ(PPROF_STATUS_OK, next.Stop());
  EXPECT_EQ(1u, next.recording.events.size());
  EXPECT_EQ(1u, next.recording.Named("inner").size());
  EXPECT_EQ(0u, next.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(0u, next.recording.notes.count("stuck"));
}

TEST(ThreadTest, ThreadStuckInAMarkerHarmsNobody) {
  ppi_clock_inject(HoldingClock, 1000000000);
  StuckIn([] { pprof_push(&late_site); });
  StuckIn([] { pprof_pop(); });
  StuckIn([] { pprof_mark(&late_site); });
  StuckIn([] { pprof_range_begin(&late_site); });
  StuckIn([] { pprof_range_end(pprof_range_begin(&late_site)); });
  ppi_clock_inject(nullptr, 0);
}

// A clock that another processor reads too early.
uint64_t SetClock() {
  return ticks.load(std::memory_order_relaxed);
}

TEST(ThreadTest, ARangeThatWasHandedOverEndsNoEarlierThanItBegan) {
  ppi_clock_inject(SetClock, 1000000000);
  {
    LiveSession live;
    ticks = 5000;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    ticks = 6000;
    pprof_range range = pprof_range_begin(&outer_site);
    ticks = 5900;
    std::thread other([&] { pprof_range_end(range); });
    other.join();
    ticks = 7000;
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    auto found = live.recording.Named("outer");
    ASSERT_EQ(1u, found.size());
    EXPECT_EQ(1000u, found[0].event.start_ns);
    EXPECT_EQ(1000u, found[0].event.end_ns);
    EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_INVALID));
  }
  ppi_clock_inject(nullptr, 0);
}

uint64_t NumLost() {
  uint64_t counts[PPI_NUM_TOTALS] = {};
  ppi_spool_counts_now(counts);
  return counts[PPI_TOTAL_LOST];
}

// A push that finds no memory for a row is lost; by the time of its pop there
// may be some. After an edge between them, as windows have, its range began
// before.
void PopWhatFoundNoMemory(bool with_edge) {
  LiveSession live;
  const ppi_capture capture = Cycle(0, 0, 0, 1, 0);
  std::atomic<bool> keeps{false};
  live.options.memory_limit_bytes = 2u << 20;
  live.options.drain_interval_us = kKeptAwayUs;
  live.options.stop_wait_ms = 100000;
  live.recording.kept = [&](uint32_t, uint64_t *out) {
    *out = keeps ? UINT64_MAX : 0;
    return true;
  };
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  // Until neither a record nor a row has room any more.
  while (NumLost() == 0)
    for (int i = 0; i < 100; i++) pprof_mark(&late_site);
  std::atomic<int> num_rows{0}, now{0};
  std::vector<std::thread> others;
  for (int i = 0; i < 8; i++) {
    others.emplace_back([&] {
      pprof_mark(&late_site);
      num_rows++;
      while (now < 3) sched_yield();
    });
    while (num_rows <= i) sched_yield();
  }
  std::thread late([&] {
    pprof_push(&outer_site);
    pprof_push_name("outer too", 0);
    now = 1;
    while (now < 2) sched_yield();
    pprof_push(&inner_site);
    pprof_pop();
    pprof_pop();
    pprof_pop();
    pprof_pop();  // one too many
    pprof_push(&inner_site);
    pprof_pop();
  });
  while (now < 1) sched_yield();
  const uint64_t lost = NumLost();
  keeps = true;
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  if (with_edge) pprof_step(1);
  now = 2;
  late.join();
  now = 3;
  for (std::thread &other : others) other.join();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  const auto inner = live.recording.Named("inner");
  EXPECT_EQ(1u, live.recording.Total(PPI_TOTAL_UNMATCHED));
  ASSERT_EQ(2u, inner.size());
  EXPECT_EQ(with_edge ? 0u : 2u, inner[0].event.depth);
  EXPECT_EQ(0u, inner[1].event.depth);
  EXPECT_EQ(0u, live.recording.Named("outer").size());
  EXPECT_EQ(lost, live.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(with_edge ? 2u : 0u, live.recording.Total(PPI_TOTAL_BEGUN_BEFORE));
}

TEST(ThreadTest, PopOfAPushThatFoundNoMemoryIsMatched) {
  PopWhatFoundNoMemory(false);
}

TEST(ThreadTest, PopBehindAnEdgeOfAPushThatFoundNoMemoryBeganBefore) {
  PopWhatFoundNoMemory(true);
}

}  // namespace
}  // namespace pprof_test
