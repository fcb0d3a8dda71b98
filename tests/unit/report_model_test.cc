// SPDX-License-Identifier: Apache-2.0
//
// Model: which ranges are phases and calls of it, and what device time they
// have. The same calls in the other tables.
#include <gtest/gtest.h>

#include <string>

#include "report_text.h"
#include "scenario_s.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::kMs;
using pprof_test::Report;

bool Contains(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) return true;
  ADD_FAILURE() << "no '" << part << "' in\n" << text;
  return false;
}

// A device range lies in the phase in which its thread submitted it, whatever
// lane that was on; steps hold for all threads.
TEST(ReportModelTest, DeviceRangesGoByThreadAndSubmitTime) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.Lane(2, 100, "main, another domain");
  feed.Lane(3, 300, "worker");
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.AddWindow(0, 100 * kMs);
  feed.Step(0, 100 * kMs);
  feed.Range(1, "f", PPROF_CATEGORY_FORWARD, 0, 10 * kMs);
  feed.Range(1, "d", PPROF_CATEGORY_DATALOADER, 10 * kMs, 20 * kMs);
  auto device = [&](uint32_t lane, uint64_t submit, uint64_t from,
                    uint64_t to) {
    feed.OnDevice(lane, 1, "m", PPROF_CATEGORY_INFERENCE, submit * kMs,
                  from * kMs, to * kMs);
  };
  device(2, 5, 30, 40);   // in Forward, by thread
  device(1, 10, 40, 45);  // at the border: in Dataloader
  device(3, 5, 45, 47);   // another thread: in the step only
  Report report(feed);
  EXPECT_TRUE(report.HasLine("model",
                             "ProfileStep 1 100.00 / 100.00 / 100.00 / 100.00 "
                             "/ 100.00 17.00 / 17.00 / 17.00 / 17.00 / "
                             "100.00"));
  EXPECT_TRUE(report.HasLine("model",
                             "Forward 1 10.00 / 10.00 / 10.00 / 10.00 / 10.00 "
                             "10.00 / 10.00 / 10.00 / 10.00 / 58.82"));
  EXPECT_TRUE(report.HasLine("model",
                             "Dataloader 1 10.00 / 10.00 / 10.00 / 10.00 / "
                             "10.00 5.00 / 5.00 / 5.00 / 5.00 / 29.41"));
  EXPECT_TRUE(report.HasLine("model",
                             "Inference 1 0.00 / 0.00 / 0.00 / 0.00 / 0.00 "
                             "2.00 / 2.00 / 2.00 / 2.00 / 11.76"));
  EXPECT_TRUE(report.HasLine(
      "model", "Others - 80.00 / - / - / - / 80.00 0.00 / - / - / - / 0.00"));
}

// A range on a device of a phase's category is one: its submission on the CPU,
// its time on the device. In another phase of its thread it is not, and a
// paired one's host range is there already.
TEST(ReportModelTest, DeviceRangesArePhasesToo) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.AddWindow(0, 100 * kMs);
  auto device = [&](uint32_t category, uint64_t submit, uint64_t length,
                    uint64_t on_device) -> pprof_event & {
    pprof_event &event =
        feed.OnDevice(1, 1, "net", category, submit * kMs, submit * kMs,
                      (submit + on_device) * kMs);
    event.end_ns = (submit + length) * kMs;
    return event;
  };
  device(PPROF_CATEGORY_INFERENCE, 0, 2, 6);
  device(PPROF_CATEGORY_INFERENCE, 20, 4, 10);
  feed.Range(1, "copy", PPROF_CATEGORY_PREPROCESS, 21 * kMs, 22 * kMs);
  feed.Range(1, "f", PPROF_CATEGORY_FORWARD, 40 * kMs, 60 * kMs);
  device(PPROF_CATEGORY_INFERENCE, 45, 5, 8);
  device(PPROF_CATEGORY_BACKWARD, 70, 5, 5).flags = PPROF_FLAG_PAIRED;
  Report report(feed);
  EXPECT_TRUE(report.HasLine("model",
                             "Inference 2 6.00 / 3.00 / 4.00 / 2.00 / 6.00 "
                             "16.00 / 8.00 / 10.00 / 6.00 / 55.17"));
  EXPECT_TRUE(report.HasLine("model",
                             "Forward 1 20.00 / 20.00 / 20.00 / 20.00 / 20.00 "
                             "8.00 / 8.00 / 8.00 / 8.00 / 27.59"));
  EXPECT_EQ(report.Table("model").find("Preprocess"), std::string::npos);
  EXPECT_EQ(report.Table("model").find("Backward"), std::string::npos);
}

