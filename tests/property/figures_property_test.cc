// SPDX-License-Identifier: Apache-2.0
//
// Random runs with communication, memory, steps and Dataloader ranges: what the
// distributed, memory and perf views show must not depend on how the events
// were delivered, and must agree with an oracle that looks at all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "event_feed.h"
#include "figures_text.h"
#include "jobs.h"
#include "report_text.h"
#include "tests/support/long_run.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::FiguresText;
using pprof_test::Report;
using Random = std::mt19937_64;

constexpr uint64_t kEnd = 2000;  // ns; the oracle marks each of them

struct Site {
  const char *name;
  uint32_t category;
};

const Site kHostSites[] = {{"matmul", PPROF_CATEGORY_OPERATOR},
                           {"c_AllReduce_sum", PPROF_CATEGORY_OPERATOR},
                           {"compute", PPROF_CATEGORY_OPERATOR_INNER},
                           {"allreduce", PPROF_CATEGORY_OPERATOR_INNER},
                           {"send", PPROF_CATEGORY_COMMUNICATION},
                           {"launch", PPROF_CATEGORY_RUNTIME},
                           {"forward", PPROF_CATEGORY_FORWARD},
                           {"call", PPROF_CATEGORY_PYTHON_OP},
                           {"mine", PPROF_CATEGORY_USER_DEFINED},
                           {"reader", PPROF_CATEGORY_DATALOADER}};
const Site kDeviceSites[] = {{"gemm", PPROF_CATEGORY_KERNEL},
                             {"ncclKernel", PPROF_CATEGORY_KERNEL},
                             {"HtoD", PPROF_CATEGORY_MEMCPY},
                             {"detect", PPROF_CATEGORY_INFERENCE}};

uint64_t Pick(Random *random, uint64_t n) {
  return n ? (*random)() % n : 0;
}

