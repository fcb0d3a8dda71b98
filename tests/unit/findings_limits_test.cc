// SPDX-License-Identifier: Apache-2.0
//
// Findings about the profiler's own limits.
#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

// Ten calls of one stage, 1 ms each, in 10 ms.
EventFeed Plain() {
  EventFeed feed;
  feed.Lane(1, 101, "main");
  feed.Total(PPI_TOTAL_OWN_COST, 40000);
  for (uint64_t i = 0; i < 10; i++)
    feed.Range(1, "work", PPROF_CATEGORY_USER_DEFINED, i * kMs, (i + 1) * kMs);
  feed.AddWindow(0, 10 * kMs);
  return feed;
}

TEST(FindingsLimitsTest, ARunThatLacksNothingHasNone) {
  EventFeed feed = Plain();
  FindingsReport report(&feed);
  EXPECT_EQ("", report.Problems());
}

TEST(FindingsLimitsTest, LossIsAlwaysSaid) {
  EventFeed feed = Plain();
  feed.Total(PPI_TOTAL_LOST, 10);
  FindingsReport report(&feed);
  EXPECT_EQ("lost", report.Problems());
  EXPECT_EQ("10 of 20 records were lost (50 %): every figure lacks them.",
            report.Text("lost"));
  EXPECT_STREQ(
      "give the recorder more memory (memory_limit), or record fewer stages.",
      report.Get("lost").next);
  EXPECT_TRUE(report.Get("lost").is_limit);
}

TEST(FindingsLimitsTest, WhatATraceLacksIsInItsNotes) {
  EventFeed feed = Plain();
  feed.Total(PPI_TOTAL_LOST, 10);
  feed.Total(PPI_TOTAL_OWN_COST, 0);
  FindingsReport report(&feed);
  EXPECT_STREQ("the notes list what the import left out (docs/import.md).",
               report.Get("lost").next);
}

TEST(FindingsLimitsTest, ADeviceThatNothingTimedIsSaid) {
  EventFeed feed = Plain();
  feed.Note("cuda", "used, and nothing timed its work");
  FindingsReport report(&feed);
  EXPECT_EQ("not-timed", report.Problems());
  EXPECT_EQ(
      "The program used CUDA, and nothing timed its work there: no figure "
      "here says when a device worked.",
      report.Text("not-timed"));
  EXPECT_TRUE(report.Get("not-timed").is_limit);
}

// gpu:0 works for 2 of 10 ms, in two ranges `gap_ns` apart.
EventFeed OnDevice(uint64_t gap_ns, uint64_t error_ns) {
  EventFeed feed = FindingsFeed(true);
  uint64_t start_ns = kMs;
  for (int i = 0; i < 2; i++, start_ns += kMs + gap_ns) {
    pprof_event &event = feed.OnDevice(1, 1, "work", PPROF_CATEGORY_INFERENCE,
                                       kMs / 2, start_ns, start_ns + kMs);
    event.device_error_ns = static_cast<uint32_t>(error_ns);
  }
  feed.AddWindow(0, 10 * kMs);
  return feed;
}

// Another process of the report may have timed its own.
TEST(FindingsLimitsTest, ADeviceThatWasTimedIsNot) {
  EventFeed feed = OnDevice(0, 0);
  feed.Note("cuda", "used, and nothing timed its work");
  FindingsReport report(&feed);
  EXPECT_EQ("", report.Text("not-timed"));
}

TEST(FindingsLimitsTest, AClockThatHidesGapsIsSaid) {
  EventFeed feed = OnDevice(kMs / 2, kMs / 2);
  feed.Total(PPI_TOTAL_CLOCK_ERROR_NS, kMs / 2);
  FindingsReport report(&feed);
  // The gap between the two; that before the first one is long enough.
  EXPECT_EQ(
      "For 5.0 % of the devices' time it is unknown whether they worked or "
      "waited: the gaps are shorter than the clock error (up to 500 us).",
      report.Text("clock-error"));
}

TEST(FindingsLimitsTest, AnErrorThatHidesNothingIsNotSaid) {
  EventFeed feed = OnDevice(4 * kMs, kMs / 2);
  feed.Total(PPI_TOTAL_CLOCK_ERROR_NS, kMs / 2);
  FindingsReport report(&feed);
  EXPECT_EQ(nullptr, report.Of("clock-error"));
}

TEST(FindingsLimitsTest, MissingDeviceTimesAreSaid) {
  for (int untimed : {1, 2}) {
    EventFeed feed = OnDevice(4 * kMs, 0);
    for (int i = 0; i < 97; i++)
      feed.OnDevice(1, 1, "work", PPROF_CATEGORY_INFERENCE, 9 * kMs,
                    9 * kMs + static_cast<uint64_t>(i) * 100,
                    9 * kMs + static_cast<uint64_t>(i) * 100 + 50);
    for (int i = 0; i < untimed; i++)
      feed.OnDevice(1, 1, "work", PPROF_CATEGORY_INFERENCE, 9 * kMs, 0, 0);
    FindingsReport report(&feed);
    if (untimed == 1)
      EXPECT_EQ(nullptr, report.Of("device-times"));
    else
      EXPECT_EQ(
          "2 of 101 device ranges have no device time (2.0 %): devices were "
          "busier than the figures say.",
          report.Text("device-times"));
  }
}