// 30 steps, in the first two a range of each kind; in the last, which the stop
// cuts with all that is open, one more.
void FillUntilTheStop(EventFeed *feed) {
  feed->Lane(1, 100, "main");
  feed->Device(1, "gpu:0");
  feed->Stream(1, 1);
  feed->AddWindow(0, 1000 * kMs);
  auto step = [&](uint64_t from, uint64_t to) -> pprof_event & {
    return feed->Step(from * kMs, to * kMs);
  };
  auto range = [&](const char *name, uint32_t category, uint64_t from,
                   uint64_t to) -> pprof_event & {
    return feed->Range(1, name, category, from * kMs, to * kMs);
  };
  for (uint64_t i = 0; i < 30; i++) step(i * 30, (i + 1) * 30);
  step(900, 901).flags |= PPROF_FLAG_CLIPPED;
  const uint32_t categories[] = {
      PPROF_CATEGORY_FORWARD, PPROF_CATEGORY_OPERATOR,
      PPROF_CATEGORY_USER_DEFINED, PPROF_CATEGORY_COMMUNICATION};
  for (uint32_t category : categories) {
    range("r", category, 0, 20);
    range("r", category, 30, 40);
    range("r", category, 900, 901).flags = PPROF_FLAG_CLIPPED;
  }
  range("only", PPROF_CATEGORY_USER_DEFINED, 890, 901).flags =
      PPROF_FLAG_CLIPPED;
  for (uint64_t at : {2, 32, 900})
    feed->OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, at * kMs, at * kMs,
                   (at + 4) * kMs);
}

// The stop cuts the step and the ranges that are open: their time is there, but
// they are no calls, and neither averages nor extremes are of them.
TEST(ReportModelTest, WhatAnEdgeCutIsNoCall) {
  EventFeed feed;
  FillUntilTheStop(&feed);
  Report report(feed);
  EXPECT_TRUE(report.HasLine("overview", "ProfileStep 30 901.00 100.00"));
  EXPECT_TRUE(report.HasLine("overview", "Forward 2 31.00 3.44"));
  EXPECT_TRUE(report.HasLine("model",
                             "ProfileStep 30 901.00 / 30.00 / 30.00 / 30.00 / "
                             "100.00 12.00 / 0.27 / 4.00 / 0.00 / 100.00"));
  EXPECT_TRUE(report.HasLine("model",
                             "Forward 2 31.00 / 15.00 / 20.00 / 10.00 / 3.44 "
                             "12.00 / 4.00 / 4.00 / 4.00 / 100.00"));
  EXPECT_TRUE(report.HasLine("operator",
                             "r 2 31.00 / 15.00 / 20.00 / 10.00 / 100.00 12.00 "
                             "/ 4.00 / 4.00 / 4.00 / 100.00 -"));
  EXPECT_TRUE(report.HasLine("userdefined",
                             "r 2 31.00 / 15.00 / 20.00 / 10.00 / 3.44 12.00 / "
                             "4.00 / 4.00 / 4.00 / 100.00"));
  EXPECT_TRUE(report.HasLine("userdefined",
                             "only 0 11.00 / - / - / - / 1.22 4.00 / - / - / - "
                             "/ 33.33"));
  EXPECT_TRUE(Contains(report.Json("distributed"),
                       "[\"Communication\",\"all\",2,31000000,3.440622]"));
  EXPECT_TRUE(Contains(report.Json("userdefined"),
                       "[\"r\",\"UserDefined\",2,31000000,15000000,20000000,"
                       "10000000,3.440622,12000000,4000000,4000000,4000000,"
                       "100.0,null,31000000,10000000,20000000,20000000,"
                       "7071068,\"cpu_p90 cpu_p99\"]"));
}