// A run, and what the oracle knows of it. Host ranges begin and end at even
// times, all else lies at odd ones, so that it is clear what is inside.
class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed) {
    feed.Lane(1, 100, "a");
    feed.Lane(2, 200, "b");
    feed.Device(1, "gpu:0");
    feed.Stream(1, 1);
    feed.Stream(2, 1);
    feed.AddWindow(0, kEnd);
    feed.Attributes(1, "{\"grid\":[1,1,1],\"block\":[32,1,1]}");
    feed.Attributes(2, "{\"grid\":[2,1,1],\"block\":[32,1,1]}");
    feed.Attributes(3, "{\"grid\":[3,1,1]}");
    for (uint32_t lane : {1u, 2u}) {
      MakeRanges(lane, 0, kEnd / 2, 0);
      MakePoints(lane);
    }
    MakeSteps();
    bool kernels = Pick(&random_, 4) != 0;
    for (uint64_t num = Pick(&random_, 60); num > 0; num--)
      MakeDeviceRange(kernels);
    for (auto &lane : feed.lanes())
      std::stable_sort(lane.second.begin(), lane.second.end(),
                       [](const pprof_event &a, const pprof_event &b) {
                         return std::max(a.end_ns, a.device_end_ns) <
                                std::max(b.end_ns, b.device_end_ns);
                       });
  }

  struct Range {
    uint32_t lane;
    Site site;
    uint64_t from, to, depth;
    uint32_t flags;
  };
  struct DeviceRange {
    uint32_t lane;
    Site site;
    uint64_t submit, from, to;
    uint32_t flags;
  };
  struct Change {
    uint32_t lane;
    std::string place;
    uint64_t time;
    int level, bytes;
    bool is_reserved;
  };

  EventFeed feed;
  std::vector<Range> ranges, steps;
  std::vector<DeviceRange> device_ranges;
  std::vector<Change> changes;
  std::map<uint64_t, double> items;  // by start of a step

 private:
  uint32_t SomeFlags() {
    return Pick(&random_, 8) ? 0 : PPROF_FLAG_COMMUNICATION;
  }

  // Children come before their parent, as they end before it.
  void MakeRanges(uint32_t lane, uint64_t from, uint64_t to, uint64_t depth) {
    while (from < to && depth < 5) {
      uint64_t start = from + Pick(&random_, 40);
      uint64_t end = start + Pick(&random_, depth ? 40 : 200);
      if (end > to) return;
      MakeRanges(lane, start, end, depth + 1);
      const Site &site = kHostSites[Pick(&random_, 10)];
      Range range = {lane, site, 2 * start, 2 * end, depth, SomeFlags()};
      pprof_event &event =
          feed.Range(lane, site.name, site.category, range.from, range.to);
      event.flags = range.flags;
      event.depth = static_cast<uint32_t>(depth);
      ranges.push_back(range);
      from = end + Pick(&random_, 10);
    }
  }

  void MakePoints(uint32_t lane) {
    for (uint64_t num = Pick(&random_, 20); num > 0; num--) {
      Change change = {lane,
                       Pick(&random_, 2) ? "gpu:0" : "cpu",
                       2 * Pick(&random_, kEnd / 2) + 1,
                       static_cast<int>(Pick(&random_, 1000)),
                       static_cast<int>(Pick(&random_, 200)) - 100,
                       Pick(&random_, 3) == 0};
      pprof_event event = {};
      event.kind = PPROF_KIND_COUNTER;
      event.site = feed.Site(change.place, PPROF_CATEGORY_MEMORY);
      event.lane = lane;
      event.start_ns = event.end_ns = change.time;
      event.value = change.level;
      if (change.is_reserved) event.flags = PPROF_FLAG_RESERVED;
      works_.push_back({sizeof(pprof_work_amount), 0,
                        static_cast<double>(change.bytes), 0, 0});
      event.work = &works_.back();
      if (Pick(&random_, 6) == 0) {
        event.work = nullptr;
        change.bytes = 0;
      }
      feed.Add(lane, event);
      changes.push_back(change);
    }
  }

  void MakeSteps() {
    uint64_t at = 2 * Pick(&random_, 50);
    for (uint64_t num = Pick(&random_, 25); num > 0; num--) {
      uint64_t to = at + 2 * Pick(&random_, 60);
      pprof_event &event = feed.Step(at, to);
      if (Pick(&random_, 12) == 0) event.flags |= PPROF_FLAG_CLIPPED;
      if (Pick(&random_, 8)) {
        items[at] = static_cast<double>(1 + Pick(&random_, 9));
        works_.push_back({sizeof(pprof_work_amount), items[at], 0, 0, 0});
        event.work = &works_.back();
      }
      steps.push_back({0, {"", 0}, at, to, 0, event.flags});
      at = to + 2 + 2 * Pick(&random_, 5);
    }
  }

  void MakeDeviceRange(bool kernels) {
    const Site &site =
        kDeviceSites[kernels ? Pick(&random_, 4) : 2 + Pick(&random_, 2)];
    uint64_t submit = 2 * Pick(&random_, kEnd / 2) + 1;
    uint64_t from = submit + Pick(&random_, 60);
    uint64_t to = from + 1 + Pick(&random_, 80);
    uint32_t lane = 1 + static_cast<uint32_t>(Pick(&random_, 2));
    uint32_t stream = 1 + static_cast<uint32_t>(Pick(&random_, 2));
    uint32_t flags = SomeFlags();
    pprof_event &event =
        feed.OnDevice(lane, stream, site.name, site.category, submit, from, to);
    event.flags = flags;
    event.attributes = static_cast<uint32_t>(from % 4);
    device_ranges.push_back({lane, site, submit, from, to, flags});
  }

  Random random_;
  std::deque<pprof_work_amount> works_;
};

// ---- the oracle ----

struct Marks {
  std::vector<bool> at = std::vector<bool>(2 * kEnd);
  void Mark(uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; i++) at[i] = true;
  }
  uint64_t Count() const {
    return static_cast<uint64_t>(std::count(at.begin(), at.end(), true));
  }
  uint64_t CountBoth(const Marks &other) const {
    uint64_t num = 0;
    for (size_t i = 0; i < at.size(); i++) num += at[i] && other.at[i];
    return num;
  }
};

bool Communicates(const Site &site, uint32_t flags) {
  return site.category == PPROF_CATEGORY_COMMUNICATION ||
         (flags & PPROF_FLAG_COMMUNICATION);
}

