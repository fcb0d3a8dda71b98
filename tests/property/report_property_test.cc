// SPDX-License-Identifier: Apache-2.0
//
// Random runs: a report must not depend on how its events were delivered, and
// must agree with an oracle that marks nanoseconds one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "event_feed.h"
#include "report_text.h"
#include "tests/support/long_run.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;
using Random = std::mt19937_64;

constexpr uint64_t kEnd = 1500;  // ns; the oracle marks each of them

// Lanes 1 and 2 are domains of one thread, 3 is another's.
const std::map<uint32_t, uint64_t> kThreads = {{1, 100}, {2, 100}, {3, 300}};

const uint32_t kHostCategories[] = {
    PPROF_CATEGORY_FORWARD,         PPROF_CATEGORY_BACKWARD,
    PPROF_CATEGORY_DATALOADER,      PPROF_CATEGORY_INFERENCE,
    PPROF_CATEGORY_USER_DEFINED,    PPROF_CATEGORY_PYTHON_USER_DEFINED,
    PPROF_CATEGORY_OPERATOR,        PPROF_CATEGORY_PROFILE_STEP,
    PPROF_CATEGORY_FIRST_REGISTERED};

uint64_t Pick(Random *random, uint64_t n) {
  return n ? (*random)() % n : 0;
}

void MakeHostRanges(EventFeed *feed, Random *random) {
  size_t num = Pick(random, 60);
  for (size_t i = 0; i < num; i++) {
    uint64_t start = Pick(random, kEnd), length = Pick(random, 200);
    if (Pick(random, 8) == 0) length *= 5;
    if (Pick(random, 10) == 0) length = 0;
    uint32_t category = kHostCategories[Pick(random, 9)];
    std::string name = "n" + std::to_string(Pick(random, 3));
    pprof_event &event =
        feed->Range(1 + static_cast<uint32_t>(Pick(random, 3)), name, category,
                    start, std::min(kEnd, start + length));
    event.depth = static_cast<uint32_t>(i);
    if (Pick(random, 20) == 0) event.end_ns = Pick(random, event.start_ns + 1);
    if (Pick(random, 6) == 0) event.flags |= PPROF_FLAG_ASYNC;
    if (Pick(random, 7) == 0) event.flags |= PPROF_FLAG_CLIPPED;
  }
}

void MakeSteps(EventFeed *feed, Random *random) {
  if (Pick(random, 4) == 0) return;
  uint64_t at = Pick(random, 100);
  while (at < kEnd) {
    uint64_t end = std::min(kEnd, at + 1 + Pick(random, 300));
    pprof_event &step = feed->Step(at, end);
    if (Pick(random, 5) == 0) step.flags |= PPROF_FLAG_CLIPPED;
    at = end + (Pick(random, 3) ? 0 : Pick(random, 50));
  }
}

void MakeDeviceRanges(EventFeed *feed, Random *random, bool kernels) {
  uint64_t rate = Pick(random, 40);
  size_t num = Pick(random, 2 + rate);
  for (size_t i = 0; i < num; i++) {
    uint32_t category = PPROF_CATEGORY_INFERENCE;
    if (kernels && Pick(random, 2)) category = PPROF_CATEGORY_KERNEL;
    if (kernels && Pick(random, 4) == 0) category = PPROF_CATEGORY_MEMCPY;
    if (Pick(random, 5) == 0) category = PPROF_CATEGORY_USER_DEFINED;
    uint64_t submit = Pick(random, kEnd);
    uint64_t start = submit + Pick(random, 100);
    pprof_event &event =
        feed->OnDevice(1 + static_cast<uint32_t>(Pick(random, 3)),
                       1 + static_cast<uint32_t>(Pick(random, 3)), "n1",
                       category, submit, start, start + 1 + Pick(random, 60));
    event.device_error_ns = Pick(random, 8);
    event.end_ns = submit + Pick(random, 10);
    if (Pick(random, 20) == 0) event.flags |= PPROF_FLAG_NO_DEVICE_TIME;
    if (Pick(random, 12) == 0) event.flags |= PPROF_FLAG_CLIPPED;
    if (Pick(random, 12) == 0) event.flags |= PPROF_FLAG_ASYNC;
    if (Pick(random, 12) == 0) event.end_ns = submit;
  }
}

