// SPDX-License-Identifier: Apache-2.0
//
// What an interpreter takes: collections that hit requests, held event loops.
#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

constexpr uint32_t kGarbage = 41, kLoop = 42;  // registered categories

// Requests of 100 ms one after the other on one thread; each `every`-th meets a
// collection of `pause_ns`.
EventFeed Requests(int num, int every, uint64_t pause_ns) {
  EventFeed feed = FindingsFeed(false);
  feed.Category(kGarbage, "Garbage");
  feed.Category(kLoop, "EventLoop");
  for (int i = 0; i < num; i++) {
    uint64_t now_ns = static_cast<uint64_t>(i) * 100 * kMs;
    uint64_t flow = static_cast<uint64_t>(i) + 1;
    OfRequest(&OnHost(&feed, 1, "request", now_ns, now_ns + 99 * kMs), flow);
    if (every == 0 || i % every != 5) continue;
    pprof_event &pause = feed.Range(1, "gc generation 2", kGarbage,
                                    now_ns + kMs, now_ns + kMs + pause_ns);
    pause.depth = 1;
  }
  feed.AddWindow(0, static_cast<uint64_t>(num) * 100 * kMs);
  return feed;
}

TEST(FindingsInterpreterTest, CollectionsHitRequests) {
  EventFeed feed = Requests(1000, 33, 62 * kMs);
  FindingsReport report(&feed);
  // 31 of 1000; of 99 ms each pause is more than half.
  EXPECT_EQ(
      "3.1 % of requests hit a collection of generation 2, 62.0 ms each (62.0 "
      "ms at most).",
      report.Text("collections"));
  EXPECT_NE(std::string::npos, report.Problems().find("collections"));
  EXPECT_NE(std::string::npos,
            std::string(report.Get("collections").next).find("gc.freeze()"));
}

TEST(FindingsInterpreterTest, ShortCollectionsAreNone) {
  EventFeed feed = Requests(1000, 33, 2 * kMs);
  EXPECT_EQ("", FindingsReport(&feed).Text("collections"));
  EventFeed none = Requests(1000, 0, 0);
  EXPECT_EQ("", FindingsReport(&none).Text("collections"));
}

TEST(FindingsInterpreterTest, WhatHeldTheLoopIsNamedWithWhoWaited) {
  EventFeed feed = Requests(100, 0, 0);
  // 31 more are open from 1 s to 2 s, on no thread.
  for (uint64_t i = 0; i < 31; i++) {
    pprof_event &event = OnHost(&feed, 2, "wait", 1000 * kMs, 2000 * kMs);
    event.flags = PPROF_FLAG_ASYNC;
    OfRequest(&event, 1000 + i);
  }
  auto hold = [&](const char *name, uint64_t end_ns, double ms) {
    pprof_event event = {};
    event.kind = PPROF_KIND_COUNTER;
    event.site = feed.Site(name, kLoop);
    event.lane = 1;
    event.start_ns = event.end_ns = end_ns;
    event.value = ms;
    feed.Add(1, event);
  };
  hold("loop:tokenize", 1060 * kMs, 48);
  hold("loop:tokenize", 5060 * kMs, 12);
  hold("loop:other", 6060 * kMs, 25);
  // One of them was open on the thread itself.
  EXPECT_EQ("`tokenize` kept the event loop for 48.0 ms: 31 requests waited.",
            FindingsReport(&feed).Text("held-loop"));
}

TEST(FindingsInterpreterTest, AShortHoldIsNone) {
  EventFeed feed = Requests(100, 0, 0);
  pprof_event event = {};
  event.kind = PPROF_KIND_COUNTER;
  event.site = feed.Site("loop:quick", kLoop);
  event.lane = 1;
  event.start_ns = event.end_ns = 500 * kMs;
  event.value = 12;
  feed.Add(1, event);
  EXPECT_EQ("", FindingsReport(&feed).Text("held-loop"));
}

}  // namespace
}  // namespace pprof_test