void ExpectDistribution(const ppi_report_distribution &got, const Marks &host,
                        const Marks &device, const Marks &computation) {
  Marks both = host;
  for (size_t i = 0; i < both.at.size(); i++)
    both.at[i] = both.at[i] || device.at[i];
  EXPECT_EQ(got.communication_ns, both.Count());
  EXPECT_EQ(got.computation_ns, computation.Count());
  EXPECT_EQ(got.overlap_ns, both.CountBoth(computation));
  EXPECT_EQ(got.device_communication_ns, device.Count());
  EXPECT_EQ(got.device_overlap_ns, device.CountBoth(computation));
}

void CheckDistribution(const RandomRun &run,
                       const ppi_report_distribution &got) {
  Marks host, device, computation;
  uint64_t calls[3] = {};
  bool has_kernels = false;
  for (const RandomRun::DeviceRange &range : run.device_ranges)
    has_kernels |= range.site.category == PPROF_CATEGORY_KERNEL;
  for (const RandomRun::Range &range : run.ranges) {
    if (!Communicates(range.site, range.flags)) continue;
    host.Mark(range.from, range.to);
    calls[0]++;
  }
  for (const RandomRun::DeviceRange &range : run.device_ranges) {
    bool computes = has_kernels ? range.site.category == PPROF_CATEGORY_KERNEL
                                : range.site.category != PPROF_CATEGORY_MEMCPY;
    if (Communicates(range.site, range.flags)) {
      device.Mark(range.from, range.to);
      calls[1]++;
    } else if (computes) {
      computation.Mark(range.from, range.to);
      calls[2]++;
    }
  }
  ExpectDistribution(got, host, device, computation);
  EXPECT_EQ(got.host_calls, calls[0]);
  EXPECT_EQ(got.device_calls, calls[1]);
  EXPECT_EQ(got.computation_calls, calls[2]);
}

std::vector<const RandomRun::Range *> RangesAround(const RandomRun &run,
                                                   uint32_t lane,
                                                   uint64_t time) {
  std::vector<const RandomRun::Range *> around;
  for (const RandomRun::Range &range : run.ranges)
    if (range.lane == lane && range.from < time && time < range.to)
      around.push_back(&range);
  std::sort(around.begin(), around.end(),
            [](const RandomRun::Range *a, const RandomRun::Range *b) {
              return a->depth > b->depth;
            });
  return around;  // the innermost first
}

bool IsPaddles(const Site &site) {
  return site.category == PPROF_CATEGORY_COMMUNICATION ||
         std::string(site.name) == "c_AllReduce_sum";
}

// Section 1.5 of the reference.
void CheckPaddle(const RandomRun &run, const ppi_report_distribution &got) {
  Marks host, device, computation;
  for (const RandomRun::Range &range : run.ranges)
    if (IsPaddles(range.site)) host.Mark(range.from, range.to);
  for (const RandomRun::DeviceRange &range : run.device_ranges) {
    if (range.site.category != PPROF_CATEGORY_KERNEL) continue;
    std::vector<const RandomRun::Range *> around;
    for (const RandomRun::Range *one :
         RangesAround(run, range.lane, range.submit))
      if (one->site.category != PPROF_CATEGORY_RUNTIME) around.push_back(one);
    if (around.empty()) continue;
    bool any = false;
    for (const RandomRun::Range *one : around) any |= IsPaddles(one->site);
    if (any) device.Mark(range.from, range.to);
    if (IsPaddles(around[0]->site)) continue;
    if (std::string(range.site.name) == "ncclKernel")
      device.Mark(range.from, range.to);
    else
      computation.Mark(range.from, range.to);
  }
  ExpectDistribution(got, host, device, computation);
}

