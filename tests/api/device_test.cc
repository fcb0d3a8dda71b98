// SPDX-License-Identifier: Apache-2.0
//
// Device ranges through whole sessions: what is recorded, on which stream, with
// which times.
#include <string>
#include <thread>
#include <vector>

#include "device_fixture.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"

namespace pprof_test {
namespace {

// First, since the devices of all tests stay and a session has 15 tables.
TEST_F(DeviceTest, DeviceOpenedWhileASessionRuns) {
  session.Start();
  Use({});
  session.Flush();  // a busy machine may take longer than the call waits
  Range(kMs);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, 0u);
}

TEST_F(DeviceTest, RangeHasAHostAndADeviceSide) {
  session.Start();
  Push();
  scripted_stream_submit(stream, 10 * kMs);
  Advance(1 * kMs);
  Pop();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, 0u);
  EXPECT_EQ(session.site_names[ranges[0].site], "work");
  EXPECT_EQ(session.device_names[session.stream_devices[ranges[0].stream]],
            "scripted:" + std::to_string(scripted_device_index(fake)));
  EXPECT_NEAR(ranges[0].end_ns - ranges[0].start_ns, 1 * kMs, 1000);
  EXPECT_NEAR(ranges[0].device_end_ns - ranges[0].device_start_ns, 10 * kMs,
              10);
  ExpectTimes(ranges[0], 0, 1);
  EXPECT_EQ(session.stats.recorded, 1u);
  EXPECT_TRUE(session.notes.empty()) << session.notes[0];
}

TEST_F(DeviceTest, NextSharesOneEvent) {
  session.Start();
  Push();
  scripted_stream_submit(stream, 3 * kMs);
  pprof_device_next(device, stream, &other_site);
  scripted_stream_submit(stream, 4 * kMs);
  pprof_device_next(device, stream, &site);
  scripted_stream_submit(stream, 5 * kMs);
  Pop();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(scripted_device_num_records(fake), 4u);
  EXPECT_EQ(ranges[0].device_end_ns, ranges[1].device_start_ns);
  EXPECT_EQ(ranges[1].device_end_ns, ranges[2].device_start_ns);
  EXPECT_EQ(session.site_names[ranges[1].site], "more");
  for (size_t i = 0; i < 3; i++) ExpectTimes(ranges[i], i, i + 1);
}

TEST_F(DeviceTest, NextWithNothingOpenIsAPush) {
  session.Start();
  pprof_device_next(device, stream, &site);
  Pop();
  auto ranges = Finish();
  EXPECT_EQ(ranges.size(), 1u);
  EXPECT_EQ(session.stats.unmatched, 1u);
}

TEST_F(DeviceTest, StreamsInterleave) {
  void *second = scripted_stream_create(fake, 0);
  session.Start();
  Push();
  pprof_device_push(device, second, &other_site);
  scripted_stream_submit(stream, 2 * kMs);
  scripted_stream_submit(second, 7 * kMs);
  Pop();
  pprof_device_pop(device, second);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].flags | ranges[1].flags, 0u);
  EXPECT_NE(ranges[0].stream, ranges[1].stream);
  ExpectTimes(ranges[0], 0, 2);
  ExpectTimes(ranges[1], 1, 3);
  EXPECT_EQ(session.stats.unmatched, 0u);
}

TEST_F(DeviceTest, RangesNestOnOneStream) {
  session.Start();
  Push();
  scripted_stream_submit(stream, 1 * kMs);
  pprof_device_push(device, stream, &other_site);
  scripted_stream_submit(stream, 1 * kMs);
  Pop();
  scripted_stream_submit(stream, 1 * kMs);
  Pop();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(session.site_names[ranges[0].site], "work");
  ExpectTimes(ranges[0], 0, 3);
  ExpectTimes(ranges[1], 1, 2);
}

TEST_F(DeviceTest, EndOnAnotherStreamIsAsync) {
  void *second = scripted_stream_create(fake, 0);
  session.Start();
  pprof_range range = pprof_device_range_begin(device, stream, &site);
  scripted_stream_submit(second, 9 * kMs);
  pprof_device_range_end(range, second);
  pprof_device_range_end(range, second);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_ASYNC);
  ExpectTimes(ranges[0], 0, 1);
  EXPECT_EQ(session.stats.unmatched, 1u);
}

// Wherever the error strikes, nothing is lost and nothing is asked again.
TEST_F(DeviceTest, BeginsAndEndsOnTwoThreads) {
  session.Start();
  pprof_push(&other_site);
  pprof_range range = pprof_device_range_begin(device, stream, &site);
  scripted_stream_submit(stream, 2 * kMs);
  std::thread([&] { pprof_device_range_end(range, stream); }).join();
  pprof_pop();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, 0u);
  EXPECT_EQ(ranges[0].depth, 1u);
  ExpectTimes(ranges[0], 0, 1);
  for (const pprof_event &event : session.events)
    EXPECT_EQ(event.lane, ranges[0].lane);
}

