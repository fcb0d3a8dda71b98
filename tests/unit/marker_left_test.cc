// SPDX-License-Identifier: Apache-2.0
//
// Which marker a jump out of a signal handler has left, and which one is still
// there below a handler: on the thread's stack, on its other one, on stacks of
// the program's own making. A marker is stood in by saying so of the thread, as
// markers do, in the frame of a function.
#include <gtest/gtest.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <functional>
#include <thread>
#include <vector>

#include "mark/thread.h"
#include "pprof/mark.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

sigjmp_buf back;
std::function<void()> in_handler;

void Handle(int) {
  in_handler();
}

// Stands in a marker while `work` runs.
__attribute__((noinline)) void Stand(const std::function<void()> &work) {
  ppi_stand(ppi_thread_self);
  work();
  ppi_leave(ppi_thread_self);
}

// Further down the stack.
__attribute__((noinline)) void Deep(int depth,
                                    const std::function<void()> &work) {
  char room[4096];
  if (depth)
    Deep(depth - 1, work);
  else
    work();
  __asm__ volatile("" : : "r"(room) : "memory");
}

void Mark() {
  pprof_mark(&point_site);
}
void Jump() {
  siglongjmp(back, 1);
}

class MarkerLeftTest : public ::testing::Test {
 protected:
  void SetUp() override {
    live_.options.stop_wait_ms = 1;
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
    Mark();
    made_ = 1;
  }
  void TearDown() override {
    sigaltstack(&none_, nullptr);
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
  }
  static void On(int signal, int flags) {
    struct sigaction action = {};
    action.sa_handler = Handle;
    action.sa_flags = flags;
    sigaction(signal, &action, nullptr);
  }
  static void UseOther(void *memory, size_t size) {
    const stack_t other = {memory, 0, size};
    ASSERT_EQ(0, sigaltstack(&other, nullptr));
  }
  void MarkHere() {
    made_++;
    Mark();
  }
  // Which of the marks were recorded.
  void Expect(size_t recorded) {
    ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
    EXPECT_EQ(recorded, live_.recording.events.size());
    lost_ = live_.recording.Total(PPI_TOTAL_LOST);
  }
  void ExpectDark(size_t recorded) {
    Expect(recorded);
    EXPECT_EQ(made_, recorded + lost_);
  }
  // One is told for the marker that was left.
  void ExpectLeft(size_t recorded) {
    Expect(recorded);
    EXPECT_EQ(made_, recorded);
    EXPECT_EQ(1u, lost_);
  }

  LiveSession live_;
  size_t made_ = 0;
  uint64_t lost_ = 0;
  const stack_t none_ = {nullptr, SS_DISABLE, 0};
};

TEST_F(MarkerLeftTest, HandlerOnTheSameStack) {
  On(SIGUSR1, 0);
  in_handler = [this] { MarkHere(); };
  Stand([] { raise(SIGUSR1); });
  MarkHere();
  ExpectDark(2);
}

TEST_F(MarkerLeftTest, JumpOnTheSameStack) {
  On(SIGUSR1, 0);
  in_handler = Jump;
  if (sigsetjmp(back, 1) == 0) Stand([] { raise(SIGUSR1); });
  MarkHere();
  ExpectLeft(2);
}

// In a handler again: the marker that it interrupted is over, too.
TEST_F(MarkerLeftTest, JumpIntoAHandler) {
  On(SIGUSR1, 0);
  On(SIGUSR2, SA_NODEFER);
  bool is_inner = false;
  in_handler = [&] {
    if (is_inner) Jump();
    is_inner = true;
    if (sigsetjmp(back, 1) == 0) Stand([] { raise(SIGUSR2); });
    MarkHere();
  };
  Deep(4, [] { raise(SIGUSR1); });
  ExpectLeft(2);
}

TEST_F(MarkerLeftTest, NestedHandlers) {
  On(SIGUSR1, 0);
  On(SIGUSR2, 0);
  bool is_inner = false;
  in_handler = [&] {
    MarkHere();
    if (!is_inner) {
      is_inner = true;
      Deep(4, [] { raise(SIGUSR2); });
      MarkHere();
    }
  };
  Stand([] { raise(SIGUSR1); });
  MarkHere();
  ExpectDark(2);
}

// Below or above the thread's own stack, as memory came.
void WithBothPlaces(const std::function<void(bool above)> &test) {
  test(true);
  test(false);
}

TEST_F(MarkerLeftTest, HandlerOnTheOtherStack) {
  static char below[65536];
  alignas(64) char above[65536];  // in a frame further up
  On(SIGUSR1, SA_ONSTACK);
  in_handler = [this] { MarkHere(); };
  WithBothPlaces([&](bool is_above) {
    UseOther(is_above ? above : below, sizeof below);
    Deep(2, [] { Stand([] { raise(SIGUSR1); }); });
    sigaltstack(&none_, nullptr);
  });
  MarkHere();
  ExpectDark(2);
}

