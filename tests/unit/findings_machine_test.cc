// SPDX-License-Identifier: Apache-2.0
//
// What the machine did beside the program: named where it covers slow calls
// more than chance does, or much of the run.
#include <functional>
#include <random>

#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

constexpr uint32_t kMachine = 40;  // a registered category
constexpr uint64_t kS = 1000 * kMs;

void Count(EventFeed *feed, const char *name, uint64_t time_ns, double value) {
  pprof_event event = {};
  event.kind = PPROF_KIND_COUNTER;
  event.site = feed->Site(name, kMachine);
  event.lane = 2;
  event.start_ns = event.end_ns = time_ns;
  event.value = value;
  feed->Add(2, event);
}

EventFeed MachineFeed() {
  EventFeed feed = FindingsFeed(false);
  feed.Category(kMachine, "Machine");
  return feed;
}

// Calls one after the other until `end_ns`, as long as `length` says of each's
// begin and number; 2 ms lie between them.
void Calls(EventFeed *feed, uint64_t end_ns,
           const std::function<uint64_t(uint64_t, int)> &length) {
  uint64_t now_ns = 0;
  for (int i = 0; now_ns < end_ns; i++) {
    uint64_t ns = length(now_ns, i);
    OnHost(feed, 1, "detect", now_ns, now_ns + ns);
    now_ns += ns + 2 * kMs;
  }
  feed->AddWindow(0, now_ns);
}

uint64_t Steady(uint64_t, int) {
  return 8 * kMs;
}

std::string Text(EventFeed *feed, const char *id) {
  return FindingsReport(feed).Text(id);
}

// A session that ends early has defined counters that it never read.
TEST(FindingsMachineTest, CountersMayHaveNoValue) {
  EventFeed feed = MachineFeed();
  Calls(&feed, 2 * kS, Steady);
  for (const char *name :
       {"processors.others_us", "processors.number", "cgroup.cpu_max",
        "gpu:0.energy_j", "gpu:0.power_w", "gpu:0.sm_mhz",
        "gpu:0.event_reasons", "process.run_queue_us"})
    feed.Site(name, kMachine);
  Count(&feed, "processors.stolen_us", kS, 0);
  Count(&feed, "processors.stolen_us", 2 * kS, 0);
  EXPECT_EQ("", Text(&feed, "neighbours"));
}

// 15 calls of 16 ms lie in the 264 ms of power cap, of 83 slow ones.
TEST(FindingsMachineTest, APowerCapCoversPartOfTheSlowCalls) {
  EventFeed feed = MachineFeed();
  const uint64_t from_ns = 2000 * kMs, to_ns = 2264 * kMs;
  int elsewhere = 0;
  Calls(&feed, 40 * kS, [&](uint64_t now_ns, int i) {
    if (now_ns >= from_ns && now_ns < to_ns) return 16 * kMs;
    bool is_slow = i % 40 == 1 && now_ns > to_ns && elsewhere < 68;
    elsewhere += is_slow;
    return is_slow ? 16 * kMs : 8 * kMs;
  });
  Count(&feed, "gpu:0.event_reasons", 0, 0);
  Count(&feed, "gpu:0.sm_max_mhz", 0, 1980);
  Count(&feed, "gpu:0.sm_mhz", 0, 1980);
  Count(&feed, "gpu:0.event_reasons", from_ns, 4);
  Count(&feed, "gpu:0.sm_mhz", from_ns, 1410);
  Count(&feed, "gpu:0.event_reasons", to_ns, 0);
  Count(&feed, "gpu:0.sm_mhz", to_ns, 1980);
  Count(&feed, "gpu:0.event_reasons", 40 * kS, 0);
  Count(&feed, "gpu:0.sm_mhz", 40 * kS, 1980);
  FindingsReport report(&feed);
  EXPECT_EQ(68, elsewhere);
  EXPECT_EQ(
      "gpu:0 was at its power cap for 264 ms (0.66 % of the run): SM clock "
      "1410 of 1980 MHz. 18 % of `detect`'s slow calls lie there.",
      report.Text("power-cap"));
  EXPECT_NE(std::string::npos, report.Problems().find("power-cap"));
}