TEST_F(DeviceTest, ThreadsExitTouchesNothing) {
  session.Start();
  std::thread([&] {
    Range(5 * kMs);
    Push();
  }).join();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].flags, 0u);
  EXPECT_EQ(ranges[1].flags,
            (uint32_t)PPROF_FLAG_CLIPPED | (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
}

TEST_F(DeviceTest, PopAfterTheWindowClosed) {
  const ppi_capture capture = Cycle(0, 0, 0, 1, 1);  // step 0 only
  ASSERT_EQ(ppi_session_set_capture(session.get(), &capture), PPROF_STATUS_OK);
  session.Start();
  Push();
  scripted_stream_submit(stream, 4 * kMs);
  Advance(1 * kMs);
  uint64_t edge_ns = TestNow() - session.base_ns;
  pprof_step(1);
  Advance(1 * kMs);
  Pop();
  Range(kMs);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_CLIPPED);
  EXPECT_NEAR(ranges[0].end_ns, edge_ns, 1000);
  ExpectTimes(ranges[0], 0, 1);
  EXPECT_EQ(session.stats.unmatched, 0u);
}

TEST_F(DeviceTest, EndFromANewThreadAfterTheWindowClosed) {
  const ppi_capture capture = Cycle(0, 0, 0, 1, 1);
  ASSERT_EQ(ppi_session_set_capture(session.get(), &capture), PPROF_STATUS_OK);
  session.Start();
  pprof_range range = pprof_device_range_begin(device, stream, &site);
  pprof_step(1);
  std::thread([&] { pprof_device_range_end(range, stream); }).join();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_CLIPPED);
  ExpectTimes(ranges[0], 0, 1);
}

TEST_F(DeviceTest, ScopeEndsWithItsBlock) {
  session.Start();
  for (int i = 0; i < 2; i++) {
    PPROF_DEVICE_SCOPE(device, stream, "scoped");
    scripted_stream_submit(stream, kMs);
  }
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(session.site_names[ranges[0].site], "scoped");
  ExpectTimes(ranges[0], 0, 1);
  ExpectTimes(ranges[1], 2, 3);
}

TEST_F(DeviceTest, WorkAddsUp) {
  session.Start();
  pprof_work_amount work = {};
  work.size = sizeof work;
  work.items = 16;
  Push();
  pprof_device_work(device, stream, &work);
  pprof_device_work(device, stream, &work);
  Pop();
  pprof_device_work(device, stream, &work);
  ASSERT_EQ(Finish().size(), 1u);
  EXPECT_EQ(session.items[0], 32);
  EXPECT_EQ(session.stats.flows_lost, 1u);
}

TEST_F(DeviceTest, SurplusPopsAreCounted) {
  void *second = scripted_stream_create(fake, 0);
  session.Start();
  Pop();
  Push();
  pprof_device_pop(device, second);
  Pop();
  Pop();
  EXPECT_EQ(Finish().size(), 1u);
  EXPECT_EQ(session.stats.unmatched, 3u);
}

TEST_F(DeviceTest, StreamNamedBeforeTheStart) {
  pprof_stream_name(device, stream, "first");
  pprof_stream_name(device, stream, "copies");
  session.Start();
  void *second = scripted_stream_create(fake, 0);
  Range(kMs);
  pprof_device_push(device, second, &site);
  pprof_device_pop(device, second);
  pprof_stream_name(device, second, "compute");
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(session.stream_names[ranges[0].stream], "copies");
  EXPECT_EQ(session.stream_names[ranges[1].stream], "compute");
  DeviceSession again;
  again.Start();
  Range(kMs);
  again.Stop();
  ASSERT_EQ(again.stream_names.size(), 1u);
  EXPECT_EQ(again.stream_names.begin()->second, "copies");
}

// The slot of a range that cannot be timed comes back at once, but its begin
// event is still in the stream; TearDown sees a second recording.
// A chain whose ranges end in every order of polls.
TEST_F(DeviceTest, LongChainUsesEachEventOnce) {
  session.Start();
  Push();
  for (int i = 0; i < 300; i++) {
    scripted_stream_submit(stream, 1000);
    pprof_device_next(device, stream, &site);
    if (i % 7 == 0) session.Flush();
    Advance(1000);
  }
  Pop();
  auto ranges = Finish();
  EXPECT_EQ(ranges.size() + session.stats.device_lost, 301u);
  for (size_t i = 1; i < ranges.size(); i++)
    EXPECT_GE(ranges[i].device_start_ns, ranges[i - 1].device_end_ns);
}

