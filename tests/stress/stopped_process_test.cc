// SPDX-License-Identifier: Apache-2.0
//
// A process that is stopped and goes on, at random moments of its markers and
// of its sessions' ends.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "pprof/mark.h"
#include "tests/support/long_run.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(work_site, "work", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

[[noreturn]] void RunSessions(const char *spool_dir) {
  std::atomic<bool> done{false};
  std::thread marking([&] {
    while (!done) {
      PPROF_SCOPE("scope");
      pprof_mark(&point_site);
      pprof_range_end(pprof_range_begin(&work_site));
    }
  });
  for (;;) {
    LiveSession live;
    live.options.memory_limit_bytes = 2u << 20;
    live.options.drain_interval_us = 200;
    live.options.stop_wait_ms = 1;
    live.options.spool_dir = spool_dir;
    // A thread that was stopped inside a marker may be there still.
    pprof_status status = live.Start();
    if (status == PPROF_STATUS_BUSY) continue;
    if (status != PPROF_STATUS_OK) _exit(2);
    if (live.Stop() != PPROF_STATUS_OK) _exit(3);
    if (live.recording.events.size() !=
        live.recording.Total(PPI_TOTAL_RECORDED))
      _exit(4);
    if (live.recording.Total(PPI_TOTAL_INVALID) != 0) _exit(5);
  }
}

TEST(StoppedProcessTest, GoesOnWhileSessionsEnd) {
  // What the child leaves when it is killed goes with this folder.
  std::string spool_dir = testing::TempDir() + "/stopped.XXXXXX";
  ASSERT_NE(nullptr, mkdtemp(&spool_dir[0]));
  const pid_t child = fork();
  if (child == 0) RunSessions(spool_dir.c_str());
  std::mt19937 random(1);
  const uint64_t num = Rounds(200, 5000);
  for (uint64_t i = 0; i < num; i++) {
    // Some way into whatever it does.
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::microseconds(random() % 1000);
    while (std::chrono::steady_clock::now() < until) {
    }
    kill(child, SIGSTOP);
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, WUNTRACED));
    ASSERT_TRUE(WIFSTOPPED(status)) << "it ended: " << WEXITSTATUS(status);
    kill(child, SIGCONT);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::filesystem::remove_all(spool_dir);
}

}  // namespace
}  // namespace pprof_test
