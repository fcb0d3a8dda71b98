// SPDX-License-Identifier: Apache-2.0
//
// What each marker records and counts, seen from a sink.
#include "pprof/mark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

class MarkTest : public ::testing::Test {
 protected:
  void Start() {
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  }
  void Stop() {
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_FALSE(live.recording.undefined_site);
    EXPECT_FALSE(live.recording.gap);
  }
  uint64_t Total(ppi_total_key key) {
    return live.recording.Total(key);
  }
  const std::vector<RecordedEvent> &events() {
    return live.recording.events;
  }

  LiveSession live;
};

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_FORWARD);
PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(queue_site, "queue", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(wander_site, "wander", PPROF_CATEGORY_COMMUNICATION);

pprof_work_amount Work(double items, double bytes, double flops,
                       double params) {
  return {sizeof(pprof_work_amount), items, bytes, flops, params};
}

TEST_F(MarkTest, NestedRangesAreRecordedInnerFirst) {
  Start();
  pprof_push(&outer_site);
  pprof_push(&inner_site);
  pprof_pop();
  pprof_pop();
  Stop();
  ASSERT_EQ(2u, events().size());
  EXPECT_EQ("inner", events()[0].name);
  EXPECT_EQ(1u, events()[0].event.depth);
  EXPECT_EQ("outer", events()[1].name);
  EXPECT_EQ(0u, events()[1].event.depth);
  EXPECT_EQ((uint32_t)PPROF_KIND_RANGE, events()[1].event.kind);
  EXPECT_EQ(0u, events()[1].event.flags);
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_FORWARD,
            live.recording.site_categories[events()[1].event.site]);
  EXPECT_EQ("Forward", live.recording.categories[PPROF_CATEGORY_FORWARD]);
  EXPECT_LE(events()[1].event.start_ns, events()[0].event.start_ns);
  EXPECT_LE(events()[0].event.start_ns, events()[0].event.end_ns);
  EXPECT_LE(events()[0].event.end_ns, events()[1].event.end_ns);
  EXPECT_EQ(2u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_LOST));
}

TEST_F(MarkTest, SurplusPopsAreCountedExactly) {
  Start();
  pprof_pop();
  pprof_push(&outer_site);
  pprof_pop();
  pprof_pop();
  pprof_pop();
  Stop();
  EXPECT_EQ(1u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(3u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_BEGUN_BEFORE));
}

TEST_F(MarkTest, MarkAndCounterCarryDepthAndValue) {
  Start();
  pprof_push(&outer_site);
  pprof_mark(&point_site);
  pprof_count(&queue_site, -2.5);
  pprof_pop();
  Stop();
  ASSERT_EQ(3u, events().size());
  EXPECT_EQ((uint32_t)PPROF_KIND_MARK, events()[0].event.kind);
  EXPECT_EQ(1u, events()[0].event.depth);
  EXPECT_EQ(events()[0].event.start_ns, events()[0].event.end_ns);
  EXPECT_EQ((uint32_t)PPROF_KIND_COUNTER, events()[1].event.kind);
  EXPECT_EQ(-2.5, events()[1].event.value);
  EXPECT_EQ(events()[1].event.start_ns, events()[1].event.end_ns);
  EXPECT_EQ(3u, Total(PPI_TOTAL_RECORDED));
}

TEST_F(MarkTest, FlowsAreInheritedByWhatBeginsInside) {
  Start();
  pprof_push(&outer_site);
  pprof_flow(7);
  pprof_flow(8);
  pprof_push(&inner_site);
  pprof_flow(9);
  for (uint64_t again = 7; again <= 9; again++) pprof_flow(again);
  pprof_mark(&point_site);
  pprof_range wander = pprof_range_begin(&wander_site);
  pprof_range_flow(wander, 8);
  pprof_pop();
  pprof_flow(10);
  pprof_pop();
  pprof_range_flow(wander, 11);
  pprof_range_end(wander);
  Stop();
  using Flows = std::vector<uint64_t>;
  EXPECT_EQ((Flows{7, 8, 9}), live.recording.Named("inner").at(0).flows);
  EXPECT_EQ((Flows{7, 8, 9}), live.recording.Named("point").at(0).flows);
  EXPECT_EQ((Flows{7, 8, 10}), live.recording.Named("outer").at(0).flows);
  EXPECT_EQ((Flows{7, 8, 9, 11}), live.recording.Named("wander").at(0).flows);
  EXPECT_EQ(0u, Total(PPI_TOTAL_FLOWS_LOST));
}

