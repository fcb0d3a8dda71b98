// SPDX-License-Identifier: Apache-2.0
//
// pprof_session_on_window: a report for each window of a live session, from a
// thread that nobody but the stop waits for.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mem.h"
#include "pprof/device.h"
#include "pprof/mark.h"
#include "pprof/report.h"
#include "session/capture/capture_session.h"
#include "session/state/session_impl.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"
#include "tests/support/scripted_backend.h"
#include "window_listener.h"

namespace pprof_test {
namespace {

PPROF_SITE(range_site, "range", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(work_site, "work", PPROF_CATEGORY_INFERENCE);

void Ranges(int num) {
  for (int i = 0; i < num; i++) {
    pprof_push(&range_site);
    pprof_pop();
  }
}

class WindowReportTest : public ::testing::Test {
 protected:
  // A window for each `active` steps; 0: one from start to stop.
  void Start(uint64_t active) {
    ASSERT_NE(nullptr, live.Create());
    ppi_capture capture = {};
    if (active) capture = Cycle(0, 0, 0, active, 0);
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_session_set_capture(live.session(), &capture));
    Listen(&listener);
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  }
  // What is counted is the window's in which the collector sees it.
  void Step() {
    EXPECT_EQ(PPROF_STATUS_OK, live.Flush());
    pprof_step(1);
    EXPECT_EQ(PPROF_STATUS_OK, live.Flush());
  }
  void Listen(Listener *who) {
    ASSERT_NE(nullptr, live.Create());
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_on_window(live.session(), Listener::Tell, who));
  }

  Listener listener;
  LiveSession live;
};

TEST_F(WindowReportTest, WhenItMayBeCalled) {
  auto fn = Listener::Tell;
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_on_window(nullptr, fn, nullptr));
  Listen(&listener);
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_on_window(live.session(), nullptr, nullptr));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  EXPECT_EQ(PPROF_STATUS_BUSY,
            pprof_session_on_window(live.session(), fn, nullptr));
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(PPROF_STATUS_BUSY,
            pprof_session_on_window(live.session(), fn, nullptr));
}

TEST_F(WindowReportTest, SixteenSinksLeaveNoRoom) {
  pprof_session *session = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_create(nullptr, &session, nullptr));
  pprof_sink sinks[16] = {};
  for (pprof_sink &sink : sinks) {
    sink.size = sizeof sink;
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, &sink));
  }
  EXPECT_EQ(PPROF_STATUS_BUSY,
            pprof_session_on_window(session, Listener::Tell, nullptr));
  pprof_session_destroy(session);
}

TEST_F(WindowReportTest, WithoutRulesTheWindowIsTheWholeRun) {
  pprof_report *whole = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_report_create(&whole));
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_session_add_sink(live.session(), pprof_report_sink(whole)));
  Start(0);
  Ranges(3);
  pprof_pop();
  EXPECT_EQ(PPROF_STATUS_OK, live.Flush());
  EXPECT_EQ(0u, listener.NumTold());
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(std::vector<uint32_t>{0}, listener.windows);
  std::string own = listener.json[0], all = Json(whole);
  EXPECT_TRUE(Contains(own, RangeRow(3))) << own;
  // But for the CPU times, which were read a moment apart.
  EXPECT_EQ(WithoutCpu(all), WithoutCpu(own));
  live.Destroy();
  pprof_report_destroy(whole);
}

