// SPDX-License-Identifier: Apache-2.0
//
// The Device view's utilisation: busy time over the ratio base, of the same
// time, so that no device is busier than always.
#include <gtest/gtest.h>

#include <string>

#include "report/figures/sum.h"
#include "report/run/passes.h"
#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

bool Contains(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) return true;
  ADD_FAILURE() << "no '" << part << "' in\n" << text;
  return false;
}

// Steps of 500 ns in all. A device is busy for 180 of them, and before,
// between and after them too.
void FillSteps(EventFeed *feed, uint32_t category) {
  feed->Lane(1, 100, "main");
  feed->Device(1, "gpu:0");
  feed->Stream(1, 1);
  feed->Stream(2, 1);
  feed->AddWindow(0, 1000);
  feed->Step(100, 300);
  feed->Step(400, 600);
  feed->Step(600, 700);
  feed->OnDevice(1, 1, "before", category, 0, 0, 50);
  feed->OnDevice(1, 1, "into", category, 60, 80, 150);      // 50
  feed->OnDevice(1, 2, "beside", category, 110, 120, 200);  // 50 more
  feed->OnDevice(1, 1, "between", category, 310, 320, 380);
  feed->OnDevice(1, 1, "into the next", category, 580, 590, 650);  // 60
  feed->OnDevice(1, 2, "out of", category, 670, 680, 900);         // 20
  feed->OnDevice(1, 1, "after", category, 940, 950, 990);
}

TEST(UtilizationTest, RunsWithAndWithoutStepsAddUp) {
  EventFeed steps, windows;
  FillSteps(&steps, PPROF_CATEGORY_INFERENCE);
  windows.Run("00000000000000000000000000000002", "2");
  windows.Lane(1, 100, "main");
  windows.Device(1, "gpu:0");
  windows.Stream(1, 1);
  windows.AddWindow(0, 500);
  windows.OnDevice(1, 1, "m", PPROF_CATEGORY_INFERENCE, 90, 100, 900);
  Report one(steps), two(windows), first(windows), second(steps);
  ASSERT_EQ(pprof_report_merge(one.get(), two.get()), PPROF_STATUS_OK);
  ASSERT_EQ(pprof_report_merge(first.get(), second.get()), PPROF_STATUS_OK);
  EXPECT_TRUE(
      Contains(one.Write(PPI_FORMAT_CSV, "device"), "\ngpu:0,8,580,58.0\n"));
  EXPECT_EQ(one.Json() + one.Table(nullptr),
            first.Json() + first.Table(nullptr));
}

// Two backends may give two devices one name: each could be busy all the time.
TEST(UtilizationTest, TwoDevicesOfOneNameHaveTwiceTheBase) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.Stream(1, 1);
  feed.Stream(2, 2);
  feed.Device(1, "own:0");
  feed.Device(2, "own:0");
  feed.AddWindow(0, 1000);
  feed.Step(0, 1000);
  feed.OnDevice(1, 1, "m", PPROF_CATEGORY_INFERENCE, 0, 0, 1000);
  feed.OnDevice(1, 2, "m", PPROF_CATEGORY_INFERENCE, 0, 0, 500);
  Report one(feed), other(feed);
  EXPECT_TRUE(
      Contains(one.Write(PPI_FORMAT_CSV, "device"), "\nown:0,2,1500,75.0\n"));
  ASSERT_EQ(pprof_report_merge(one.get(), other.get()), PPROF_STATUS_OK);
  EXPECT_TRUE(
      Contains(one.Write(PPI_FORMAT_CSV, "device"), "\nown:0,4,3000,75.0\n"));
}

// Delivers one event of a run that is told by hand.
void Deliver(ppi_run *run, const pprof_event &event) {
  pprof_batch batch = {sizeof batch, sizeof event, &event, 1, 0, 1, 1, 0};
  ASSERT_EQ(ppi_run_events(run, &batch), PPROF_STATUS_OK);
}