// A program that is meant to use all of a device is at its cap: a fact.
TEST(FindingsMachineTest, APowerCapWithoutSlowCallsIsAFact) {
  EventFeed feed = MachineFeed();
  Calls(&feed, 10 * kS, Steady);
  Count(&feed, "gpu:1.event_reasons", 0, 4);
  Count(&feed, "gpu:1.event_reasons", 7 * kS, 1);
  Count(&feed, "gpu:1.event_reasons", 10 * kS, 1);
  FindingsReport report(&feed);
  EXPECT_EQ("gpu:1 was at its power cap for 7.00 s (70 % of the run).",
            report.Text("power-cap"));
  EXPECT_EQ(std::string::npos, report.Problems().find("power-cap"));
}

TEST(FindingsMachineTest, AQuotaIsNamedWithItsProcessors) {
  EventFeed feed = MachineFeed();
  Calls(&feed, 10 * kS, Steady);
  Count(&feed, "cgroup.cpu_max", 0, 2);
  for (uint64_t i = 0; i <= 100; i++)
    Count(&feed, "cgroup.throttled_us", i * 100 * kMs,
          static_cast<double>(31000 * i));
  EXPECT_EQ(
      "The cgroup throttled the process for 3.10 s (31 % of the run): "
      "`cpu.max` is 2.00 processors.",
      Text(&feed, "quota"));
}

// Two processes of one job are no others for each other.
TEST(FindingsMachineTest, AnotherProcessOnTheDevice) {
  EventFeed feed = MachineFeed(), beside = MachineFeed();
  beside.Run(std::string(32, '2'), "102");
  Calls(&beside, 40 * kS, Steady);
  Calls(&feed, 40 * kS, Steady);
  Count(&feed, "gpu:0.other_processes", 0, 0);
  Count(&feed, "gpu:0.other_processes", 5 * kS, 1);
  Count(&feed, "gpu:0.other_processes", 17 * kS, 0);
  Count(&feed, "gpu:0.other_processes", 40 * kS, 0);
  EXPECT_EQ("Another process used gpu:0 in 12.0 s of 40.0 s.",
            Text(&feed, "shared-device"));
  FindingsReport job(&feed, nullptr, &beside);
  EXPECT_EQ("", job.Text("shared-device"));
}

// Unknown is said as such, and is no finding.
TEST(FindingsMachineTest, ProcessesThatCannotBeSeen) {
  EventFeed feed = MachineFeed();
  Calls(&feed, 10 * kS, Steady);
  Count(&feed, "gpu:0.other_processes", 0, -1);
  Count(&feed, "gpu:0.other_processes", 10 * kS, -1);
  FindingsReport report(&feed);
  EXPECT_EQ("", report.Text("shared-device"));
  EXPECT_TRUE(report.figures()->machine.devices[0].hides_processes);
  EXPECT_FALSE(report.figures()->machine.devices[1].hides_processes);
  ASSERT_EQ(1u, report.figures()->num_notes);
  EXPECT_STREQ("gpu:0 does not say whether other processes use it",
               report.figures()->notes[0].text);
}

// Three calls stand still for 120 ms; `more` grows with each.
std::string Stood(const char *more, double us) {
  EventFeed feed = MachineFeed();
  Calls(&feed, 10 * kS,
        [](uint64_t, int i) { return i % 200 == 150 ? 128 * kMs : 8 * kMs; });
  Count(&feed, "process.stood_still_us", 0, 0);
  if (more) Count(&feed, more, 0, 0);
  int num = 0;
  for (const auto &event : std::deque<pprof_event>(feed.lanes()[1])) {
    if (event.end_ns - event.start_ns < 100 * kMs) continue;
    num++;
    uint64_t now_ns = event.start_ns + 124 * kMs;
    Count(&feed, "process.stood_still_us", now_ns, 120000.0 * num);
    if (more) Count(&feed, more, now_ns + 1, us * num);
  }
  Count(&feed, "process.stood_still_us", 10 * kS, 120000.0 * num);
  return Text(&feed, "stood-still");
}

