// SPDX-License-Identifier: Apache-2.0
//
// When the progress line is shown, what it says, and that it goes away; and how
// often a command that runs is looked at.
#include "cli/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "launch/child.h"
#include "launch/unmarked.h"

namespace {

constexpr uint64_t kMs = 1000000;
const char kClear[] = "\r\033[K";

uint64_t now_ns;

uint64_t FakeClock() {
  return now_ns;
}

class ProgressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    now_ns = 5000 * kMs;
    progress_.out = open_memstream(&text_, &len_);
    progress_.now_ns = FakeClock;
    progress_.width = 80;
    ASSERT_NE(progress_.out, nullptr);
  }
  void TearDown() override {
    fclose(progress_.out);
    free(text_);
  }
  // What was written since the last call.
  std::string Written() {
    fflush(progress_.out);
    std::string all(text_, len_), since = all.substr(seen_);
    seen_ = all.size();
    return since;
  }
  std::string LineOf(uint64_t num_events) {
    now_ns += 1000 * kMs;
    progress_.num_events = 0;
    ppi_tool_progress_events(&progress_, num_events);
    std::string line = Written();
    return line.substr(line.find(' ') + 1);
  }
  ppi_tool_progress progress_ = {};

 private:
  char *text_ = nullptr;
  size_t len_ = 0, seen_ = 0;
};

TEST_F(ProgressTest, NothingInTheFirstSecond) {
  ppi_tool_progress_begin(&progress_, "runs/a.pplog");
  ppi_tool_progress_events(&progress_, 1000);
  now_ns += 999 * kMs;
  ppi_tool_progress_events(&progress_, 1000);
  ppi_tool_progress_clear(&progress_);
  EXPECT_EQ(Written(), "");
  now_ns += kMs;
  ppi_tool_progress_events(&progress_, 500);
  EXPECT_EQ(Written(), std::string(kClear) + "a.pplog: 2.5 k events");
}

TEST_F(ProgressTest, TenTimesASecondAtMost) {
  ppi_tool_progress_begin(&progress_, "a.pplog");
  int num_lines = 0;
  for (int ms = 0; ms < 3000; ms++, now_ns += kMs) {
    ppi_tool_progress_events(&progress_, 1);
    if (!Written().empty()) num_lines++;
  }
  EXPECT_EQ(num_lines, 20);
}

TEST_F(ProgressTest, ClearRemovesTheLineOnce) {
  ppi_tool_progress_begin(&progress_, "a.pplog");
  now_ns += 2000 * kMs;
  ppi_tool_progress_events(&progress_, 1);
  EXPECT_EQ(Written(), std::string(kClear) + "a.pplog: 1 event");
  ppi_tool_progress_clear(&progress_);
  EXPECT_EQ(Written(), kClear);
  ppi_tool_progress_clear(&progress_);
  EXPECT_EQ(Written(), "");
}

TEST_F(ProgressTest, PercentWhereTheWholeIsKnown) {
  ppi_tool_progress_begin(&progress_, "t.json");
  now_ns += 1000 * kMs;
  ppi_tool_progress_bytes(&progress_, 0, 2000);
  EXPECT_EQ(Written(), std::string(kClear) + "t.json: 0 %");
  now_ns += 100 * kMs;
  ppi_tool_progress_bytes(&progress_, 1999, 2000);
  EXPECT_EQ(Written(), std::string(kClear) + "t.json: 99 %");
  now_ns += 100 * kMs;
  ppi_tool_progress_events(&progress_, 12);
  EXPECT_EQ(Written(), std::string(kClear) + "t.json: 99 %, 12 events");
  // A file that grew while it was read.
  now_ns += 100 * kMs;
  ppi_tool_progress_bytes(&progress_, 2100, 2000);
  EXPECT_EQ(Written(), std::string(kClear) + "t.json: 100 %, 12 events");
}

TEST_F(ProgressTest, AnotherInputGoesOnAtOnce) {
  ppi_tool_progress_begin(&progress_, "a.json");
  now_ns += 1000 * kMs;
  ppi_tool_progress_bytes(&progress_, 10, 20);
  ppi_tool_progress_events(&progress_, 7);
  Written();
  ppi_tool_progress_begin(&progress_, "b.pplog");
  now_ns += 100 * kMs;
  ppi_tool_progress_events(&progress_, 3);
  EXPECT_EQ(Written(), std::string(kClear) + "b.pplog: 3 events");
}

TEST_F(ProgressTest, CountsAreShort) {
  ppi_tool_progress_begin(&progress_, "a");
  EXPECT_EQ(LineOf(999), "999 events");
  EXPECT_EQ(LineOf(1000), "1.0 k events");
  EXPECT_EQ(LineOf(999999), "999.9 k events");
  EXPECT_EQ(LineOf(1000000), "1.0 M events");
  EXPECT_EQ(LineOf(12345678), "12.3 M events");
  EXPECT_EQ(LineOf(100000000000), "100.0 G events");
  EXPECT_EQ(LineOf(UINT64_MAX), "18446744.0 T events");
}

