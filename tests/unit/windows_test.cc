// SPDX-License-Identifier: Apache-2.0
//
// Windows that are not opened by steps: by time, on demand, by rules that
// change while the session runs; and what becomes of the step that is open.
#include <future>
#include <string>
#include <thread>

#include "mark/thread.h"
#include "session/capture/capture_session.h"
#include "session/capture/windows.h"
#include "session/state/session_impl.h"
#include "session/state/session_state.h"
#include "tests/support/window_session.h"

namespace pprof_test {
namespace {

PPROF_SITE(a_site, "a", PPROF_CATEGORY_FORWARD);
PPROF_SITE(b_site, "b", PPROF_CATEGORY_FORWARD);
PPROF_SITE(wander_site, "wander", PPROF_CATEGORY_FORWARD);

class WindowsTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    live.options.drain_interval_us = kKeptAwayUs;
  }
  void RangeAt(pprof_site *site, uint64_t start, uint64_t end) {
    At(start);
    pprof_push(site);
    At(end);
    pprof_pop();
  }
  pprof_status DemandSteps(uint64_t steps) {
    const ppi_demand demand = {steps, 0};
    return ppi_session_demand(live.session(), &demand, &demanded);
  }
  pprof_status DemandNs(uint64_t ns) {
    const ppi_demand demand = {0, ns};
    return ppi_session_demand(live.session(), &demand, &demanded);
  }
  pprof_status Change(const ppi_capture &capture) {
    return ppi_session_set_capture(live.session(), &capture);
  }
  std::vector<RecordedEvent> Steps() {
    return live.recording.Named("ProfileStep");
  }
  uint32_t demanded = 99;
};

TEST_F(WindowsTest, TimeOpensAndCloses) {
  Start(Capture(TimeRule(100, 50)));
  RangeAt(&a_site, 10, 20);
  LookAt(100);
  RangeAt(&b_site, 110, 120);
  LookAt(150);
  RangeAt(&a_site, 160, 170);
  Stop(200);
  ExpectWindows({100, 150});
  ExpectEvent("b", 110, 120, 0, 0);
  EXPECT_EQ(0u, live.recording.Named("a").size());
  // Nothing was recorded outside, so nothing had to be thrown away.
  EXPECT_EQ(0u, Total(PPI_TOTAL_EXCLUDED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_LOST));
}

TEST_F(WindowsTest, TimeFromTheStartOn) {
  Start(Capture(TimeRule(0, 50, 100, 2)));
  RangeAt(&a_site, 10, 20);
  LookAt(50);
  LookAt(100);
  LookAt(150);
  LookAt(200);
  Stop(250);
  ExpectWindows({0, 50, 100, 150});
  ExpectEvent("a", 10, 20, 0, 0);
}

TEST_F(WindowsTest, WindowsByTimeThatTouchAreTwo) {
  Start(Capture(TimeRule(0, 50, 50)));
  LookAt(50);
  Stop(70);
  ExpectWindows({0, 50, 50, 70});
}

// The edge is where somebody looks: never in the past, where records lie.
TEST_F(WindowsTest, AnEdgeThatComesLateIsLate) {
  Start(Capture(TimeRule(0, 50)));
  RangeAt(&a_site, 60, 61);
  LookAt(65);
  Stop(100);
  ExpectWindows({0, 65});
  ExpectEvent("a", 60, 61, 0, 0);
}

TEST_F(WindowsTest, WindowsNobodyLookedAtAreLeftOut) {
  Start(Capture(TimeRule(10, 10, 100)));
  LookAt(315);
  LookAt(320);
  Stop(400);
  ExpectWindows({315, 320});
}

TEST_F(WindowsTest, AStepLooksAtTheTimeToo) {
  Start(Capture(TimeRule(100, 50)));
  StepAt(100);
  RangeAt(&a_site, 110, 120);
  StepAt(150);
  Stop(200);
  ExpectWindows({100, 150});
  ExpectEvent("a", 110, 120, 0, 0);
  ExpectEvent("ProfileStep", 100, 150, PPROF_FLAG_ASYNC, 0);
}

