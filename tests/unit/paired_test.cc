// SPDX-License-Identifier: Apache-2.0
//
// Device ranges that are the device side of a host range: one call, one time,
// in every table. All figures are worked out by hand, in milliseconds.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/mem.h"
#include "report/run/passes.h"
#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

constexpr uint64_t kMs = 1000000;
constexpr uint32_t kUser = PPROF_CATEGORY_USER_DEFINED;
constexpr uint32_t kPaired = PPROF_FLAG_PAIRED;
constexpr uint32_t kInner = PPROF_FLAG_PAIRED | PPROF_FLAG_INNER;
constexpr uint32_t kUntimed = PPROF_FLAG_PAIRED | PPROF_FLAG_NO_DEVICE_TIME;

struct Span {
  uint64_t start, end;
};

class PairedTest : public testing::Test {
 protected:
  PairedTest() {
    Prepare(&feed_);
  }

  static void Prepare(EventFeed *feed) {
    feed->Lane(1, 100, "main");
    feed->Device(1, "gpu:0");
    feed->Stream(1, 1);
    feed->Stream(2, 1);
    feed->AddWindow(0, 100 * kMs);
  }

  void Host(const std::string &name, uint32_t category, Span host) {
    feed_.Range(1, name, category, host.start * kMs, host.end * kMs);
  }
  void Device(const std::string &name, uint32_t category, uint32_t flags,
              Span host, Span device, uint32_t stream = 1) {
    pprof_event &event =
        feed_.OnDevice(1, stream, name, category, host.start * kMs,
                       device.start * kMs, device.end * kMs);
    event.end_ns = host.end * kMs;
    event.flags = flags;
  }

  EventFeed feed_;
};

TEST_F(PairedTest, IsNoCallOfItsOwn) {
  Host("train step", kUser, {0, 10});
  Device("train step", kUser, kPaired, {1, 9}, {2, 8});
  Report report(feed_);
  EXPECT_TRUE(report.HasLine("userdefined",
                             "train step 1 "
                             "10.00 / 10.00 / 10.00 / 10.00 / 10.00 "
                             "6.00 / 6.00 / 6.00 / 6.00 / 100.00"))
      << report.Table("userdefined");
  EXPECT_TRUE(report.HasLine("overview", "UserDefined 1 10.00 10.00"));
  EXPECT_TRUE(report.HasLine("overview", "UserDefined 1 6.00 6.00"));
  EXPECT_TRUE(report.HasLine("device", "gpu:0 6.00"));
  EXPECT_TRUE(ppi_report_identity_ok(report.get()));
  const ppi_figures *figures = ppi_report_figures(report.get());
  ASSERT_EQ(1u, figures->num_queues);
  EXPECT_EQ(1u, figures->queues[0].sums.calls);
  EXPECT_EQ(1u, figures->devices[0].ranges);
}

TEST_F(PairedTest, NestedOnesHaveTheirOwnTimesAndCountOnceInTheBase) {
  Host("op", kUser, {5, 10});
  Device("op", kUser, kInner, {6, 9}, {6, 10});
  Host("op", kUser, {20, 30});
  Device("op", kUser, kInner, {21, 29}, {20, 34});
  Host("outer", kUser, {0, 40});
  Device("outer", kUser, kPaired, {1, 39}, {2, 38});
  Report report(feed_);
  EXPECT_TRUE(report.HasLine("userdefined",
                             "outer 1 40.00 / 40.00 / 40.00 / 40.00 / 40.00 "
                             "36.00 / 36.00 / 36.00 / 36.00 / 100.00"))
      << report.Table("userdefined");
  EXPECT_TRUE(report.HasLine("userdefined",
                             "op 2 15.00 / 7.50 / 10.00 / 5.00 / 15.00 "
                             "18.00 / 9.00 / 14.00 / 4.00 / 50.00"));
  EXPECT_TRUE(report.HasLine("overview", "UserDefined 3 36.00 36.00"));
}