TEST_F(WindowReportTest, EachWindowHasItsOwnFigures) {
  Start(1);
  Ranges(1);
  Step();
  // Told while the next is open, and before anything of it.
  listener.WaitFor(1);
  Ranges(2);
  pprof_pop();
  pprof_pop();
  Step();
  Ranges(3);
  pprof_pop();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ((std::vector<uint32_t>{0, 1, 2}), listener.windows);
  for (uint32_t i = 0; i < 3; i++) {
    EXPECT_TRUE(Contains(listener.json[i], RangeRow(i + 1)))
        << listener.json[i];
    // With its step.
    EXPECT_EQ(i + 2, Trust(listener.json[i], "recorded"));
    EXPECT_EQ(0u, Trust(listener.json[i], "lost"));
  }
  EXPECT_EQ(0u, Trust(listener.json[0], "unmatched"));
  EXPECT_EQ(2u, Trust(listener.json[1], "unmatched"));
  EXPECT_EQ(1u, Trust(listener.json[2], "unmatched"));
  // Windows that touch add up to the run.
  EXPECT_EQ(3u, live.recording.Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(9u, live.recording.Total(PPI_TOTAL_RECORDED));
}

TEST_F(WindowReportTest, AllWhoListenShareOneReport) {
  Listener second;
  Start(0);
  live.Destroy();
  listener.windows.clear();
  listener.reports.clear();
  Listen(&listener);
  Listen(&second);
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(1u, listener.reports.size());
  ASSERT_EQ(1u, second.reports.size());
  EXPECT_EQ(listener.reports[0], second.reports[0]);
}

TEST_F(WindowReportTest, ASlowCallDelaysOnlyItsSuccessors) {
  Gate gate(&listener);
  Start(1);
  pprof_step(1);
  gate.entered.get_future().wait();
  for (int i = 0; i < 3; i++) {
    Ranges(1000);
    EXPECT_EQ(PPROF_STATUS_OK, live.Flush());
    pprof_step(1);
  }
  EXPECT_EQ(0u, listener.NumTold());
  gate.go_on.set_value();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ((std::vector<uint32_t>{0, 1, 2, 3, 4}), listener.windows);
  EXPECT_EQ(3000u, live.recording.Named("range").size());
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
}

TEST_F(WindowReportTest, StopWaitsForTheCallsThatAreDue) {
  Gate gate(&listener);
  Start(1);
  pprof_step(1);
  gate.entered.get_future().wait();
  Ranges(1);
  std::future<pprof_status> stopped =
      std::async(std::launch::async, [&] { return live.Stop(); });
  pprof_mark(&range_site);
  EXPECT_EQ(0u, listener.NumTold());
  gate.go_on.set_value();
  EXPECT_EQ(PPROF_STATUS_OK, stopped.get());
  EXPECT_EQ((std::vector<uint32_t>{0, 1}), listener.windows);
}

struct FinishedSink {
  pprof_sink base;
  std::promise<void> finished;
};

TEST_F(WindowReportTest, NoOtherSinksEndWaitsForACall) {
  Gate gate(&listener);
  Listen(&listener);
  FinishedSink later = {};
  later.base.size = sizeof later.base;
  later.base.finish = [](pprof_sink *sink, const pprof_totals *) {
    reinterpret_cast<FinishedSink *>(sink)->finished.set_value();
    return PPROF_STATUS_OK;
  };
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_session_add_sink(live.session(), &later.base));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::future<pprof_status> stopped =
      std::async(std::launch::async, [&] { return live.Stop(); });
  later.finished.get_future().wait();
  EXPECT_EQ(0u, listener.NumTold());
  gate.go_on.set_value();
  EXPECT_EQ(PPROF_STATUS_OK, stopped.get());
  EXPECT_EQ(1u, listener.NumTold());
  live.Destroy();
}

TEST(WindowReportMemoryTest, WhatRunsOutIsTold) {
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  for (uint64_t n = 1; status != PPROF_STATUS_OK; n++) {
    Listener listener;
    LiveSession live;
    ASSERT_NE(nullptr, live.Create());
    ppi_mem_fail_at(n);
    status = pprof_session_on_window(live.session(), Listener::Tell, &listener);
    ppi_mem_fail_at(0);
    bool is_listening = status == PPROF_STATUS_OK;
    ASSERT_TRUE(is_listening || status == PPROF_STATUS_NO_MEMORY) << status;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ(is_listening ? 1u : 0u, listener.windows.size());
    EXPECT_EQ(is_listening, n > 3) << n;
  }
}

// What is in no thread's lane any more, and what never was.
TEST_F(WindowReportTest, CountsOutliveTheirThread) {
  Start(1);
  ppi_session_note(live.session(), "weather", "it rained");
  std::thread gone([] {
    Ranges(1);
    pprof_pop();
  });
  gone.join();
  Step();
  listener.WaitFor(1);
  pprof_range range = pprof_range_begin(&range_site);
  pprof_range_end(range);
  pprof_range_end(range);
  pprof_range_end(range);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ((std::vector<uint32_t>{0, 1}), listener.windows);
  EXPECT_EQ(1u, Trust(listener.json[0], "unmatched"));
  EXPECT_EQ(2u, Trust(listener.json[1], "unmatched"));
  EXPECT_TRUE(Contains(listener.json[0], "it rained"));
}