void SortByEnd(EventFeed *feed) {
  for (auto &lane : feed->lanes())
    std::stable_sort(lane.second.begin(), lane.second.end(),
                     [](const pprof_event &a, const pprof_event &b) {
                       return std::max(a.end_ns, a.device_end_ns) <
                              std::max(b.end_ns, b.device_end_ns);
                     });
}

void MakeRun(EventFeed *feed, Random *random) {
  for (const auto &lane : kThreads) feed->Lane(lane.first, lane.second, "t");
  feed->Device(1, "gpu:0");
  feed->Device(2, "gpu:1");
  feed->Stream(1, 1);
  feed->Stream(2, 1);
  feed->Stream(3, 2);
  feed->Category(PPROF_CATEGORY_FIRST_REGISTERED, "Mine");
  uint64_t at = 0;
  for (uint64_t num = 1 + Pick(random, 3); num > 0; num--) {
    uint64_t close = num == 1 ? kEnd : at + Pick(random, kEnd - at);
    feed->AddWindow(at, close);
    at = std::min(kEnd, close + Pick(random, 200));
  }
  MakeHostRanges(feed, random);
  MakeSteps(feed, random);
  MakeDeviceRanges(feed, random, Pick(random, 2));
  if (Pick(random, 2)) SortByEnd(feed);
}

// ---- the oracle ----

bool IsTimed(const pprof_event &event) {
  return event.kind == PPROF_KIND_DEVICE_RANGE &&
         !(event.flags & PPROF_FLAG_NO_DEVICE_TIME);
}

struct Marks {
  std::vector<bool> at = std::vector<bool>(kEnd * 2);
  void Mark(uint64_t start, uint64_t end) {
    for (uint64_t i = start; i < end; i++) at[i] = true;
  }
  uint64_t Count() const {
    return static_cast<uint64_t>(std::count(at.begin(), at.end(), true));
  }
};

// A range cut at an edge counts in the sums alone.
bool IsCut(const pprof_event &event) {
  return event.flags & PPROF_FLAG_CLIPPED;
}

struct Spread {
  uint64_t n = 0, num_cut = 0, sum = 0, cut_sum = 0, min = 0, max = 0;
  void Add(uint64_t value, bool is_cut) {
    n++;
    sum += value;
    if (is_cut) {
      num_cut++;
      cut_sum += value;
      return;
    }
    min = n - num_cut > 1 ? std::min(min, value) : value;
    max = std::max(max, value);
  }
};

void ExpectSpread(const ppi_spread &got, const Spread &want) {
  EXPECT_EQ(got.n, want.n);
  EXPECT_EQ(got.num_cut, want.num_cut);
  EXPECT_EQ(got.cut_sum, want.cut_sum);
  EXPECT_EQ(got.sum, want.sum);
  EXPECT_EQ(got.min, want.min);
  EXPECT_EQ(got.max, want.max);
}

class Oracle {
 public:
  explicit Oracle(EventFeed *feed) : windows_(feed->windows()) {
    for (const auto &lane : feed->lanes())
      for (const pprof_event &event : lane.second) events_.push_back(event);
    // Sites have the numbers in which the feed first named them.
    for (const auto &from : kNames)
      for (uint32_t category : AllCategories())
        sites_[feed->Site(from, category)] = {category, from};
    for (const pprof_event &event : events_)
      has_kernels_ |=
          IsTimed(event) && Category(event) == PPROF_CATEGORY_KERNEL;
  }

  void Check(const ppi_figures &figures) {
    CheckCategories(figures);
    CheckPhases(figures);
    CheckNames(figures);
    for (uint32_t device : {1, 2}) CheckIdentity(figures, device);
  }

 private:
  static std::vector<uint32_t> AllCategories() {
    std::vector<uint32_t> all(kHostCategories, std::end(kHostCategories));
    all.push_back(PPROF_CATEGORY_KERNEL);
    all.push_back(PPROF_CATEGORY_MEMCPY);
    return all;
  }
  uint32_t Category(const pprof_event &event) {
    return sites_.at(event.site).first;
  }
  static uint64_t Thread(uint32_t lane) {
    return lane == 0 ? 0 : kThreads.at(lane);
  }
  static uint32_t DeviceOf(const pprof_event &event) {
    return event.stream == 3 ? 2 : 1;
  }

