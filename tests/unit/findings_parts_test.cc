// SPDX-License-Identifier: Apache-2.0
//
// Findings about the parts of a request's or a step's time: a run that each
// rule is for, and one that it must say nothing of.
#include <vector>

#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

struct Stage {
  const char *name;
  uint32_t category;
  uint64_t ms;
};

// 20 steps, one after the other; each has these stages, and ends a millisecond
// later.
EventFeed Steps(const std::vector<Stage> &stages, bool has_device = false) {
  EventFeed feed = FindingsFeed(has_device);
  uint64_t now_ns = 0;
  for (int i = 0; i < 20; i++) {
    uint64_t start_ns = now_ns;
    for (const Stage &stage : stages) {
      feed.Range(1, stage.name, stage.category, now_ns,
                 now_ns + stage.ms * kMs);
      now_ns += stage.ms * kMs;
    }
    now_ns += kMs;
    feed.Step(start_ns, now_ns);
  }
  feed.AddWindow(0, now_ns);
  return feed;
}

TEST(FindingsPartsTest, AStageOfHalfTheTimeDominates) {
  EventFeed feed = Steps({{"load", PPROF_CATEGORY_USER_DEFINED, 3},
                          {"model", PPROF_CATEGORY_USER_DEFINED, 6}});
  FindingsReport report(&feed);
  EXPECT_EQ("model takes 6.00 ms of 10.0 ms a step (60 %).",
            report.Text("dominates"));
  EXPECT_FALSE(report.Get("dominates").is_problem);
  EXPECT_EQ(6 * kMs, report.Get("dominates").ns);
  EXPECT_EQ("", report.Problems());
}

TEST(FindingsPartsTest, AStageOfLessDoesNot) {
  EventFeed feed = Steps({{"load", PPROF_CATEGORY_USER_DEFINED, 5},
                          {"model", PPROF_CATEGORY_USER_DEFINED, 5}});
  FindingsReport report(&feed);
  EXPECT_EQ(nullptr, report.Of("dominates"));
}

TEST(FindingsPartsTest, SmallRangesInsideChangeNothing) {
  EventFeed feed = Steps({{"a", PPROF_CATEGORY_USER_DEFINED, 2},
                          {"b", PPROF_CATEGORY_USER_DEFINED, 2},
                          {"a", PPROF_CATEGORY_FORWARD, 2},
                          {"c", PPROF_CATEGORY_USER_DEFINED, 1}});
  FindingsReport report(&feed);
  // Two categories of one name are one stage: 4 of 8.
  EXPECT_EQ("a takes 4.00 ms of 8.00 ms a step (50 %).",
            report.Text("dominates"));
}

// ---- waiting, reading ----

TEST(FindingsPartsTest, TimeThatGoesIntoWaitingIsAProblem) {
  EventFeed feed = Steps({{"forward", PPROF_CATEGORY_FORWARD, 4},
                          {"reduce", PPROF_CATEGORY_COMMUNICATION, 2},
                          {"post", PPROF_CATEGORY_USER_DEFINED, 3}});
  FindingsReport report(&feed);
  EXPECT_EQ("waiting", report.Problems());
  EXPECT_EQ(
      "2.00 ms of 10.0 ms a step (20 %) is waiting for others while nothing "
      "else works, most of it in reduce.",
      report.Text("waiting"));
}

