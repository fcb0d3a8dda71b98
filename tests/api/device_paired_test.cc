// SPDX-License-Identifier: Apache-2.0
//
// Device ranges beside host ranges stay marked as such, whatever becomes of
// them: timed, captured and launched, late, cut, without events.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "device_fixture.h"
#include "inject/inject.h"

namespace pprof_test {
namespace {

constexpr uint32_t kPaired = PPROF_FLAG_PAIRED;
constexpr uint32_t kInner = PPROF_FLAG_PAIRED | PPROF_FLAG_INNER;
constexpr uint32_t kInGraph = PPROF_FLAG_IN_GRAPH;
constexpr uint32_t kNoTime = PPROF_FLAG_NO_DEVICE_TIME;
constexpr uint32_t kLate = PPROF_FLAG_LATE | PPROF_FLAG_NO_DEVICE_TIME;
constexpr uint32_t kCut = PPROF_FLAG_CLIPPED | PPROF_FLAG_NO_DEVICE_TIME;

using Seen = std::vector<std::pair<std::string, uint32_t>>;

class DevicePairedTest : public DeviceTest {
 protected:
  void PushBoth(const char *name, void *on) {
    const pprof_inject_place_ place = {
        0, pprof_inject_push_(0, nullptr, name, PPROF_CATEGORY_USER_DEFINED),
        device, on};
    pprof_inject_device_begin_(&place);
  }
  void PopBoth() {
    pprof_inject_pop_(0);
  }

  // "outer" around "inner".
  void Pair(void *on) {
    PushBoth("outer", on);
    PushBoth("inner", on);
    scripted_stream_submit(on, kMs);
    PopBoth();
    PopBoth();
  }

  // As they were delivered.
  std::vector<pprof_event> Delivered() {
    std::vector<pprof_event> ranges;
    for (const pprof_event &event : session.events)
      if (event.kind == PPROF_KIND_DEVICE_RANGE) ranges.push_back(event);
    return ranges;
  }

  Seen Flags(const std::vector<pprof_event> &ranges) {
    Seen seen;
    for (const pprof_event &range : ranges)
      seen.push_back({session.site_names[range.site], range.flags});
    std::sort(seen.begin(), seen.end());
    return seen;
  }
};

TEST_F(DevicePairedTest, WhenTimedInnerOnesComeFirst) {
  session.Start();
  for (int i = 0; i < 3; i++) Pair(stream);
  pprof_device_range_end(pprof_device_range_begin(device, stream, &other_site),
                         stream);
  Finish();
  auto ranges = Delivered();
  ASSERT_EQ(ranges.size(), 7u);
  EXPECT_EQ(ranges[6].flags, 0u);
  for (size_t i = 0; i < 6; i++) {
    EXPECT_EQ(session.site_names[ranges[i].site], i % 2 ? "outer" : "inner");
    EXPECT_EQ(ranges[i].flags, i % 2 ? kPaired : kInner);
    EXPECT_GT(ranges[i].device_end_ns, ranges[i].device_start_ns);
  }
}

// The collector looks while ranges end: an inner one may end behind its look,
// and the one around it before it.
TEST_F(DevicePairedTest, InnerOnesComeFirstWhileTheCollectorLooks) {
  session.Start();
  // Places near the end and the beginning are free, in turns.
  std::vector<pprof_range> open;
  for (int i = 0; i < 3000; i++)
    open.push_back(pprof_device_range_begin(device, stream, &other_site));
  for (int i = 0; i < 100; i++) {
    pprof_device_range_end(open[i], stream);
    pprof_device_range_end(open[open.size() - 1 - i], stream);
  }
  session.Flush();
  for (int i = 0; i < 20000; i++) {
    const int deep = 2 + i % 7;
    for (int k = 0; k < deep; k++) PushBoth("nested", stream);
    for (int k = 0; k < deep; k++) PopBoth();
    if (i % 100 == 0) session.Flush();
  }
  for (size_t i = 100; i < open.size() - 100; i++)
    pprof_device_range_end(open[i], stream);
  Finish();
  const auto ranges = Delivered();
  EXPECT_GT(ranges.size(), 50000u);
  for (size_t i = 1; i < ranges.size(); i++)
    ASSERT_LT(ranges[i - 1].end_ns, ranges[i].end_ns) << i;
}

TEST_F(DevicePairedTest, WhenCapturedAndLaunched) {
  ASSERT_EQ(ppi_session_set_graph_nodes(session.get(), true), PPROF_STATUS_OK);
  session.Start();
  scripted_stream_set_capturing(stream, true);
  Pair(stream);
  scripted_graph *graph = scripted_stream_end_capture(stream);
  session.Flush();
  for (int i = 0; i < 2; i++) {
    scripted_graph_launch(graph, stream);
    Advance(10 * kMs);
    session.Flush();
  }
  Finish();
  auto ranges = Delivered();
  const Seen want = {{"inner", kInner | kInGraph},
                     {"inner", kInner | kInGraph},
                     {"inner", kInner | kInGraph | kNoTime},
                     {"outer", kPaired | kInGraph},
                     {"outer", kPaired | kInGraph},
                     {"outer", kPaired | kInGraph | kNoTime}};
  Seen seen = Flags(ranges);
  EXPECT_TRUE(
      std::is_permutation(want.begin(), want.end(), seen.begin(), seen.end()))
      << testing::PrintToString(seen);
  // Of each launch, too, the inner one comes first.
  for (size_t i = 2; i + 1 < ranges.size(); i += 2)
    EXPECT_EQ(session.site_names[ranges[i].site], "inner") << i;
}

TEST_F(DevicePairedTest, WhenLateCutOrWithoutEvents) {
  void *hanging = scripted_stream_create(fake, 0);
  scripted_stream_hold(hanging, true);
  session.Start();
  Pair(hanging);
  PushBoth("open", hanging);
  device = nullptr;
  PushBoth("on no device", hanging);
  PopBoth();
  session.Stop();
  const Seen want = {{"inner", kInner | kLate},
                     {"on no device", kPaired | kNoTime},
                     {"open", kPaired | kCut},
                     {"outer", kPaired | kLate}};
  EXPECT_EQ(Flags(session.DeviceRanges()), want);
  pprof_inject_pop_(0);
}

}  // namespace
}  // namespace pprof_test