void CheckMemory(const RandomRun &run, const ppi_figures &figures) {
  using Key = std::tuple<std::string, bool, std::string>;
  std::map<Key, std::vector<uint64_t>> want;
  std::map<std::pair<std::string, bool>, uint64_t> peaks;
  for (const RandomRun::Change &change : run.changes) {
    uint64_t &peak = peaks[{change.place, change.is_reserved}];
    peak = std::max(peak, static_cast<uint64_t>(change.level));
    if (change.bytes == 0) continue;
    std::string owner;
    for (const RandomRun::Range *one :
         RangesAround(run, change.lane, change.time)) {
      uint32_t category = one->site.category;
      if (category == PPROF_CATEGORY_OPERATOR_INNER ||
          category == PPROF_CATEGORY_RUNTIME ||
          category == PPROF_CATEGORY_PYTHON_OP)
        continue;
      owner = one->site.name;
      break;
    }
    std::vector<uint64_t> &sums =
        want[Key(change.place, change.is_reserved, owner)];
    sums.resize(4);
    bool frees = change.bytes < 0;
    sums[frees]++;
    sums[2 + frees] += static_cast<uint64_t>(std::abs(change.bytes));
  }
  ASSERT_EQ(figures.num_memory, want.size());
  for (size_t i = 0; i < figures.num_memory; i++) {
    const ppi_report_memory &row = figures.memory[i];
    std::vector<uint64_t> got = {row.allocations, row.frees,
                                 row.allocated_bytes, row.freed_bytes};
    EXPECT_EQ(got, want[Key(row.place, row.is_reserved, row.name)])
        << row.place << " " << row.name;
  }
  for (size_t i = 0; i < figures.num_places; i++)
    for (bool kind : {false, true}) {
      const ppi_report_place &place = figures.places[i];
      auto key = std::make_pair(std::string(place.name), kind);
      EXPECT_EQ(place.is_known[kind], peaks.count(key) != 0);
      EXPECT_EQ(place.peak_bytes[kind], peaks[key]);
    }
}

// The change between two times, over all threads.
int64_t ChangedIn(const RandomRun &run, bool on_device, uint64_t from,
                  uint64_t to) {
  int64_t sum = 0;
  for (const RandomRun::Change &change : run.changes)
    if (!change.is_reserved && (change.place != "cpu") == on_device &&
        from <= change.time && change.time <= to)
      sum += change.bytes;
  return sum;
}

bool IsDirectlyIn(const RandomRun::Range &inner,
                  const RandomRun::Range &outer) {
  return inner.lane == outer.lane && inner.depth == outer.depth + 1 &&
         outer.from <= inner.from && inner.to <= outer.to &&
         outer.from < outer.to;
}

void CheckAllocations(const RandomRun &run, const ppi_figures &figures) {
  for (bool on_device : {false, true}) {
    std::map<std::string, std::pair<int64_t, int64_t>> want;
    for (const RandomRun::Range &range : run.ranges) {
      int64_t sum = ChangedIn(run, on_device, range.from, range.to);
      want[range.site.name].first += sum;
      want[range.site.name].second += sum;
      for (const RandomRun::Range &inner : run.ranges)
        if (IsDirectlyIn(inner, range))
          want[range.site.name].second -=
              ChangedIn(run, on_device, inner.from, inner.to);
    }
    for (size_t i = 0; i < figures.num_names; i++) {
      const ppi_report_name &row = figures.names[i];
      if (row.category == PPROF_CATEGORY_PROFILE_STEP || !row.host.n) continue;
      EXPECT_EQ(row.memory.bytes[on_device], want[row.name].first) << row.name;
      EXPECT_EQ(row.own_memory.bytes[on_device], want[row.name].second)
          << row.name;
    }
  }
  std::vector<RandomRun::Range> all = run.ranges;
  all.insert(all.end(), run.steps.begin(), run.steps.end());
  uint64_t num_outside = 0;
  for (const RandomRun::Change &change : run.changes)
    num_outside +=
        change.bytes && !change.is_reserved &&
        std::none_of(
            all.begin(), all.end(), [&](const RandomRun::Range &range) {
              return range.from <= change.time && change.time <= range.to;
            });
  EXPECT_EQ(figures.outside.num, num_outside);
}

