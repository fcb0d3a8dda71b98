// SPDX-License-Identifier: Apache-2.0
//
// Capture windows by steps: which steps they hold, and what becomes of ranges
// at their edges. Times come from an injected clock, one tick a nanosecond.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

#include "pprof/mark.h"
#include "tests/support/window_session.h"

namespace pprof_test {
namespace {

PPROF_SITE(a_site, "a", PPROF_CATEGORY_FORWARD);
PPROF_SITE(b_site, "b", PPROF_CATEGORY_FORWARD);
PPROF_SITE(c_site, "c", PPROF_CATEGORY_FORWARD);
PPROF_SITE(wander_site, "wander", PPROF_CATEGORY_FORWARD);

TEST_F(WindowTest, WithoutScheduleOneWindowFromStartToStop) {
  Start(ppi_capture{});
  At(10);
  pprof_push(&a_site);
  At(30);
  pprof_pop();
  Stop(100);
  ExpectEvent("a", 10, 30, 0, 0);
  ASSERT_EQ(2u, live.recording.windows.size());
  ExpectWindow(0, 0, true, 0);
  ExpectWindow(1, 0, false, 100);
}

// What session.h says of pprof_stats, term by term.
TEST_F(WindowTest, StatsAddUpOverClosedWindowsToo) {
  // Step 0 closed, 1 warm-up, 2 recorded, then closed. Rules by steps: nothing
  // is watched meanwhile.
  Start(Cycle(0, 1, 1, 1, 1));
  for (uint64_t step = 0; step < 4; step++) {
    At(100 * step + 10);
    pprof_push(&a_site);
    pprof_range end = pprof_range_begin(&wander_site);
    pprof_mark(&b_site);
    pprof_count(&c_site, 1);
    pprof_range_end(end);
    pprof_pop();
    StepAt(100 * step + 100);
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  Stop(700);
  const pprof_stats stats = live.Stats();
  EXPECT_EQ(4u + 1, stats.recorded);  // and step 2
  EXPECT_EQ(0u, stats.lost);
  EXPECT_EQ(4u, stats.excluded);  // in warm-up; nothing of the closed ones
  EXPECT_EQ(0u, stats.unmatched);
  EXPECT_EQ(0u, stats.begun_before);
}

TEST_F(WindowTest, OnlyRecordedStepsAreInTheResult) {
  // Steps 0 closed, 1 warm-up, 2 and 3 recorded, then closed.
  Start(Cycle(0, 1, 1, 2, 1));
  for (uint64_t step = 0; step < 6; step++) {
    At(100 * step + 10);
    pprof_push(&a_site);
    At(100 * step + 20);
    pprof_pop();
    StepAt(100 * step + 100);
  }
  Stop(700);
  auto a = live.recording.Named("a");
  ASSERT_EQ(2u, a.size());
  EXPECT_EQ(210u, a[0].event.start_ns);
  EXPECT_EQ(310u, a[1].event.start_ns);
  EXPECT_EQ(1u, Total(PPI_TOTAL_EXCLUDED));  // the warm-up's
  auto steps = live.recording.Named("ProfileStep");
  ASSERT_EQ(2u, steps.size());
  EXPECT_EQ(2, steps[0].event.value);
  EXPECT_EQ(200u, steps[0].event.start_ns);
  EXPECT_EQ(300u, steps[0].event.end_ns);
  EXPECT_EQ(3, steps[1].event.value);
  EXPECT_EQ(400u, steps[1].event.end_ns);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ASYNC, steps[1].event.flags);
  ASSERT_EQ(2u, live.recording.windows.size());
  ExpectWindow(0, 0, true, 200);
  ExpectWindow(1, 0, false, 400);
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_BEGUN_BEFORE));
}

