// SPDX-License-Identifier: Apache-2.0
//
// A thread that is stopped at each instruction of pprof_step in turn, while
// another marks and the collector drains: an edge between two windows may be
// half made for as long as anybody likes. Every marker is accounted for once.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/session.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>

#include "event/event.h"
#include "tests/support/long_run.h"
#include "tests/support/traps.h"

namespace {

using pprof_test::IsAtTrap;
using pprof_test::Trap;

PPROF_SITE(below_site, "below", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_USER_DEFINED);

// For how many markers of the other thread an instruction waits: for a cycle of
// the collector or more.
constexpr uint64_t kMarkersEach = 40000;
// Open ranges below, which the collector cuts at an edge.
constexpr int kDepth = 60;
// So far the marking thread may be ahead of the collector, which has room for
// more.
constexpr uint64_t kAhead = 30000;
// Instructions in front of the one that makes an edge known, and behind it, at
// which a later step stands.
constexpr uint64_t kBefore = 10, kBehind = 60;

struct Shared {
  sem_t is_ready, is_traced;
  uint64_t begun, num_windows;
  uint64_t is_waiting;  // the marking thread, for the collector
  bool is_over;
  pprof_status status;
  uint64_t num_events, lost, invalid;
};

Shared *shared;

bool IsOver() {
  return __atomic_load_n(&shared->is_over, __ATOMIC_ACQUIRE);
}
uint64_t Load(const uint64_t &word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

void MarkUntilOver() {
  uint64_t begun = 0;
  while (!IsOver()) {
    for (int i = 0; i < kDepth; i++) pprof_push(&below_site);
    for (int i = 0; i < 200; i++) {
      pprof_push(&inner_site);
      pprof_pop();
    }
    for (int i = 0; i < kDepth; i++) pprof_pop();
    begun += kDepth + 200;
    __atomic_store_n(&shared->begun, begun, __ATOMIC_RELEASE);
    while (begun > Load(shared->num_events) + kAhead && !IsOver()) {
      __atomic_store_n(&shared->is_waiting, 1, __ATOMIC_RELEASE);
      sched_yield();
    }
    __atomic_store_n(&shared->is_waiting, 0, __ATOMIC_RELEASE);
  }
}

// The sites of the marking thread; steps have one of their own.
std::set<uint32_t> *marked;

pprof_status KeepSite(pprof_sink *, const pprof_definition *definition) {
  const std::string name = pprof_definition_name(definition);
  if (pprof_definition_get_kind(definition) == PPROF_DEFINITION_SITE &&
      (name == below_site.name || name == inner_site.name))
    marked->insert(pprof_definition_id(definition));
  return PPROF_STATUS_OK;
}

pprof_status CountEvents(pprof_sink *, const pprof_batch *batch) {
  uint64_t num = shared->num_events;
  for (size_t i = 0; i < batch->num_events; i++)
    num += marked->count(batch->events[i].site);
  __atomic_store_n(&shared->num_events, num, __ATOMIC_RELEASE);
  return PPROF_STATUS_OK;
}

pprof_status CountWindow(pprof_sink *, uint32_t, bool is_open, uint64_t) {
  if (is_open) __atomic_fetch_add(&shared->num_windows, 1, __ATOMIC_RELEASE);
  return PPROF_STATUS_OK;
}

// Each step is a window: an edge between two of them ends the one and begins
// the other, and no marker is left out.
[[noreturn]] void Child() {
  static pprof_sink sink = {};
  marked = new std::set<uint32_t>;
  sink.size = sizeof sink;
  sink.define = KeepSite;
  sink.events = CountEvents;
  sink.window = CountWindow;
  pprof_options options = {};
  options.size = sizeof options;
  options.memory_limit_bytes = 64u << 20;
  options.drain_interval_us = 100;
  pprof_schedule every = {};
  every.size = sizeof every;
  every.active = 1;
  pprof_session *session = nullptr;
  if (pprof_session_create(&options, &session, nullptr) != PPROF_STATUS_OK ||
      pprof_session_set_schedule(session, &every) != PPROF_STATUS_OK ||
      pprof_session_add_sink(session, &sink) != PPROF_STATUS_OK ||
      pprof_session_start(session) != PPROF_STATUS_OK)
    _exit(3);
  std::thread marker(MarkUntilOver);
  sem_post(&shared->is_ready);
  while (sem_wait(&shared->is_traced) != 0) {
  }
  while (!IsOver()) {
    Trap();
    pprof_step(0);
    Trap();
  }
  marker.join();
  shared->status = pprof_session_stop(session, nullptr);
  pprof_stats stats = {};
  stats.size = sizeof stats;
  pprof_session_stats(session, &stats);
  shared->lost = stats.lost;
  shared->invalid = stats.invalid;
  pprof_session_destroy(session);
  _exit(0);
}

class StandingEdgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(MAP_FAILED, memory);
    shared = static_cast<Shared *>(memory);
    sem_init(&shared->is_ready, 1, 0);
    sem_init(&shared->is_traced, 1, 0);
    child_ = fork();
    if (child_ == 0) Child();
    while (sem_wait(&shared->is_ready) != 0) {
    }
    ASSERT_EQ(0, ptrace(PTRACE_SEIZE, child_, nullptr, PTRACE_O_EXITKILL));
    sem_post(&shared->is_traced);
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    while (waitpid(-1, nullptr, __WALL) > 0) {
    }
    munmap(shared, sizeof *shared);
  }

