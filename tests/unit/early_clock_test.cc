// SPDX-License-Identifier: Apache-2.0
//
// A processor may read its clock a little before it has what another thread
// wrote. What two threads begin and end has no negative length for that, and
// steps follow each other without a gap. And a program may have a clock_gettime
// of its own, which stands still.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "base/clock.h"
#include "recording_sink.h"
#include "tests/support/log_fixture.h"
#include "tests/support/patience.h"

namespace pprof_test {

std::atomic<int64_t> frozen_s{-1};  // -1: the kernel's clock

namespace {

pprof_site site = {"work", 0, 0, 0, {0, 0}};

// First: the process must not have looked at the clock yet.
TEST(FrozenClockTest, StartAndStopReturn) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (int64_t at : {now.tv_sec, time_t{1}, now.tv_sec + 1000000}) {
    pplog::Folder folder;
    const std::string log = folder / "x.pplog";
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(PPROF_PATIENCE_SECONDS);
      frozen_s = at;
      setenv("PPROF_OUTPUT", log.c_str(), 1);
      pprof_error error = {""};
      if (pprof_start(nullptr, &error)) _exit(1);
      for (int i = 0; i < 1000; i++) pprof_mark(&site);
      if (pprof_stop(&error)) fprintf(stderr, "%s\n", error.text);
      _exit(error.text[0] ? 2 : 0);
    }
    int status = 0;
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    EXPECT_EQ(0, status) << at;
    Recording read;
    pprof_sink *sink = RecordingSink::Make(&read);
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(log.c_str(), sink, nullptr));
    sink->destroy(sink);
    EXPECT_EQ(1000u, read.Named("work").size());
    EXPECT_EQ("monotonic", read.info["clock"]);
    EXPECT_EQ("clock_gettime stood still at the start: times are what it says",
              read.notes["clock"]);
  }
}

std::atomic<uint64_t> now_ns{0};
uint64_t Now() {
  return now_ns;
}

class EarlyClockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    now_ns = 1000;
    ppi_clock_inject(Now, 1000000000);
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  void TearDown() override {
    live_.Destroy();
    ppi_clock_inject(nullptr, 0);
  }
  void Stop() {
    now_ns = 9000;
    ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  }

  LiveSession live_;
};

TEST_F(EarlyClockTest, RangeHasNoLength) {
  now_ns = 3000;
  const pprof_range range = pprof_range_begin(&site);
  now_ns = 2700;
  pprof_range_end(range);
  Stop();
  ASSERT_EQ(1u, live_.recording.Named("work").size());
  const pprof_event event = live_.recording.Named("work")[0].event;
  EXPECT_EQ(2000u, event.start_ns);
  EXPECT_EQ(2000u, event.end_ns);
}

TEST_F(EarlyClockTest, StepsFollowEachOther) {
  for (uint64_t at : {3000u, 2700u, 2800u, 5000u}) {
    now_ns = at;
    pprof_step(0);
  }
  Stop();
  const auto steps = live_.recording.Named("ProfileStep");
  ASSERT_EQ(5u, steps.size());
  const uint64_t borders[] = {0, 2000, 2000, 2000, 4000, 8000};
  for (size_t i = 0; i < steps.size(); i++) {
    EXPECT_EQ(borders[i], steps[i].event.start_ns) << i;
    EXPECT_EQ(borders[i + 1], steps[i].event.end_ns) << i;
  }
}

}  // namespace
}  // namespace pprof_test

extern "C" int clock_gettime(clockid_t id, timespec *out) {
  const int64_t frozen_s = pprof_test::frozen_s;
  if (frozen_s < 0)
    return static_cast<int>(syscall(SYS_clock_gettime, id, out));
  *out = {static_cast<time_t>(frozen_s), 0};
  return 0;
}
