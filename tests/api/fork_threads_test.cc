// SPDX-License-Identifier: Apache-2.0
//
// Forks while other threads mark: no lock of theirs may be missing in the
// child.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "pprof/mark.h"
#include "tests/support/long_run.h"
#include "tests/support/patience.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

// The exit status, or -signal.
int WaitFor(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void ForkAndMark() {
  pid_t pid = fork();
  if (pid == 0) {
    alarm(PPROF_PATIENCE_SECONDS);
    LiveSession own;
    own.options.memory_limit_bytes = 2u << 20;
    if (own.Start() != PPROF_STATUS_OK) _exit(2);
    pprof_push_name("child", pprof_category_register("same category"));
    pprof_pop();
    if (own.Stop() != PPROF_STATUS_OK) _exit(3);
    _exit(own.recording.events.size() == 1 ? 0 : 4);
  }
  ASSERT_EQ(0, WaitFor(pid));
}

TEST(ForkThreadsTest, ForkWhileOtherThreadsMarkAndName) {
  std::atomic<bool> done{false};
  std::thread marking([&] {
    for (int i = 0; !done; i++) {
      std::string name = "name " + std::to_string(i % 5000);
      pprof_push_name(name.c_str(), PPROF_CATEGORY_USER_DEFINED);
      pprof_category_register("same category");
      pprof_pop();
    }
  });
  // What is recorded is held in memory here: not too much by one session.
  const uint64_t num = Rounds(3, 200);
  for (uint64_t session = 0; session < num && !HasFatalFailure(); session++) {
    LiveSession live;
    EXPECT_EQ(PPROF_STATUS_OK, live.Start());
    for (int i = 0; i < 10 && !HasFatalFailure(); i++) ForkAndMark();
    EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ(live.recording.events.size(),
              live.recording.Total(PPI_TOTAL_RECORDED));
  }
  done = true;
  marking.join();
}

}  // namespace
}  // namespace pprof_test