TEST_F(WindowReportTest, ACallMayNotEndWhatWaitsForIt) {
  std::vector<pprof_status> answers;
  listener.on_tell = [&](uint32_t) {
    answers.push_back(live.Stop());
    LiveSession another;
    answers.push_back(another.Start());
    Ranges(1);  // markers are as anywhere
  };
  Start(1);
  pprof_step(1);
  listener.WaitFor(1);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(std::vector<pprof_status>(4, PPROF_STATUS_BUSY), answers);
  EXPECT_EQ((std::vector<uint32_t>{0, 1}), listener.windows);
}

TEST_F(WindowReportTest, ASessionThatNeverStartsTellsNobody) {
  Listen(&listener);
  live.Destroy();
  EXPECT_EQ(0u, listener.NumTold());
}

// ---- devices ----

// Time passes by being read.
std::atomic<uint64_t> clock_ns{1000000000000};
uint64_t Now() {
  return clock_ns.fetch_add(5);
}

class WindowDeviceTest : public WindowReportTest {
 protected:
  void SetUp() override {
    ppi_clock_inject(Now, 1000000000);
    scripted_script script = {};
    script.now = Now;
    fake = scripted_device_create(&script);
    device = pprof_device_get(scripted_device_backend(fake),
                              scripted_device_index(fake));
    stream = scripted_stream_create(fake, 0);
    slow = scripted_stream_create(fake, 0);
  }
  void TearDown() override {
    live.Destroy();
    ppi_clock_inject(nullptr, 0);
    EXPECT_STREQ(scripted_device_first_violation(fake), "");
  }
  void Work(void *on, uint64_t duration_ns) {
    pprof_device_push(device, on, &work_site);
    scripted_stream_submit(on, duration_ns);
    pprof_device_pop(device, on);
  }
  // Whatever is ready has been delivered and told.
  void Settle() {
    for (int i = 0; i < 3; i++) {
      clock_ns += 1000000;
      ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
    }
  }

  scripted_device *fake = nullptr;
  pprof_device *device = nullptr;
  void *stream = nullptr, *slow = nullptr;
};

// The first window's range is still on the device when the second window has
// closed: both are told once it is there, the first with its device time.
TEST_F(WindowDeviceTest, AWindowIsCompleteWithItsDeviceTimes) {
  Start(1);
  Settle();
  scripted_stream_hold(slow, true);
  Work(slow, 1000);
  pprof_step(1);
  Work(stream, 2000);
  Work(stream, 2000);
  Settle();
  pprof_step(1);
  Settle();
  EXPECT_EQ(0u, listener.NumTold());
  scripted_stream_hold(slow, false);
  Settle();
  listener.WaitFor(2);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ((std::vector<uint32_t>{0, 1, 2}), listener.windows);
  EXPECT_EQ(2u, Trust(listener.json[0], "recorded"));
  EXPECT_EQ(3u, Trust(listener.json[1], "recorded"));
  for (uint32_t i = 0; i < 2; i++) {
    EXPECT_EQ(0u, Trust(listener.json[i], "no_device_time"));
    EXPECT_TRUE(Contains(listener.json[i], "\"Inference\",\"device\"," +
                                               std::to_string(i + 1) + ","))
        << listener.json[i];
  }
  EXPECT_FALSE(Contains(listener.json[2], "\"Inference\""));
}

// On this clock the checkpoint of the second never comes, and nobody flushes.
TEST_F(WindowDeviceTest, AWindowIsToldSoonAfterItHasClosed) {
  Start(1);
  pprof_step(1);
  listener.WaitFor(1);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ((std::vector<uint32_t>{0, 1}), listener.windows);
}

TEST_F(WindowDeviceTest, WhatNeverComesIsLateAtTheStop) {
  live.options.stop_wait_ms = 20;
  Start(1);
  Settle();
  scripted_stream_hold(slow, true);
  Work(slow, 1000);
  pprof_step(1);
  Settle();
  EXPECT_EQ(0u, listener.NumTold());
  std::atomic<bool> stopped{false};
  std::thread ticking([&] {
    while (!stopped) {
      clock_ns += 100000;
      std::this_thread::yield();
    }
  });
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  stopped = true;
  ticking.join();
  ASSERT_EQ((std::vector<uint32_t>{0, 1}), listener.windows);
  EXPECT_EQ(1u, Trust(listener.json[0], "late"));
  EXPECT_EQ(0u, Trust(listener.json[1], "late"));
}

}  // namespace
}  // namespace pprof_test