TEST_F(WindowsTest, TheCollectorComesByItselfWhenItIsTime) {
  ppi_clock_inject(nullptr, 0);
  std::promise<void> opened;
  bool told = false;
  live.recording.on_window = [&](bool opens) {
    if (opens && !told) opened.set_value();
    told |= opens;
  };
  ASSERT_NE(nullptr, live.Create());
  const ppi_capture capture = Capture(TimeRule(1000000, 1000000000));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  opened.get_future().wait();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(2u, live.recording.windows.size());
  EXPECT_LE(1000000u, live.recording.windows[0].time_ns);
}

TEST_F(WindowsTest, AtIsATimeOfTheWallClock) {
  Start(Capture(DemandRule()));
  ppi_capture capture = Capture(TimeRule(5, 10, 100));
  capture.rules[0].time.at_realtime_ns =
      ppi_recorder_in_force.spool.header->start_realtime_ns + 200;
  ASSERT_EQ(PPROF_STATUS_OK, Change(capture));
  LookAt(204);
  LookAt(205);
  LookAt(215);
  LookAt(305);
  Stop(310);
  ExpectWindows({205, 215, 305, 310});
}

TEST_F(WindowsTest, AtMayLieBeforeTheStart) {
  Start(Capture(DemandRule()));
  ppi_capture capture = Capture(TimeRule(0, 10, 100));
  capture.rules[0].time.at_realtime_ns =
      ppi_recorder_in_force.spool.header->start_realtime_ns - 230;
  ASSERT_EQ(PPROF_STATUS_OK, Change(capture));
  LookAt(70);
  Stop(75);
  ExpectWindows({70, 75});
}

// The wall clock turns out to be a little behind: windows that come are later,
// the one that is open stays, and none comes twice.
TEST_F(WindowsTest, TheWallClockIsSet) {
  Start(Capture(DemandRule()));
  const uint64_t start = ppi_recorder_in_force.spool.header->start_realtime_ns;
  ppi_capture capture = Capture(TimeRule(0, 10, 100));
  capture.rules[0].time.at_realtime_ns = start + 100;
  ASSERT_EQ(PPROF_STATUS_OK, Change(capture));
  ppi_clock_sample sample = {};
  sample.ticks = 5000;
  sample.realtime_ns = start - 5;
  LookAt(100);
  ppi_windows_set_from(live.session(), 0, &sample);
  LookAt(110);
  ppi_windows_set_from(live.session(), 0, &sample);
  StepAt(112);
  LookAt(200);
  LookAt(205);
  LookAt(215);
  Stop(300);
  ExpectWindows({100, 110, 205, 215});
}

