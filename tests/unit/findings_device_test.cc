// SPDX-License-Identifier: Apache-2.0
//
// Findings about devices: a run that each rule is for, and one that it must say
// nothing of.
#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

// 20 steps of 10 ms from `first_ns` on: so long on the host, then on the
// device.
EventFeed Steps(uint64_t first_ns, uint64_t host_ns, uint64_t device_ns) {
  EventFeed feed = FindingsFeed(true);
  for (uint64_t i = 0; i < 20; i++) {
    uint64_t now_ns = first_ns + 10 * i * kMs;
    OnHost(&feed, 1, "load", now_ns, now_ns + host_ns);
    OnGpu(&feed, 1, "model", now_ns + host_ns, now_ns + host_ns,
          now_ns + host_ns + device_ns);
    feed.Step(now_ns, now_ns + 10 * kMs);
  }
  feed.AddWindow(0, first_ns + 200 * kMs);
  return feed;
}

TEST(FindingsDeviceTest, ADeviceThatIsBusyAllTheTimeSetsThePace) {
  EventFeed feed = Steps(0, 0, 9500 * kUs);
  FindingsReport report(&feed);
  EXPECT_EQ(
      "gpu:0 is busy 95 % of the steps' time; of an average step: model 9.50 "
      "ms.",
      report.Text("device-bound"));
  EXPECT_EQ("", report.Problems());
}

TEST(FindingsDeviceTest, StartUpBeforeTheStepsIsApart) {
  EventFeed feed = Steps(1000 * kMs, 0, 9500 * kUs);
  FindingsReport report(&feed);
  EXPECT_NE(nullptr, report.Of("device-bound"));
  EXPECT_EQ("", report.Problems());
}

TEST(FindingsDeviceTest, ADeviceWithRoomIsNeitherTheLimitNorIdle) {
  EventFeed feed = Steps(0, kMs, 8500 * kUs);
  FindingsReport report(&feed);
  EXPECT_EQ(nullptr, report.Of("device-bound"));
  EXPECT_EQ("", report.Problems());
}

TEST(FindingsDeviceTest, MissingTimesLeaveItOpen) {
  EventFeed feed = Steps(0, 0, 9500 * kUs);
  OnGpu(&feed, 1, "model", 199 * kMs, 0, 0);
  FindingsReport report(&feed);
  EXPECT_EQ(nullptr, report.Of("device-bound"));
  EXPECT_EQ("device-times", report.Problems());
}