TEST_F(MarkTest, SixtyFourFlowsFitTheRestIsCounted) {
  Start();
  pprof_flow(1);  // no range is open
  pprof_push(&outer_site);
  for (uint64_t flow = 1; flow <= 70; flow++) pprof_flow(flow);
  pprof_flow(0);  // no number
  pprof_pop();
  pprof_range wander = pprof_range_begin(&wander_site);
  for (uint64_t flow = 1; flow <= 70; flow++) pprof_range_flow(wander, flow);
  pprof_range_end(wander);
  pprof_range_flow(wander, 1);  // over
  Stop();
  std::vector<uint64_t> expected(64);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(expected, live.recording.Named("outer").at(0).flows);
  EXPECT_EQ(expected, live.recording.Named("wander").at(0).flows);
  EXPECT_EQ(1u + 6 + 1 + 6 + 1, Total(PPI_TOTAL_FLOWS_LOST));
  EXPECT_EQ(2u, Total(PPI_TOTAL_RECORDED));
}

TEST_F(MarkTest, WorkAddsUp) {
  Start();
  pprof_work_amount first = Work(1, 20, 300, 4000);
  pprof_work_amount second = Work(2, 0, 0.5, 0);
  pprof_push(&outer_site);
  pprof_work(&first);
  pprof_push(&inner_site);
  pprof_work(&second);
  pprof_pop();
  pprof_work(&second);
  pprof_pop();
  pprof_range wander = pprof_range_begin(&wander_site);
  std::thread other([&] { pprof_range_work(wander, &first); });
  other.join();
  pprof_range_work(wander, &second);
  pprof_range_end(wander);
  pprof_work(&first);  // no range is open
  pprof_push(&point_site);
  pprof_pop();  // its frame had an amount in it before
  Stop();
  RecordedEvent outer = live.recording.Named("outer").at(0);
  ASSERT_TRUE(outer.has_work);
  EXPECT_EQ(3, outer.work.items);
  EXPECT_EQ(20, outer.work.bytes);
  EXPECT_EQ(300.5, outer.work.flops);
  EXPECT_EQ(4000, outer.work.params);
  RecordedEvent inner = live.recording.Named("inner").at(0);
  ASSERT_TRUE(inner.has_work);
  EXPECT_EQ(2, inner.work.items);
  EXPECT_EQ(0, inner.work.params);
  RecordedEvent wandered = live.recording.Named("wander").at(0);
  ASSERT_TRUE(wandered.has_work);
  EXPECT_EQ(3, wandered.work.items);
  EXPECT_EQ(4000, wandered.work.params);
  EXPECT_FALSE(live.recording.Named("point").at(0).has_work);
  EXPECT_EQ(1u, Total(PPI_TOTAL_FLOWS_LOST));
}

TEST_F(MarkTest, WorkOfASmallerStructureIsTaken) {
  Start();
  pprof_work_amount work = Work(5, 6, 7, 8);
  work.size = offsetof(pprof_work_amount, flops);  // an older caller
  pprof_push(&outer_site);
  pprof_work(&work);
  pprof_work(nullptr);
  pprof_pop();
  Stop();
  ASSERT_EQ(1u, events().size());
  EXPECT_EQ(5, events()[0].work.items);
  EXPECT_EQ(6, events()[0].work.bytes);
  EXPECT_EQ(0, events()[0].work.flops);
}