  void CheckCategories(const ppi_figures &figures) {
    std::map<uint32_t, Marks> host, device;
    std::map<uint32_t, uint64_t> host_calls, device_calls;
    for (const pprof_event &event : events_) {
      if (event.kind == PPROF_KIND_RANGE) {
        host[Category(event)].Mark(event.start_ns, event.end_ns);
        host_calls[Category(event)]++;
      } else if (IsTimed(event)) {
        device[Category(event)].Mark(event.device_start_ns,
                                     event.device_end_ns);
        device_calls[Category(event)]++;
      }
    }
    size_t num = 0;
    for (uint32_t category : AllCategories())
      num += host_calls[category] || device_calls[category];
    ASSERT_EQ(figures.num_categories, num);
    for (size_t i = 0; i < num; i++) {
      const ppi_report_category &got = figures.categories[i];
      uint32_t category = got.category;
      if (category == PPI_CATEGORY_REGISTERED)
        category = PPROF_CATEGORY_FIRST_REGISTERED;
      EXPECT_EQ(got.host_calls, host_calls[category]) << got.name;
      EXPECT_EQ(got.device_calls, device_calls[category]) << got.name;
      EXPECT_EQ(got.host_ns, host[category].Count()) << got.name;
      EXPECT_EQ(got.device_ns, device[category].Count()) << got.name;
    }
    uint64_t windows = 0;
    for (const auto &window : windows_)
      windows += window.close_ns - window.open_ns;
    EXPECT_EQ(figures.base_ns, host_calls[PPROF_CATEGORY_PROFILE_STEP]
                                   ? host[PPROF_CATEGORY_PROFILE_STEP].Count()
                                   : windows);
  }

  // Device time submitted in [start, end) on `thread`; 0: on all threads.
  uint64_t Inside(uint64_t thread, uint64_t start, uint64_t end, bool copies) {
    uint64_t sum = 0;
    for (const pprof_event &event : events_) {
      if (!IsTimed(event)) continue;
      if (thread && Thread(event.lane) != thread) continue;
      if (event.start_ns < start || event.start_ns >= end) continue;
      uint32_t category = Category(event);
      bool counts = !has_kernels_ || category == PPROF_CATEGORY_KERNEL ||
                    (copies && category == PPROF_CATEGORY_MEMCPY);
      if (counts) sum += event.device_end_ns - event.device_start_ns;
    }
    return sum;
  }

  static int PhaseOf(uint32_t category) {
    switch (category) {
      case PPROF_CATEGORY_PROFILE_STEP:
        return PPI_PHASE_PROFILE_STEP;
      case PPROF_CATEGORY_DATALOADER:
        return PPI_PHASE_DATALOADER;
      case PPROF_CATEGORY_FORWARD:
        return PPI_PHASE_FORWARD;
      case PPROF_CATEGORY_BACKWARD:
        return PPI_PHASE_BACKWARD;
      case PPROF_CATEGORY_INFERENCE:
        return PPI_PHASE_INFERENCE;
    }
    return -1;
  }

  // Within another phase of its thread; of two equal ones the deeper is.
  // What takes no part in nesting is in none, and hides none.
  bool IsHidden(const pprof_event &event, uint64_t end) {
    if (event.flags & PPROF_FLAG_ASYNC) return false;
    for (const pprof_event &other : events_) {
      if (other.flags & PPROF_FLAG_ASYNC) continue;
      if (PhaseOf(Category(other)) <= PPI_PHASE_PROFILE_STEP) continue;
      if (Thread(other.lane) != Thread(event.lane)) continue;
      uint64_t other_end = std::max(other.start_ns, other.end_ns);
      if (other.start_ns > event.start_ns || other_end < end) continue;
      if (event.start_ns >= other_end) continue;
      bool equal = other.start_ns == event.start_ns && other_end == end;
      if (!equal || other.depth < event.depth) return true;
    }
    return false;
  }