TEST(FindingsDeviceTest, ADeviceWithNothingToDoIsAProblem) {
  EventFeed feed = Steps(0, 4 * kMs, 4 * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ("host-bound", report.Problems());
  // 4 ms before the first, 19 times 6 between two; 2 after the last.
  EXPECT_EQ(
      "gpu:0 has nothing to do 59 % of the steps' time, because nothing was "
      "submitted to it. Most of that is in load: 4.00 ms of 10.0 ms a step (40 "
      "%).",
      report.Text("host-bound"));
}

// A request of 10 ms each 20 ms, with 4 ms of the device in its end: idle for
// 6 of 10 ms. Time between requests, and behind the last one, does not count.
TEST(FindingsDeviceTest, PausesBetweenRequestsDoNotCount) {
  EventFeed feed = FindingsFeed(true);
  for (uint64_t i = 0; i < 20; i++) {
    const uint64_t now_ns = 20 * i * kMs;
    OfRequest(&OnHost(&feed, 1, "parse", now_ns, now_ns + 6 * kMs), i + 1);
    OfRequest(&OnGpu(&feed, 1, "model", now_ns + 6 * kMs, now_ns + 6 * kMs,
                     now_ns + 10 * kMs),
              i + 1);
  }
  feed.AddWindow(0, 400 * kMs);
  const std::string said = FindingsReport(&feed).Text("host-bound");
  EXPECT_EQ(0u,
            said.find("gpu:0 has nothing to do at least 60 % of the time in "
                      "which requests are under way, "))
      << said;
}

// Without steps: a second of start-up, 20 times so long on the host and on the
// device, half a second in the end.
EventFeed Loop(uint64_t host_ns, uint64_t device_ns) {
  EventFeed feed = FindingsFeed(true);
  uint64_t now_ns = 1000 * kMs;
  for (uint64_t i = 0; i < 20; i++) {
    OnHost(&feed, 1, "load", now_ns, now_ns + host_ns);
    now_ns += host_ns;
    OnGpu(&feed, 1, "model", now_ns, now_ns, now_ns + device_ns);
    now_ns += device_ns;
  }
  feed.AddWindow(0, now_ns + 500 * kMs);
  return feed;
}

TEST(FindingsDeviceTest, WhatComesBeforeTheFirstWorkIsNobodysFault) {
  EventFeed feed = Loop(1500 * kUs, 8500 * kUs);
  FindingsReport report(&feed);
  EXPECT_EQ("", report.Problems());
  EventFeed busy = Loop(500 * kUs, 9500 * kUs);
  // 20 times 9.5 ms of these and 19 times half a millisecond; the turns of the
  // loop are found.
  EXPECT_EQ(
      0u, FindingsReport(&busy)
              .Text("device-bound")
              .find("gpu:0 is busy 95 % of the time from its first to its last "
                    "work; of an average iteration: model 9.50 ms."));
}

TEST(FindingsDeviceTest, WithoutStepsIdlenessIsOfTheTimeOfWork) {
  EventFeed feed = Loop(4 * kMs, 6 * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ("host-bound", report.Problems());
  // 19 times 4 of 10 ms, less the first 4.
  EXPECT_EQ(
      0u, report.Text("host-bound")
              .find("gpu:0 has nothing to do 39 % of the time from its first "
                    "to its last work, because nothing was submitted to it."));
}

// 60 requests, one each 100 ms, of 10 ms each: 1.5 on the host, the rest on the
// device.
TEST(FindingsDeviceTest, PausesWithoutRequestsAreNobodysFault) {
  EventFeed feed = FindingsFeed(true);
  for (uint64_t i = 0; i < 60; i++) {
    uint64_t now_ns = 100 * i * kMs, next_ns = now_ns + 1500 * kUs;
    OfRequest(&OnHost(&feed, 1, "parse", now_ns, next_ns), i + 1);
    OfRequest(&OnGpu(&feed, 1, "model", next_ns, next_ns, now_ns + 10 * kMs),
              i + 1);
  }
  feed.AddWindow(0, 6000 * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ("", report.Problems());
  EXPECT_EQ(nullptr, report.Of("device-bound"));
}

TEST(FindingsDeviceTest, CopiesOfAFifthAreAProblem) {
  pprof_work_amount work = {};
  work.bytes = 4e6;
  for (uint64_t copy_ns : {1300 * kUs, 2000 * kUs}) {
    EventFeed feed = Steps(0, kMs, 8 * kMs - (copy_ns - kMs));
    for (uint64_t i = 0; i < 20; i++) {
      uint64_t start_ns = (10 * i + 10) * kMs - copy_ns;
      pprof_event &copy = feed.OnDevice(1, 1, "copy", PPROF_CATEGORY_MEMCPY,
                                        start_ns, start_ns, start_ns + copy_ns);
      copy.work = &work;
    }
    FindingsReport report(&feed);
    // 2 of 9 ms; 80 MB in 40 ms.
    EXPECT_EQ(copy_ns == 2 * kMs ? "Copies are 22 % of the devices' busy time: "
                                   "40.0 ms. They move 2.00 GB/s."
                                 : "",
              report.Text("copies"));
  }
}

// 20 steps of 10 ms with two calls for memory in each; with `first`, only in
// the first one.
TEST(FindingsDeviceTest, MemoryThatEachStepTakesAndGivesBackIsAProblem) {
  for (bool first : {true, false}) {
    EventFeed feed = Steps(0, kMs, 8 * kMs);
    for (uint64_t i = 0; i < (first ? 1 : 20); i++)
      for (bool gives : {false, true})
        feed.Range(1, gives ? "cudaFree" : "cudaMalloc", PPROF_CATEGORY_RUNTIME,
                   10 * i * kMs + (gives ? 400 : 100) * kUs,
                   10 * i * kMs + (gives ? 800 : 300) * kUs);
    FindingsReport report(&feed);
    EXPECT_EQ(first
                  ? ""
                  : "Taking memory of devices and giving it back takes 600 us "
                    "a step (6.0 %), 2.00 calls. The device has nothing to do "
                    "meanwhile.",
              report.Text("device-memory"));
  }
}

// 300 ranges, one each 50 us, in 15 ms.
EventFeed Launches(uint64_t host_ns, uint64_t device_ns) {
  EventFeed feed = FindingsFeed(true);
  for (uint64_t i = 0; i < 300; i++) {
    uint64_t now_ns = 50 * i * kUs;
    OnGpu(&feed, 1, "small", now_ns, now_ns + host_ns,
          now_ns + host_ns + device_ns)
        .end_ns = now_ns + host_ns;
  }
  feed.AddWindow(0, 15 * kMs);
  return feed;
}

TEST(FindingsDeviceTest, ManyShortRangesAreAProblem) {
  EventFeed feed = Launches(15 * kUs, 10 * kUs);
  FindingsReport report(&feed);
  EXPECT_EQ(
      "300 of 300 device ranges are of kinds that usually take less than 20 "
      "us. Submitting them takes the host 4.50 ms; the device works on them "
      "for 3.00 ms.",
      report.Text("launch-bound"));
}

TEST(FindingsDeviceTest, ShortOnesThatCostLessAndLongOnesAreNone) {
  EventFeed cheap = Launches(5 * kUs, 10 * kUs);
  EXPECT_EQ(nullptr, FindingsReport(&cheap).Of("launch-bound"));
  EventFeed longer = Launches(22 * kUs, 21 * kUs);
  EXPECT_EQ(nullptr, FindingsReport(&longer).Of("launch-bound"));
}

// 60 calls, one each 40 ms, each second one beside another stage; of these each
// second one takes the first time, the others the second.
EventFeed Beside(uint64_t first_ns, uint64_t second_ns) {
  EventFeed feed = FindingsFeed(true);
  for (uint64_t i = 0; i < 60; i++) {
    uint64_t now_ns = 40 * i * kMs, length_ns = 10 * kMs;
    if (i % 2) length_ns = i % 4 == 1 ? first_ns : second_ns;
    OnGpu(&feed, 1, "detect", now_ns, now_ns, now_ns + length_ns);
    if (i % 2) OnGpu(&feed, 2, "classify", now_ns, now_ns, now_ns + length_ns);
  }
  feed.AddWindow(0, 2400 * kMs);
  return feed;
}

TEST(FindingsDeviceTest, AStageThatSlowsAnotherIsAProblem) {
  EventFeed feed = Beside(15 * kMs, 15 * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ(
      "detect takes 15.0 ms on gpu:0 while classify runs beside it, and 10.0 "
      "ms alone: 1.50 times as long.",
      report.Text("interference"));
  EXPECT_STREQ("1.50 to 1.50 times, from 30 calls beside it and 30 alone",
               report.Get("interference").sure);
}

TEST(FindingsDeviceTest, ASlowdownWithinItsOwnErrorIsNone) {
  // 1.15 times as long, but now 2 and now 21 ms.
  EventFeed feed = Beside(2 * kMs, 21 * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ(nullptr, report.Of("interference"));
}

}  // namespace
}  // namespace pprof_test
