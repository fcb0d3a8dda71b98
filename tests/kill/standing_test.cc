// SPDX-License-Identifier: Apache-2.0
//
// A thread that is stopped at each instruction of its markers in turn, as by a
// debugger, while another ends the session and starts the next one. The stop
// waits no longer than its limit, both sessions account for every marker, and
// once the thread goes on it harms neither.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/session.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

#include "event/event.h"
#include "tests/support/long_run.h"
#include "tests/support/patience.h"
#include "tests/support/traps.h"

namespace {

using pprof_test::IsAtTrap;
using pprof_test::Trap;

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

enum Order { kStart, kStop, kQuit };

// Parent, worker and the session's owner share this.
struct Shared {
  sem_t order_given, order_done, work_given;
  Order order;
  pid_t worker;
  pprof_status status;
  uint64_t num_events, recorded, lost, invalid;
  // The worker's: markers that begin something.
  uint64_t begun, done;
};

Shared *shared;

template <typename Marker>
void Begin(Marker marker) {
  shared->begun++;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  marker();
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  shared->done++;
}

// All in one function that starts and ends in a trap.
void WorkOnce() {
  static const char *const names[] = {"even", "odd"};
  pprof_range range = {0};
  Trap();
  Begin([] { pprof_push(&outer_site); });
  pprof_flow(7);
  Begin([] { pprof_push_name(names[shared->begun % 2], 0); });
  Begin([&] { range = pprof_range_begin(&point_site); });
  Begin([] { pprof_mark(&point_site); });
  pprof_range_end(range);
  pprof_pop();
  Begin([] { pprof_count(&point_site, 1.5); });
  pprof_thread_name(names[shared->begun % 2]);
  pprof_pop();
  Trap();
}

void Work() {
  shared->worker = gettid();
  sem_post(&shared->order_done);
  for (;;) {
    while (sem_wait(&shared->work_given) != 0) {
    }
    if (shared->order == kQuit) return;
    WorkOnce();
  }
}

pprof_status CountEvents(pprof_sink *, const pprof_batch *batch) {
  shared->num_events += batch->num_events;
  return PPROF_STATUS_OK;
}

// Kept for as long as its marker may be in there.
pprof_session *StartSession(pprof_status *status) {
  static pprof_sink sink = {};
  sink.size = sizeof sink;
  sink.events = CountEvents;
  pprof_options options = {};
  options.size = sizeof options;
  options.memory_limit_bytes = 2u << 20;
  options.drain_interval_us = 200;
  options.stop_wait_ms = 1;
  pprof_session *session = nullptr;
  if (pprof_session_create(&options, &session, nullptr) != PPROF_STATUS_OK ||
      pprof_session_add_sink(session, &sink) != PPROF_STATUS_OK)
    _exit(3);
  shared->num_events = 0;
  *status = pprof_session_start(session);
  if (*status == PPROF_STATUS_OK) return session;
  pprof_session_destroy(session);
  return nullptr;
}

void StopSession(pprof_session *session) {
  pprof_stats stats = {};
  stats.size = sizeof stats;
  shared->status = pprof_session_stop(session, nullptr);
  pprof_session_stats(session, &stats);
  shared->recorded = stats.recorded;
  shared->lost = stats.lost;
  shared->invalid = stats.invalid;
  pprof_session_destroy(session);
}

[[noreturn]] void Child() {
  std::thread worker(Work);
  pprof_session *session = nullptr;
  for (;;) {
    while (sem_wait(&shared->order_given) != 0) {
    }
    if (shared->order == kQuit) break;
    if (shared->order == kStart) session = StartSession(&shared->status);
    if (shared->order == kStop) StopSession(session);
    sem_post(&shared->order_done);
  }
  sem_post(&shared->work_given);
  worker.join();
  _exit(0);
}

class StandingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(MAP_FAILED, memory);
    shared = static_cast<Shared *>(memory);
    sem_init(&shared->order_given, 1, 0);
    sem_init(&shared->order_done, 1, 0);
    sem_init(&shared->work_given, 1, 0);
    child_ = fork();
    if (child_ == 0) Child();
    ASSERT_TRUE(Done());
    ASSERT_EQ(0,
              ptrace(PTRACE_SEIZE, shared->worker, nullptr, PTRACE_O_EXITKILL));
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    // The traced thread's end comes before its process's.
    while (waitpid(-1, nullptr, __WALL) > 0) {
    }
    munmap(shared, sizeof *shared);
  }

  // A stop that never comes back is a failure, not a test that hangs.
  bool Done() {
    timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += PPROF_PATIENCE_SECONDS;
    return sem_timedwait(&shared->order_done, &deadline) == 0;
  }
  bool Do(Order order) {
    shared->order = order;
    sem_post(&shared->order_given);
    return Done();
  }

  bool AwaitTrap() {
    int status = 0;
    return waitpid(shared->worker, &status, __WALL) == shared->worker &&
           WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
  }
  // The worker stands `num` instructions behind its first trap; false: that is
  // behind its last one.
  bool Stand(uint64_t num) {
    sem_post(&shared->work_given);
    if (!AwaitTrap()) return false;
    for (uint64_t i = 0; i < num && !at_end_; i++) {
      ptrace(PTRACE_SINGLESTEP, shared->worker, nullptr, nullptr);
      if (!AwaitTrap()) return false;
      at_end_ = IsAtTrap(shared->worker);
    }
    return !at_end_;
  }
  // To its last trap, and on.
  bool Finish() {
    if (!at_end_) {
      ptrace(PTRACE_CONT, shared->worker, nullptr, nullptr);
      if (!AwaitTrap()) return false;
    }
    at_end_ = false;
    ptrace(PTRACE_CONT, shared->worker, nullptr, nullptr);
    return true;
  }
  bool WorkThrough() {
    sem_post(&shared->work_given);
    if (!AwaitTrap()) return false;
    ptrace(PTRACE_CONT, shared->worker, nullptr, nullptr);
    if (!AwaitTrap()) return false;
    ptrace(PTRACE_CONT, shared->worker, nullptr, nullptr);
    return true;
  }

  // Of the session that was stopped; the marker that the worker stands in may
  // be of it or not.
  static void ExpectAccounted(const Shared &session, uint64_t least,
                              uint64_t most, const char *which) {
    EXPECT_EQ(PPROF_STATUS_OK, session.status) << which;
    EXPECT_EQ(session.recorded, session.num_events) << which;
    EXPECT_LE(least, session.recorded + session.lost) << which;
    EXPECT_GE(most, session.recorded + session.lost) << which;
    EXPECT_EQ(0u, session.invalid) << which;
  }

  bool Round(uint64_t at, bool is_known);
  void Report() {
    RecordProperty("points", static_cast<int>(num_points_));
    RecordProperty("busy", static_cast<int>(num_busy_));
    printf("%lu points, %lu of them inside a marker\n", num_points_, num_busy_);
  }

  pid_t child_ = 0;
  bool at_end_ = false;
  uint64_t num_points_ = 0, num_busy_ = 0;
};