// Ended on another thread than it began on, and on another stream.
TEST_F(DeviceTest, WandersBetweenThreadsAndStreams) {
  void *second = scripted_stream_create(fake, 0);
  session.Start();
  pprof_range range = pprof_device_range_begin(device, stream, &site);
  scripted_stream_submit(second, 2 * kMs);
  std::thread([&] { pprof_device_range_end(range, second); }).join();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_ASYNC);
  ExpectTimes(ranges[0], 0, 1);
}

// The end comes first: that of a range begun on a stream that is still busy.
TEST_F(DeviceTest, WanderingEndBeforeItsBegin) {
  void *second = scripted_stream_create(fake, 0);
  session.Start();
  scripted_stream_hold(stream, true);
  pprof_range range = pprof_device_range_begin(device, stream, &site);
  pprof_device_range_end(range, second);
  pprof_device_push(device, second, &site);
  pprof_device_pop(device, second);
  Advance(kMs);
  session.Flush();
  // It holds up no range of the stream that it ends on.
  EXPECT_EQ(session.events.size(), 1u);
  scripted_stream_hold(stream, false);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].device_start_ns, ranges[0].device_end_ns);
}

TEST_F(DeviceTest, EndInAnotherContextHasNoTime) {
  void *other = scripted_stream_create(fake, 3);
  session.Start();
  pprof_range range = pprof_device_range_begin(device, stream, &site);
  pprof_device_range_end(range, other);
  Range(kMs);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_EQ(ranges[1].flags, 0u);
}

// Drivers give the handle of a destroyed stream to the next one.
TEST_F(DeviceTest, RemadeStreamIsAnother) {
  session.Start();
  Range(kMs);
  Range(kMs);
  scripted_stream_remake(stream);
  Range(kMs);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].stream, ranges[1].stream);
  EXPECT_NE(ranges[2].stream, ranges[0].stream);
  for (size_t i = 0; i < 3; i++) ExpectTimes(ranges[i], 2 * i, 2 * i + 1);
}

TEST_F(DeviceTest, ThreadUsesMoreStreamsThanItRemembers) {
  std::vector<void *> streams;
  for (int i = 0; i < 40; i++)
    streams.push_back(scripted_stream_create(fake, 0));
  session.Start();
  for (int round = 0; round < 2; round++)
    for (void *one : streams) {
      pprof_device_push(device, one, &site);
      pprof_device_pop(device, one);
    }
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 80u);
  for (size_t i = 0; i < 80; i++) {
    EXPECT_EQ(ranges[i].stream, ranges[i % 40].stream);
    EXPECT_EQ(ranges[i].flags, 0u);
    if (i % 40) {
      EXPECT_NE(ranges[i].stream, ranges[i - 1].stream);
    }
  }
}

// Each range then has its own events.
TEST_F(DeviceTest, BrokenChainFallsBackToTwoEvents) {
  scripted_script script = {};
  script.fail_record_at = 2;  // the begin of the second range
  Use(script);
  session.Start();
  Push();
  scripted_stream_submit(stream, 3 * kMs);
  pprof_device_next(device, stream, &other_site);
  scripted_stream_submit(stream, 4 * kMs);
  pprof_device_next(device, stream, &site);
  scripted_stream_submit(stream, 5 * kMs);
  Pop();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].flags, 0u);
  ExpectTimes(ranges[0], 0, 1);
  EXPECT_EQ(ranges[1].flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_EQ(ranges[2].flags, 0u);
  ExpectTimes(ranges[2], 2, 3);
}

TEST_F(DeviceTest, ChainIntoACaptureAndOut) {
  session.Start();
  Push();
  scripted_stream_set_capturing(stream, true);
  pprof_device_next(device, stream, &other_site);
  scripted_stream_set_capturing(stream, false);
  pprof_device_next(device, stream, &site);
  Pop();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 3u);
  for (size_t i = 0; i < 2; i++)
    EXPECT_EQ(ranges[i].flags, (uint32_t)PPROF_FLAG_IN_GRAPH |
                                   (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_EQ(ranges[2].flags, 0u);
}

// By the real clock, which nobody has to move.
TEST(DeviceStopAloneTest, WaitsForWhatIsOutstanding) {
  scripted_script script = {};
  scripted_device *fake = scripted_device_create(&script);
  pprof_device *device = pprof_device_get(scripted_device_backend(fake),
                                          scripted_device_index(fake));
  void *stream = scripted_stream_create(fake, 0);
  DeviceSession session(false);
  session.Start();
  pprof_device_push(device, stream, &site);
  scripted_stream_submit(stream, 30 * kMs);
  pprof_device_pop(device, stream);
  session.Stop();
  auto ranges = session.DeviceRanges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, 0u);
  EXPECT_GE(ranges[0].device_end_ns - ranges[0].device_start_ns, 29 * kMs);
  EXPECT_EQ(session.stats.late, 0u);
}

}  // namespace
}  // namespace pprof_test