TEST(FindingsLimitsTest, WhatRecordingCostIsSaidFromAHundredthOn) {
  for (uint64_t cost_ns : {kMs / 10 - 1, kMs / 10}) {
    EventFeed feed = Plain();
    feed.Total(PPI_TOTAL_OWN_COST_TOTAL_NS, cost_ns);
    FindingsReport report(&feed);
    EXPECT_EQ(cost_ns == kMs / 10
                  ? "Recording itself took 100 us, 1.0 % of the recorded "
                    "time, over all threads."
                  : "",
              report.Text("own-cost"));
  }
}

TEST(FindingsLimitsTest, NamesThatExplodeAreSaid) {
  EventFeed feed = Plain();
  feed.Total(PPI_TOTAL_NAMES_OVERFLOWED, 70);
  FindingsReport report(&feed);
  EXPECT_EQ("names", report.Problems());
  EXPECT_EQ("There were too many different names: 70 ranges are under <other>.",
            report.Text("names"));
}

TEST(FindingsLimitsTest, TimesThatDoNotAddUpAreSaid) {
  char name[] = "gpu:0";
  for (bool failed : {false, true}) {
    ppi_report_device device = {};
    device.name = name;
    device.failed = failed;
    ppi_figures figures = {};
    figures.devices = &device;
    figures.num_devices = 1;
    ppi_findings findings;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_findings_of(&figures, nullptr, &findings));
    ASSERT_EQ(failed ? 1u : 0u, findings.num);
    if (failed) {
      EXPECT_STREQ("identity", findings.items[0].id);
    }
    ppi_findings_clear(&findings);
  }
}

TEST(FindingsLimitsTest, AThresholdCanBeSet) {
  EventFeed feed = Plain();
  feed.Total(PPI_TOTAL_LOST, 10);
  ppi_findings_options options = {};
  EXPECT_EQ(PPROF_STATUS_INVALID, ppi_findings_set(&options, "loss", 1));
  EXPECT_EQ(PPROF_STATUS_INVALID, ppi_findings_set(&options, "lost", -1));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_findings_set(&options, "lost", 51));
  FindingsReport report(&feed, &options);
  EXPECT_EQ("", report.Problems());
}

// 30 iterations: forward takes 2 ms; the optimizer 3000 ranges of 2 us, each of
// which launches 1 us of work on the device, one for each tensor.
TEST(FindingsLimitsTest, ALoopOfVeryManySmallRangesIsFound) {
  EventFeed feed;
  feed.Lane(1, 101, "main");
  feed.Device(1, "cuda:0");
  feed.Stream(1, 1);
  for (uint64_t i = 0; i < 30; i++) {
    uint64_t at = i * 8 * kMs;
    feed.Range(1, "forward", PPROF_CATEGORY_USER_DEFINED, at, at + 2 * kMs);
    at += 2 * kMs;
    for (uint64_t k = 0; k < 3000; k++) {
      uint64_t op = at + 2 * k * kUs;
      feed.Range(1, "aten::add_", PPROF_CATEGORY_OPERATOR, op, op + 2 * kUs)
          .depth = 1;
      feed.OnDevice(1, 1, "add", PPROF_CATEGORY_KERNEL, op + 100, op + 300,
                    op + 1300);
    }
    feed.Range(1, "optimizer", PPROF_CATEGORY_USER_DEFINED, at, at + 6 * kMs);
  }
  feed.AddWindow(0, 240 * kMs);
  pprof_report *report = nullptr;
  std::mt19937_64 random(1);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_report_create(&report));
  ppi_report_details details = {};
  details.answer = true;
  ppi_report_set_details(report, &details);
  ASSERT_EQ(PPROF_STATUS_OK,
            feed.DeliverAs(pprof_report_sink(report), &random, 60));
  const ppi_limit &limit = ppi_report_figures(report)->limit;
  EXPECT_STREQ("optimizer", limit.names[0]) << limit.sentence;
  EXPECT_GE(limit.units, 25);
  EXPECT_NEAR(6e6, limit.demand_ns, 1e5) << limit.sentence;
  // Half of the optimizer, and all of forward but its overlap.
  double idle = 0;
  for (size_t i = 0; i < limit.num_gaps; i++) idle += limit.gaps[i].part;
  EXPECT_NEAR(5.0 / 8, idle, 0.02);
  pprof_report_destroy(report);
}

// A thread's ranges of a domain of NVTX are on a lane of their own, with the
// domain behind the thread's name.
TEST(FindingsLimitsTest, ALoopIsOnTheThreadAndNotOnItsDomain) {
  EventFeed feed;
  feed.Lane(1, 101, "python");
  feed.Lane(2, 101, "python [NCCL]");
  for (uint64_t i = 0; i < 30; i++) {
    const uint64_t at = i * 10 * kMs;
    feed.Range(1, "forward", PPROF_CATEGORY_USER_DEFINED, at, at + 3 * kMs);
    feed.Range(1, "backward", PPROF_CATEGORY_USER_DEFINED, at + 3 * kMs,
               at + 8 * kMs);
    feed.Range(2, "ncclAllReduce", PPROF_CATEGORY_COMMUNICATION, at + 9 * kMs,
               at + 10 * kMs);
  }
  feed.AddWindow(0, 300 * kMs);
  FindingsReport report(&feed);
  EXPECT_STREQ("thread python", report.figures()->loop.thread);
}

}  // namespace
}  // namespace pprof_test
