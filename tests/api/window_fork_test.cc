// SPDX-License-Identifier: Apache-2.0
//
// Children of a process whose windows are being told.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <vector>

#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "session/collect/window_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"
#include "window/window_sinks.h"
#include "window_listener.h"

namespace pprof_test {
namespace {

PPROF_SITE(range_site, "range", PPROF_CATEGORY_USER_DEFINED);

// The exit status, or -signal.
int WaitForChild(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool ListenTo(LiveSession *live, Listener *listener) {
  return live->Create() &&
         pprof_session_on_window(live->session(), Listener::Tell, listener) ==
             PPROF_STATUS_OK;
}

class WindowForkTest : public ::testing::Test {
 protected:
  // A window for each step.
  void SetUp() override {
    ASSERT_TRUE(ListenTo(&live, &listener));
    ppi_capture capture = Cycle(0, 0, 0, 1, 0);
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_session_set_capture(live.session(), &capture));
  }

  Listener listener;
  LiveSession live;
};

// A session of the child's own, with windows of its own.
int RunChild(LiveSession *parents) {
  parents->Destroy();  // does not wait for the parent's calls
  LiveSession own;
  Listener mine;
  if (!ListenTo(&own, &mine)) return 2;
  if (own.Start() != PPROF_STATUS_OK) return 3;
  pprof_push(&range_site);
  pprof_pop();
  if (own.Stop() != PPROF_STATUS_OK) return 4;
  if (mine.windows != std::vector<uint32_t>{0}) return 5;
  return Contains(mine.json[0], RangeRow(1)) ? 0 : 6;
}

TEST_F(WindowForkTest, AChildHasItsOwnWindows) {
  Gate gate(&listener);
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_step(1);
  gate.entered.get_future().wait();
  pid_t pid = fork();
  if (pid == 0) _exit(RunChild(&live));
  EXPECT_EQ(0, WaitForChild(pid));
  EXPECT_EQ(0u, listener.NumTold());
  gate.go_on.set_value();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ((std::vector<uint32_t>{0, 1}), listener.windows);
}

pid_t parent;

pprof_sink *NoSink(void *, uint32_t) {
  return nullptr;
}

void ExitUnlessParent(void *, uint32_t, pprof_sink *, pprof_status) {
  if (getpid() != parent) _exit(3);
}

// The child of a call returns from it and has nobody to tell.
TEST_F(WindowForkTest, AChildOfACallTellsNobody) {
  int status = -1;
  listener.on_tell = [&](uint32_t window) {
    if (window != 0) return;
    pid_t child = fork();
    if (child) status = WaitForChild(child);
  };
  parent = getpid();
  Listener second;
  second.on_tell = [](uint32_t) {
    if (getpid() != parent) _exit(4);
  };
  ASSERT_TRUE(ListenTo(&live, &second));
  ppi_window_maker last = {NoSink, ExitUnlessParent, nullptr, nullptr, nullptr};
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_session_add_window_maker(live.session(), &last));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_step(1);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(0, status);
  EXPECT_EQ((std::vector<uint32_t>{0, 1}), second.windows);
}

}  // namespace
}  // namespace pprof_test
