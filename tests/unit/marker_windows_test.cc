// SPDX-License-Identifier: Apache-2.0
//
// Windows by the occurrences of a marker: which occurrences they hold, on
// which threads, and what other rules and edges do to them.
#include <future>
#include <thread>

#include "mark/thread.h"
#include "session/capture/capture_session.h"
#include "tests/support/window_session.h"

namespace pprof_test {
namespace {

PPROF_SITE(a_site, "a", PPROF_CATEGORY_FORWARD);
PPROF_SITE(stage_site, "stage", PPROF_CATEGORY_FORWARD);
PPROF_SITE(other_stage_site, "stage", PPROF_CATEGORY_BACKWARD);

class MarkerWindowsTest : public WindowTest {
 protected:
  void StageAt(uint64_t start, uint64_t end) {
    At(start);
    pprof_push(&stage_site);
    At(end);
    pprof_pop();
  }
  void AAt(uint64_t start, uint64_t end) {
    At(start);
    pprof_push(&a_site);
    At(end);
    pprof_pop();
  }
  // The starts of the recorded events with this name.
  std::vector<uint64_t> StartsOf(const char *name) {
    std::vector<uint64_t> starts;
    for (const auto &event : live.recording.Named(name))
      starts.push_back(event.event.start_ns);
    return starts;
  }
  using Times = std::vector<uint64_t>;
};

TEST_F(MarkerWindowsTest, FromBeginToEnd) {
  Start(Capture(MarkerRule("stage", 2, 3)));
  AAt(5, 6);
  StageAt(10, 20);
  AAt(25, 26);
  StageAt(30, 40);
  AAt(45, 46);
  StageAt(50, 60);
  AAt(65, 66);
  StageAt(70, 80);
  Stop(100);
  ExpectWindows({30, 60});
  EXPECT_EQ((Times{30, 50}), StartsOf("stage"));
  EXPECT_EQ((Times{45}), StartsOf("a"));
  EXPECT_EQ(0u, Total(PPI_TOTAL_CLIPPED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_EXCLUDED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(0u, Total(PPI_TOTAL_LOST));
}

TEST_F(MarkerWindowsTest, TheFirstOccurrence) {
  Start(Capture(MarkerRule("stage", 1, 1)));
  StageAt(10, 20);
  StageAt(30, 40);
  Stop(100);
  ExpectWindows({10, 20});
  EXPECT_EQ((Times{10}), StartsOf("stage"));
}

TEST_F(MarkerWindowsTest, AgainAndAgain) {
  Start(Capture(MarkerRule("stage", 2, 2, true)));
  for (uint64_t i = 0; i < 6; i++) StageAt(100 * i + 10, 100 * i + 20);
  Stop(1000);
  ExpectWindows({110, 120, 310, 320, 510, 520});
  EXPECT_EQ((Times{110, 310, 510}), StartsOf("stage"));
}

// After the last window nobody counts any more: markers cost what they cost
// while nothing is recorded.
TEST_F(MarkerWindowsTest, AfterTheLastWindowAllIsOff) {
  Start(Capture(MarkerRule("stage", 1, 1)));
  EXPECT_NE(0u, ppi_epoch_page[0]);
  EXPECT_EQ(ppi_recorder_in_force.watch_epoch, ppi_epoch_page[0]);
  StageAt(10, 20);
  EXPECT_EQ(0u, ppi_epoch_page[0]);
  Stop(100);
}

TEST_F(MarkerWindowsTest, ScopesAndNamesToo) {
  Start(Capture(MarkerRule("stage", 2, 3)));
  At(10);
  { PPROF_SCOPE("stage"); }
  At(20);
  {
    PPROF_SCOPE("stage");
    At(25);
  }
  At(30);
  pprof_push_name("stage", PPROF_CATEGORY_USER_DEFINED);
  At(35);
  pprof_pop();
  AAt(40, 50);
  Stop(100);
  ExpectWindows({20, 35});
  EXPECT_EQ((Times{20, 30}), StartsOf("stage"));
}

TEST_F(MarkerWindowsTest, SitesOfOneNameCountTogether) {
  Start(Capture(MarkerRule("stage", 2, 2)));
  StageAt(10, 20);
  At(30);
  pprof_push(&other_stage_site);
  At(40);
  pprof_pop();
  Stop(100);
  ExpectWindows({30, 40});
}

TEST_F(MarkerWindowsTest, FromMarkToMark) {
  Start(Capture(MarkerRule("stage", 2, 3)));
  for (uint64_t i = 1; i <= 4; i++) {
    At(10 * i);
    pprof_mark(&stage_site);
    AAt(10 * i + 1, 10 * i + 2);
  }
  Stop(100);
  EXPECT_EQ((Times{21}), StartsOf("a"));
  ASSERT_EQ(2u, live.recording.windows.size());
  ExpectWindow(0, 0, true, 20);
  ExpectWindow(1, 0, false, 30);
}

TEST_F(MarkerWindowsTest, RangesThatEndOnAnotherThread) {
  Start(Capture(MarkerRule("stage", 1, 1)));
  At(10);
  const pprof_range range = pprof_range_begin(&stage_site);
  At(20);
  std::thread([&] { pprof_range_end(range); }).join();
  AAt(30, 40);
  Stop(100);
  ExpectWindows({10, 20});
  ExpectEvent("stage", 10, 20, PPROF_FLAG_ASYNC, 0);
}

// Occurrences overlap: it is the end of the last one that counts, not the
// last end.
TEST_F(MarkerWindowsTest, TheEndOfTheLastOneAmongThreads) {
  Start(Capture(MarkerRule("stage", 1, 2)));
  At(10);
  const pprof_range first = pprof_range_begin(&stage_site);
  At(20);
  const pprof_range second = pprof_range_begin(&stage_site);
  At(30);
  const pprof_range third = pprof_range_begin(&stage_site);
  At(40);
  pprof_range_end(third);
  pprof_range_end(first);
  AAt(41, 42);
  At(50);
  pprof_range_end(second);
  AAt(60, 61);
  Stop(100);
  ExpectWindows({10, 50});
  EXPECT_EQ((Times{41}), StartsOf("a"));
}

TEST_F(MarkerWindowsTest, OccurrencesInsideTheLastOne) {
  Start(Capture(MarkerRule("stage", 1, 1)));
  At(10);
  pprof_push(&stage_site);
  StageAt(20, 30);
  At(40);
  pprof_pop();
  Stop(100);
  ExpectWindows({10, 40});
  EXPECT_EQ(2u, StartsOf("stage").size());
}

TEST_F(MarkerWindowsTest, TheLastOneIsAbandoned) {
  Start(Capture(MarkerRule("stage", 1, 2)));
  StageAt(5, 6);
  At(10);
  {
    PPROF_SCOPE("outer");
    At(20);
    pprof_push(&stage_site);
    At(30);
  }
  AAt(40, 50);
  Stop(100);
  ExpectWindows({5, 30});
  EXPECT_EQ(1u, Total(PPI_TOTAL_ABANDONED));
}

TEST_F(MarkerWindowsTest, TheLastOnesThreadLeaves) {
  Start(Capture(MarkerRule("stage", 1, 1)));
  At(10);
  std::thread([] { pprof_push(&stage_site); }).join();
  AAt(40, 50);
  Stop(100);
  ExpectWindows({10, 10});
  EXPECT_EQ(0u, StartsOf("a").size());
}

// Other threads' open ranges are clipped as at any edge.
TEST_F(MarkerWindowsTest, OtherThreadsAreCut) {
  Start(Capture(MarkerRule("stage", 1, 1)));
  std::promise<void> go_in, go_out, is_in;
  std::thread other([&] {
    go_in.get_future().wait();
    pprof_push(&a_site);
    is_in.set_value();
    go_out.get_future().wait();
    pprof_pop();
  });
  At(10);
  pprof_push(&stage_site);
  At(20);
  go_in.set_value();
  is_in.get_future().wait();
  At(30);
  pprof_pop();
  go_out.set_value();
  other.join();
  Stop(100);
  ExpectWindows({10, 30});
  ExpectEvent("a", 20, 30, PPROF_FLAG_CLIPPED, 0);
}

// What was open when the window opened had begun before it.
TEST_F(MarkerWindowsTest, RangesAroundTheFirstOne) {
  Start(Capture(MarkerRule("stage", 1, 2)));
  At(10);
  pprof_push(&a_site);
  StageAt(20, 30);
  At(40);
  pprof_pop();
  StageAt(50, 60);
  Stop(100);
  ExpectWindows({20, 60});
  EXPECT_EQ(0u, StartsOf("a").size());
  EXPECT_EQ(1u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(MarkerWindowsTest, EndsBehindAWindowAreNoneOfTheNext) {
  Start(Capture(MarkerRule("stage", 1, 1, true)));
  At(10);
  pprof_push(&a_site);
  At(20);
  pprof_push(&stage_site);
  const pprof_range range = pprof_range_begin(&a_site);
  At(30);
  pprof_pop();
  pprof_pop();
  At(40);
  pprof_range_end(range);
  Stop(100);
  ExpectWindows({20, 30});
  ExpectEvent("a", 20, 30, PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED, 0);
  EXPECT_EQ(0u, Total(PPI_TOTAL_BEGUN_BEFORE));
  EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
}

// An edge of another rule ends the last occurrence, as it ends every range.
TEST_F(MarkerWindowsTest, AnotherRulesEdgeCutsTheLastOne) {
  Start(Capture(StepsRule(1, 0, 0, 1, 1), MarkerRule("stage", 1, 1)));
  At(10);
  pprof_push(&stage_site);
  StepAt(20);
  At(25);
  pprof_pop();
  StepAt(30);
  Stop(100);
  ExpectWindows({10, 20, 20, 30});
  ExpectEvent("stage", 10, 20, PPROF_FLAG_CLIPPED, 0);
}

// They count while another rule's window is open, too.
TEST_F(MarkerWindowsTest, OccurrencesCountInOtherWindows) {
  Start(Capture(StepsRule(0, 0, 0, 1, 1), MarkerRule("stage", 2, 2)));
  StageAt(10, 20);
  StepAt(30);
  StageAt(40, 50);
  Stop(100);
  ExpectWindows({0, 30, 40, 50});
}

TEST_F(MarkerWindowsTest, ARuleThatComesLater) {
  Start(Capture(DemandRule()));
  StageAt(10, 20);
  ppi_capture capture = Capture(MarkerRule("stage", 2, 2));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  StageAt(30, 40);
  // The same rule beside a new one goes on counting.
  capture = Capture(DemandRule(), MarkerRule("stage", 2, 2));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  StageAt(50, 60);
  Stop(100);
  ExpectWindows({50, 60});
}

// Sites are decided at any time: a name that stays is watched throughout.
TEST_F(MarkerWindowsTest, RulesThatChangeDoNotForgetNames) {
  Start(Capture(MarkerRule("stage", 3, 3), MarkerRule("a", 9, 9)));
  StageAt(10, 20);
  uint32_t epoch = ppi_epoch_page[0];
  const ppi_capture capture = Capture(MarkerRule("stage", 3, 3));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  EXPECT_EQ(epoch, ppi_epoch_page[0]) << "nothing is cut for it";
  StageAt(30, 40);
  StageAt(50, 60);
  Stop(100);
  ExpectWindows({50, 60});
}

TEST_F(MarkerWindowsTest, ARuleThatComesWhileAllIsRecorded) {
  Start(Cycle(0, 0, 0, 1, 1));
  StageAt(10, 20);
  const ppi_capture capture =
      Capture(StepsRule(0, 0, 0, 1, 1), MarkerRule("stage", 2, 2));
  At(25);
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  StageAt(30, 40);
  StepAt(50);
  StageAt(60, 70);
  Stop(100);
  ExpectWindows({0, 50, 60, 70});
  EXPECT_EQ((Times{10, 30, 60}), StartsOf("stage"));
}

}  // namespace
}  // namespace pprof_test
