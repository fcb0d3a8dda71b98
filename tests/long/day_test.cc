// SPDX-License-Identifier: Apache-2.0
//
// A day, and in the long version a week, by a clock that the test moves: no
// time is off by more than the nanosecond of its rounding, windows open and
// close when they should, and the log says the same.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/clock.h"
#include "pprof/device.h"
#include "pprof/log.h"
#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/device_session.h"
#include "tests/support/log_fixture.h"
#include "tests/support/long_run.h"
#include "tests/support/recording_sink.h"
#include "tests/support/scripted_backend.h"

namespace pprof_test {
namespace {

PPROF_SITE(inside_site, "inside", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(outside_site, "outside", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(whole_site, "whole", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(work_site, "work", PPROF_CATEGORY_INFERENCE);

constexpr uint64_t kSecond = 1000000000, kMinute = 60 * kSecond;
constexpr uint64_t kDayMinutes = 24 * 60;

// A counter at a rate that divides nothing, far from where it began: as one
// that has counted for decades.
constexpr uint64_t kRate = 2893307777, kFirstTicks = 1ull << 62;
std::atomic<uint64_t> ticks;
uint64_t Ticks() {
  return ticks.load(std::memory_order_relaxed);
}

// The time since the start at which the counter was set, rounded down.
uint64_t SetTime(uint64_t ns) {
  const auto since =
      (static_cast<unsigned __int128>(ns) * kRate + kSecond - 1) / kSecond;
  ticks = kFirstTicks + static_cast<uint64_t>(since);
  return static_cast<uint64_t>(since * kSecond / kRate);
}

class DayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SetTime(0);
    ppi_clock_inject(Ticks, kRate);
  }
  void TearDown() override {
    live.Destroy();
    ppi_clock_inject(nullptr, 0);
  }
  uint64_t LookAt(uint64_t ns) {
    const uint64_t exact = SetTime(ns);
    EXPECT_EQ(PPROF_STATUS_OK, live.Flush());
    return exact;
  }
  static void ExpectTime(uint64_t exact, uint64_t found, const char *what) {
    EXPECT_LE(exact - 1, found) << what;
    EXPECT_GE(exact + 1, found) << what;
  }

  LiveSession live;
};

TEST_F(DayTest, WindowsOfEachMinuteAreExact) {
  const uint64_t num = Rounds(kDayMinutes, 7 * kDayMinutes);
  const ppi_capture capture = Capture(TimeRule(kMinute, kSecond, kMinute, 0));
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::vector<uint64_t> edges, begins, ends;
  for (uint64_t i = 1; i <= num; i++) {
    edges.push_back(LookAt(i * kMinute));
    begins.push_back(SetTime(i * kMinute + kSecond / 4));
    pprof_push(&inside_site);
    ends.push_back(SetTime(i * kMinute + kSecond * 3 / 4));
    pprof_pop();
    edges.push_back(LookAt(i * kMinute + kSecond));
    SetTime(i * kMinute + 2 * kSecond);
    pprof_mark(&outside_site);
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  const Recording &recording = live.recording;
  ASSERT_EQ(2 * num, recording.windows.size());
  for (size_t i = 0; i < recording.windows.size() && !HasFailure(); i++) {
    EXPECT_EQ(i / 2, recording.windows[i].index);
    EXPECT_EQ(i % 2 == 0, recording.windows[i].opens);
    ExpectTime(edges[i], recording.windows[i].time_ns, "window");
  }
  ASSERT_EQ(num, recording.events.size());
  for (size_t i = 0; i < num && !HasFailure(); i++) {
    const pprof_event &event = recording.events[i].event;
    EXPECT_EQ(i, event.window);
    ExpectTime(begins[i], event.start_ns, "begin");
    ExpectTime(ends[i], event.end_ns, "end");
  }
  EXPECT_EQ(num, recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(0u, recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(0u, recording.Total(PPI_TOTAL_CLIPPED));
}

// What a log tells of steps and of one range around them all.
struct Steps {
  pprof_sink base = {};
  uint64_t num = 0, last_end = 0, num_gaps = 0, num_odd = 0, whole_ns = 0;
  uint64_t num_others = 0;
  std::map<uint32_t, std::string> names;

  Steps() {
    base.size = sizeof base;
    base.define = [](pprof_sink *sink, const pprof_definition *definition) {
      if (pprof_definition_get_kind(definition) == PPROF_DEFINITION_SITE)
        Of(sink)->names[pprof_definition_id(definition)] =
            pprof_definition_name(definition);
      return PPROF_STATUS_OK;
    };
    base.events = [](pprof_sink *sink, const pprof_batch *batch) {
      for (size_t i = 0; i < batch->num_events; i++)
        Of(sink)->Take(pprof_batch_at(batch, i));
      return PPROF_STATUS_OK;
    };
  }
  static Steps *Of(pprof_sink *sink) {
    return reinterpret_cast<Steps *>(sink);
  }
  void Take(const pprof_event *event) {
    const uint64_t length = event->end_ns - event->start_ns;
    if (names[event->site] == "whole") whole_ns = length;
    if (names[event->site] != "ProfileStep") {
      num_others++;
      return;
    }
    // The stop cuts the last one.
    if (event->flags & PPROF_FLAG_CLIPPED) return;
    num_odd += event->value != static_cast<double>(num) ||
               length < kSecond - 1 || length > kSecond + 1;
    num_gaps += event->start_ns != last_end;
    last_end = event->end_ns;
    num++;
  }
  void Expect(uint64_t seconds) const {
    EXPECT_EQ(seconds, num);
    EXPECT_EQ(0u, num_odd);
    EXPECT_EQ(0u, num_gaps);
    EXPECT_LE(seconds * kSecond - 1, whole_ns);
    EXPECT_GE(seconds * kSecond + 1, whole_ns);
    EXPECT_EQ(seconds / 60 + 1, num_others);
  }
};

// A step each second; the collector looks every ten.
TEST_F(DayTest, StepsOfEachSecondLieSideBySideAlsoInTheLog) {
  const uint64_t seconds = 60 * Rounds(kDayMinutes, 7 * kDayMinutes);
  pplog::Folder folder;
  const std::string path = folder / "day.pplog";
  static Steps told;  // outlives the session, which the fixture destroys
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_session_add_sink(live.session(), &told.base));
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_session_add_sink(live.session(), pplog::Create(path)));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_range whole = pprof_range_begin(&whole_site);
  for (uint64_t i = 1; i <= seconds; i++) {
    if (i % 60 == 0) pprof_mark(&work_site);
    SetTime(i * kSecond);
    pprof_step(1);
    if (i % 10) continue;
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
    live.recording.events.clear();
  }
  pprof_range_end(whole);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
  told.Expect(seconds);
  Steps read;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), &read.base, nullptr));
  read.Expect(seconds);
}

// The device's clock runs 50 ppm fast: 4.3 s in a day. What is said of its last
// minute is as good as what is said of its first.
TEST(DayDeviceTest, ADeviceThatDriftsStaysWhereItIs) {
  const uint64_t minutes = Rounds(kDayMinutes, 7 * kDayMinutes);
  scripted_script script = {};
  script.now = TestNow;
  script.drift_ppb = 50000;
  script.skew_ns = 12345;
  script.anchor_width_ns = 2000;
  script.anchor_position_permille = 500;
  scripted_device *fake = scripted_device_create(&script);
  pprof_device *device = pprof_device_get(scripted_device_backend(fake),
                                          scripted_device_index(fake));
  void *stream = scripted_stream_create(fake, 0);
  DeviceSession session;
  session.Start();
  std::vector<size_t> records;
  for (uint64_t i = 0; i < minutes; i++) {
    // Three within a second, then a pause of a minute.
    for (int k = 0; k < 3; k++) {
      records.push_back(scripted_device_num_records(fake));
      pprof_device_push(device, stream, &work_site);
      scripted_stream_submit(stream, 1000000);
      pprof_device_pop(device, stream);
      Advance(300000000);
      session.Flush();
    }
    Advance(kMinute - 900000000);
  }
  session.Stop();
  const auto ranges = session.DeviceRanges();
  ASSERT_EQ(records.size(), ranges.size());
  for (size_t i = 0; i < ranges.size() && !::testing::Test::HasFailure(); i++) {
    scripted_record begin, end;
    ASSERT_TRUE(scripted_device_record(fake, records[i], &begin));
    ASSERT_TRUE(scripted_device_record(fake, records[i] + 1, &end));
    const auto error = static_cast<double>(ranges[i].device_error_ns);
    EXPECT_EQ(0u, ranges[i].flags) << i;
    EXPECT_NEAR(begin.true_ns - session.base_ns, ranges[i].device_start_ns,
                error)
        << i;
    // 50 ppm of 1 ms.
    EXPECT_NEAR(end.true_ns - begin.true_ns,
                ranges[i].device_end_ns - ranges[i].device_start_ns, 60)
        << i;
    EXPECT_LE(ranges[i].device_error_ns, 400000u) << i;
  }
  EXPECT_EQ(0u, session.stats.lost);
  EXPECT_EQ(0u, scripted_device_num_violations(fake))
      << scripted_device_first_violation(fake);
}

}  // namespace
}  // namespace pprof_test
