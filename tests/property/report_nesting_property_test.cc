// SPDX-License-Identifier: Apache-2.0
//
// Random nested runs: what ranges have to themselves must agree with a naive
// reference that looks at all pairs, however the events were delivered.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "event_feed.h"
#include "report_text.h"
#include "tests/support/long_run.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;
using pprof_test::Rounds;
using Random = std::mt19937_64;

constexpr uint64_t kEnd = 4000;

// Lanes 1 and 2 are domains of one thread, 3 is another's.
const std::map<uint32_t, uint64_t> kThreads = {{1, 100}, {2, 100}, {3, 300}};

const uint32_t kCategories[] = {
    PPROF_CATEGORY_OPERATOR,     PPROF_CATEGORY_OPERATOR,
    PPROF_CATEGORY_RUNTIME,      PPROF_CATEGORY_OPERATOR_INNER,
    PPROF_CATEGORY_USER_DEFINED, PPROF_CATEGORY_FORWARD,
    PPROF_CATEGORY_PROFILE_STEP};

uint64_t Pick(Random *random, uint64_t n) {
  return n ? (*random)() % n : 0;
}

struct Range {
  uint32_t lane, category;
  std::string name;
  uint64_t start, end;
  bool is_async;
};

struct Launch {
  uint32_t lane, category;
  std::string name;
  uint64_t submit, length;
};

// Borders of a lane are all different and even, submissions odd.
class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed) {
    for (const auto &lane : kThreads) feed.Lane(lane.first, lane.second, "t");
    feed.Device(1, "gpu:0");
    feed.Stream(1, 1);
    feed.AddWindow(0, kEnd);
    for (const auto &lane : kThreads) {
      at_ = 2 * Pick(&random_, 10);
      while (at_ < kEnd - 200) MakeRange(lane.first, 0);
    }
    bool kernels = Pick(&random_, 2);
    for (uint64_t num = Pick(&random_, 60); num > 0; num--) MakeLaunch(kernels);
    for (auto &lane : feed.lanes())
      std::stable_sort(lane.second.begin(), lane.second.end(),
                       [](const pprof_event &a, const pprof_event &b) {
                         return std::max(a.end_ns, a.device_end_ns) <
                                std::max(b.end_ns, b.device_end_ns);
                       });
  }

  EventFeed feed;
  std::vector<Range> ranges;
  std::vector<Launch> launches;

 private:
  void Advance() {
    at_ += 2 + 2 * Pick(&random_, Pick(&random_, 5) ? 8 : 60);
  }

  // Some are lost, so that depths have gaps.
  void MakeRange(uint32_t lane, uint32_t depth) {
    Range range = {lane,
                   kCategories[Pick(&random_, 7)],
                   std::string(1, static_cast<char>('a' + Pick(&random_, 3))),
                   at_,
                   0,
                   Pick(&random_, 15) == 0};
    Advance();
    while (depth < 6 && Pick(&random_, 3) && at_ < kEnd - 200)
      MakeRange(lane, depth + 1);
    range.end = at_;
    Advance();
    if (Pick(&random_, 10) == 0) return;
    pprof_event &event =
        feed.Range(lane, range.name, range.category, range.start, range.end);
    event.depth = depth;
    if (range.is_async) event.flags = PPROF_FLAG_ASYNC;
    ranges.push_back(range);
  }

  void MakeLaunch(bool kernels) {
    uint32_t category = PPROF_CATEGORY_INFERENCE;
    if (kernels) category = PPROF_CATEGORY_KERNEL;
    if (Pick(&random_, 4) == 0) category = PPROF_CATEGORY_MEMCPY;
    Launch launch = {1 + static_cast<uint32_t>(Pick(&random_, 3)), category,
                     "k" + std::to_string(Pick(&random_, 2)),
                     1 + 2 * Pick(&random_, kEnd / 2), 1 + Pick(&random_, 100)};
    // Some start long after the range around their submit.
    uint64_t start =
        launch.submit + Pick(&random_, Pick(&random_, 4) ? 50 : 900);
    feed.OnDevice(launch.lane, 1, launch.name, category, launch.submit, start,
                  start + launch.length);
    launches.push_back(launch);
  }

  Random random_;
  uint64_t at_ = 0;
};