  bool AwaitTrap() {
    int status = 0;
    return waitpid(child_, &status, __WALL) == child_ && WIFSTOPPED(status) &&
           WSTOPSIG(status) == SIGTRAP;
  }
  bool Resume(__ptrace_request how) {
    return ptrace(how, child_, nullptr, nullptr) == 0 && AwaitTrap();
  }
  // What the other threads do while this one stands, perhaps with a lock that
  // the collector wants.
  void AwaitMarkers() {
    const uint64_t until = Load(shared->begun) + kMarkersEach;
    while (Load(shared->begun) < until && !Load(shared->is_waiting))
      sched_yield();
    num_points_++;
  }
  // Walks from the trap before a step to the trap after it, and stands at each
  // instruction from `from` to `to`. Answers the instruction at which the
  // collector had reported the new window, else the number of instructions.
  uint64_t WalkThroughStep(uint64_t from, uint64_t to) {
    uint64_t at = 0, seen = 0;
    EXPECT_TRUE(AwaitTrap());
    const uint64_t num_windows = Load(shared->num_windows);
    for (; !HasFailure(); at++) {
      EXPECT_TRUE(Resume(PTRACE_SINGLESTEP));
      if (IsAtTrap(child_)) break;
      if (at < from || at > to) continue;
      AwaitMarkers();
      if (!seen && Load(shared->num_windows) != num_windows) seen = at;
    }
    EXPECT_EQ(0, ptrace(PTRACE_CONT, child_, nullptr, nullptr));
    return seen ? seen : at;
  }
  // The instruction of a step that shows the collector its edge.
  uint64_t FindEdge() {
    uint64_t before = 0, behind = WalkThroughStep(UINT64_MAX, 0);
    while (before + 1 < behind && !HasFailure()) {
      const uint64_t at = before + (behind - before) / 2;
      (WalkThroughStep(at, at) == at ? behind : before) = at;
    }
    return behind;
  }

  pid_t child_ = 0;
  uint64_t num_points_ = 0;
};

TEST_F(StandingEdgeTest, EveryMarkerIsAccountedForOnce) {
  // The first step is longer than those after it.
  WalkThroughStep(UINT64_MAX, 0);
  const uint64_t edge = FindEdge();
  const int num_steps = pprof_test::IsLongRun() ? 1000 : 60;
  for (int i = 0; i < num_steps && !HasFailure(); i++)
    WalkThroughStep(edge - std::min(edge, kBefore), edge + kBehind);
  ASSERT_TRUE(AwaitTrap());
  __atomic_store_n(&shared->is_over, true, __ATOMIC_RELEASE);
  ASSERT_TRUE(Resume(PTRACE_CONT));
  ASSERT_EQ(0, ptrace(PTRACE_CONT, child_, nullptr, nullptr));
  int status = 0;
  ASSERT_EQ(child_, waitpid(child_, &status, __WALL));
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(PPROF_STATUS_OK, shared->status);
  EXPECT_EQ(shared->begun, shared->num_events + shared->lost);
  EXPECT_EQ(0u, shared->invalid);
  printf("%lu points, edge at %lu, %lu markers, %lu lost\n", num_points_, edge,
         shared->begun, shared->lost);
}

}  // namespace
