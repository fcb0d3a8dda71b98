// SPDX-License-Identifier: Apache-2.0
//
// What an interpreter takes: collections that hit requests, held event loops.
#include <deque>

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

TEST(FindingsInterpreterTest, CollectionsMayHitNoRequest) {
  EventFeed feed = Requests(10, 0, 0);
  feed.Range(1, "gc generation 2", kGarbage, 1100 * kMs, 1900 * kMs);
  feed.AddWindow(1000 * kMs, 2000 * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ(
      "Collections of generation 2 take 40 % of the run: 1 of 800 ms each.",
      report.Text("collections"));
  EXPECT_EQ("1 collection", std::string(report.Get("collections").sure));
}

TEST(FindingsInterpreterTest, ShortCollectionsAreNone) {
  EventFeed feed = Requests(1000, 33, 2 * kMs);
  EXPECT_EQ("", FindingsReport(&feed).Text("collections"));
  EventFeed none = Requests(1000, 0, 0);
  EXPECT_EQ("", FindingsReport(&none).Text("collections"));
}

// A tenth of a run of 3 ms, and of one of 30 ms: a problem explains 1 ms in all
// at least.
TEST(FindingsInterpreterTest, LessThanAMillisecondInAllIsNone) {
  for (uint64_t ms : {3, 30}) {
    EventFeed feed = FindingsFeed(false);
    feed.Category(kGarbage, "Garbage");
    const uint64_t tenth_ns = ms * kMs / 10;
    OfRequest(&OnHost(&feed, 1, "request", 0, 10 * tenth_ns), 1);
    feed.Range(1, "gc generation 2", kGarbage, tenth_ns, 2 * tenth_ns).depth =
        1;
    feed.AddWindow(0, 10 * tenth_ns);
    EXPECT_EQ(ms == 3, FindingsReport(&feed).Text("collections") == "") << ms;
  }
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

TEST(FindingsInterpreterTest, AHoldBesideNoOtherRequestSaysNoNumber) {
  EventFeed feed = Requests(100, 0, 0);
  pprof_event event = {};
  event.kind = PPROF_KIND_COUNTER;
  event.site = feed.Site("loop:early", kLoop);
  event.lane = 1;
  event.start_ns = event.end_ns = 500 * kMs;
  event.value = 48;
  feed.Add(1, event);
  EXPECT_EQ("`early` kept the event loop for 48.0 ms.",
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

// `tokenize` computes 10 of each 20 ms on one thread. `model` begins each 30 ms
// on another one, computes 2 ms and waits for a device 4 ms; where it begins
// while `tokenize` runs it waits `longer_ms` more.
EventFeed Threads(const char *beside, double use, uint64_t longer_ms) {
  static std::deque<pprof_cpu_use> uses;
  EventFeed feed = FindingsFeed(false);
  const auto add = [&](uint32_t lane, const char *name, uint64_t from_ns,
                       uint64_t to_ns, double cpu_ns) {
    pprof_cpu_use of = {};
    of.size = sizeof of;
    of.known = PPROF_CPU_TIMES | PPROF_CPU_RUN_QUEUE;
    of.user_ns = static_cast<uint64_t>(cpu_ns);
    uses.push_back(of);
    OnHost(&feed, lane, name, from_ns, to_ns).cpu = &uses.back();
  };
  OnHost(&feed, 1, beside, 0, kMs);
  for (uint64_t i = 0; i < 300; i++)
    add(1, "tokenize", (20 * i + 2) * kMs, (20 * i + 12) * kMs, 10e6 * use);
  for (uint64_t i = 0; i < 199; i++) {
    uint64_t from_ns = (30 * i + 3) * kMs;
    bool is_inside = (from_ns / kMs + 18) % 20 < 10;
    add(2, "model", from_ns, from_ns + (6 + (is_inside ? longer_ms : 0)) * kMs,
        2e6);
  }
  feed.AddWindow(0, 6000 * kMs);
  return feed;
}

TEST(FindingsInterpreterTest, WhatHoldsTheLockIsNamedNotWhoWaits) {
  EventFeed feed = Threads("import json", 1, 9);
  FindingsReport report(&feed);
  // 100 calls of 15 ms begin inside, 9 ms of each more: 900 of 6 000 ms.
  EXPECT_EQ(
      "`tokenize` holds the interpreter's lock: `model` waits for it 9.00 ms a "
      "call.",
      report.Text("held-lock"));
  EXPECT_NE(std::string::npos,
            std::string(report.Get("held-lock").next)
                .find("run `tokenize` in a process of its own"));
}

// A model that releases it waits as long for its device whatever goes on; who
// computes little holds nothing; a program without an interpreter has no lock.
TEST(FindingsInterpreterTest, NobodyHoldsTheLock) {
  EventFeed releases = Threads("import json", 1, 0);
  EXPECT_EQ("", FindingsReport(&releases).Text("held-lock"));
  EventFeed sleeps = Threads("import json", 0.2, 9);
  EXPECT_EQ("", FindingsReport(&sleeps).Text("held-lock"));
  EventFeed native = Threads("load", 1, 9);
  EXPECT_EQ("", FindingsReport(&native).Text("held-lock"));
}

}  // namespace
}  // namespace pprof_test