struct Sums {
  uint64_t n = 0, host = 0, self = 0, inside = 0, inside_max = 0, own = 0,
           num_async = 0;
  bool operator==(const Sums &other) const {
    return n == other.n && host == other.host && self == other.self &&
           inside == other.inside && inside_max == other.inside_max &&
           own == other.own && num_async == other.num_async;
  }
};
std::ostream &operator<<(std::ostream &out, const Sums &sums) {
  return out << sums.n << " calls, host " << sums.host << ", self " << sums.self
             << ", inside " << sums.inside << " at most " << sums.inside_max
             << ", own " << sums.own << ", async " << sums.num_async;
}

using Key = std::pair<uint32_t, std::string>;
using PartKey = std::vector<std::string>;

class Reference {
 public:
  explicit Reference(const RandomRun &run) : run_(run) {
    for (const Launch &launch : run.launches)
      has_kernels_ |= launch.category == PPROF_CATEGORY_KERNEL;
    for (const Range &range : run.ranges) TakeRange(range);
    for (const Launch &launch : run.launches) TakeLaunch(launch);
  }

  std::map<Key, Sums> names;
  std::map<std::pair<uint64_t, Key>, Sums> by_thread;
  std::map<PartKey, Sums> parts;

 private:
  bool Counts(const Launch &launch) const {
    return !has_kernels_ || launch.category != PPROF_CATEGORY_INFERENCE;
  }

  // The innermost range of the lane that holds [start, end).
  const Range *Around(uint32_t lane, uint64_t start, uint64_t end,
                      const Range *self, bool skips_runtime) const {
    const Range *best = nullptr;
    for (const Range &range : run_.ranges) {
      if (range.lane != lane || range.is_async || &range == self) continue;
      if (skips_runtime && range.category == PPROF_CATEGORY_RUNTIME) continue;
      if (range.start > start || range.end < end || range.end <= start)
        continue;
      if (!best || range.start > best->start) best = &range;
    }
    return best;
  }

  uint64_t Inside(const Range &range) const {
    if (range.category == PPROF_CATEGORY_RUNTIME) return 0;
    bool is_step = range.category == PPROF_CATEGORY_PROFILE_STEP;
    uint64_t sum = 0;
    for (const Launch &launch : run_.launches)
      if (Counts(launch) && launch.submit >= range.start &&
          launch.submit < range.end &&
          (is_step || kThreads.at(launch.lane) == kThreads.at(range.lane)))
        sum += launch.length;
    return sum;
  }

  void TakeRange(const Range &range) {
    uint64_t self = range.is_async ? 0 : range.end - range.start;
    for (const Range &other : run_.ranges)
      if (!other.is_async && !range.is_async && &other != &range &&
          Around(other.lane, other.start, other.end, &other, false) == &range)
        self -= other.end - other.start;
    Key key = {range.category, range.name};
    uint64_t inside = Inside(range);
    for (Sums *sums :
         {&names[key], &by_thread[{kThreads.at(range.lane), key}]}) {
      sums->n++;
      sums->host += range.end - range.start;
      sums->self += self;
      sums->num_async += range.is_async;
      bool is_step = range.category == PPROF_CATEGORY_PROFILE_STEP;
      if (is_step && sums != &names[key]) continue;
      sums->inside += inside;
      sums->inside_max = std::max(sums->inside_max, inside);
    }
    if (range.is_async || range.category == PPROF_CATEGORY_OPERATOR ||
        range.category == PPROF_CATEGORY_RUNTIME)
      return;
    const Range *op = Around(range.lane, range.start, range.end, &range, true);
    if (!op || op->category != PPROF_CATEGORY_OPERATOR) return;
    Sums &part = parts[{op->name, range.name, ""}];
    part.n++;
    part.host += range.end - range.start;
    // Its own thread's, for a step too.
    for (const Launch &launch : run_.launches)
      if (Counts(launch) && launch.submit >= range.start &&
          launch.submit < range.end &&
          kThreads.at(launch.lane) == kThreads.at(range.lane))
        part.inside += launch.length;
  }