// "request" and "plain" are host ranges with no device side of their own.
TEST_F(PairedTest, OrdinaryDeviceRangesBesideItGoOnAsEver) {
  Device("model", PPROF_CATEGORY_INFERENCE, 0, {5, 5}, {5, 12});
  Device("mine", kUser, 0, {6, 8}, {6, 9});
  Host("plain", kUser, {4, 10});
  Host("step", kUser, {0, 20});
  Device("step", kUser, kPaired, {1, 19}, {1, 19});
  Host("request", kUser, {0, 30});
  Report report(feed_);
  EXPECT_TRUE(report.HasLine("userdefined",
                             "step 1 20.00 / 20.00 / 20.00 / 20.00 / 20.00 "
                             "18.00 / 18.00 / 18.00 / 18.00 / 64.29"))
      << report.Table("userdefined");
  EXPECT_TRUE(report.HasLine("userdefined",
                             "plain 1 6.00 / 6.00 / 6.00 / 6.00 / 6.00 "
                             "10.00 / 10.00 / 10.00 / 10.00 / 35.71"));
  EXPECT_TRUE(report.HasLine("userdefined",
                             "mine 1 2.00 / 2.00 / 2.00 / 2.00 / 2.00 "
                             "3.00 / 3.00 / 3.00 / 3.00 / 10.71"));
  EXPECT_TRUE(report.HasLine("userdefined",
                             "request 1 30.00 / 30.00 / 30.00 / 30.00 / 30.00 "
                             "10.00 / 10.00 / 10.00 / 10.00 / 35.71"));
}

TEST_F(PairedTest, TwoStreamsAreOneCall) {
  Host("step", kUser, {0, 20});
  Device("step", kUser, kPaired, {1, 19}, {1, 11}, 1);
  Device("step", kUser, kPaired, {2, 19}, {3, 17}, 2);
  Report report(feed_);
  EXPECT_TRUE(report.HasLine("userdefined",
                             "step 1 20.00 / 20.00 / 20.00 / 20.00 / 20.00 "
                             "24.00 / 12.00 / 14.00 / 10.00 / 100.00"))
      << report.Table("userdefined");
  EXPECT_TRUE(report.HasLine("overview", "UserDefined 2 16.00 16.00"));
}

TEST_F(PairedTest, WithoutADeviceTimeItAddsNothingToItsName) {
  const uint32_t why[] = {0, PPROF_FLAG_IN_GRAPH, PPROF_FLAG_LATE,
                          PPROF_FLAG_CLIPPED};
  for (uint64_t i = 0; i < 4; i++) {
    Host("x", kUser, {i * 10, i * 10 + 5});
    Device("x", kUser, kUntimed | why[i], {i * 10 + 1, i * 10 + 4}, {0, 0});
  }
  Report none(feed_);
  EXPECT_TRUE(none.HasLine("userdefined",
                           "x 4 20.00 / 5.00 / 5.00 / 5.00 / 20.00 "
                           "0.00 / 0.00 / 0.00 / 0.00 / 0.00"))
      << none.Table("userdefined");
  EXPECT_EQ(4u, ppi_report_figures(none.get())->devices[0].untimed);
  EXPECT_TRUE(ppi_report_figures(none.get())->devices[0].incomplete);
  Host("x", kUser, {50, 55});
  Device("x", kUser, kPaired, {51, 54}, {52, 58});
  Report one(feed_);
  EXPECT_TRUE(one.HasLine("userdefined",
                          "x 5 25.00 / 5.00 / 5.00 / 5.00 / 25.00 "
                          "6.00 / 6.00 / 6.00 / 6.00 / 100.00"))
      << one.Table("userdefined");
}