TEST(ReportModelTest, OnlyTheOutermostPhaseCounts) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.AddWindow(0, 100 * kMs);
  feed.Range(1, "f", PPROF_CATEGORY_FORWARD, 10 * kMs, 20 * kMs);
  feed.Range(1, "d", PPROF_CATEGORY_DATALOADER, 0, 30 * kMs);
  Report report(feed);
  EXPECT_TRUE(report.HasLine("overview", "Forward 1 10.00 10.00"));
  EXPECT_EQ(report.Table("model").find("Forward"), std::string::npos);
}

// pprof_range_begin: what runs beside a thread's ranges is around none of them,
// and in none.
TEST(ReportModelTest, AnAsyncPhaseNeitherHidesNorIsHidden) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.AddWindow(0, 100 * kMs);
  feed.Range(1, "f", PPROF_CATEGORY_FORWARD, 10 * kMs, 20 * kMs);
  feed.Range(1, "prefetch", PPROF_CATEGORY_DATALOADER, 0, 30 * kMs).flags =
      PPROF_FLAG_ASYNC;
  feed.Range(1, "b", PPROF_CATEGORY_BACKWARD, 40 * kMs, 80 * kMs);
  feed.Range(1, "prefetch", PPROF_CATEGORY_DATALOADER, 50 * kMs, 60 * kMs)
      .flags = PPROF_FLAG_ASYNC;
  feed.Range(1, "o", PPROF_CATEGORY_OPTIMIZATION, 55 * kMs, 56 * kMs);
  Report report(feed);
  EXPECT_TRUE(report.HasLine("model",
                             "Dataloader 2 40.00 / 20.00 / 30.00 / 10.00 / "
                             "40.00 0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
  EXPECT_TRUE(report.HasLine("model",
                             "Forward 1 10.00 / 10.00 / 10.00 / 10.00 / 10.00 "
                             "0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
  EXPECT_TRUE(report.HasLine("model",
                             "Backward 1 40.00 / 40.00 / 40.00 / 40.00 / 40.00 "
                             "0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
  EXPECT_EQ(report.Table("model").find("Optimization"), std::string::npos);
}

TEST(ReportModelTest, OthersMayBeNegative) {
  EventFeed feed;
  feed.AddWindow(0, 100 * kMs);
  for (uint32_t lane : {1, 2}) {
    feed.Lane(lane, lane * 100, "t");
    feed.Range(lane, "f", PPROF_CATEGORY_FORWARD, 0, 80 * kMs);
  }
  Report report(feed);
  EXPECT_TRUE(report.HasLine(
      "model", "Others - -60.00 / - / - / - / -60.00 0.00 / - / - / - / 0.00"));
  EXPECT_TRUE(Contains(report.Table("model"), "Others is below zero: phases"));
  EventFeed single;
  single.AddWindow(0, 100 * kMs);
  single.Lane(1, 100, "t");
  single.Range(1, "f", PPROF_CATEGORY_FORWARD, 0, 80 * kMs);
  EXPECT_EQ(Report(single).Table("model").find("below zero"),
            std::string::npos);
}

// Headings are Paddle's; where they say more than is so, a note says less.
TEST(ReportModelTest, NotesSayWhatHeadingsDoNot) {
  EventFeed feed;
  feed.AddWindow(0, 100 * kMs);
  feed.Lane(1, 100, "t");
  feed.Range(1, "f", PPROF_CATEGORY_FORWARD, 0, 80 * kMs);
  Report report(feed);
  EXPECT_TRUE(Contains(report.Table("overview"), "CPU Time is wall time"));
  EXPECT_TRUE(Contains(report.Table("model"), "It is wall time"));
}

}  // namespace