  void TakeLaunch(const Launch &launch) {
    for (const auto &lane : kThreads) {
      if (lane.second != kThreads.at(launch.lane) || !Counts(launch)) continue;
      const Range *owner =
          Around(lane.first, launch.submit, launch.submit, nullptr, true);
      if (!owner) continue;
      names[{owner->category, owner->name}].own += launch.length;
      const Range *op = owner;
      std::string child;
      if (owner->category != PPROF_CATEGORY_OPERATOR) {
        op = Around(lane.first, owner->start, owner->end, owner, true);
        child = owner->name;
      }
      if (!op || op->category != PPROF_CATEGORY_OPERATOR) continue;
      Sums &part = parts[{op->name, child, launch.name}];
      part.n++;
      part.inside += launch.length;
    }
  }

  const RandomRun &run_;
  bool has_kernels_ = false;
};

void CheckNames(const ppi_figures &figures, const Reference &want) {
  std::map<Key, Sums> got;
  for (size_t i = 0; i < figures.num_names; i++) {
    const ppi_report_name &name = figures.names[i];
    if (name.submit.n) continue;
    EXPECT_EQ(name.inside.n, name.host.n);
    got[{name.category, name.name}] = {
        name.host.n,     name.host.sum,      name.self_ns,  name.inside.sum,
        name.inside.max, name.own_device_ns, name.num_async};
  }
  EXPECT_EQ(got, want.names);
}

void CheckThreads(const ppi_figures &figures, const Reference &want) {
  size_t num = 0;
  for (size_t i = 0; i < figures.num_threads; i++) {
    const ppi_report_thread_name &name = figures.threads[i];
    if (name.submit.n) continue;
    num++;
    auto found = want.by_thread.find({name.thread, {name.category, name.name}});
    ASSERT_NE(found, want.by_thread.end());
    EXPECT_EQ(name.host.n, found->second.n);
    EXPECT_EQ(name.host.sum, found->second.host);
    EXPECT_EQ(name.self_ns, found->second.self);
    EXPECT_EQ(name.inside.n, found->second.n);
    EXPECT_EQ(name.inside.sum, found->second.inside);
    EXPECT_EQ(name.inside.max, found->second.inside_max);
  }
  EXPECT_EQ(num, want.by_thread.size());
}

void CheckParts(const ppi_figures &figures, const Reference &want) {
  std::map<PartKey, Sums> got;
  for (size_t i = 0; i < figures.num_parts; i++) {
    const ppi_report_part &part = figures.parts[i];
    Sums &sums = got[{part.op, part.child, part.launch}];
    sums.n += part.device.n;
    sums.host += part.host.sum;
    sums.inside += part.device.sum;
    EXPECT_EQ(part.host.n, *part.launch ? 0 : part.device.n);
  }
  EXPECT_EQ(got, want.parts);
}

TEST(ReportNestingPropertyTest, AgreesWithTheReference) {
  for (uint64_t seed = 0; seed < Rounds(60, 300); seed++) {
    SCOPED_TRACE(seed);
    RandomRun run(seed);
    Reference want(run);
    Random random(seed);
    for (size_t checkpoints : {0, 3, 40}) {
      Report report;
      ppi_report_details details = {};
      details.operator_parts = seed % 2;
      details.by_thread = seed % 3 == 0;
      ppi_report_set_details(report.get(), &details);
      ASSERT_EQ(run.feed.DeliverAs(report.sink(), &random, checkpoints),
                PPROF_STATUS_OK);
      const ppi_figures &figures = *ppi_report_figures(report.get());
      CheckNames(figures, want);
      if (details.by_thread) CheckThreads(figures, want);
      if (details.operator_parts) CheckParts(figures, want);
      ASSERT_FALSE(HasFailure()) << checkpoints;
    }
  }
}

}  // namespace