TEST_F(MarkTest, SixHundredDeepKeeps512) {
  Start();
  for (int i = 0; i < 600; i++) pprof_push(&outer_site);
  pprof_mark(&point_site);
  for (int i = 0; i < 600; i++) pprof_pop();
  Stop();
  EXPECT_EQ(512u, live.recording.Named("outer").size());
  EXPECT_EQ(511u, live.recording.Named("outer").front().event.depth);
  EXPECT_EQ(600u, live.recording.Named("point").at(0).event.depth);
  EXPECT_EQ(513u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(88u, Total(PPI_TOTAL_LOST));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(MarkTest, SeventyThousandDeepStaysExact) {
  Start();
  for (int i = 0; i < 70000; i++) pprof_push(&outer_site);
  for (int i = 0; i < 70000; i++) pprof_pop();
  pprof_push(&inner_site);
  pprof_pop();
  Stop();
  EXPECT_EQ(513u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(70000u - 512, Total(PPI_TOTAL_LOST));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(0u, live.recording.Named("inner").at(0).event.depth);
}

TEST_F(MarkTest, ScopesSeventyThousandDeepStayExact) {
  Start();
  std::vector<pprof_scope_token> scopes;
  for (int i = 0; i < 70000; i++)
    scopes.push_back(pprof_scope_push_(&outer_site));
  pprof_push(&inner_site);  // left open
  for (int i = 70000; i-- > 0;) pprof_scope_pop_(&scopes[i]);
  pprof_push(&inner_site);
  pprof_pop();
  pprof_pop();  // one too many
  Stop();
  EXPECT_EQ(513u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(70001u - 512, Total(PPI_TOTAL_LOST));
  EXPECT_EQ(1u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(0u, live.recording.Named("inner").at(0).event.depth);
}

// A lane begins with room for few of them.
TEST_F(MarkTest, WhatADeepStackIsSaidOfStaysWithItsRanges) {
  Start();
  for (int i = 1; i <= 100; i++) {
    pprof_push(&outer_site);
    pprof_flow(1000 + i);
    pprof_work_amount work = {sizeof work, 1.0 * i, 0, 0, 0};
    if (i <= 60 || i == 100) pprof_work(&work);
  }
  for (int i = 100; i >= 1; i--) pprof_pop();
  Stop();
  ASSERT_EQ(100u, events().size());
  for (uint32_t i = 0; i < 100; i++) {
    const uint32_t made = 100 - i;
    EXPECT_EQ(made - 1, events()[i].event.depth);
    const bool has_work = made <= 60 || made == 100;
    EXPECT_EQ(has_work, events()[i].has_work);
    EXPECT_EQ(has_work ? 1.0 * made : 0, events()[i].work.items);
    // 64 of a range at most.
    ASSERT_EQ(std::min(made, 64u), events()[i].flows.size());
    EXPECT_EQ(1001u, events()[i].flows.front());
    EXPECT_EQ(1000u + std::min(made, 64u), events()[i].flows.back());
  }
  EXPECT_EQ(0u, Total(PPI_TOTAL_LOST));
}

TEST_F(MarkTest, ScopeClosesWhatWasLeftOpenInside) {
  Start();
  {
    PPROF_SCOPE_CAT("scope", PPROF_CATEGORY_INFERENCE);
    pprof_push(&outer_site);
    pprof_push(&inner_site);
  }
  Stop();
  ASSERT_EQ(3u, events().size());
  EXPECT_EQ("inner", events()[0].name);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ABANDONED, events()[0].event.flags);
  EXPECT_EQ("outer", events()[1].name);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ABANDONED, events()[1].event.flags);
  EXPECT_EQ("scope", events()[2].name);
  EXPECT_EQ(0u, events()[2].event.flags);
  EXPECT_EQ(events()[0].event.end_ns, events()[2].event.end_ns);
  EXPECT_EQ(2u, Total(PPI_TOTAL_ABANDONED));
  EXPECT_EQ(3u, Total(PPI_TOTAL_RECORDED));
}

TEST_F(MarkTest, ScopeThatWasPoppedAlreadyIsUnmatched) {
  Start();
  pprof_push(&outer_site);
  {
    PPROF_SCOPE("scope");
    pprof_pop();
  }
  pprof_pop();
  Stop();
  EXPECT_EQ(2u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(1u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(0u, live.recording.Named("outer").at(0).event.flags);
}

TEST_F(MarkTest, ScopeBeyondTheStackIsBalanced) {
  Start();
  for (int i = 0; i < 512; i++) pprof_push(&outer_site);
  {
    PPROF_SCOPE("too deep");
    pprof_push(&inner_site);
  }
  for (int i = 0; i < 512; i++) pprof_pop();
  Stop();
  EXPECT_EQ(512u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(2u, Total(PPI_TOTAL_LOST));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(MarkTest, ScopeEndedOnAnotherThreadIsUnmatched) {
  Start();
  pprof_scope_token token = pprof_scope_push_(&outer_site);
  std::thread other([&] { pprof_scope_pop_(&token); });
  other.join();
  pprof_pop();
  Stop();
  EXPECT_EQ(1u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(1u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(MarkTest, ScopeOfAnEarlierSessionIsIgnored) {
  Start();
  pprof_scope_token token = pprof_scope_push_(&outer_site);
  Stop();
  EXPECT_EQ(1u, Total(PPI_TOTAL_CLIPPED));
  LiveSession next;
  ASSERT_EQ(PPROF_STATUS_OK, next.Start());
  pprof_push(&inner_site);
  pprof_scope_pop_(&token);
  pprof_pop();
  ASSERT_EQ(PPROF_STATUS_OK, next.Stop());
  EXPECT_EQ(1u, next.recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(0u, next.recording.Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(MarkTest, RangeEndedOnAnotherThread) {
  Start();
  pprof_thread_name("beginner");
  pprof_push(&outer_site);
  pprof_range range = pprof_range_begin(&wander_site);
  pprof_pop();
  std::thread other([&] {
    pprof_thread_name("ender");
    pprof_range_end(range);
    pprof_range_end(range);
  });
  other.join();
  pprof_range_end(range);
  pprof_range_end(pprof_range{0});
  Stop();
  RecordedEvent event = live.recording.Named("wander").at(0);
  EXPECT_EQ("beginner", live.recording.lanes[event.event.lane]);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ASYNC, event.event.flags);
  EXPECT_EQ(1u, event.event.depth);
  EXPECT_EQ(2u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(2u, Total(PPI_TOTAL_RECORDED));
}

TEST_F(MarkTest, RangeOfAnEarlierSessionIsNotEndedAgain) {
  Start();
  pprof_range range = pprof_range_begin(&wander_site);
  Stop();
  EXPECT_EQ(1u, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(1u, Total(PPI_TOTAL_CLIPPED));
  LiveSession next;
  ASSERT_EQ(PPROF_STATUS_OK, next.Start());
  pprof_range other = pprof_range_begin(&wander_site);
  pprof_range_end(range);
  pprof_range_end(other);
  ASSERT_EQ(PPROF_STATUS_OK, next.Stop());
  EXPECT_EQ(1u, next.recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(0u, next.recording.Total(PPI_TOTAL_CLIPPED));
}

TEST_F(MarkTest, OpenRangesEndAsRecordsAtStop) {
  Start();
  pprof_push(&outer_site);
  pprof_push(&inner_site);
  pprof_range_begin(&wander_site);
  Stop();
  ASSERT_EQ(3u, events().size());
  for (const auto &event : events())
    EXPECT_TRUE(event.event.flags & PPROF_FLAG_CLIPPED) << event.name;
  EXPECT_EQ(3u, Total(PPI_TOTAL_CLIPPED));
  EXPECT_EQ(3u, Total(PPI_TOTAL_RECORDED));
}

TEST_F(MarkTest, RangesBeyondTheTableAreLost) {
  live.options.drain_interval_us = kKeptAwayUs;
  live.options.memory_limit_bytes = 2u << 20;
  Start();
  uint64_t kept = 0, refused = 0;
  for (int i = 0; i < 5000; i++) {
    if (pprof_range_begin(&wander_site).id)
      kept++;
    else
      refused++;
  }
  EXPECT_GT(kept, 0u);
  EXPECT_GT(refused, 0u);
  Stop();
  EXPECT_EQ(kept, Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(refused, Total(PPI_TOTAL_LOST));
}

TEST_F(MarkTest, FullRingKeepsRoomForEveryOpenRange) {
  live.options.drain_interval_us = kKeptAwayUs;
  live.options.memory_limit_bytes = 2u << 20;
  Start();
  uint64_t begun = 0;
  for (int i = 0; i < 40; i++, begun++) pprof_push(&outer_site);
  pprof_flow(3);
  // Marks until there is no room beyond what the open ranges need.
  for (int i = 0; i < 60000; i++, begun++) pprof_mark(&point_site);
  for (int i = 0; i < 10; i++, begun++) pprof_count(&queue_site, i);
  for (int i = 0; i < 10; i++, begun++) pprof_push(&inner_site);
  for (int i = 0; i < 50; i++) pprof_pop();
  Stop();
  EXPECT_EQ(40u, live.recording.Named("outer").size());
  EXPECT_EQ(0u, live.recording.Named("inner").size());
  EXPECT_GT(Total(PPI_TOTAL_LOST), 20u);
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(begun, Total(PPI_TOTAL_RECORDED) + Total(PPI_TOTAL_LOST));
}

TEST_F(MarkTest, ExtensionsWithoutRoomAreDroppedTheirRecordsAreNot) {
  live.options.drain_interval_us = kKeptAwayUs;
  live.options.memory_limit_bytes = 2u << 20;
  Start();
  pprof_work_amount work = Work(1, 2, 3, 4);
  for (int i = 0; i < 40; i++) pprof_push(&outer_site);
  pprof_flow(1);
  pprof_flow(2);
  pprof_work(&work);
  for (int i = 0; i < 60000; i++) pprof_mark(&point_site);
  for (int i = 0; i < 40; i++) pprof_pop();
  Stop();
  ASSERT_EQ(40u, live.recording.Named("outer").size());
  RecordedEvent event = live.recording.Named("outer")[0];
  EXPECT_EQ(39u, event.event.depth);
  EXPECT_FALSE(event.has_work);
  EXPECT_EQ(1u, event.flows.size());
  EXPECT_EQ(2u, Total(PPI_TOTAL_FLOWS_LOST));
}

TEST_F(MarkTest, NothingIsRecordedOutsideASession) {
  pprof_push(&outer_site);
  pprof_mark(&point_site);
  EXPECT_EQ(0u, pprof_range_begin(&wander_site).id);
  pprof_step(1);
  pprof_pop();
  Start();
  Stop();
  pprof_push(&outer_site);
  pprof_pop();
  EXPECT_EQ(0u, events().size());
  EXPECT_EQ(0u, Total(PPI_TOTAL_RECORDED));
}

TEST_F(MarkTest, StepsAreRangesOfTheProcess) {
  Start();
  pprof_step(10);
  pprof_step(20);
  Stop();
  ASSERT_EQ(3u, events().size());
  double numbers[] = {0, 1, 2}, items[] = {10, 20, 0};
  for (size_t i = 0; i < 3; i++) {
    const RecordedEvent &step = events()[i];
    EXPECT_EQ("ProfileStep", step.name);
    EXPECT_EQ(0u, step.event.lane);
    EXPECT_EQ(numbers[i], step.event.value);
    EXPECT_EQ(items[i], step.has_work ? step.work.items : 0);
    EXPECT_EQ((uint32_t)PPROF_CATEGORY_PROFILE_STEP,
              live.recording.site_categories[step.event.site]);
    if (i) {
      EXPECT_EQ(events()[i - 1].event.end_ns, step.event.start_ns);
    }
  }
  EXPECT_EQ(0u, events()[0].event.start_ns);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ASYNC, events()[1].event.flags);
  EXPECT_EQ((uint32_t)(PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED),
            events()[2].event.flags);
}

}  // namespace
}  // namespace pprof_test