TEST_F(MarkerLeftTest, JumpFromTheOtherStack) {
  static char below[65536];
  alignas(64) char above[65536];
  On(SIGUSR1, SA_ONSTACK);
  in_handler = Jump;
  WithBothPlaces([&](bool is_above) {
    UseOther(is_above ? above : below, sizeof below);
    if (sigsetjmp(back, 1) == 0) Deep(2, [] { Stand([] { raise(SIGUSR1); }); });
    MarkHere();
    sigaltstack(&none_, nullptr);
  });
  Expect(3);
  EXPECT_EQ(2u, lost_);
}

// The marker stood on the other stack, in the handler itself.
TEST_F(MarkerLeftTest, JumpOutOfAMarkerOnTheOtherStack) {
  static char below[65536];
  alignas(64) char above[65536];
  On(SIGUSR1, SA_ONSTACK);
  in_handler = [] { Stand(Jump); };
  WithBothPlaces([&](bool is_above) {
    UseOther(is_above ? above : below, sizeof below);
    if (sigsetjmp(back, 1) == 0) raise(SIGUSR1);
    Deep(4, [this] { MarkHere(); });
    sigaltstack(&none_, nullptr);
  });
  Expect(3);
  EXPECT_EQ(2u, lost_);
}

TEST_F(MarkerLeftTest, HandlerOfAMarkerOnTheOtherStack) {
  static char memory[65536];
  On(SIGUSR1, SA_ONSTACK);
  On(SIGUSR2, SA_ONSTACK);
  bool is_inner = false;
  in_handler = [&] {
    if (is_inner) {
      MarkHere();
    } else {
      is_inner = true;
      Stand([] { raise(SIGUSR2); });
    }
  };
  UseOther(memory, sizeof memory);
  raise(SIGUSR1);
  MarkHere();
  ExpectDark(2);
}

// Further down than where it was left nobody can tell a handler from the
// program: that is counted, until the program comes back up.
TEST_F(MarkerLeftTest, FurtherDownIsToldUntilTheThreadComesUp) {
  On(SIGUSR1, 0);
  in_handler = Jump;
  if (sigsetjmp(back, 1) == 0) Stand([] { raise(SIGUSR1); });
  Deep(8, [this] { MarkHere(); });
  MarkHere();
  Expect(2);
  EXPECT_EQ(2u, lost_);
}

ucontext_t program, coroutine;
std::function<void()> in_coroutine;

TEST_F(MarkerLeftTest, StacksOfTheProgramsOwn) {
  static char memory[262144];
  On(SIGUSR1, 0);
  bool jumps = false;
  in_handler = [&] {
    if (jumps) Jump();
    MarkHere();
  };
  in_coroutine = [&] {
    MarkHere();
    Stand([] { raise(SIGUSR1); });  // counted
    swapcontext(&coroutine, &program);
    jumps = true;
    if (sigsetjmp(back, 1) == 0) Stand([] { raise(SIGUSR1); });
    MarkHere();
  };
  getcontext(&coroutine);
  coroutine.uc_stack = {memory, 0, sizeof memory};
  coroutine.uc_link = &program;
  makecontext(
      &coroutine, [] { in_coroutine(); }, 0);
  swapcontext(&program, &coroutine);
  MarkHere();
  swapcontext(&program, &coroutine);
  MarkHere();
  Expect(5);
  EXPECT_EQ(made_ + 1, 5 + lost_);
}

// Nobody marks between the jump and the stop, then it does while nothing is
// recorded.
TEST_F(MarkerLeftTest, StopAndStartFindItThemselves) {
  On(SIGUSR1, 0);
  in_handler = Jump;
  if (sigsetjmp(back, 1) == 0) Stand([] { raise(SIGUSR1); });
  Expect(1);
  LiveSession next;
  EXPECT_EQ(PPROF_STATUS_OK, next.Start());
  Mark();
  EXPECT_EQ(PPROF_STATUS_OK, next.Stop());
  EXPECT_EQ(1u, next.recording.events.size());
}

TEST_F(MarkerLeftTest, MarkerAfterTheStopMakesTheNextStartPossible) {
  sem_t left, go;
  sem_init(&left, 0, 0);
  sem_init(&go, 0, 0);
  On(SIGUSR1, 0);
  in_handler = Jump;
  std::thread other([&] {
    Mark();
    if (sigsetjmp(back, 1) == 0) Stand([] { raise(SIGUSR1); });
    sem_post(&left);
    sem_wait(&go);
    Mark();
    sem_post(&left);
    sem_wait(&go);
  });
  sem_wait(&left);
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  {
    LiveSession next;
    next.options.stop_wait_ms = 1;
    EXPECT_EQ(PPROF_STATUS_BUSY, next.Start());
  }
  sem_post(&go);
  sem_wait(&left);
  LiveSession next;
  next.options.stop_wait_ms = 1;
  EXPECT_EQ(PPROF_STATUS_OK, next.Start());
  sem_post(&go);
  other.join();
  EXPECT_EQ(PPROF_STATUS_OK, next.Stop());
}

}  // namespace
}  // namespace pprof_test