TEST_F(ProgressTest, NamesFitAndCannotMoveTheCursor) {
  now_ns += 1000 * kMs;
  ppi_tool_progress_begin(&progress_, "x/a\033[2Jb");
  now_ns += 1000 * kMs;
  ppi_tool_progress_events(&progress_, 1);
  EXPECT_EQ(Written(), std::string(kClear) + "a\\x1B[2Jb: 1 event");
  // Of 80 columns 32 are kept free, and a character may take two.
  ppi_tool_progress_begin(&progress_, "abcdefghijklmnopqrstuvwxyz");
  now_ns += 1000 * kMs;
  ppi_tool_progress_events(&progress_, 1);
  EXPECT_EQ(Written(),
            std::string(kClear) + "abcdefghijklmnopqrstu...: 1 event");
  progress_.width = 40;
  now_ns += 1000 * kMs;
  ppi_tool_progress_events(&progress_, 1);
  EXPECT_EQ(Written(), std::string(kClear) + "2 events");
}

TEST_F(ProgressTest, WithoutATerminalNothingIsAsked) {
  ppi_tool_progress none = {};
  ppi_tool_progress_begin(&none, "a.pplog");
  ppi_tool_progress_events(&none, 1);
  ppi_tool_progress_bytes(&none, 1, 2);
  ppi_tool_progress_clear(&none);
  EXPECT_EQ(none.num_events, 0u);
}

TEST(ProgressOpenTest, OnTerminalsThatCan) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  int file = open("/dev/null", O_WRONLY);
  EXPECT_TRUE(ppi_tool_progress_can_show(terminal, "xterm-256color"));
  EXPECT_FALSE(ppi_tool_progress_can_show(terminal, "dumb"));
  EXPECT_FALSE(ppi_tool_progress_can_show(terminal, ""));
  EXPECT_FALSE(ppi_tool_progress_can_show(terminal, nullptr));
  EXPECT_FALSE(ppi_tool_progress_can_show(file, "xterm-256color"));
  close(file);
  close(terminal);
}

// The command ends once somebody has written to its pipe.
struct Looks {
  std::string pipe;
  size_t until;  // as many answer true
  std::vector<bool> last;
};

bool Look(void *user, pid_t, bool is_last) {
  Looks *looks = static_cast<Looks *>(user);
  looks->last.push_back(is_last);
  bool goes_on = looks->last.size() < looks->until;
  if (!goes_on || is_last) close(open(looks->pipe.c_str(), O_WRONLY));
  return goes_on;
}

TEST(LookTest, ACommandIsLookedAtUntilThatIsEnough) {
  const uint64_t after_ns[] = {kMs, 2 * kMs, 3 * kMs, 0};
  char folder[] = "/tmp/look.XXXXXX";
  ASSERT_NE(nullptr, mkdtemp(folder));
  const std::string pipe = std::string(folder) + "/pipe";
  ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
  const struct {
    size_t until;
    std::vector<bool> last;
  } cases[] = {{1, {false}}, {2, {false, false}}, {9, {false, false, true}}};
  for (const auto &one : cases) {
    Looks looks = {pipe, one.until, {}};
    const ppi_tool_look look = {after_ns, Look, &looks};
    const char *argv[] = {"cat", pipe.c_str(), nullptr};
    bool started = false;
    EXPECT_EQ(0, ppi_tool_child_run(const_cast<char *const *>(argv), false,
                                    &look, &started));
    EXPECT_TRUE(started);
    EXPECT_EQ(one.last, looks.last);
  }
  ppi_tool_child_release_signals();
  unlink(pipe.c_str());
  rmdir(folder);
}

// A process without a port starts up: only the last look says that it marks
// nothing.
TEST(UnmarkedTest, ItIsSaidOnceSomethingServesAndAtLast) {
  const struct {
    bool serves, must, is_said;
  } cases[] = {{false, false, false}, {true, false, true}, {false, true, true}};
  const ppi_config_run run = {};
  for (const auto &one : cases) {
    int port = socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_GE(port, 0);
    if (one.serves) {
      ASSERT_EQ(0, listen(port, 1));
    }
    pid_t child = fork();
    if (child == 0) {
      for (;;) pause();
    }
    ASSERT_GT(child, 0);
    close(port);
    testing::internal::CaptureStderr();
    EXPECT_EQ(one.is_said, ppi_tool_unmarked_say(&run, child, false, one.must));
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(one.is_said,
              said.find("nothing is marked so far: ") != std::string::npos)
        << said;
    kill(child, SIGKILL);
    EXPECT_EQ(child, waitpid(child, nullptr, 0));
  }
}

}  // namespace