  void CheckPhases(const ppi_figures &figures) {
    Spread host[PPI_NUM_PHASES], device[PPI_NUM_PHASES];
    for (const pprof_event &event : events_) {
      int phase = PhaseOf(Category(event));
      uint64_t end = std::max(event.start_ns, event.end_ns);
      if (phase < 0) continue;
      if (phase > PPI_PHASE_PROFILE_STEP && IsHidden(event, end)) continue;
      host[phase].Add(end - event.start_ns, IsCut(event));
      uint64_t thread =
          phase == PPI_PHASE_PROFILE_STEP ? 0 : Thread(event.lane);
      // What it submits itself is submitted where it begins.
      if (event.kind == PPROF_KIND_DEVICE_RANGE)
        end = std::max(end, event.start_ns + 1);
      device[phase].Add(Inside(thread, event.start_ns, end, false),
                        IsCut(event));
    }
    for (int i = 0; i < PPI_NUM_PHASES; i++) {
      SCOPED_TRACE(i);
      ExpectSpread(figures.phases[i].host, host[i]);
      ExpectSpread(figures.phases[i].device, device[i]);
    }
    uint64_t all = host[0].n ? device[0].sum : Inside(0, 0, kEnd * 2, false);
    EXPECT_EQ(figures.model_device_ns, all);
  }

  void CheckNames(const ppi_figures &figures) {
    std::map<std::pair<uint32_t, std::string>, Spread> host, inside;
    for (const pprof_event &event : events_) {
      auto key = sites_.at(event.site);
      bool is_user = key.first == PPROF_CATEGORY_USER_DEFINED ||
                     key.first == PPROF_CATEGORY_PYTHON_USER_DEFINED;
      if (!is_user) continue;
      uint64_t end = std::max(event.start_ns, event.end_ns);
      host[key].Add(end - event.start_ns, IsCut(event));
      if (event.kind == PPROF_KIND_RANGE)
        inside[key].Add(Inside(Thread(event.lane), event.start_ns, end, true),
                        IsCut(event));
      else
        inside[key].Add(
            IsTimed(event) ? event.device_end_ns - event.device_start_ns : 0,
            IsCut(event));
    }
    size_t seen = 0;
    for (size_t i = 0; i < figures.num_names; i++) {
      const ppi_report_name &name = figures.names[i];
      auto key = std::make_pair(name.category, std::string(name.name));
      if (!host.count(key)) continue;
      seen++;
      ppi_spread all = name.host;
      ppi_spread_merge(&all, &name.submit);
      ExpectSpread(all, host[key]);
      ExpectSpread(name.inside, inside[key]);
    }
    EXPECT_EQ(seen, host.size());
  }

  using Side = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>;

  // Walks the idle nanoseconds of each window; each run of them is one gap.
  void CheckIdentity(const ppi_figures &figures, uint32_t device) {
    std::set<Side> sides;  // start, submit, end, error
    Marks busy, kernels, steps;
    bool untimed = false, has_steps = false;
    for (const pprof_event &event : events_) {
      if (event.kind != PPROF_KIND_RANGE) continue;
      if (Category(event) != PPROF_CATEGORY_PROFILE_STEP) continue;
      steps.Mark(event.start_ns, event.end_ns);
      has_steps = true;
    }
    for (const pprof_event &event : events_) {
      if (event.kind != PPROF_KIND_DEVICE_RANGE) continue;
      if (DeviceOf(event) != device) continue;
      untimed |= !IsTimed(event);
      if (!IsTimed(event)) continue;
      sides.insert({event.device_start_ns, event.start_ns, event.device_end_ns,
                    event.device_error_ns});
      busy.Mark(event.device_start_ns, event.device_end_ns);
      if (Category(event) == PPROF_CATEGORY_KERNEL)
        kernels.Mark(event.device_start_ns, event.device_end_ns);
    }
    const Marks &used = kernels.Count() ? kernels : busy;
    uint64_t idle[PPI_NUM_IDLE] = {}, busy_ns = 0, wall_ns = 0, used_ns = 0;
    uint64_t active_ns, not_submitted_ns = 0;
    for (const auto &window : windows_) {
      wall_ns += window.close_ns - window.open_ns;
      for (uint64_t at = window.open_ns; at < window.close_ns; at++)
        used_ns += used.at[at];
      for (uint64_t at = window.open_ns; at < window.close_ns;) {
        uint64_t end = at;
        while (end < window.close_ns && busy.at[end] == busy.at[at]) end++;
        const ppi_idle why = Classify(sides, at, end, window.close_ns);
        (busy.at[at] ? busy_ns : idle[why]) += end - at;
        for (; at < end; at++)
          not_submitted_ns += !busy.at[at] && why == PPI_IDLE_NOT_SUBMITTED &&
                              (!has_steps || steps.at[at]);
      }
    }
    active_ns = busy_ns;
    if (has_steps) {
      used_ns = active_ns = 0;
      for (uint64_t at = 0; at < used.at.size(); at++) {
        used_ns += used.at[at] && steps.at[at];
        active_ns += busy.at[at] && steps.at[at];
      }
    }
    const ppi_report_device &got = figures.devices[device - 1];
    EXPECT_EQ(got.wall_ns, wall_ns);
    EXPECT_EQ(got.busy_ns, busy_ns);
    EXPECT_EQ(got.used_ns, used_ns);
    EXPECT_EQ(got.active_ns, active_ns);
    EXPECT_EQ(got.not_submitted_ns, not_submitted_ns);
    for (int i = 0; i < PPI_NUM_IDLE; i++)
      EXPECT_EQ(got.idle_ns[i], idle[i]) << i;
    EXPECT_FALSE(got.failed);
    EXPECT_EQ(got.steps_failed, 0u);
    EXPECT_EQ(got.incomplete, untimed);
  }

