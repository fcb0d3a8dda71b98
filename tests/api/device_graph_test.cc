// SPDX-License-Identifier: Apache-2.0
//
// Device ranges that are captured into a graph as nodes of it: each launch that
// is seen is a range with the times of that launch, and of no other.
#include <string>
#include <vector>

#include "device_fixture.h"

namespace pprof_test {
namespace {

constexpr auto kInGraph = static_cast<uint32_t>(PPROF_FLAG_IN_GRAPH);
constexpr auto kNoTime = static_cast<uint32_t>(PPROF_FLAG_NO_DEVICE_TIME);

class DeviceGraphTest : public DeviceTest {
 protected:
  void StartWithNodes(DeviceSession *one) {
    ASSERT_EQ(ppi_session_set_graph_nodes(one->get(), true), PPROF_STATUS_OK);
    one->Start();
  }

  scripted_graph *Capture(uint64_t work_ns) {
    scripted_stream_set_capturing(stream, true);
    Range(work_ns);
    return scripted_stream_end_capture(stream);
  }

  // Launches, lets it end and has the collector look.
  void Launch(scripted_graph *graph) {
    scripted_graph_launch(graph, stream);
    Advance(10 * kMs);
    session.Flush();
  }

  std::vector<pprof_event> Launches(const DeviceSession &one) {
    std::vector<pprof_event> launches;
    for (const pprof_event &range : one.DeviceRanges())
      if (range.flags == kInGraph) launches.push_back(range);
    return launches;
  }
};

TEST_F(DeviceGraphTest, NothingIsInsertedByDefault) {
  session.Start();
  scripted_graph *graph = Capture(kMs);
  Launch(graph);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, kInGraph | kNoTime);
  EXPECT_EQ(scripted_device_num_records(fake), 0u);
  EXPECT_FALSE(session.HasNote("graph"));
}

TEST_F(DeviceGraphTest, RangeAroundALaunchIsTimedAsUsual) {
  session.Start();
  scripted_graph *graph = Capture(3 * kMs);
  Push();
  scripted_graph_launch(graph, stream);
  Pop();
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[1].flags, 0u);
  ExpectTimes(ranges[1], 0, 1);
  EXPECT_NEAR(ranges[1].device_end_ns - ranges[1].device_start_ns, 3 * kMs, 10);
}

TEST_F(DeviceGraphTest, EachLaunchThatIsSeenIsARange) {
  StartWithNodes(&session);
  pprof_push(&other_site);
  scripted_graph *graph = Capture(2 * kMs);
  pprof_pop();
  session.Flush();
  for (int i = 0; i < 3; i++) Launch(graph);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 4u);
  EXPECT_EQ(ranges[0].flags, kInGraph | kNoTime);
  for (size_t i = 0; i < 3; i++) {
    const pprof_event &range = ranges[i + 1];
    EXPECT_EQ(range.flags, kInGraph);
    EXPECT_EQ(session.site_names[range.site], "work");
    EXPECT_EQ(range.stream, ranges[0].stream);
    EXPECT_EQ(range.lane, ranges[0].lane);
    EXPECT_EQ(range.depth, 1u);
    ExpectTimes(range, 2 * i, 2 * i + 1);
    EXPECT_EQ(range.start_ns, range.end_ns);
    EXPECT_LE(range.start_ns, range.device_start_ns);
    EXPECT_NEAR(range.start_ns, range.device_start_ns, 1);
  }
  EXPECT_EQ(session.stats.lost, 0u);
  EXPECT_TRUE(session.HasNote("a launch that came and went"));
}

// Looked at again and again, also by way of newer references.
TEST_F(DeviceGraphTest, LaunchIsToldOnce) {
  StartWithNodes(&session);
  scripted_graph *graph = Capture(2 * kMs);
  Launch(graph);
  for (int i = 0; i < 40; i++) {
    Advance(500 * kMs);
    session.Flush();
  }
  Launch(graph);
  Finish();
  auto launches = Launches(session);
  ASSERT_EQ(launches.size(), 2u);
  ExpectTimes(launches[0], 0, 1);
  ExpectTimes(launches[1], 2, 3);
}

// The collector looks while a launch has recorded its begin only, and while the
// next one waits in its stream.
TEST_F(DeviceGraphTest, BeginAndEndAreOfOneLaunch) {
  StartWithNodes(&session);
  scripted_graph *graph = Capture(50 * kMs);
  scripted_graph_launch(graph, stream);
  for (int i = 0; i < 10; i++) {
    Advance(4 * kMs);
    session.Flush();
    EXPECT_EQ(Launches(session).size(), 0u) << i;
  }
  Advance(20 * kMs);
  session.Flush();
  scripted_stream_hold(stream, true);
  scripted_graph_launch(graph, stream);
  session.Flush();
  scripted_stream_hold(stream, false);
  for (int i = 0; i < 10; i++) {
    Advance(4 * kMs);
    session.Flush();
    EXPECT_EQ(Launches(session).size(), 1u) << i;
  }
  Finish();
  auto launches = Launches(session);
  ASSERT_EQ(launches.size(), 2u);
  for (size_t i = 0; i < 2; i++) {
    ExpectTimes(launches[i], 2 * i, 2 * i + 1);
    EXPECT_NEAR(launches[i].device_end_ns - launches[i].device_start_ns,
                50 * kMs, 10);
  }
}

