// SPDX-License-Identifier: Apache-2.0
//
// Runs a session with capture rules on a clock that the test sets: one tick is
// one nanosecond.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/clock.h"
#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {

inline std::atomic<uint64_t> now_ticks;
inline uint64_t Now() {
  return now_ticks.load(std::memory_order_relaxed);
}

class WindowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    now_ticks = 5000;
    ppi_clock_inject(Now, 1000000000);
  }
  void TearDown() override {
    live.Destroy();
    ppi_clock_inject(nullptr, 0);
  }
  void Start(const ppi_capture &capture) {
    ASSERT_NE(nullptr, live.Create());
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_session_set_capture(live.session(), &capture));
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  }
  // The time since the session's start, in ns.
  void At(uint64_t ns) {
    now_ticks = 5000 + ns;
  }
  void StepAt(uint64_t ns) {
    At(ns);
    pprof_step(1);
  }
  // The collector has looked at the time.
  void LookAt(uint64_t ns) {
    At(ns);
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  }
  void ExpectWindows(const std::vector<uint64_t> &times_ns) {
    ASSERT_EQ(times_ns.size(), live.recording.windows.size());
    for (size_t i = 0; i < times_ns.size(); i++)
      ExpectWindow(i, static_cast<uint32_t>(i / 2), i % 2 == 0, times_ns[i]);
  }
  void Stop(uint64_t ns) {
    At(ns);
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_FALSE(live.recording.undefined_site);
  }
  uint64_t Total(ppi_total_key key) {
    return live.recording.Total(key);
  }
  void ExpectEvent(const char *name, uint64_t start, uint64_t end,
                   uint32_t flags, uint32_t window) {
    auto found = live.recording.Named(name);
    ASSERT_EQ(1u, found.size()) << name;
    EXPECT_EQ(start, found[0].event.start_ns) << name;
    EXPECT_EQ(end, found[0].event.end_ns) << name;
    EXPECT_EQ(flags, found[0].event.flags) << name;
    EXPECT_EQ(window, found[0].event.window) << name;
  }
  void ExpectWindow(size_t at, uint32_t index, bool opens, uint64_t time_ns) {
    ASSERT_LT(at, live.recording.windows.size());
    EXPECT_EQ(index, live.recording.windows[at].index) << at;
    EXPECT_EQ(opens, live.recording.windows[at].opens) << at;
    EXPECT_EQ(time_ns, live.recording.windows[at].time_ns) << at;
  }

  LiveSession live;
};

}  // namespace pprof_test