  static ppi_idle Classify(const std::set<Side> &sides, uint64_t start,
                           uint64_t end, uint64_t close) {
    uint64_t bound = 0;
    for (const Side &side : sides)
      if (std::get<2>(side) == start)
        bound = std::max(bound, std::get<3>(side));
    auto next = sides.lower_bound({end, 0, 0, 0});
    if (next != sides.end() && std::get<0>(*next) == end)
      bound += std::get<3>(*next);
    if (end - start < bound) return PPI_IDLE_UNRESOLVED;
    if (next == sides.end() || std::get<1>(*next) >= close)
      return PPI_IDLE_NO_MORE_WORK;
    return std::get<1>(*next) < start ? PPI_IDLE_QUEUED
                                      : PPI_IDLE_NOT_SUBMITTED;
  }

  static constexpr const char *kNames[] = {"n0", "n1", "n2", "ProfileStep"};
  std::vector<pprof_event> events_;
  std::vector<pprof_test::Window> windows_;
  std::map<uint32_t, std::pair<uint32_t, std::string>> sites_;
  bool has_kernels_ = false;
};

constexpr const char *Oracle::kNames[];

// No device is busy for longer than the base of its share.
void ExpectBounded(const ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_devices; i++)
    EXPECT_LE(figures->devices[i].used_ns, figures->base_ns);
}

TEST(ReportPropertyTest, DeliveryDoesNotChangeAByte) {
  const pprof_test::DaysSeeds seeds(400, 3);
  for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
    SCOPED_TRACE(seed);
    Random random(seed);
    EventFeed feed;
    MakeRun(&feed, &random);
    Report plain(feed);
    std::string expected = plain.Json();
    for (size_t checkpoints : {0, 1, 4, 30}) {
      Report other;
      ASSERT_EQ(feed.DeliverAs(other.sink(), &random, checkpoints),
                PPROF_STATUS_OK);
      ASSERT_EQ(other.Json(), expected) << checkpoints;
      ExpectBounded(ppi_report_figures(other.get()));
    }
  }
}

std::string WithoutDisbelieved(const std::string &json) {
  const std::string key = "\"disbelieved\":";
  const size_t at = json.find(key);
  EXPECT_NE(std::string::npos, at);
  size_t end = at + key.size();
  while (end < json.size() && isdigit(json[end])) end++;
  return json.substr(0, at) + json.substr(end);
}