// Events of the pool have been recorded before; that was no launch.
TEST_F(DeviceGraphTest, FormerUseOfTheEventsIsNoLaunch) {
  StartWithNodes(&session);
  for (int i = 0; i < 20; i++) {
    Range(kMs);
    Advance(2 * kMs);
    session.Flush();
  }
  scripted_graph *graph = Capture(kMs);
  for (int i = 0; i < 5; i++) session.Flush();
  EXPECT_EQ(Launches(session).size(), 0u);
  Launch(graph);
  Finish();
  EXPECT_EQ(Launches(session).size(), 1u);
}

TEST_F(DeviceGraphTest, EventsOfAGraphServeNothingElse) {
  StartWithNodes(&session);
  scripted_graph *graph = Capture(kMs);
  for (int i = 0; i < 5000; i++) {
    Range(1000);
    Advance(3000);
    if (i % 100 == 0) Launch(graph);
  }
  Finish();
  EXPECT_EQ(Launches(session).size(), 50u);
  DeviceSession second;
  StartWithNodes(&second);
  Range(kMs);
  scripted_graph_launch(graph, stream);
  Advance(10 * kMs);
  second.Flush();
  second.Stop();
  // Its nodes are of the first session.
  EXPECT_EQ(second.DeviceRanges().size(), 1u);
}

// Two graphs are launched apart: begin and end do not belong together.
TEST_F(DeviceGraphTest, RangeOverTwoCapturesIsNotTimed) {
  StartWithNodes(&session);
  scripted_stream_set_capturing(stream, true);
  Push();
  scripted_graph *first = scripted_stream_end_capture(stream);
  scripted_stream_set_capturing(stream, true);
  Pop();
  scripted_graph *second = scripted_stream_end_capture(stream);
  for (int i = 0; i < 3; i++) {
    Launch(first);
    Launch(second);
  }
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, kInGraph | kNoTime);
}

TEST_F(DeviceGraphTest, RangeThatEndsOutsideItsCaptureIsNotTimed) {
  StartWithNodes(&session);
  scripted_stream_set_capturing(stream, true);
  Push();
  scripted_graph *graph = scripted_stream_end_capture(stream);
  Pop();
  Launch(graph);
  auto ranges = Finish();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, kInGraph | kNoTime);
}

TEST_F(DeviceGraphTest, ChainsInAGraphHaveEventsOfTheirOwn) {
  StartWithNodes(&session);
  scripted_stream_set_capturing(stream, true);
  Push();
  scripted_stream_submit(stream, 2 * kMs);
  pprof_device_next(device, stream, &other_site);
  scripted_stream_submit(stream, 3 * kMs);
  Pop();
  scripted_graph *graph = scripted_stream_end_capture(stream);
  Launch(graph);
  Finish();
  auto launches = Launches(session);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_NEAR(launches[0].device_end_ns - launches[0].device_start_ns, 2 * kMs,
              10);
  EXPECT_NEAR(launches[1].device_end_ns - launches[1].device_start_ns, 3 * kMs,
              10);
}

TEST_F(DeviceGraphTest, MoreThanThereIsRoomForAreNotTimed) {
  constexpr size_t kRoom = 256;
  StartWithNodes(&session);
  for (size_t i = 0; i < kRoom + 20; i++) Capture(1000);
  EXPECT_TRUE(Launches(session).empty());
  scripted_graph *graph = Capture(1000);
  Launch(graph);
  EXPECT_EQ(Finish().size(), kRoom + 21);
  EXPECT_EQ(session.stats.lost, 0u);
  EXPECT_TRUE(session.HasNote("more than 256 ranges in graphs"));
}

// Whatever call of the collector's meets it, is the last one.
TEST_F(DeviceGraphTest, StickyErrorAtAnyCall) {
  for (uint64_t at = 10; at <= 60; at++) {
    scripted_script script = {};
    script.sticky_at = at;
    Use(script);
    DeviceSession own;
    StartWithNodes(&own);
    scripted_graph *first = Capture(kMs);
    scripted_graph *second = Capture(2 * kMs);
    for (int i = 0; i < 3; i++) {
      scripted_graph_launch(first, stream);
      scripted_graph_launch(second, stream);
      Advance(10 * kMs);
      own.Flush();
    }
    own.Stop();
    EXPECT_EQ(own.stats.lost, 0u) << at;
    EXPECT_EQ(scripted_device_num_calls_after_error(fake), 0u) << at;
    EXPECT_EQ(scripted_device_num_violations(fake), 0u)
        << at << scripted_device_first_violation(fake);
  }
}

}  // namespace
}  // namespace pprof_test