void CheckPerf(const RandomRun &run, const ppi_report_perf &got) {
  std::vector<RandomRun::Range> whole;
  for (const RandomRun::Range &step : run.steps)
    if (!(step.flags & PPROF_FLAG_CLIPPED)) whole.push_back(step);
  EXPECT_EQ(got.num_steps, whole.size());
  whole.erase(whole.begin(), whole.begin() + static_cast<long>(std::min<size_t>(
                                                 10, whole.size())));
  ppi_spread batch = {}, reader = {};
  uint64_t num_stated = 0, sum = 0;
  for (const RandomRun::Range &step : whole) {
    ppi_spread_add(&batch, step.to - step.from);
    auto stated = run.items.find(step.from);
    if (stated == run.items.end()) continue;
    num_stated++;
    sum += static_cast<uint64_t>(stated->second);
  }
  for (const RandomRun::Range &range : run.ranges)
    if (range.site.category == PPROF_CATEGORY_DATALOADER &&
        std::any_of(whole.begin(), whole.end(),
                    [&](const RandomRun::Range &step) {
                      return step.from <= range.from && range.from < step.to;
                    }))
      ppi_spread_add(&reader, range.to - range.from);
  EXPECT_EQ(got.batch.n, batch.n);
  EXPECT_EQ(got.batch.sum, batch.sum);
  EXPECT_EQ(got.batch.min, batch.min);
  EXPECT_EQ(got.batch.max, batch.max);
  EXPECT_EQ(got.reader.n, reader.n);
  EXPECT_EQ(got.reader.sum, reader.sum);
  EXPECT_EQ(got.reader.min, reader.min);
  EXPECT_EQ(got.reader.max, reader.max);
  EXPECT_EQ(got.num_stated, num_stated);
  EXPECT_TRUE(got.items == sum * PPI_PERF_ITEM);
}

// Kernels by name and grid: attributes are the start modulo 4. Attributes 0 and
// 3 have no shape.
void CheckShapes(const RandomRun &run, const ppi_figures &figures) {
  std::map<std::pair<std::string, uint64_t>, uint64_t> expected, got;
  for (const auto &range : run.device_ranges)
    if (range.site.category == PPROF_CATEGORY_KERNEL && range.from % 4 % 3)
      expected[{range.site.name, range.from % 4}] += range.to - range.from;
  for (size_t i = 0; i < figures.num_shapes; i++)
    got[{figures.shapes[i].name, figures.shapes[i].shape.grid[0]}] +=
        figures.shapes[i].spread.sum;
  EXPECT_EQ(got, expected);
}

void CheckWork(const ppi_figures &figures) {
  for (size_t i = 0; i < figures.num_devices; i++) {
    const ppi_report_device &device = figures.devices[i];
    EXPECT_EQ(device.num_inside + device.num_outside, device.work);
    EXPECT_FALSE(device.failed);
  }
}

TEST(FiguresPropertyTest, AgreeWithTheOracleHoweverDelivered) {
  Jobs two(2), three(3);
  const pprof_test::DaysSeeds seeds(pprof_test::Seeds(250, 500), 2);
  for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RandomRun run(seed);
    ppi_report_details details = {};
    details.by_thread = seed % 2 == 0;
    details.operator_parts = seed % 3 == 0;
    details.paddle_distribution = seed % 4 < 2;
    details.requests = seed % 6 < 2;
    details.answer = seed % 7 < 2;
    details.answer_of_steps = seed % 3 == 1;
    details.paths = seed % 5 < 3;
    details.flat_paths = seed % 3 < 1;
    details.kernels = seed % 10 < 3;
    details.allocations = seed % 7 > 2;
    details.courses = seed % 8 < 3;
    details.one_way = seed % 16 < 8;
    details.much_pages = seed % 11 < 8;
    details.warmup = -1;
    std::string first;
    for (size_t checkpoints : {0, 1, 4, 30}) {
      Report report;
      details.jobs = checkpoints == 4    ? two.get()
                     : checkpoints == 30 ? three.get()
                                         : nullptr;
      ppi_report_set_details(report.get(), &details);
      ASSERT_EQ(
          run.feed.DeliverAs(report.sink(), checkpoints ? &random : nullptr,
                             checkpoints),
          PPROF_STATUS_OK);
      const ppi_figures &figures = *ppi_report_figures(report.get());
      std::string text = FiguresText(figures);
      if (checkpoints == 0) first = text;
      ASSERT_EQ(text, first) << checkpoints;
      if (details.paddle_distribution)
        CheckPaddle(run, figures.distribution);
      else
        CheckDistribution(run, figures.distribution);
      CheckMemory(run, figures);
      if (details.allocations) CheckAllocations(run, figures);
      CheckShapes(run, figures);
      CheckWork(figures);
      CheckPerf(run, figures.perf);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
