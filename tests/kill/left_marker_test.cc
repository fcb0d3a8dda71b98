// SPDX-License-Identifier: Apache-2.0
//
// A signal handler leaves by siglongjmp, from each instruction of the markers
// in turn. The thread's next marker is recorded, no marker is without a trace,
// and the session stops and the next one starts.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/session.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "event/event.h"
#include "tests/support/long_run.h"
#include "tests/support/traps.h"

namespace {

using pprof_test::IsAtTrap;
using pprof_test::Trap;

PPROF_SITE(round_site, "round", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(after_site, "after", PPROF_CATEGORY_USER_DEFINED);

// The child's report. `begun` counts ranges, marks and counters before their
// marker, `done` after it.
struct Shared {
  uint64_t begun, done, jumps, rounds;
  uint64_t recorded, lost, num_events, invalid;
  pprof_status start, stop, next_start;
};
Shared *shared;

sigjmp_buf before;

void Leave(int) {
  shared->jumps++;
  siglongjmp(before, 1);
}

template <typename Marker>
void Begin(Marker marker) {
  shared->begun++;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  marker();
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  shared->done++;
}

__attribute__((noinline)) void Mark() {
  static const char *const names[] = {"even", "odd"};
  pprof_range range = {0};
  Trap();
  Begin([] { pprof_push(&outer_site); });
  pprof_flow(7);
  Begin([] { pprof_push_name(names[shared->rounds % 2], 0); });
  Begin([&] { range = pprof_range_begin(&point_site); });
  Begin([] { pprof_mark(&point_site); });
  pprof_range_end(range);
  pprof_pop();
  Begin([] { pprof_count(&point_site, 1.5); });
  {
    shared->begun++;
    PPROF_SCOPE("scope");
    shared->done++;
  }
  pprof_thread_name(names[shared->rounds % 2]);
  pprof_pop();
  pprof_step(1);
  Trap();
}

// False: there is no instruction left to leave from.
__attribute__((noinline)) bool Round() {
  shared->rounds++;
  if (sigsetjmp(before, 1) == 0) {
    Mark();
    return false;
  }
  Begin([] { pprof_mark(&after_site); });
  return true;
}

pprof_status OnEvents(pprof_sink *, const pprof_batch *batch) {
  shared->num_events += batch->num_events;
  return PPROF_STATUS_OK;
}

pprof_session *Start(pprof_status *status) {
  static pprof_sink sink = {};
  sink.size = sizeof sink;
  sink.events = OnEvents;
  pprof_options options = {};
  options.size = sizeof options;
  // A range that is left stays open for good: there is a place for each.
  options.memory_limit_bytes = pprof_test::IsLongRun() ? 64u << 20 : 8u << 20;
  options.stop_wait_ms = 20;
  pprof_session *session = nullptr;
  if (pprof_session_create(&options, &session, nullptr) != PPROF_STATUS_OK ||
      pprof_session_add_sink(session, &sink) != PPROF_STATUS_OK)
    _exit(3);
  *status = pprof_session_start(session);
  return session;
}

[[noreturn]] void Child(bool is_known, bool again) {
  struct sigaction action = {};
  action.sa_handler = Leave;
  sigaction(SIGUSR1, &action, nullptr);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  pprof_session *session = Start(&shared->start);
  if (is_known) Begin([] { pprof_mark(&after_site); });
  raise(SIGSTOP);
  bool goes_on = true;
  while (goes_on) {
    // A range of its own, so that ranges left open by a jump end with it.
    pprof_scope_token token = {};
    if (is_known) {
      shared->begun++, shared->done++;
      token = pprof_scope_enter_(&round_site);
    }
    goes_on = Round() && again;
    if (is_known) pprof_scope_exit_(&token);
  }
  shared->stop = pprof_session_stop(session, nullptr);
  pprof_stats stats = {};
  stats.size = sizeof stats;
  pprof_session_stats(session, &stats);
  shared->recorded = stats.recorded;
  shared->lost = stats.lost;
  shared->invalid = stats.invalid;
  session = Start(&shared->next_start);
  if (shared->next_start == PPROF_STATUS_OK)
    (void)pprof_session_stop(session, nullptr);
  _exit(0);
}

class LeftMarkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(MAP_FAILED, memory);
    shared = static_cast<Shared *>(memory);
  }
  void TearDown() override {
    if (child_ > 0) kill(child_, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    munmap(shared, sizeof *shared);
  }
  void Fork(bool is_known, bool again) {
    memset(shared, 0, sizeof *shared);
    child_ = fork();
    if (child_ == 0) Child(is_known, again);
    ASSERT_EQ(SIGSTOP, Wait());
    ptrace(PTRACE_SETOPTIONS, child_, nullptr, PTRACE_O_EXITKILL);
  }
  // The signal that it stops at, 0: it has ended.
  int Wait() {
    int status = 0;
    if (waitpid(child_, &status, 0) != child_) return 0;
    return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
  }
  int Continue(int signal) {
    ptrace(PTRACE_CONT, child_, nullptr, signal);
    return Wait();
  }
  // A blocked signal stops the child once more when it is unblocked.
  int Leave() {
    int signal = Continue(SIGUSR1);
    while (signal == SIGUSR1) signal = Continue(SIGUSR1);
    return signal;
  }
  // From the first trap `num` instructions on; false: that is the last one.
  bool Step(uint64_t num) {
    for (uint64_t i = 0; i < num; i++) {
      ptrace(PTRACE_SINGLESTEP, child_, nullptr, nullptr);
      if (Wait() != SIGTRAP || IsAtTrap(child_)) return false;
    }
    return true;
  }
  void End() {
    int signal = Continue(0);
    while (signal != 0) signal = Continue(signal == SIGTRAP ? 0 : signal);
    child_ = 0;
  }
  static void ExpectAccounted(uint64_t most_steps) {
    EXPECT_EQ(PPROF_STATUS_OK, shared->start);
    EXPECT_EQ(PPROF_STATUS_OK, shared->stop);
    EXPECT_EQ(PPROF_STATUS_OK, shared->next_start) << "the next start";
    EXPECT_EQ(shared->recorded, shared->num_events);
    EXPECT_EQ(0u, shared->invalid);
    // A marker that was left is counted, and may have been one that ends
    // something. Steps begin themselves.
    const uint64_t found = shared->recorded + shared->lost;
    EXPECT_LE(shared->done, found);
    EXPECT_GE(shared->begun + shared->jumps + most_steps, found);
  }

  pid_t child_ = 0;
};

TEST_F(LeftMarkerTest, AtEveryInstruction) {
  const pprof_test::Sample sample(199, 5);
  Fork(true, true);
  ASSERT_EQ(SIGTRAP, Continue(0));
  // Once without a jump's way being looked at, for names and slots.
  ASSERT_EQ(SIGTRAP, Leave());
  uint64_t at = sample.first;
  while (Step(at)) {
    ASSERT_EQ(SIGTRAP, Leave()) << "behind " << at;
    at += sample.stride;
  }
  End();
  EXPECT_GT(shared->jumps, 10u);
  RecordProperty("jumps", static_cast<int>(shared->jumps));
  printf("%lu jumps, %lu begun, %lu recorded, %lu lost\n", shared->jumps,
         shared->begun, shared->recorded, shared->lost);
  // Markers of a thread that stopped recording would count as lost.
  EXPECT_LE(shared->lost, shared->jumps);
  ExpectAccounted(shared->rounds + 2);
}

TEST_F(LeftMarkerTest, AtTheFirstMarkers) {
  const pprof_test::Sample sample(1597, 41);
  uint64_t jumps = 0;
  bool goes_on = true;
  for (uint64_t at = sample.first; goes_on && !HasFailure();
       at += sample.stride) {
    SCOPED_TRACE("behind " + std::to_string(at));
    Fork(false, false);
    ASSERT_EQ(SIGTRAP, Continue(0));
    goes_on = Step(at);
    if (goes_on)
      EXPECT_EQ(0, Leave());
    else
      End();
    jumps += shared->jumps;
    EXPECT_LE(shared->lost, shared->jumps);
    ExpectAccounted(2);
  }
  EXPECT_GT(jumps, 2u);
  RecordProperty("jumps", static_cast<int>(jumps));
  printf("%lu jumps\n", jumps);
}

}  // namespace