TEST_F(WindowsTest, RangesAreClippedAtATimesEdges) {
  Start(Capture(TimeRule(100, 50)));
  At(90);
  pprof_push(&a_site);
  LookAt(100);
  At(110);
  pprof_pop();  // begun before
  pprof_push(&b_site);
  pprof_range range = pprof_range_begin(&wander_site);
  LookAt(150);
  At(160);
  pprof_range_end(range);
  pprof_pop();
  Stop(200);
  ExpectEvent("b", 110, 150, PPROF_FLAG_CLIPPED, 0);
  ExpectEvent("wander", 110, 150, PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED, 0);
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(2u, Total(PPI_TOTAL_CLIPPED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

// Of steps 1 and 3 only a part lies in the window: they are not whole.
TEST_F(WindowsTest, StepsAreCutWhereAWindowIsInsideThem) {
  Start(Capture(TimeRule(150, 200)));
  StepAt(100);
  LookAt(150);
  StepAt(200);
  StepAt(300);
  LookAt(350);
  StepAt(400);
  Stop(500);
  auto steps = Steps();
  ASSERT_EQ(3u, steps.size());
  EXPECT_EQ(1, steps[0].event.value);
  EXPECT_EQ(150u, steps[0].event.start_ns);
  EXPECT_EQ(200u, steps[0].event.end_ns);
  EXPECT_EQ((uint32_t)(PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED),
            steps[0].event.flags);
  EXPECT_EQ(2, steps[1].event.value);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ASYNC, steps[1].event.flags);
  EXPECT_EQ(3, steps[2].event.value);
  EXPECT_EQ(300u, steps[2].event.start_ns);
  EXPECT_EQ(350u, steps[2].event.end_ns);
  EXPECT_EQ((uint32_t)(PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED),
            steps[2].event.flags);
  ASSERT_EQ(2u, live.recording.windows.size());
}

TEST_F(WindowsTest, AProgramWithoutStepsHasNone) {
  Start(Capture(TimeRule(0, 50, 100)));
  LookAt(50);
  LookAt(100);
  LookAt(150);
  Stop(180);
  EXPECT_EQ(0u, Steps().size());
  ExpectWindows({0, 50, 100, 150});
  // Nothing is listed as open any more in a window that is closed.
  ASSERT_FALSE(live.recording.num_open.empty());
  EXPECT_EQ(0u, live.recording.num_open.back());
}

TEST_F(WindowsTest, StepsAndTimesMayStandTogether) {
  Start(Capture(TimeRule(120, 200), StepsRule(1, 0, 0, 1, 1)));
  StepAt(100);  // step 1: the rule by steps records
  LookAt(120);  // the rule by time comes first: its window, its name
  StepAt(200);
  LookAt(320);
  Stop(400);
  ExpectWindows({100, 120, 120, 320});
}

TEST_F(WindowsTest, DemandForATime) {
  Start(Capture(DemandRule()));
  RangeAt(&a_site, 10, 20);
  At(100);
  ASSERT_EQ(PPROF_STATUS_OK, DemandNs(50));
  EXPECT_EQ(0u, demanded);
  RangeAt(&b_site, 110, 120);
  EXPECT_EQ(PPROF_STATUS_BUSY, DemandNs(50));
  EXPECT_EQ(PPROF_STATUS_BUSY, DemandSteps(1));
  LookAt(150);
  RangeAt(&a_site, 160, 170);
  At(180);
  ASSERT_EQ(PPROF_STATUS_OK, DemandNs(UINT64_MAX));
  EXPECT_EQ(1u, demanded);
  Stop(200);
  ExpectWindows({100, 150, 180, 200});
  ExpectEvent("b", 110, 120, 0, 0);
  EXPECT_EQ(0u, live.recording.Named("a").size());
}

TEST_F(WindowsTest, DemandForSteps) {
  Start(Capture(DemandRule()));
  StepAt(100);
  At(150);
  ASSERT_EQ(PPROF_STATUS_OK, DemandSteps(2));
  EXPECT_EQ(0u, demanded);
  EXPECT_EQ(PPROF_STATUS_BUSY, DemandSteps(2));
  EXPECT_EQ(PPROF_STATUS_BUSY, DemandNs(2));
  StepAt(200);
  EXPECT_EQ(PPROF_STATUS_BUSY, DemandSteps(2));
  StepAt(300);
  StepAt(400);
  ASSERT_EQ(PPROF_STATUS_OK, DemandSteps(1));
  EXPECT_EQ(1u, demanded);
  StepAt(500);
  StepAt(600);
  Stop(700);
  ExpectWindows({200, 400, 500, 600});
  auto steps = Steps();
  ASSERT_EQ(3u, steps.size());
  EXPECT_EQ(2, steps[0].event.value);
  EXPECT_EQ(3, steps[1].event.value);
  EXPECT_EQ(5, steps[2].event.value);
}

TEST_F(WindowsTest, ADemandThatNoStepAnswersIsWithdrawn) {
  Start(Capture(DemandRule()));
  EXPECT_FALSE(ppi_session_withdraw(live.session()));
  ASSERT_EQ(PPROF_STATUS_OK, DemandSteps(2));
  EXPECT_TRUE(ppi_session_withdraw(live.session()));
  EXPECT_FALSE(ppi_session_withdraw(live.session()));
  StepAt(100);
  Stop(200);
  ExpectWindows({});
}

TEST_F(WindowsTest, ThatNoWindowOpenedIsNoted) {
  Start(Capture(DemandRule()));
  Stop(200);
  EXPECT_EQ("no window has opened, so nothing was recorded",
            live.recording.notes["capture"]);
}

TEST_F(WindowsTest, ADemandTakesTheNextWindowWhoseverItIs) {
  Start(Capture(TimeRule(150, 10)));
  ASSERT_EQ(PPROF_STATUS_OK, DemandSteps(1));
  EXPECT_EQ(0u, demanded);
  LookAt(150);
  LookAt(160);
  StepAt(200);
  StepAt(300);
  Stop(400);
  ExpectWindows({150, 300});
  EXPECT_EQ(0u, live.recording.notes.count("capture"));
}

TEST_F(WindowsTest, DemandsThatMakeNoSense) {
  ASSERT_NE(nullptr, live.Create());
  EXPECT_EQ(PPROF_STATUS_INVALID, DemandSteps(1));  // not started
  Start(Capture(DemandRule()));
  EXPECT_EQ(PPROF_STATUS_INVALID, DemandSteps(0));
  const ppi_demand both = {1, 1};
  EXPECT_EQ(PPROF_STATUS_INVALID,
            ppi_session_demand(live.session(), &both, &demanded));
  Stop(100);
  EXPECT_EQ(PPROF_STATUS_INVALID, DemandNs(1));
  EXPECT_EQ(99u, demanded);
}

TEST_F(WindowsTest, WithoutRulesAWindowIsOpenAlready) {
  Start(ppi_capture{});
  EXPECT_EQ(PPROF_STATUS_BUSY, DemandNs(50));
  Stop(100);
}

TEST_F(WindowsTest, NewRulesCloseAWindowTheyDoNotWant) {
  Start(ppi_capture{});
  At(10);
  pprof_push(&a_site);
  At(50);
  ASSERT_EQ(PPROF_STATUS_OK, Change(Capture(DemandRule())));
  At(60);
  pprof_pop();
  RangeAt(&b_site, 70, 80);
  At(90);
  ASSERT_EQ(PPROF_STATUS_OK, Change(ppi_capture{}));
  Stop(100);
  ExpectWindows({0, 50, 90, 100});
  ExpectEvent("a", 10, 50, PPROF_FLAG_CLIPPED, 0);
  EXPECT_EQ(0u, live.recording.Named("b").size());
}

TEST_F(WindowsTest, AWindowThatNewRulesWantTooGoesOn) {
  Start(Cycle(1, 0, 0, 2, 1));
  StepAt(100);
  At(110);
  pprof_push(&a_site);
  At(150);
  ASSERT_EQ(PPROF_STATUS_OK, Change(Cycle(1, 0, 0, 3, 1)));
  At(160);
  pprof_pop();
  StepAt(200);
  StepAt(300);
  StepAt(400);
  Stop(500);
  ExpectWindows({100, 400});
  ExpectEvent("a", 110, 160, 0, 0);
}

TEST_F(WindowsTest, RulesThatDidNotChangeGoOn) {
  Start(Capture(TimeRule(10, 20, 100)));
  LookAt(10);
  ASSERT_EQ(PPROF_STATUS_OK,
            Change(Capture(StepsRule(9, 0, 0, 1, 1), TimeRule(10, 20, 100))));
  LookAt(30);
  LookAt(110);
  Stop(120);
  ExpectWindows({10, 30, 110, 120});
}

TEST_F(WindowsTest, RulesThatMakeNoSenseChangeNothing) {
  Start(Cycle(1, 0, 0, 1, 1));
  EXPECT_EQ(PPROF_STATUS_INVALID, Change(Cycle(0, 0, 0, 0, 0)));
  StepAt(100);
  StepAt(200);
  Stop(300);
  ExpectWindows({100, 200});
  EXPECT_EQ(PPROF_STATUS_BUSY, Change(ppi_capture{}));
}

TEST_F(WindowsTest, ANewEpochKeepsTheWindowAndItsStep) {
  Start(ppi_capture{});
  StepAt(100);
  At(110);
  pprof_push(&a_site);
  pprof_range range = pprof_range_begin(&wander_site);
  At(150);
  const uint32_t before = ppi_epoch_page[0];
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_new_epoch(live.session()));
  EXPECT_NE(before, ppi_epoch_page[0]);
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  At(160);
  pprof_range_end(range);
  pprof_pop();
  RangeAt(&b_site, 170, 180);
  StepAt(200);
  Stop(300);
  ExpectWindows({0, 300});
  ExpectEvent("a", 110, 150, PPROF_FLAG_CLIPPED, 0);
  ExpectEvent("wander", 110, 150, PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED, 0);
  ExpectEvent("b", 170, 180, 0, 0);
  EXPECT_EQ(2u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
  auto steps = Steps();
  ASSERT_EQ(3u, steps.size());
  EXPECT_EQ(100u, steps[1].event.start_ns);
  EXPECT_EQ(200u, steps[1].event.end_ns);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ASYNC, steps[1].event.flags);
}

TEST_F(WindowsTest, WhileNothingIsRecordedThereIsNoEpochToRenew) {
  Start(Capture(DemandRule()));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_new_epoch(live.session()));
  EXPECT_EQ(0u, ppi_epoch_page[0]);
  Stop(100);
  ExpectWindows({});
}

