// SPDX-License-Identifier: Apache-2.0
//
// Device ranges that cannot be timed: devices that are missing, fail or hang,
// streams that give no times, tables that are full; and what the notes say.
#include <string>
#include <vector>

#include "device_fixture.h"

namespace pprof_test {
namespace {

class DeviceFaultTest : public DeviceTest {};

TEST_F(DeviceFaultTest, CapturingStreamIsLeftAlone) {
  session.Start();
  scripted_stream_set_capturing(stream, true);
  Range(kMs);
  scripted_stream_set_capturing(stream, false);
  Push();
  scripted_stream_set_capturing(stream, true);
  Pop();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  for (const pprof_event &range : ranges) {
    EXPECT_EQ(range.flags, (uint32_t)PPROF_FLAG_IN_GRAPH |
                               (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
    EXPECT_EQ(range.device_end_ns, 0u);
  }
  EXPECT_EQ(scripted_device_num_records(fake), 1u);
}

TEST_F(DeviceFaultTest, StreamWithoutTimesIsExplained) {
  scripted_script script = {};
  script.untimed_hint = "make it with PROFILING";
  Use(script);
  scripted_stream_set_timed(stream, false);
  session.Start();
  Range(kMs);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_NE(session.stream_devices[ranges[0].stream], 0u);
  EXPECT_EQ(scripted_device_num_records(fake), 0u);
  EXPECT_TRUE(session.HasNote("make it with PROFILING"));
}

TEST_F(DeviceFaultTest, HintIsForStreamsWithoutTimesOnly) {
  scripted_script script = {};
  script.untimed_hint = "make it with PROFILING";
  Use(script);
  session.Start();
  pprof_device_push(device, nullptr, &site);
  pprof_device_pop(device, nullptr);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_FALSE(session.HasNote("make it with PROFILING"));
  EXPECT_TRUE(session.HasNote("no stream of it"));
}

TEST_F(DeviceFaultTest, NotesAreOfOneSession) {
  scripted_stream_set_timed(stream, false);
  session.Start();
  Range(kMs);
  session.Stop();
  EXPECT_TRUE(session.HasNote("a stream gives no times"));
  scripted_stream_set_timed(stream, true);
  DeviceSession second;
  second.Start();
  Range(kMs);
  second.Stop();
  EXPECT_FALSE(second.HasNote("scripted"));
}

TEST_F(DeviceFaultTest, UnfinishedAtStopIsLate) {
  session.Start();
  scripted_stream_hold(stream, true);
  Range(kMs);
  session.Flush();
  session.Stop();
  auto ranges = session.DeviceRanges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags,
            (uint32_t)PPROF_FLAG_LATE | (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_EQ(session.stats.late, 1u);
}

TEST_F(DeviceFaultTest, HangingStreamHoldsUpNoOther) {
  void *second = scripted_stream_create(fake, 0);
  session.Start();
  scripted_stream_hold(second, true);
  pprof_device_push(device, second, &other_site);
  pprof_range across = pprof_device_range_begin(device, stream, &site);
  pprof_device_range_end(across, second);
  pprof_device_pop(device, second);
  Range(kMs);
  Advance(10 * kMs);
  session.Flush();
  ASSERT_EQ(session.events.size(), 1u);
  EXPECT_EQ(session.events[0].flags, 0u);
  session.Stop();
  EXPECT_EQ(session.stats.late, 2u);
}

TEST_F(DeviceFaultTest, OpenAtStopIsClipped) {
  session.Start();
  Push();
  session.Stop();
  Pop();
  auto ranges = session.DeviceRanges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags,
            (uint32_t)PPROF_FLAG_CLIPPED | (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
}

TEST_F(DeviceFaultTest, StickyErrorEndsDeviceTimesOnly) {
  session.Start();
  Range(kMs);
  Advance(10 * kMs);
  session.Flush();
  scripted_device_break(fake);
  for (int i = 0; i < 5; i++) {
    pprof_push(&site);
    Range(kMs);
    pprof_pop();
  }
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 6u);
  EXPECT_EQ(ranges[0].flags, 0u);
  for (size_t i = 1; i < 6; i++) {
    EXPECT_EQ(ranges[i].flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
    EXPECT_EQ(ranges[i].stream, ranges[0].stream);
    EXPECT_EQ(ranges[i].depth, 1u);
  }
  EXPECT_EQ(session.stats.recorded, 11u);
  EXPECT_EQ(session.stats.lost, 0u);
  EXPECT_TRUE(session.HasNote("reported an error"));
}

TEST_F(DeviceFaultTest, ErrorIsNamedWhereItCanBe) {
  scripted_script script = {};
  script.error_text = "OUT_OF_LUCK (13)";
  Use(script);
  session.Start();
  scripted_device_break(fake);
  Range(kMs);
  EXPECT_EQ(Finish().size(), 1u);
  // Devices of earlier tests are there, too.
  EXPECT_TRUE(session.HasNote(
      "scripted:" + std::to_string(scripted_device_index(fake)) +
      ": OUT_OF_LUCK (13): device timing ended, host times go on"));
  EXPECT_FALSE(session.HasNote(std::to_string(scripted_device_index(fake)) +
                               ": it reported"));
}

TEST_F(DeviceFaultTest, CaveatStandsInEveryReport) {
  scripted_script script = {};
  script.caveat = "made of cardboard";
  Use(script);
  session.Start();
  session.Stop();
  EXPECT_TRUE(session.HasNote(": made of cardboard"));
  // Of a device that gave no times anyhow there is nothing to doubt.
  DeviceSession second;
  ASSERT_EQ(ppi_session_set_device_mode(second.get(), PPI_DEVICE_MODE_OFF),
            PPROF_STATUS_OK);
  second.Start();
  second.Stop();
  EXPECT_FALSE(second.HasNote("cardboard"));
}

TEST_F(DeviceFaultTest, StickyErrorAtAnyCall) {
  for (uint64_t at = 1; at <= 14; at++) {
    scripted_script script = {};
    script.sticky_at = at;
    Use(script);
    DeviceSession own;
    own.Start();
    for (int i = 0; i < 4; i++) {
      Range(kMs);
      pprof_device_push(device, stream, &site);
      pprof_device_next(device, stream, &site);
      Pop();
      Advance(10 * kMs);
      own.Flush();
    }
    own.Stop();
    EXPECT_EQ(own.stats.recorded, 12u) << at;
    EXPECT_EQ(own.stats.lost, 0u) << at;
    EXPECT_TRUE(own.HasNote("reported an error")) << at;
    EXPECT_EQ(scripted_device_num_calls_after_error(fake), 0u) << at;
    EXPECT_EQ(scripted_device_num_violations(fake), 0u)
        << at << scripted_device_first_violation(fake);
  }
}

TEST_F(DeviceFaultTest, DeviceRecoversWithTheNextSession) {
  session.Start();
  Range(kMs);
  session.Stop();
  DeviceSession second;
  second.Start();
  Range(kMs);
  Advance(10 * kMs);
  second.Flush();
  second.Stop();
  ASSERT_EQ(second.DeviceRanges().size(), 1u);
  EXPECT_EQ(second.DeviceRanges()[0].flags, 0u);
}

TEST_F(DeviceFaultTest, NoEventsIsACountedLoss) {
  scripted_device_fail_creates(fake, true);
  session.Start();
  for (int i = 0; i < 7; i++) Range(kMs);
  scripted_device_fail_creates(fake, false);
  session.Flush();
  Range(kMs);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, 0u);
  EXPECT_EQ(session.stats.device_lost, 7u);
  EXPECT_EQ(session.stats.lost, 7u);
  EXPECT_EQ(session.stats.unmatched, 0u);
}

TEST_F(DeviceFaultTest, FullTableIsACountedLoss) {
  constexpr uint64_t kRanges = 7000;
  session.Start();
  scripted_stream_hold(stream, true);
  for (uint64_t i = 0; i < kRanges; i++) {
    Range(1);
    if (i % 50 == 0) session.Flush();
  }
  scripted_stream_hold(stream, false);
  auto ranges = Finish();
  EXPECT_GT(session.stats.device_lost, 0u);
  EXPECT_GT(ranges.size(), 100u);
  EXPECT_EQ(ranges.size() + session.stats.device_lost, kRanges);
  EXPECT_EQ(session.stats.lost, session.stats.device_lost);
  EXPECT_EQ(session.stats.late, 0u);
}

TEST_F(DeviceFaultTest, TooManyOpenIsACountedLoss) {
  session.Start();
  for (int i = 0; i < 70; i++) Push();
  for (int i = 0; i < 70; i++) Pop();
  auto ranges = Finish();
  // 64 are kept, as long as there are events for them.
  EXPECT_EQ(ranges.size() + session.stats.device_lost, 70u);
  EXPECT_GE(session.stats.device_lost, 6u);
  EXPECT_EQ(session.stats.unmatched, 0u);
}

// The innermost one is lost, so that is what ends and begins anew.
TEST_F(DeviceFaultTest, NextBeyondWhatIsKeptLeavesTheRest) {
  session.Start();
  for (int i = 0; i < 65; i++) Push();
  scripted_stream_submit(stream, kMs);
  pprof_device_next(device, stream, &other_site);
  scripted_stream_submit(stream, kMs);
  for (int i = 0; i < 65; i++) Pop();
  auto ranges = Finish();
  EXPECT_EQ(session.stats.device_lost, 2u);
  EXPECT_EQ(session.stats.unmatched, 0u);
  ASSERT_EQ(ranges.size(), 64u);
  for (const pprof_event &range : ranges)
    EXPECT_NEAR(range.device_end_ns - range.device_start_ns, 2 * kMs, 10000);
}

TEST_F(DeviceFaultTest, MissingDeviceKeepsTheHostSide) {
  pprof_device *missing =
      pprof_device_get(scripted_device_backend(fake), 100000);
  pprof_error why = {};
  EXPECT_FALSE(pprof_device_available(missing, &why));
  EXPECT_STREQ(why.text, "no such device");
  session.Start();
  pprof_device_push(missing, stream, &site);
  Advance(2 * kMs);
  pprof_device_pop(missing, stream);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_NEAR(ranges[0].end_ns - ranges[0].start_ns, 2 * kMs, 1000);
  EXPECT_TRUE(session.HasNote("scripted:100000: no such device"));
}

TEST_F(DeviceFaultTest, NullDeviceKeepsTheHostSide) {
  session.Start();
  pprof_device_push(nullptr, nullptr, &site);
  pprof_device_next(nullptr, nullptr, &other_site);
  pprof_device_pop(nullptr, nullptr);
  pprof_range range = pprof_device_range_begin(nullptr, nullptr, &site);
  pprof_device_range_end(range, nullptr);
  { PPROF_DEVICE_SCOPE(nullptr, nullptr, "scope"); }
  pprof_device_work(nullptr, nullptr, nullptr);
  pprof_stream_name(nullptr, nullptr, "s");
  EXPECT_FALSE(pprof_device_available(nullptr, nullptr));
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 4u);
  for (const pprof_event &event : ranges) {
    EXPECT_EQ(event.flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
    EXPECT_EQ(event.stream, 0u);
  }
  EXPECT_TRUE(session.HasNote("NULL device"));
  DeviceSession second;
  second.Start();
  second.Stop();
  EXPECT_FALSE(second.HasNote("NULL device"));
}

TEST_F(DeviceFaultTest, DeviceModeOff) {
  ASSERT_EQ(ppi_session_set_device_mode(session.get(), PPI_DEVICE_MODE_OFF),
            PPROF_STATUS_OK);
  session.Start();
  Range(kMs);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_TRUE(session.HasNote("switched off"));
  EXPECT_EQ(scripted_device_num_records(fake), 0u);
}

TEST_F(DeviceFaultTest, NewContextsFirstRangesAreHostOnly) {
  scripted_script script = {};
  script.no_pool_0 = true;
  Use(script);
  void *pooled = scripted_stream_create(fake, 7);
  session.Start();
  pprof_device_push(device, pooled, &site);
  pprof_device_pop(device, pooled);
  session.Flush();
  pprof_device_push(device, pooled, &site);
  pprof_device_pop(device, pooled);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_EQ(ranges[0].stream, ranges[1].stream);
  EXPECT_EQ(ranges[1].flags, 0u);
  ExpectTimes(ranges[1], 0, 1);
  EXPECT_EQ(session.stats.lost, 0u);
  EXPECT_TRUE(session.HasNote("first ranges of a context"));
  // The next session knows it.
  DeviceSession second;
  second.Start();
  pprof_device_push(device, pooled, &site);
  pprof_device_pop(device, pooled);
  Advance(kMs);
  second.Flush();
  second.Stop();
  ASSERT_EQ(second.DeviceRanges().size(), 1u);
  EXPECT_EQ(second.DeviceRanges()[0].flags, 0u);
}

TEST_F(DeviceFaultTest, NamedContextHasItsEventsAtTheStart) {
  void *pooled = scripted_stream_create(fake, 9);
  pprof_stream_name(device, pooled, "pooled");
  session.Start();
  pprof_device_push(device, pooled, &site);
  pprof_device_pop(device, pooled);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, 0u);
}

TEST_F(DeviceFaultTest, TooManyContextsAreHostOnly) {
  session.Start();
  for (uint64_t pool = 1; pool <= 10; pool++) {
    void *pooled = scripted_stream_create(fake, pool);
    pprof_device_push(device, pooled, &site);
    pprof_device_pop(device, pooled);
  }
  // One that the collector takes up meanwhile may have no events yet.
  const size_t num_found = Finish().size();
  EXPECT_EQ(num_found + session.stats.lost, 10u);
  EXPECT_GE(num_found, 2u);
  EXPECT_TRUE(session.HasNote("more than 8 contexts"));
}

TEST_F(DeviceFaultTest, EventInTheStreamIsNotUsedAgain) {
  session.Start();
  scripted_stream_hold(stream, true);
  for (int i = 0; i < 100; i++) {
    Push();
    scripted_device_fail_records(fake, true);
    Pop();
    scripted_device_fail_records(fake, false);
    session.Flush();
  }
  scripted_stream_hold(stream, false);
  Advance(kMs);
  session.Flush();
  for (int i = 0; i < 100; i++) {
    Range(1);
    Advance(1000);
    session.Flush();
  }
  auto ranges = Finish();
  EXPECT_EQ(ranges.size(), 200u);
  EXPECT_EQ(session.stats.lost, 0u);
}

TEST_F(DeviceFaultTest, WithoutAnchorTheBoundsHold) {
  scripted_device_starve_anchors(fake, true);
  session.Start();
  Range(2 * kMs);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, 0u);
  EXPECT_NEAR(ranges[0].device_start_ns, TrueNs(0), ranges[0].device_error_ns);
  EXPECT_NEAR(ranges[0].device_end_ns - ranges[0].device_start_ns, 2 * kMs, 10);
}

}  // namespace
}  // namespace pprof_test
