// SPDX-License-Identifier: Apache-2.0
//
// Findings about the calls of a stage: a run that each rule is for, and one
// that it must say nothing of.
#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

// `num` calls, one each 45 ms; each `every`-th takes `slow_ms`, others 10 ms.
EventFeed Calls(uint64_t num, uint64_t every, uint64_t slow_ms) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < num; i++) {
    uint64_t now_ns = 45 * i * kMs;
    uint64_t ms = (i + every / 2) % every == 0 ? slow_ms : 10;
    OnHost(&feed, 1, "load", now_ns, now_ns + ms * kMs);
  }
  feed.AddWindow(0, 45 * num * kMs);
  return feed;
}

TEST(FindingsCallsTest, AnUnsteadyStageIsAProblem) {
  EventFeed feed = Calls(250, 25, 40);
  FindingsReport report(&feed);
  EXPECT_EQ("uneven", report.Problems());
  EXPECT_EQ(
      "load usually takes 10.0 ms, but one call in 100 takes 40.0 ms or more, "
      "4.00 times as long.",
      report.Text("uneven"));
  EXPECT_STREQ("250 calls; P99 is at least 40.0 ms", report.Get("uneven").sure);
}

TEST(FindingsCallsTest, TheThreadOfTheSlowCallsIsNamed) {
  for (uint32_t lane : {1, 2}) {
    EventFeed feed = FindingsFeed(false);
    for (uint64_t i = 0; i < 220; i++) {
      bool is_slow = i % 11 == 5;
      uint64_t now_ns = 45 * i * kMs;
      OnHost(&feed, is_slow ? lane : 1, "load", now_ns,
             now_ns + (is_slow ? 40 : 10) * kMs);
    }
    feed.AddWindow(0, 220 * 45 * kMs);
    std::string text = FindingsReport(&feed).Text("uneven");
    EXPECT_EQ(lane == 2 ? "load usually takes 10.0 ms, but one call in 100 "
                          "takes 40.0 ms or more, 4.00 times as long. On "
                          "thread worker it usually takes 40.0 ms."
                        : "load usually takes 10.0 ms, but one call in 100 "
                          "takes 40.0 ms or more, 4.00 times as long.",
              text);
  }
}

TEST(FindingsCallsTest, ASteadyOneIsNone) {
  EventFeed feed = Calls(250, 25, 29);
  EXPECT_EQ("", FindingsReport(&feed).Problems());
}

TEST(FindingsCallsTest, TooFewCallsAndTooFewSlowOnesAreNone) {
  EventFeed few = Calls(190, 25, 40);
  EXPECT_EQ("", FindingsReport(&few).Problems());
  // Of 1000, 14 are slow: the next sample may have fewer than 10.
  EventFeed rare = Calls(1000, 70, 45);
  EXPECT_EQ("", FindingsReport(&rare).Problems());
}

TEST(FindingsCallsTest, TheFirstCallIsSaid) {
  for (uint64_t ms : {90, 500}) {
    EventFeed feed = FindingsFeed(false);
    OnHost(&feed, 1, "load", 0, ms * kMs);
    for (uint64_t i = 0; i < 50; i++)
      OnHost(&feed, 1, "load", (1000 + 10 * i) * kMs, (1010 + 10 * i) * kMs);
    feed.AddWindow(0, 1500 * kMs);
    FindingsReport report(&feed);
    EXPECT_EQ(ms == 500 ? "The first call of load took 500 ms, 50.0 times a "
                          "usual one."
                        : "",
              report.Text("first-call"));
    EXPECT_EQ("", report.Problems());
  }
}

TEST(FindingsCallsTest, AFirstWaitIsNoLoading) {
  for (const char *name : {"engine: wait for requests", "Idle", "await"}) {
    EventFeed feed = FindingsFeed(false);
    OnHost(&feed, 1, name, 0, 500 * kMs);
    for (uint64_t i = 0; i < 50; i++)
      OnHost(&feed, 1, name, (1000 + 10 * i) * kMs, (1010 + 10 * i) * kMs);
    feed.AddWindow(0, 1500 * kMs);
    EXPECT_EQ(*name == 'a' ? "The first call of await took 500 ms, 50.0 times "
                             "a usual one."
                           : "",
              FindingsReport(&feed).Text("first-call"));
  }
}

TEST(FindingsCallsTest, OfStepsItIsTheFirstStep) {
  EventFeed feed = FindingsFeed(false);
  feed.Step(0, 1000 * kMs);
  for (uint64_t i = 0; i < 50; i++)
    feed.Step((1000 + 10 * i) * kMs, (1010 + 10 * i) * kMs);
  feed.AddWindow(0, 1500 * kMs);
  EXPECT_EQ("The first step took 1.00 s, 100 times a usual one.",
            FindingsReport(&feed).Text("first-call"));
}

// 20 calls of 10 ms, one after the other, with so much of a processor.
EventFeed OnProcessor(const pprof_cpu_use *use) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < 20; i++)
    OnHost(&feed, 1, "load", 10 * i * kMs, 10 * (i + 1) * kMs).cpu = use;
  feed.AddWindow(0, 200 * kMs);
  return feed;
}

TEST(FindingsCallsTest, WhatAThreadDoesIsSaid) {
  const struct {
    uint64_t user_ns, sys_ns, queue_ns;
    const char *computes, *blocks, *wait;
  } cases[] = {
      {7 * kMs, kMs, 0,
       "load computes: its thread is on a processor for 80 % of its time.", "",
       ""},
      {6 * kMs, kMs, 1900 * kUs, "", "", ""},
      {kMs, kMs, 0, "",
       "load waits: its thread is on a processor for only 20 % of its time.",
       ""},
      {6 * kMs, kMs, 2 * kMs, "", "",
       "load could go on, but waits for a processor for 20 % of its time."},
      // Who is ready to run waits for nothing else.
      {1300 * kUs, 0, 8700 * kUs, "", "",
       "load could go on, but waits for a processor for 87 % of its time."},
  };
  for (const auto &each : cases) {
    pprof_cpu_use use = {};
    use.known = PPROF_CPU_TIMES | PPROF_CPU_RUN_QUEUE;
    use.user_ns = each.user_ns;
    use.sys_ns = each.sys_ns;
    use.run_queue_ns = each.queue_ns;
    EventFeed feed = OnProcessor(&use);
    FindingsReport report(&feed);
    EXPECT_EQ(each.computes, report.Text("computes"));
    EXPECT_EQ(each.blocks, report.Text("blocks"));
    EXPECT_EQ(each.wait, report.Text("processor-wait"));
    EXPECT_EQ(*each.wait ? "processor-wait" : "", report.Problems());
  }
}

}  // namespace
}  // namespace pprof_test