// A graph was captured in one host range and launched three times.
TEST_F(PairedTest, LaunchesOfAGraphAreNoCalls) {
  Host("x", kUser, {0, 10});
  Device("x", kUser, kUntimed | PPROF_FLAG_IN_GRAPH, {1, 9}, {0, 0});
  for (uint64_t at : {20, 30, 40})
    Device("x", kUser, kPaired | PPROF_FLAG_IN_GRAPH, {at, at}, {at, at + 2});
  Report report(feed_);
  EXPECT_TRUE(report.HasLine("userdefined",
                             "x 1 10.00 / 10.00 / 10.00 / 10.00 / 10.00 "
                             "6.00 / 2.00 / 2.00 / 2.00 / 100.00"))
      << report.Table("userdefined");
}

// The host range was lost: a row without a call keeps the device time.
TEST_F(PairedTest, ALostHostRangeLeavesTheDeviceTime) {
  Device("x", kUser, kPaired, {1, 9}, {2, 8});
  Report report(feed_);
  const ppi_figures *figures = ppi_report_figures(report.get());
  ASSERT_EQ(1u, figures->num_names);
  EXPECT_EQ(0u, figures->names[0].host.n + figures->names[0].submit.n);
  EXPECT_EQ(6 * kMs, figures->names[0].inside.sum);
}

TEST_F(PairedTest, APhaseHasItsOwnTimeOnce) {
  Host("op", kUser, {5, 10});
  Device("op", kUser, kInner, {6, 9}, {6, 10});
  Host("fwd", PPROF_CATEGORY_FORWARD, {0, 40});
  Device("fwd", PPROF_CATEGORY_FORWARD, kPaired, {1, 39}, {2, 38});
  Report report(feed_);
  EXPECT_TRUE(report.HasLine("model",
                             "Forward 1 40.00 / 40.00 / 40.00 / 40.00 / 40.00 "
                             "36.00 / 36.00 / 36.00 / 36.00 / 100.00"))
      << report.Table("model");
}

// Three levels, and steps that begin inside of the outermost.
void FillEpoch(EventFeed *feed) {
  const auto add = [feed](const char *name, uint32_t category, uint32_t flags,
                          Span host, Span device) {
    feed->Range(1, name, category, host.start * kMs, host.end * kMs);
    pprof_event &event =
        feed->OnDevice(1, 1, name, category, host.start * kMs + 1,
                       device.start * kMs, device.end * kMs);
    event.end_ns = host.end * kMs - 1;
    event.flags = flags;
  };
  feed->Step(0, 50 * kMs);
  feed->Step(50 * kMs, 100 * kMs);
  add("op", kUser, kInner, {12, 14}, {14, 20});
  add("op", kUser, kInner, {20, 25}, {21, 26});
  add("fwd", PPROF_CATEGORY_FORWARD, kInner, {10, 30}, {12, 32});
  add("bwd", PPROF_CATEGORY_BACKWARD, kInner, {60, 80}, {60, 85});
  add("epoch", kUser, kPaired, {1, 99}, {2, 98});
}

TEST_F(PairedTest, APhaseInsideAnotherPairedRangeKeepsItsTime) {
  FillEpoch(&feed_);
  Report report(feed_);
  EXPECT_TRUE(report.HasLine("model",
                             "Forward 1 20.00 / 20.00 / 20.00 / 20.00 / 20.00 "
                             "20.00 / 20.00 / 20.00 / 20.00 / 20.83"))
      << report.Table("model");
  EXPECT_TRUE(report.HasLine("model",
                             "Backward 1 20.00 / 20.00 / 20.00 / 20.00 / 20.00 "
                             "25.00 / 25.00 / 25.00 / 25.00 / 26.04"));
  // The first step: 96 - 20 - 25 of the epoch itself, and 20. The second: 25.
  EXPECT_TRUE(report.HasLine("model",
                             "ProfileStep 2 100.00 / 50.00 / 50.00 / 50.00 / "
                             "100.00 96.00 / 48.00 / 71.00 / 25.00 / 100.00"));
}

TEST_F(PairedTest, NoWayOfDeliveringItChangesAFigure) {
  FillEpoch(&feed_);
  std::string want = Report(feed_).Json();
  for (uint64_t seed = 0; seed < 200; seed++) {
    std::mt19937_64 random(seed);
    Report report;
    ASSERT_EQ(PPROF_STATUS_OK,
              feed_.DeliverAs(report.sink(), &random, seed % 12));
    ASSERT_EQ(want, report.Json()) << seed;
  }
}