TEST_F(WindowTest, RangesAreClippedAtTheClosingEdge) {
  Start(Cycle(0, 0, 0, 1, 1));
  At(10);
  pprof_push(&a_site);
  At(20);
  pprof_push(&b_site);
  StepAt(50);
  At(60);
  pprof_pop();
  pprof_pop();
  Stop(100);
  ExpectEvent("a", 10, 50, PPROF_FLAG_CLIPPED, 0);
  ExpectEvent("b", 20, 50, PPROF_FLAG_CLIPPED, 0);
  EXPECT_EQ(2u, Total(PPI_TOTAL_CLIPPED));
  // Nothing records while they are popped, so nothing counts that.
  EXPECT_EQ(0u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(WindowTest, RangesOpenAtAnEdgeBetweenWindowsAreBegunBefore) {
  Start(Cycle(0, 0, 0, 1, 2));
  At(10);
  pprof_push(&a_site);
  pprof_push(&b_site);
  StepAt(50);
  At(60);
  pprof_push(&c_site);
  At(70);
  pprof_pop();
  pprof_pop();  // b
  pprof_pop();  // a
  pprof_pop();  // nothing
  Stop(100);
  ExpectEvent("a", 10, 50, PPROF_FLAG_CLIPPED, 0);
  ExpectEvent("c", 60, 70, 0, 1);
  EXPECT_EQ(2u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(1u, Total(PPI_TOTAL_UNMATCHED));
  ASSERT_EQ(4u, live.recording.windows.size());
  ExpectWindow(1, 0, false, 50);
  ExpectWindow(2, 1, true, 50);
}

TEST_F(WindowTest, RangesBegunWhileClosedAreCountedAtTheirEnd) {
  Start(Cycle(0, 1, 0, 1, 1));
  At(10);
  pprof_push(&a_site);
  StepAt(50);
  At(60);
  pprof_pop();
  At(70);
  pprof_push(&b_site);
  At(80);
  pprof_pop();
  Stop(100);
  EXPECT_EQ(0u, live.recording.Named("a").size());
  ExpectEvent("b", 70, 80, 0, 0);
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(WindowTest, RangesBegunInWarmUpAreExcluded) {
  Start(Cycle(0, 0, 1, 1, 1));
  At(10);
  pprof_push(&a_site);
  pprof_range range = pprof_range_begin(&wander_site);
  pprof_mark(&c_site);
  StepAt(50);
  At(60);
  pprof_pop();
  pprof_range_end(range);
  pprof_push(&b_site);
  pprof_pop();
  Stop(100);
  EXPECT_EQ(0u, live.recording.Named("a").size());
  EXPECT_EQ(0u, live.recording.Named("wander").size());
  EXPECT_EQ(1u, live.recording.Named("b").size());
  EXPECT_EQ(3u, Total(PPI_TOTAL_EXCLUDED));
  EXPECT_EQ(2u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(WindowTest, IdleThreadsAreCutByTheCollector) {
  Start(Cycle(0, 0, 0, 1, 2));
  std::promise<void> pushed, go_on;
  std::thread idle([&] {
    pprof_push(&a_site);
    pushed.set_value();
    go_on.get_future().wait();
    pprof_pop();
  });
  At(10);
  pushed.get_future().wait();
  StepAt(50);
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  // Its thread has not marked since, the record is there.
  auto cut = live.recording.Named("a");
  ASSERT_EQ(1u, cut.size());
  EXPECT_EQ(50u, cut[0].event.end_ns);
  EXPECT_EQ((uint32_t)PPROF_FLAG_CLIPPED, cut[0].event.flags);
  go_on.set_value();
  idle.join();
  Stop(100);
  EXPECT_EQ(1u, live.recording.Named("a").size());
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_ABANDONED));
}

TEST_F(WindowTest, WanderingRangeIsClippedWhereItsWindowCloses) {
  Start(Cycle(0, 0, 0, 1, 2));
  At(10);
  pprof_range range = pprof_range_begin(&wander_site);
  StepAt(50);
  At(60);
  pprof_range_end(range);
  Stop(100);
  ExpectEvent("wander", 10, 50, PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED, 0);
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(WindowTest, WanderingRangeCutByTheCollectorCountsTheSame) {
  Start(Cycle(0, 0, 0, 1, 2));
  At(10);
  pprof_range range = pprof_range_begin(&wander_site);
  StepAt(50);
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  At(60);
  pprof_range_end(range);
  pprof_range_end(range);  // and this one is a double end
  Stop(100);
  ExpectEvent("wander", 10, 50, PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED, 0);
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(1u, Total(PPI_TOTAL_UNMATCHED));
}

// Slots are used again at once: the ends come when others have been cut there.
TEST_F(WindowTest, WanderingRangesCutInTheSamePlace) {
  Start(Cycle(0, 0, 0, 1, 0));
  pprof_range ranges[3];
  for (uint64_t i = 0; i < 3; i++) {
    At(100 * i + 10);
    ranges[i] = pprof_range_begin(&wander_site);
    StepAt(100 * i + 100);
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  }
  for (const pprof_range range : ranges) {
    pprof_range_flow(range, 7);
    pprof_range_end(range);
  }
  pprof_range_end(ranges[0]);  // a double end
  Stop(400);
  EXPECT_EQ(3u, live.recording.Named("wander").size());
  EXPECT_EQ(3u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(1u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_FLOWS_LOST));
}

TEST_F(WindowTest, ScopeOverAnEdgeIsCutAndItsEndIgnored) {
  Start(Cycle(0, 0, 0, 1, 2));
  At(10);
  {
    PPROF_SCOPE("scope");
    StepAt(50);
    pprof_push(&b_site);
  }
  At(60);
  pprof_pop();
  Stop(100);
  ExpectEvent("scope", 10, 50, PPROF_FLAG_CLIPPED, 0);
  // The older scope's end does not touch what was opened after the edge.
  ExpectEvent("b", 50, 60, 0, 1);
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(WindowTest, SurplusPopAfterACutScopeIsStillUnmatched) {
  Start(Cycle(0, 0, 0, 1, 2));
  {
    PPROF_SCOPE("scope");
    StepAt(50);
  }
  pprof_pop();
  Stop(100);
  EXPECT_EQ(1u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));  // the end of the scope
}

TEST_F(WindowTest, ManyWindowsKeepTheirOwnEvents) {
  Start(Cycle(0, 1, 0, 1, 0));
  for (uint64_t step = 0; step < 40; step++) {
    At(100 * step + 10);
    pprof_push(&a_site);
    At(100 * step + 20);
    pprof_pop();
    // Keeps the collector near, so that no edge has to wait.
    if (step % 8 == 0) {
      ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
    }
    StepAt(100 * step + 100);
  }
  Stop(4100);
  auto a = live.recording.Named("a");
  ASSERT_EQ(20u, a.size());
  for (uint32_t i = 0; i < 20; i++) {
    EXPECT_EQ(i, a[i].event.window);
    EXPECT_EQ(200u * i + 110, a[i].event.start_ns);
    ExpectWindow(2 * i, i, true, 200 * i + 100);
    ExpectWindow(2 * i + 1, i, false, 200 * i + 200);
  }
}

TEST_F(WindowTest, ThousandsOfEdgesWithTheCollectorAway) {
  live.options.drain_interval_us = kKeptAwayUs;
  Start(Cycle(0, 0, 0, 1, 0));  // an edge at each step
  uint64_t begun = 0;
  for (uint64_t step = 0; step < 2000; step++, begun += 2) {
    At(100 * step + 10);
    pprof_push(&a_site);
    pprof_mark(&b_site);
    At(100 * step + 20);
    pprof_pop();
    StepAt(100 * step + 100);
  }
  Stop(300000);
  uint64_t steps = live.recording.Named("ProfileStep").size();
  EXPECT_EQ(begun, live.recording.Named("a").size() +
                       live.recording.Named("b").size() +
                       Total(PPI_TOTAL_LOST) - (2001 - steps) +
                       Total(PPI_TOTAL_EXCLUDED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(WindowTest, StopInsideAWindowClosesIt) {
  Start(Cycle(1, 0, 0, 5, 1));
  StepAt(50);
  At(60);
  pprof_push(&a_site);
  Stop(90);
  ExpectEvent("a", 60, 90, PPROF_FLAG_CLIPPED, 0);
  ExpectEvent("ProfileStep", 50, 90, PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED, 0);
  ExpectWindow(1, 0, false, 90);
}

TEST_F(WindowTest, FirstMarkerOfAThreadMayComeInAnyWindow) {
  Start(Cycle(0, 1, 0, 1, 0));
  StepAt(50);
  std::thread late([] {
    pprof_pop();  // of a range begun while nothing recorded
    pprof_push(&a_site);
    pprof_pop();
  });
  late.join();
  Stop(100);
  ExpectEvent("a", 50, 50, 0, 0);
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

}  // namespace
}  // namespace pprof_test
