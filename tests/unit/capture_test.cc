// SPDX-License-Identifier: Apache-2.0
//
// What capture rules want, as pure functions: Paddle's and torch's sequences of
// steps, and windows by time.
#include "rules/capture.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/capture_rules.h"

namespace pprof_test {
namespace {

// C closed, Y warm-up (Paddle's READY, torch's WARMUP), R record.
std::string Phases(const ppi_capture &capture, uint64_t num_steps) {
  std::string phases;
  for (uint64_t step = 0; step < num_steps; step++)
    phases += "CYR"[AtStep(capture, step).phase];
  return phases;
}

uint64_t CycleAt(const ppi_capture &capture, uint64_t step) {
  return AtStep(capture, step).cycle;
}

TEST(StepRuleTest, NoRuleRecordsEveryStepInOneWindow) {
  const ppi_capture capture = {};
  EXPECT_EQ("RRRRR", Phases(capture, 5));
  EXPECT_EQ(CycleAt(capture, 0), CycleAt(capture, 4));
}

TEST(StepRuleTest, PaddleSequences) {
  // make_scheduler(closed=1, ready=1, record=2, repeat=2, skip_first=1)
  EXPECT_EQ("CCYRRCYRRCC", Phases(Cycle(1, 1, 1, 2, 2), 11));
  // (3, 6): closed=2, ready=1, record=3, repeat=1
  EXPECT_EQ("CCYRRRCC", Phases(Cycle(2, 0, 1, 3, 1), 8));
  // (1, 2): closed=0, ready=1, record=1, repeat=1
  EXPECT_EQ("YRC", Phases(Cycle(0, 0, 1, 1, 1), 3));
  // (0, 2): ready=0
  EXPECT_EQ("RRC", Phases(Cycle(0, 0, 0, 2, 1), 3));
  // record=1 goes from READY to RECORD and back
  EXPECT_EQ("YRYRYR", Phases(Cycle(0, 0, 1, 1, 0), 6));
}

TEST(StepRuleTest, TorchSequences) {
  // wait=1, warmup=1, active=2, repeat=2, skip_first=1
  EXPECT_EQ("CCYRRCYRRCC", Phases(Cycle(1, 1, 1, 2, 2), 11));
  // wait=10, warmup=3, active=1, repeat=1, skip_first=0
  EXPECT_EQ("CCCCCCCCCCYYYRC", Phases(Cycle(0, 10, 3, 1, 1), 15));
}

TEST(StepRuleTest, TorchSkipFirstWait) {
  // wait=1, warmup=1, active=2, repeat=2, skip_first=1, skip_first_wait=1
  ppi_capture capture = Cycle(1, 1, 1, 2, 2);
  capture.rules[0].steps.skip_first_wait = 1;
  EXPECT_EQ("CYRRCYRRCCC", Phases(capture, 11));
  // wait=10, warmup=3, active=1, repeat=1, skip_first=1, skip_first_wait=1
  capture = Cycle(1, 10, 3, 1, 1);
  capture.rules[0].steps.skip_first_wait = 1;
  EXPECT_EQ("CYYYRCCCCCCCCCCCCCCC", Phases(capture, 20));
}

TEST(StepRuleTest, BackToBackCyclesAreTwoWindows) {
  const ppi_capture capture = Cycle(0, 0, 0, 2, 2);
  EXPECT_EQ("RRRRC", Phases(capture, 5));
  EXPECT_EQ(CycleAt(capture, 0), CycleAt(capture, 1));
  EXPECT_NE(CycleAt(capture, 1), CycleAt(capture, 2));
}

TEST(StepRuleTest, SeveralRulesRecordWhereAnyDoes) {
  // Warm-up 2 and 3, records 4.
  const ppi_capture capture =
      Capture(StepsRule(1, 0, 0, 2, 1), StepsRule(2, 0, 2, 1, 1));
  EXPECT_EQ("CRRYRC", Phases(capture, 6));
  EXPECT_NE(CycleAt(capture, 1), CycleAt(capture, 4));
}

// The window that a time lies in, or -1, and when that changes.
struct AtTime {
  int64_t window, next_ns;
  bool operator==(const AtTime &other) const {
    return window == other.window && next_ns == other.next_ns;
  }
};
std::ostream &operator<<(std::ostream &out, const AtTime &at) {
  return out << "window " << at.window << " until " << at.next_ns;
}
AtTime Look(const ppi_capture_rule &rule, int64_t now_ns, int64_t from_ns = 0) {
  AtTime at = {};
  const ppi_step_phase phase =
      ppi_capture_at_time(&rule.time, from_ns, now_ns, &at.next_ns);
  at.window =
      phase.phase == PPI_PHASE_RECORD ? static_cast<int64_t>(phase.cycle) : -1;
  return at;
}

TEST(TimeRuleTest, OneWindowAfterItsDelay) {
  const ppi_capture_rule rule = TimeRule(10, 20);
  EXPECT_EQ((AtTime{-1, 10}), Look(rule, 0));
  EXPECT_EQ((AtTime{-1, 10}), Look(rule, 9));
  EXPECT_EQ((AtTime{0, 30}), Look(rule, 10));
  EXPECT_EQ((AtTime{0, 30}), Look(rule, 29));
  EXPECT_EQ((AtTime{-1, INT64_MAX}), Look(rule, 30));
}

TEST(TimeRuleTest, EveryIsFromBeginToBegin) {
  const ppi_capture_rule rule = TimeRule(10, 20, 100);
  EXPECT_EQ((AtTime{-1, 110}), Look(rule, 30));
  EXPECT_EQ((AtTime{1, 130}), Look(rule, 110));
  EXPECT_EQ((AtTime{-1, 210}), Look(rule, 130));
  EXPECT_EQ((AtTime{1000000, 100000030}), Look(rule, 100000010));
}

TEST(TimeRuleTest, RepeatIsTheNumberOfWindows) {
  const ppi_capture_rule rule = TimeRule(0, 20, 100, 2);
  EXPECT_EQ((AtTime{0, 20}), Look(rule, 0));
  EXPECT_EQ((AtTime{1, 120}), Look(rule, 119));
  EXPECT_EQ((AtTime{-1, INT64_MAX}), Look(rule, 120));
  EXPECT_EQ((AtTime{-1, INT64_MAX}), Look(rule, 200));
}

TEST(TimeRuleTest, WindowsThatTouchStayTwo) {
  const ppi_capture_rule rule = TimeRule(0, 50, 50);
  EXPECT_EQ((AtTime{0, 50}), Look(rule, 49));
  EXPECT_EQ((AtTime{1, 100}), Look(rule, 50));
}

// `at` lay 250 before the start, so the third window is the first one seen, by
// every process that counts from the same time.
TEST(TimeRuleTest, ATimeBeforeTheStartKeepsItsPace) {
  const ppi_capture_rule rule = TimeRule(0, 60, 100);
  EXPECT_EQ((AtTime{2, 10}), Look(rule, 0, -250));
  EXPECT_EQ((AtTime{-1, 50}), Look(rule, 10, -250));
  EXPECT_EQ((AtTime{3, 110}), Look(rule, 50, -250));
}

TEST(TimeRuleTest, ATimeAfterTheStartIsWaitedFor) {
  const ppi_capture_rule rule = TimeRule(5, 10);
  EXPECT_EQ((AtTime{-1, 1005}), Look(rule, 0, 1000));
  EXPECT_EQ((AtTime{0, 1015}), Look(rule, 1005, 1000));
}

std::string Wrong(const ppi_capture_rule &rule) {
  const ppi_capture capture = Capture(rule);
  pprof_error error = {};
  if (ppi_capture_check(&capture, &error) == PPROF_STATUS_OK) return "";
  return error.text;
}

TEST(CaptureCheckTest, RulesThatMakeSensePass) {
  EXPECT_EQ("", Wrong(StepsRule(0, 0, 0, 1, 0)));
  EXPECT_EQ("", Wrong(TimeRule(0, 1)));
  EXPECT_EQ("", Wrong(TimeRule(0, 50, 50, 3)));
  EXPECT_EQ("", Wrong(MarkerRule("decode", 3, 3)));
  EXPECT_EQ("", Wrong(DemandRule()));
}

TEST(CaptureCheckTest, RulesThatNeverRecordDoNot) {
  EXPECT_EQ("capture rule 1: 'active' is 0: it would never record",
            Wrong(StepsRule(1, 1, 1, 0, 0)));
  EXPECT_EQ("capture rule 1: too many steps",
            Wrong(StepsRule(UINT64_MAX, 1, 0, 1, 0)));
  EXPECT_EQ("capture rule 1: 'duration' is 0: it would never record",
            Wrong(TimeRule(1, 0)));
  EXPECT_EQ("capture rule 1: 'every' is shorter than 'duration'",
            Wrong(TimeRule(0, 50, 49)));
  EXPECT_EQ("capture rule 1: 'repeat' needs 'every'",
            Wrong(TimeRule(0, 50, 0, 2)));
  EXPECT_EQ("capture rule 1: a time is too long",
            Wrong(TimeRule(UINT64_MAX, 1)));
  EXPECT_EQ("capture rule 1: 'marker' has no name",
            Wrong(MarkerRule("", 1, 1)));
  EXPECT_EQ("capture rule 1: 'from' is 0: occurrences count from 1",
            Wrong(MarkerRule("decode", 0, 1)));
  EXPECT_EQ("capture rule 1: 'from' is beyond 'to'",
            Wrong(MarkerRule("decode", 5, 4)));
}

TEST(CaptureCheckTest, TheRuleIsNamed) {
  ppi_capture capture = Capture(DemandRule(), TimeRule(0, 0));
  pprof_error error = {};
  EXPECT_EQ(PPROF_STATUS_INVALID, ppi_capture_check(&capture, &error));
  EXPECT_STREQ("capture rule 2: 'duration' is 0: it would never record",
               error.text);
  capture.num_rules = PPI_SCHEDULE_MAX_RULES + 1;
  EXPECT_EQ(PPROF_STATUS_INVALID, ppi_capture_check(&capture, &error));
  EXPECT_STREQ("more than 16 capture rules", error.text);
}

}  // namespace
}  // namespace pprof_test