// A tree of paired ranges on a stream: what each has without those in it.
struct Node {
  uint64_t submit, own;
};

void FillTree(EventFeed *feed, std::mt19937_64 *random, Span host, int depth,
              std::vector<Node> *nodes) {
  const auto pick = [random](uint64_t n) { return (*random)() % n; };
  static const char *const kNames[] = {"a", "b", "c"};
  uint64_t inside = 0, at = host.start + 1;
  while (depth < 4 && at + 20 < host.end && pick(4)) {
    uint64_t start = at + pick(host.end - at - 10);
    uint64_t end = start + 5 + pick(host.end - start - 5);
    size_t before = nodes->size();
    FillTree(feed, random, {start, end}, depth + 1, nodes);
    for (size_t i = before; i < nodes->size(); i++) inside += (*nodes)[i].own;
    at = end + 1;
  }
  uint64_t own = pick(100);
  nodes->push_back({host.start, own});
  constexpr uint32_t kForward = PPROF_CATEGORY_FORWARD;
  uint32_t category = pick(2) ? kUser : kForward;
  pprof_event &event =
      feed->OnDevice(1, 1, kNames[pick(3)], category, host.start, host.start,
                     host.start + inside + own);
  event.end_ns = host.end;
  event.flags = depth ? kInner : kPaired;
}

TEST_F(PairedTest, AStepHasWhatWasSubmittedInItOnce) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    EventFeed feed;
    Prepare(&feed);
    std::vector<Node> nodes;
    for (uint64_t at = 0; at < 3000; at += 1000)
      FillTree(&feed, &random, {at + 10, at + 900}, 0, &nodes);
    uint64_t all = 0;
    for (uint64_t at = 0; at < 3000; at += 250) {
      uint64_t inside = 0;
      feed.Step(at, at + 200);
      for (const Node &node : nodes)
        if (node.submit >= at && node.submit < at + 200) inside += node.own;
      all += inside;
    }
    Report plain(feed);
    const ppi_figures *figures = ppi_report_figures(plain.get());
    EXPECT_EQ(all, figures->phases[PPI_PHASE_PROFILE_STEP].device.sum);
    for (size_t checkpoints : {1, 5, 40}) {
      Report other;
      ASSERT_EQ(PPROF_STATUS_OK,
                feed.DeliverAs(other.sink(), &random, checkpoints));
      ASSERT_EQ(plain.Json(), other.Json()) << checkpoints;
    }
  }
}

// The phase ends before the child begins, and rounding made that the longer.
TEST_F(PairedTest, NoTimeIsNegative) {
  Device("inner", kUser, kInner, {6, 7}, {10, 15});
  Host("phase", PPROF_CATEGORY_FORWARD, {0, 5});
  Device("outer", kUser, kPaired, {1, 9}, {10, 12});
  Report report(feed_);
  const ppi_figures *figures = ppi_report_figures(report.get());
  EXPECT_EQ(0u, figures->phases[PPI_PHASE_FORWARD].device.sum);
  EXPECT_EQ(2 * kMs, figures->model_device_ns);
}

// Its own was late: what it holds is the outermost that has a time.
TEST_F(PairedTest, AnOuterRangeWithoutATimeHidesNoInnerOne) {
  Device("op", kUser, kInner, {6, 9}, {6, 10});
  Host("fwd", PPROF_CATEGORY_FORWARD, {0, 40});
  Device("fwd", PPROF_CATEGORY_FORWARD, kUntimed | PPROF_FLAG_LATE, {1, 39},
         {0, 0});
  Report report(feed_);
  const ppi_figures *figures = ppi_report_figures(report.get());
  EXPECT_EQ(4 * kMs, figures->phases[PPI_PHASE_FORWARD].device.sum);
}