// The collector is far behind: a new epoch waits for it, and is not forgotten.
TEST_F(WindowsTest, ANewEpochWaitsForTheCollector) {
  Start(ppi_capture{});
  pprof_push(&a_site);  // its stack needs all edges since
  uint32_t before = 0;
  for (int i = 0; i < 2000 && before != ppi_epoch_page[0]; i++) {
    before = ppi_epoch_page[0];
    ppi_session_new_epoch(live.session());
  }
  ASSERT_EQ(before, ppi_epoch_page[0]);
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  StepAt(10);
  EXPECT_NE(before, ppi_epoch_page[0]);
  pprof_pop();
  Stop(100);
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));
}

// As from a signal handler that interrupted a flush: the mutex is this
// thread's.
TEST_F(WindowsTest, AStepThatOpensAWindowWaitsForNobody) {
  Start(Cycle(1, 0, 0, 1, 1));
  pthread_mutex_lock(&live.session()->wakeup.mutex);
  StepAt(10);
  pthread_mutex_unlock(&live.session()->wakeup.mutex);
  StepAt(20);
  Stop(100);
  ExpectWindows({10, 20});
}

TEST_F(WindowsTest, NotesDoNotFillTheMemory) {
  Start(ppi_capture{});
  for (int i = 0; i < 5000; i++)
    ppi_session_note(live.session(), "reload", "again");
  ppi_texts notes = {};
  ASSERT_TRUE(ppi_notes_copy(&live.session()->notes, &notes));
  EXPECT_LE(notes.num, 1000u);
  ppi_texts_clear(&notes);
  Stop(100);
}

TEST_F(WindowsTest, NotesOfAnyTime) {
  ASSERT_NE(nullptr, live.Create());
  ppi_session_note(live.session(), "early", "before the start");
  Start(ppi_capture{});
  std::thread other(
      [&] { ppi_session_note(live.session(), "reload", "line 3: no"); });
  other.join();
  Stop(100);
  ppi_session_note(live.session(), "late", "after the totals");
  EXPECT_EQ("before the start", live.recording.notes["early"]);
  EXPECT_EQ("line 3: no", live.recording.notes["reload"]);
  EXPECT_EQ(0u, live.recording.notes.count("late"));
}

}  // namespace
}  // namespace pprof_test