constexpr uint64_t kBegins = 5, kOpen = 3;

// One session that ends, and one that begins, while the worker stands `at`
// instructions into its markers; false: it came to their end.
bool StandingTest::Round(uint64_t at, bool is_known) {
  EXPECT_TRUE(Do(kStart));
  EXPECT_EQ(PPROF_STATUS_OK, shared->status);
  shared->begun = shared->done = 0;
  // Its lane, its names and the sites are known from then on.
  const bool is_ready = !is_known || WorkThrough();
  EXPECT_TRUE(is_ready);
  const bool goes_on = Stand(at);
  const uint64_t begun = shared->begun, done = shared->done;
  EXPECT_TRUE(Do(kStop)) << "the stop hangs";
  if (HasFailure()) return false;
  const Shared stopped = *shared;
  EXPECT_TRUE(Do(kStart)) << "the next start hangs";
  const bool was_busy = shared->status == PPROF_STATUS_BUSY;
  // The session cannot know the open ranges of a thread that stands in a
  // marker, nor a range that the marker is just ending.
  ExpectAccounted(stopped, was_busy ? done - std::min(done, kOpen) : done,
                  begun, "the first session");
  EXPECT_TRUE(Finish());
  while (shared->status == PPROF_STATUS_BUSY && !HasFailure())
    EXPECT_TRUE(Do(kStart));
  EXPECT_EQ(PPROF_STATUS_OK, shared->status);
  if (HasFailure()) return false;
  EXPECT_TRUE(WorkThrough());
  EXPECT_TRUE(Do(kStop));
  // Markers that it had yet to begin belong to the next session, if that one
  // ran by then.
  const uint64_t all = shared->begun - kBegins;
  ExpectAccounted(*shared, kBegins + (was_busy ? 0 : all - begun),
                  kBegins + all - done, "the second session");
  num_points_++;
  num_busy_ += was_busy;
  return goes_on;
}

TEST_F(StandingTest, StopAndStartWhileAThreadStandsInAMarker) {
  const pprof_test::Sample sample(211, 5);
  bool goes_on = true;
  for (uint64_t at = sample.first; goes_on && !HasFailure();
       at += sample.stride) {
    SCOPED_TRACE("standing at instruction " + std::to_string(at));
    goes_on = Round(at, true);
  }
  EXPECT_GT(num_busy_, 4u);
  Report();
}

TEST_F(StandingTest, StopAndStartWhileAThreadStandsInItsFirstMarkers) {
  const pprof_test::Sample sample(797, 41);
  bool goes_on = true;
  for (uint64_t at = sample.first; goes_on && !HasFailure();
       at += sample.stride) {
    SCOPED_TRACE("standing at instruction " + std::to_string(at));
    goes_on = Round(at, false);
  }
  EXPECT_GT(num_busy_, 2u);
  Report();
}

}  // namespace
