// SPDX-License-Identifier: Apache-2.0
//
// Children: by fork, by raw clone, with exec. None touches its parent's
// session.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "mark/thread.h"
#include "pprof/mark.h"
#include "tests/support/patience.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(parent_site, "parent", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(child_site, "child", PPROF_CATEGORY_USER_DEFINED);

void MarkAll() {
  pprof_push(&child_site);
  pprof_push_name("dynamic", PPROF_CATEGORY_USER_DEFINED);
  pprof_mark(&child_site);
  pprof_count(&child_site, 1);
  pprof_flow(1);
  pprof_range_end(pprof_range_begin(&child_site));
  pprof_step(1);
  pprof_thread_name("child");
  pprof_pop();
  pprof_pop();
  pprof_pop();
}

// The exit status, or -signal.
int WaitFor(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    pprof_push(&parent_site);
  }
  // The parent records on, and only what it marked itself.
  void ExpectUnharmed(size_t num_events = 2) {
    pprof_mark(&parent_site);
    pprof_pop();
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ(num_events, live.recording.Named("parent").size());
    EXPECT_EQ(num_events, live.recording.events.size());
    EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
    EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED));
  }

  LiveSession live;
};

TEST_F(ForkTest, ChildRecordsNothing) {
  pid_t pid = fork();
  if (pid == 0) {
    MarkAll();
    if (pprof_session_current()) _exit(2);
    if (pprof_epoch_ != 0) _exit(3);
    _exit(0);
  }
  EXPECT_EQ(0, WaitFor(pid));
  ExpectUnharmed();
}

TEST_F(ForkTest, ChildRunsASessionOfItsOwn) {
  pid_t pid = fork();
  if (pid == 0) {
    LiveSession own;
    if (own.Start() != PPROF_STATUS_OK) _exit(2);
    pprof_push(&child_site);
    pprof_pop();
    if (own.Stop() != PPROF_STATUS_OK) _exit(3);
    if (own.recording.Named("child").size() != 1) _exit(4);
    if (own.recording.events.size() != 1) _exit(5);
    if (own.recording.Total(PPI_TOTAL_UNMATCHED) != 0) _exit(6);
    if (own.recording.info["pid"] != std::to_string(getpid())) _exit(7);
    own.Destroy();
    _exit(0);
  }
  EXPECT_EQ(0, WaitFor(pid));
  ExpectUnharmed();
}

TEST_F(ForkTest, ChildMayStopAndDestroyTheParentsSession) {
  pid_t pid = fork();
  if (pid == 0) {
    alarm(PPROF_PATIENCE_SECONDS);  // ends it, should it hang
    if (live.Stop() != PPROF_STATUS_OK) _exit(2);
    live.Destroy();
    _exit(0);
  }
  EXPECT_EQ(0, WaitFor(pid));
  ExpectUnharmed();
}

TEST_F(ForkTest, GrandchildRunsASessionToo) {
  pid_t pid = fork();
  if (pid == 0) {
    LiveSession own;
    if (own.Start() != PPROF_STATUS_OK) _exit(2);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      LiveSession next;
      if (next.Start() != PPROF_STATUS_OK) _exit(2);
      pprof_mark(&child_site);
      if (next.Stop() != PPROF_STATUS_OK) _exit(3);
      _exit(next.recording.events.size() == 1 ? 0 : 4);
    }
    if (WaitFor(grandchild) != 0) _exit(5);
    pprof_mark(&child_site);
    if (own.Stop() != PPROF_STATUS_OK) _exit(6);
    _exit(own.recording.events.size() == 1 ? 0 : 7);
  }
  EXPECT_EQ(0, WaitFor(pid));
  ExpectUnharmed();
}

TEST_F(ForkTest, ChildOfRawCloneMarksHarmlessly) {
  pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (pid == 0) {
    MarkAll();
    _exit(0);
  }
  EXPECT_EQ(0, WaitFor(pid));
  ExpectUnharmed();
}

// It has its parent's memory and stands in its parent's place meanwhile: what
// it marks is its parent's.
TEST_F(ForkTest, ChildOfVforkMarksAsItsParent) {
  pid_t pid = vfork();
  if (pid == 0) {
    pprof_push(&child_site);
    pprof_mark(&child_site);
    pprof_pop();
    _exit(0);
  }
  EXPECT_EQ(0, WaitFor(pid));
  // As posix_spawn does it.
  std::vector<char> stack(256 << 10);
  pid = clone(
      [](void *) {
        pprof_range_end(pprof_range_begin(&child_site));
        _exit(0);
        return 0;
      },
      stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr);
  EXPECT_EQ(0, WaitFor(pid));
  pprof_mark(&parent_site);
  pprof_pop();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(3u, live.recording.Named("child").size());
  EXPECT_EQ(2u, live.recording.Named("parent").size());
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(ForkTest, ThreadLeavesInAChildOfRawClone) {
  pid_t pid = -1;
  std::thread cloned([&] {
    pprof_mark(&parent_site);
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0);
    // The child is this thread alone: it returns and runs its destructors.
    if (pid == 0) MarkAll();
  });
  cloned.join();
  EXPECT_EQ(0, WaitFor(pid));
  ExpectUnharmed(3);
}

TEST_F(ForkTest, ExecAndExitInTheChild) {
  pid_t pid = fork();
  if (pid == 0) {
    execl("/bin/true", "true", (char *)nullptr);
    _exit(2);
  }
  EXPECT_EQ(0, WaitFor(pid));
  pid = vfork();
  if (pid == 0) {
    execl("/bin/true", "true", (char *)nullptr);
    _exit(2);
  }
  EXPECT_EQ(0, WaitFor(pid));
  ExpectUnharmed();
}

TEST_F(ForkTest, ChildDoesNotHoldTheSpoolsFile) {
  std::string path = live.recording.info["spool"];
  ASSERT_FALSE(path.empty()) << "this machine has no spool file";
  pid_t pid = fork();
  if (pid == 0) {
    // Its memory would stay taken as long as the child lives.
    std::string target(600, 0);
    for (int fd = 3; fd < 64; fd++) {
      std::string link = "/proc/self/fd/" + std::to_string(fd);
      ssize_t len = readlink(link.c_str(), &target[0], target.size());
      if (len > 0 && target.compare(0, path.size(), path) == 0) _exit(2);
    }
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line))
      if (line.find(path) != std::string::npos) _exit(3);
    _exit(access(path.c_str(), F_OK) == 0 ? 0 : 4);
  }
  EXPECT_EQ(0, WaitFor(pid));
  ExpectUnharmed();
}

}  // namespace
}  // namespace pprof_test