// A log may list what it has delivered; the events are what counts.
TEST(ReportPropertyTest, WhatIsListedAfterItsEventChangesNothing) {
  uint64_t num_disbelieved = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    SCOPED_TRACE(seed);
    Random random(seed);
    EventFeed feed;
    MakeRun(&feed, &random);
    Report plain(feed);
    EXPECT_EQ(0u, ppi_report_figures(plain.get())->num_disbelieved);
    feed.ListDelivered();
    for (size_t checkpoints : {1, 4, 30}) {
      Report other;
      ASSERT_EQ(feed.DeliverAs(other.sink(), &random, checkpoints),
                PPROF_STATUS_OK);
      ASSERT_EQ(WithoutDisbelieved(plain.Json()),
                WithoutDisbelieved(other.Json()))
          << checkpoints;
      num_disbelieved += ppi_report_figures(other.get())->num_disbelieved;
    }
  }
  EXPECT_GT(num_disbelieved, 1000u);
}

TEST(ReportPropertyTest, AgreesWithTheOracle) {
  const pprof_test::DaysSeeds seeds(400, 3);
  for (uint64_t seed = 1000 + seeds.begin; seed < 1000 + seeds.end; seed++) {
    SCOPED_TRACE(seed);
    Random random(seed);
    EventFeed feed;
    MakeRun(&feed, &random);
    Report report;
    ASSERT_EQ(feed.DeliverAs(report.sink(), &random, seed % 7),
              PPROF_STATUS_OK);
    EXPECT_TRUE(ppi_report_identity_ok(report.get()));
    Oracle(&feed).Check(*ppi_report_figures(report.get()));
    ExpectBounded(ppi_report_figures(report.get()));
    if (HasFailure()) return;
  }
}

void MakePart(EventFeed *feed, uint64_t seed, int i) {
  Random random(seed * 100 + static_cast<uint64_t>(i));
  MakeRun(feed, &random);
  feed->Run(std::to_string(i), std::to_string(seed));
  feed->Total(PPI_TOTAL_CLOCK_ERROR_NS, random() % 100);
  feed->Total(PPI_TOTAL_CRASH_SAFE, i != 2);
  feed->Note("device", "note " + std::to_string(i % 2));
  pprof_event count = {};
  count.kind = PPROF_KIND_COUNTER;
  count.site = feed->Site("counter", PPROF_CATEGORY_USER_DEFINED);
  for (uint32_t lane : {1, 2, 3}) {
    count.lane = lane;
    count.value = 1.0 / static_cast<double>(1 + random() % 1000);
    feed->Add(lane, count);
  }
}

// Leaves are the parts in order 0..3, or reversed, joined by three trees.
TEST(ReportPropertyTest, MergeOrderDoesNotChangeAByte) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    std::vector<std::string> results;
    std::vector<double> sums;
    for (int tree = 0; tree < 4; tree++) {
      Report parts[4];
      for (int i = 0; i < 4; i++) {
        EventFeed feed;
        MakePart(&feed, seed, i);
        ASSERT_EQ(feed.Deliver(parts[i].sink()), PPROF_STATUS_OK);
      }
      std::vector<std::pair<int, int>> joins =
          tree == 0   ? std::vector<std::pair<int, int>>{{0, 1}, {0, 2}, {0, 3}}
          : tree == 1 ? std::vector<std::pair<int, int>>{{3, 2}, {3, 1}, {3, 0}}
          : tree == 2
              ? std::vector<std::pair<int, int>>{{0, 1}, {2, 3}, {0, 2}}
              : std::vector<std::pair<int, int>>{{2, 0}, {3, 1}, {3, 2}};
      for (auto join : joins)
        ASSERT_EQ(pprof_report_merge(parts[join.first].get(),
                                     parts[join.second].get()),
                  PPROF_STATUS_OK);
      Report &root = parts[joins.back().first];
      results.push_back(root.Json() + root.Table(nullptr));
      const ppi_figures *figures = ppi_report_figures(root.get());
      ExpectBounded(figures);
      double sum = 0;
      for (size_t i = 0; i < figures->num_work; i++)
        sum += figures->work[i].gauge.sum;
      sums.push_back(sum);
    }
    for (int tree = 1; tree < 4; tree++) {
      EXPECT_EQ(results[0], results[static_cast<size_t>(tree)]);
      EXPECT_EQ(sums[0], sums[static_cast<size_t>(tree)]);
    }
  }
}

}  // namespace