class SettledUtilizationTest : public testing::Test {
 protected:
  SettledUtilizationTest() {
    const pprof_definition definitions[] = {
        {PPROF_DEFINITION_SITE, 1, PPROF_CATEGORY_INFERENCE, 0, 0, "m"},
        {PPROF_DEFINITION_SITE, 2, PPROF_CATEGORY_PROFILE_STEP, 0, 0, "step"},
        {PPROF_DEFINITION_DEVICE, 1, 0, 0, 0, "gpu:0"},
        {PPROF_DEFINITION_STREAM, 1, 1, 0, 0, ""}};
    pprof_run_info info = {nullptr, 0, nullptr};
    EXPECT_TRUE(ppi_run_begin(&run_, &info));
    EXPECT_TRUE(ppi_run_window(&run_, 0, true, 0));
    for (const pprof_definition &definition : definitions)
      EXPECT_EQ(ppi_run_define(&run_, &definition), PPROF_STATUS_OK);
  }
  ~SettledUtilizationTest() override {
    ppi_run_clear(&run_);
    ppi_figures_clear(&figures_);
  }
  static pprof_event Range(uint32_t site, uint64_t start_ns, uint64_t end_ns) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.site = site;
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    return event;
  }
  static pprof_event Step(uint64_t start_ns, uint64_t end_ns) {
    return Range(2, start_ns, end_ns);
  }
  void OnDevice(uint64_t start_ns, uint64_t end_ns) {
    pprof_event event = {};
    event.kind = PPROF_KIND_DEVICE_RANGE;
    event.site = event.stream = 1;
    event.start_ns = event.end_ns = event.device_start_ns = start_ns;
    event.device_end_ns = end_ns;
    Deliver(&run_, event);
  }
  void Checkpoint(uint64_t time_ns, const pprof_event *open) {
    pprof_checkpoint checkpoint = {time_ns, open, open ? 1u : 0u};
    ASSERT_EQ(ppi_run_checkpoint(&run_, &checkpoint), PPROF_STATUS_OK);
  }
  void Finish() {
    pprof_totals totals = {};
    ASSERT_TRUE(ppi_run_finish(&run_, &totals, &figures_));
  }

  ppi_run run_ = {};
  ppi_figures figures_ = {};
};

// A program that was killed in a step: the step is known up to the last
// checkpoint, whatever the device did later.
TEST_F(SettledUtilizationTest, CountsUpToTheLastCheckpoint) {
  Deliver(&run_, Step(0, 100));
  OnDevice(50, 400);
  pprof_event open = Step(100, 200);
  Checkpoint(200, &open);
  Deliver(&run_, Range(1, 210, 400));
  Finish();
  EXPECT_EQ(figures_.base_ns, 200u);
  EXPECT_EQ(figures_.devices[0].used_ns, 150u);
}

TEST_F(SettledUtilizationTest, CheckpointsForgetSteps) {
  for (uint64_t i = 0; i < 100; i++) {
    Deliver(&run_, Step(i * 100, i * 100 + 60));
    OnDevice(i * 100 + 50, i * 100 + 80);
    Checkpoint(i * 100 + 90, nullptr);
    EXPECT_LE(
        ppi_run_category_at(&run_.ids, PPROF_CATEGORY_PROFILE_STEP)->host.num,
        1u);
  }
  Finish();
  EXPECT_EQ(figures_.base_ns, 6000u);
  EXPECT_EQ(figures_.devices[0].used_ns, 1000u);
}

// A damaged log may tell of a step when the time before it is settled: what
// the base leaves out then is no busy time either.
TEST_F(SettledUtilizationTest, ToldOfTooLateCountsFromWhereTheBaseDoes) {
  OnDevice(0, 400);
  Checkpoint(100, nullptr);
  Checkpoint(200, nullptr);
  Deliver(&run_, Step(50, 300));
  Finish();
  EXPECT_EQ(figures_.base_ns, 200u);
  EXPECT_EQ(figures_.devices[0].used_ns, 200u);
}

}  // namespace