TEST(FindingsMachineTest, EverythingStoodStillAndWhy) {
  const std::string begin =
      "Everything stood still 5 times, 120 ms each: no thread got a "
      "processor; ";
  const std::string end = ". 100 % of `detect`'s slow calls lie there.";
  EXPECT_EQ(begin + "it was stopped, or its machine was paused" + end,
            Stood(nullptr, 0));
  EXPECT_EQ(begin + "the cgroup throttled it" + end,
            Stood("cgroup.throttled_us", 119000));
  EXPECT_EQ(begin + "memory was swapped in" + end,
            Stood("pressure.memory_us", 100000));
  EXPECT_EQ(begin + "other processes had the processors" + end,
            Stood("process.stood_ready_us", 118000));
}

TEST(FindingsMachineTest, NeighboursStealAndSwapping) {
  EventFeed feed = MachineFeed();
  Calls(&feed, 10 * kS, Steady);
  Count(&feed, "processors.number", 0, 2);
  for (uint64_t i = 0; i <= 40; i++) {
    auto n = static_cast<double>(i);
    uint64_t now_ns = i * 250 * kMs;
    Count(&feed, "processors.others_us", now_ns, 475000 * n);
    Count(&feed, "process.crowded_us", now_ns, 125000 * n);
    Count(&feed, "processors.stolen_us", now_ns, 25000 * n);
    Count(&feed, "process.major_faults", now_ns, i < 20 ? 0 : 100 * (n - 20));
  }
  FindingsReport report(&feed);
  EXPECT_EQ(
      "Other processes took 1.90 of 2.00 processors; this one's threads waited "
      "5.00 s for a processor meanwhile.",
      report.Text("neighbours"));
  EXPECT_EQ(
      "The hypervisor took each processor away for 1.00 s (10 % of the run).",
      report.Text("steal"));
  EXPECT_EQ(
      "Memory came from a disk for 5.00 s (50 % of the run) (major faults).",
      report.Text("swapping"));
}

bool NamesTheMachine(EventFeed *feed) {
  FindingsReport report(feed);
  for (size_t i = 0; i < report.all().num; i++)
    for (const char *id : {"power-cap", "heat", "quota", "shared-device",
                           "stood-still", "neighbours", "steal", "swapping"})
      if (std::string(id) == report.all().items[i].id) return true;
  return false;
}

// Calls of uneven lengths, which have nothing to do with what short stretches
// of every cause do meanwhile; and in quiet runs there is none of them.
TEST(FindingsMachineTest, ChanceNamesNone) {
  int num_quiet = 0, num_busy = 0;
  for (unsigned seed = 0; seed < 200; seed++) {
    for (bool is_quiet : {true, false}) {
      std::mt19937_64 random(seed);
      std::lognormal_distribution<double> length(2.0, 0.7);
      std::uniform_int_distribution<int> percent(0, 99);
      EventFeed feed = MachineFeed();
      Calls(&feed, 5 * kS, [&](uint64_t, int) {
        return static_cast<uint64_t>(length(random) * 1e6);
      });
      double throttled_us = 0;
      for (uint64_t now_ns = 0; now_ns < 5 * kS; now_ns += 50 * kMs) {
        bool is_wrong = !is_quiet && percent(random) < 4;
        throttled_us += is_wrong ? 20000 : 0;
        Count(&feed, "gpu:0.event_reasons", now_ns, is_wrong ? 4 : 0);
        Count(&feed, "cgroup.throttled_us", now_ns, throttled_us);
      }
      (is_quiet ? num_quiet : num_busy) += NamesTheMachine(&feed);
    }
  }
  EXPECT_EQ(0, num_quiet);
  EXPECT_GE(2, num_busy);  // of 400 questions
}

}  // namespace
}  // namespace pprof_test