TEST_F(PairedTest, ReportsAddUp) {
  Host("step", kUser, {0, 20});
  Device("step", kUser, kPaired, {1, 19}, {1, 11});
  EventFeed other;
  Prepare(&other);
  other.Run("00000000000000000000000000000002", "2");
  std::swap(feed_, other);
  Host("step", kUser, {0, 40});
  Device("step", kUser, kPaired, {1, 39}, {2, 32});
  Host("step", kUser, {50, 60});
  Device("step", kUser, kUntimed, {51, 59}, {0, 0});
  std::string texts[2];
  for (int i = 0; i < 2; i++) {
    Report into(i ? other : feed_), from(i ? feed_ : other);
    ASSERT_EQ(PPROF_STATUS_OK, pprof_report_merge(into.get(), from.get()));
    texts[i] = into.Json();
    EXPECT_TRUE(into.HasLine("userdefined",
                             "step 3 70.00 / 23.33 / 40.00 / 10.00 / 35.00 "
                             "40.00 / 20.00 / 30.00 / 10.00 / 100.00"))
        << into.Table("userdefined");
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(PairedTest, RunsOutOfMemoryCleanly) {
  FillEpoch(&feed_);
  std::string want = Report(feed_).Json();
  for (uint64_t n = 1; n < 3000; n++) {
    Report report;
    std::mt19937_64 random(1);
    // The feed's own counting allocates as well, so a failure may be its own.
    ppi_mem_fail_at(n);
    pprof_status status = feed_.DeliverAs(report.sink(), &random, 5);
    ppi_mem_fail_at(0);
    if (status == PPROF_STATUS_OK) {
      EXPECT_EQ(want, report.Json());
      return;
    }
    ASSERT_EQ(PPROF_STATUS_NO_MEMORY, status) << n;
  }
  FAIL() << "never succeeded";
}

// An epoch is open over all of it; its ops must not be held until it ends.
TEST_F(PairedTest, CheckpointsBoundMemory) {
  ppi_run run = {};
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_TRUE(ppi_run_begin(&run, &info));
  ASSERT_TRUE(ppi_run_window(&run, 0, true, 0));
  pprof_event epoch = {};
  epoch.kind = PPROF_KIND_DEVICE_RANGE;
  epoch.site = epoch.lane = epoch.stream = 1;
  epoch.flags = kPaired;
  pprof_event op = epoch;
  op.flags = kInner;
  const auto deliver = [&run](const pprof_event &event) {
    pprof_batch batch = {sizeof batch, sizeof event, &event, 1, 0, 1, 1, 0};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_run_events(&run, &batch));
  };
  for (uint64_t round = 0; round < 50; round++) {
    for (uint64_t i = 1; i <= 100; i++) {
      op.start_ns = round * 1000 + i * 9;
      op.end_ns = op.start_ns + 5;
      op.device_start_ns = op.start_ns + 1;
      op.device_end_ns = op.start_ns + 4;
      deliver(op);
    }
    epoch.end_ns = (round + 1) * 1000;
    pprof_checkpoint checkpoint = {epoch.end_ns, &epoch, 1};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_run_checkpoint(&run, &checkpoint));
    ASSERT_EQ(1u, run.pairs.num);
    EXPECT_EQ(1u, run.pairs.items[0].num);
  }
  epoch.device_start_ns = 1;
  epoch.device_end_ns = 50001;
  deliver(epoch);
  EXPECT_EQ(0u, run.pairs.items[0].num);
  EXPECT_EQ(50000u, run.device_sums.ns[PPI_DEVICE_PAIRED]);
  // An inner one whose outer one was lost, or begun before the session.
  op.start_ns = 50500;
  deliver(op);
  EXPECT_EQ(1u, run.pairs.items[0].num);
  pprof_checkpoint checkpoint = {51000, nullptr, 0};
  ASSERT_EQ(PPROF_STATUS_OK, ppi_run_checkpoint(&run, &checkpoint));
  EXPECT_EQ(0u, run.pairs.num);
  ppi_run_clear(&run);
}

}  // namespace