TEST(FindingsPartsTest, WaitingWhileAnotherThreadWorksIsNone) {
  EventFeed feed = Steps({{"forward", PPROF_CATEGORY_FORWARD, 4},
                          {"reduce", PPROF_CATEGORY_COMMUNICATION, 2},
                          {"post", PPROF_CATEGORY_USER_DEFINED, 3}});
  for (uint64_t i = 0; i < 20; i++)
    feed.Range(2, "backward", PPROF_CATEGORY_BACKWARD, (10 * i + 4) * kMs,
               (10 * i + 6) * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ("", report.Problems());
}

TEST(FindingsPartsTest, TimeThatGoesIntoReadingIsAProblem) {
  for (uint64_t ms : {1, 2}) {
    EventFeed feed = Steps({{"load", PPROF_CATEGORY_DATALOADER, ms},
                            {"a", PPROF_CATEGORY_USER_DEFINED, 4},
                            {"b", PPROF_CATEGORY_USER_DEFINED, 5 - ms}});
    FindingsReport report(&feed);
    EXPECT_EQ(ms == 2 ? "2.00 ms of 10.0 ms a step (20 %) go into reading "
                        "data, in load."
                      : "",
              report.Text("input-bound"));
  }
}

TEST(FindingsPartsTest, ReadingWhileADeviceWorksIsNone) {
  EventFeed feed = Steps({{"load", PPROF_CATEGORY_DATALOADER, 4},
                          {"a", PPROF_CATEGORY_USER_DEFINED, 5}},
                         true);
  for (uint64_t i = 0; i < 20; i++)
    feed.OnDevice(2, 1, "model", PPROF_CATEGORY_INFERENCE, 10 * i * kMs,
                  (10 * i + 1) * kMs, (10 * i + 7) * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ(nullptr, report.Of("input-bound"));
}

// ---- queueing ----

// 60 requests, one each `every_ms`; each works 10 ms on the device, which takes
// up the first one after 20 ms.
EventFeed DeviceRequests(uint64_t every_ms, uint64_t delay_ms,
                         uint32_t error_ns) {
  EventFeed feed = FindingsFeed(true);
  for (uint64_t i = 0; i < 60; i++) {
    uint64_t now_ns = i * every_ms * kMs, start_ns = now_ns + delay_ms * kMs;
    pprof_event &event = feed.OnDevice(1, 1, "model", PPROF_CATEGORY_INFERENCE,
                                       now_ns, start_ns, start_ns + 10 * kMs);
    event.device_error_ns = error_ns;
    OfRequest(&event, i + 1);
  }
  feed.AddWindow(0, (59 * every_ms + delay_ms + 10) * kMs);
  return feed;
}

TEST(FindingsPartsTest, QueueingForADeviceIsAProblem) {
  EventFeed feed = DeviceRequests(10, 20, 0);
  FindingsReport report(&feed);
  // The first waits for nobody, the second for 10 of 20 ms: 1170 of 1800 ms.
  // 60 requests of 30 ms in 620 ms.
  EXPECT_EQ("queueing", report.Problems());
  EXPECT_EQ(
      "19.5 ms of 30.0 ms a request (65 %) is queueing for gpu:0; 2.90 "
      "requests are in flight.",
      report.Text("queueing"));
}

TEST(FindingsPartsTest, AQueueWithinTheClockErrorIsNot) {
  EventFeed feed = DeviceRequests(10, 20, 15 * kMs);
  FindingsReport report(&feed);
  // A quarter of 65 %.
  EXPECT_EQ(nullptr, report.Of("queueing"));
}

TEST(FindingsPartsTest, ADeviceThatServesNobodyElseIsNoQueue) {
  EventFeed feed = DeviceRequests(12, 1, 0);
  FindingsReport report(&feed);
  EXPECT_EQ("", report.Problems());
}

// 60 requests, one each 4 ms: 2 ms on each of two threads, with a gap between.
EventFeed HostRequests(uint64_t gap_ms) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < 60; i++) {
    uint64_t now_ns = 4 * i * kMs, next_ns = now_ns + (2 + gap_ms) * kMs;
    OfRequest(&feed.Range(1, "parse", PPROF_CATEGORY_USER_DEFINED, now_ns,
                          now_ns + 2 * kMs),
              i + 1);
    OfRequest(&feed.Range(2, "store", PPROF_CATEGORY_USER_DEFINED, next_ns,
                          next_ns + 2 * kMs),
              i + 1);
  }
  feed.AddWindow(0, (59 * 4 + 4 + gap_ms) * kMs);
  return feed;
}

TEST(FindingsPartsTest, WaitingForAThreadIsAProblem) {
  EventFeed feed = HostRequests(8);
  FindingsReport report(&feed);
  // 60 requests of 12 ms in 248 ms.
  EXPECT_EQ("queueing", report.Problems());
  EXPECT_EQ(
      "8.00 ms of 12.0 ms a request (67 %) pass before store begins, while "
      "nothing recorded works for it; 2.90 requests are in flight.",
      report.Text("queueing"));
  EXPECT_STREQ("more workers for this stage, or fewer requests in flight.",
               report.Get("queueing").next);
}

TEST(FindingsPartsTest, AThreadThatIsThereAtOnceIsNone) {
  EventFeed feed = HostRequests(0);
  FindingsReport report(&feed);
  EXPECT_EQ("", report.Problems());
}

}  // namespace
}  // namespace pprof_test
