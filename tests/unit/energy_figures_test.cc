// SPDX-License-Identifier: Apache-2.0
//
// Where the energy of a device goes: by stage, too short, idle; together what
// its counter says.
#include <cmath>
#include <map>
#include <string>
#include <vector>

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

// 100 s of samples each 100 ms; the counter says `joules` at the end.
EventFeed Sampled(double watts, double joules) {
  EventFeed feed = FindingsFeed(true);
  feed.Category(kMachine, "Machine");
  feed.AddWindow(0, 100 * kS);
  for (uint64_t i = 0; i <= 1000; i++)
    Count(&feed, "gpu:0.power_w", i * 100 * kMs, watts);
  if (joules >= 0) {
    Count(&feed, "gpu:0.energy_j", 0, 5000);
    Count(&feed, "gpu:0.energy_j", 100 * kS, 5000 + joules);
  }
  return feed;
}

// Each second `from` to `to` of its thousandths.
void Busy(EventFeed *feed, uint32_t stream, const char *name, uint64_t from,
          uint64_t to, uint64_t seconds = 100) {
  for (uint64_t i = 0; i < seconds; i++)
    OnGpu(feed, stream, name, i * kS + from * kMs, i * kS + from * kMs,
          i * kS + to * kMs);
}

class Energy {
 public:
  explicit Energy(EventFeed *feed) : report_(feed) {
    const ppi_figures &figures = *report_.figures();
    for (size_t i = 0; i < figures.num_energy; i++) {
      static const char *const kinds[] = {"", "(too short)", "(idle)",
                                          "(total)"};
      const ppi_energy_row &row = figures.energy[i];
      rows_[std::string(row.device) + " " + kinds[row.kind] + row.name] = row;
    }
  }
  const ppi_energy_row &Of(const std::string &name) {
    EXPECT_TRUE(rows_.count(name)) << name;
    return rows_[name];
  }
  size_t num() const {
    return rows_.size();
  }
  double Sum() const {
    double joules = 0;
    for (const auto &row : rows_)
      if (row.second.kind != PPI_ENERGY_TOTAL) joules += row.second.joules;
    return joules;
  }

 private:
  FindingsReport report_;
  std::map<std::string, ppi_energy_row> rows_;
};

// At 100 W a takes half of 10 000 J, b a tenth; the counter says 12 000 J.
TEST(EnergyFiguresTest, StagesAndIdleAreTheCounter) {
  EventFeed feed = Sampled(100, 12000);
  Busy(&feed, 1, "a", 0, 500);
  Busy(&feed, 1, "b", 600, 700);
  Energy energy(&feed);
  EXPECT_NEAR(6000, energy.Of("gpu:0 a").joules, 1e-3);
  EXPECT_NEAR(1200, energy.Of("gpu:0 b").joules, 1e-3);
  EXPECT_NEAR(4800, energy.Of("gpu:0 (idle)").joules, 1e-3);
  EXPECT_NEAR(12000, energy.Of("gpu:0 (total)").joules, 1e-3);
  EXPECT_NEAR(12000, energy.Sum(), 1e-3);
  EXPECT_EQ(100u, energy.Of("gpu:0 a").calls);
  EXPECT_EQ(50 * kS, energy.Of("gpu:0 a").busy_ns);
  EXPECT_EQ(0, energy.Of("gpu:0 a").error_joules);
}

// The more of the time a stage is busy the more it takes: 10, 50 and 100 %.
TEST(EnergyFiguresTest, TheSplitFollowsTheDuty) {
  for (uint64_t duty : {10, 50, 100}) {
    EventFeed feed = Sampled(100, 10000);
    Busy(&feed, 1, "a", 0, 10 * duty);
    Energy energy(&feed);
    EXPECT_NEAR(100.0 * static_cast<double>(duty), energy.Of("gpu:0 a").joules,
                1e-3);
    EXPECT_NEAR(10000, energy.Sum(), 1e-3);
  }
}

// Kernels of 10, 50 and 100 % of each 200 ms, then nothing, as NVML shows them:
// power each 100 ms is a mean over the second before, the counter comes once a
// second. 700 W at work, 70 W else.
TEST(EnergyFiguresTest, TheSplitFollowsTheDutyInOneRun) {
  const struct {
    uint64_t percent, seconds;
  } phases[] = {{10, 80}, {50, 15}, {100, 15}, {0, 5}};
  EventFeed feed = FindingsFeed(true);
  feed.Category(kMachine, "Machine");
  std::vector<double> joules = {0};  // up to each tenth of a second
  for (const auto &phase : phases) {
    for (uint64_t i = 0; i < 5 * phase.seconds; i++) {
      uint64_t from_ns = (joules.size() - 1) * 100 * kMs;
      uint64_t busy_ms = 2 * phase.percent;
      if (busy_ms)
        OnGpu(&feed, 1, "duty " + std::to_string(phase.percent), from_ns,
              from_ns, from_ns + busy_ms * kMs);
      for (uint64_t half = 0; half < 2; half++) {
        uint64_t ms = busy_ms > 100 * half ? busy_ms - 100 * half : 0;
        joules.push_back(joules.back() + 7 +
                         0.63 * static_cast<double>(ms < 100 ? ms : 100));
      }
    }
  }
  for (size_t i = 0; i < joules.size(); i++) {
    size_t before = i < 10 ? 0 : i - 10;
    double watts =
        i ? (joules[i] - joules[before]) * 10 / static_cast<double>(i - before)
          : 70;
    Count(&feed, "gpu:0.power_w", i * 100 * kMs, watts);
    if (i % 10 == 0) Count(&feed, "gpu:0.energy_j", i * 100 * kMs, joules[i]);
  }
  feed.AddWindow(0, (joules.size() - 1) * 100 * kMs);
  Energy energy(&feed);
  double total = energy.Of("gpu:0 (total)").joules;
  EXPECT_NEAR(joules.back(), total, 0.02 * joules.back());
  EXPECT_NEAR(total, energy.Sum(), 1e-3);
  double watts[3];
  for (int i = 0; i < 3; i++)
    watts[i] =
        energy.Of("gpu:0 duty " + std::to_string(phases[i].percent)).joules /
        static_cast<double>(phases[i].seconds);
  EXPECT_LT(watts[0], watts[1]);
  EXPECT_LT(watts[1], watts[2]);
  EXPECT_GT(energy.Of("gpu:0 (idle)").joules, 70 * 5);
}

// Power follows the samples: 300 W while b works, 100 W else.
TEST(EnergyFiguresTest, EachHasThePowerOfItsTime) {
  EventFeed feed = FindingsFeed(true);
  feed.Category(kMachine, "Machine");
  feed.AddWindow(0, 100 * kS);
  for (uint64_t i = 0; i <= 1000; i++)
    Count(&feed, "gpu:0.power_w", i * 100 * kMs, i % 10 >= 5 ? 300 : 100);
  Busy(&feed, 1, "a", 0, 500);
  Busy(&feed, 1, "b", 500, 1000);
  Energy energy(&feed);
  EXPECT_NEAR(5000, energy.Of("gpu:0 a").joules, 1e-3);
  EXPECT_NEAR(15000, energy.Of("gpu:0 b").joules, 1e-3);
  // 500 samples each, half of 100 W, half of 300 W: sd / mean = 0.5.
  EXPECT_NEAR(15000 * 0.5 / std::sqrt(500), energy.Of("gpu:0 b").error_joules,
              1);
  EXPECT_NEAR(20000, energy.Of("gpu:0 (total)").joules, 1e-3);
}

// Two at once have half each, and may have had all or nothing of it.
TEST(EnergyFiguresTest, OverlapIsDividedAndUnsure) {
  EventFeed feed = Sampled(100, 10000);
  Busy(&feed, 1, "a", 0, 400);
  Busy(&feed, 2, "b", 200, 400);
  Energy energy(&feed);
  EXPECT_NEAR(3000, energy.Of("gpu:0 a").joules, 1e-3);
  EXPECT_NEAR(1000, energy.Of("gpu:0 b").joules, 1e-3);
  EXPECT_NEAR(500, energy.Of("gpu:0 a").error_joules, 1e-3);
  EXPECT_NEAR(500, energy.Of("gpu:0 b").error_joules, 1e-3);
}

// Of 100 W each, a has half of one device's energy, b a quarter of the other's.
TEST(EnergyFiguresTest, EachDeviceHasItsOwnStages) {
  EventFeed feed = Sampled(100, 10000);
  feed.Device(2, "gpu:1");
  feed.Lane(1003, 0, "stream");
  feed.Stream(3, 2);
  for (uint64_t i = 0; i <= 1000; i++)
    Count(&feed, "gpu:1.power_w", i * 100 * kMs, 100);
  Busy(&feed, 1, "a", 0, 500);
  Busy(&feed, 3, "b", 0, 250);
  Energy energy(&feed);
  EXPECT_NEAR(5000, energy.Of("gpu:0 a").joules, 1e-3);
  EXPECT_NEAR(2500, energy.Of("gpu:1 b").joules, 1e-3);
  EXPECT_NEAR(7500, energy.Of("gpu:1 (idle)").joules, 1e-3);
  EXPECT_EQ(6u, energy.num());
}

// Ten calls of 100 ms are 10 samples: fewer than 20.
TEST(EnergyFiguresTest, WhatIsTooShortIsNotResolved) {
  EventFeed feed = Sampled(100, 10000);
  Busy(&feed, 1, "a", 0, 500);
  Busy(&feed, 1, "b", 600, 700, 10);
  Energy energy(&feed);
  EXPECT_TRUE(energy.Of("gpu:0 b").is_unresolved);
  EXPECT_EQ(0, energy.Of("gpu:0 b").joules);
  EXPECT_NEAR(100, energy.Of("gpu:0 (too short)").joules, 1e-3);
  EXPECT_FALSE(energy.Of("gpu:0 a").is_unresolved);
  EXPECT_NEAR(10000, energy.Sum(), 1e-3);
}

// Kernels are of the stage that launched them, wherever they run.
TEST(EnergyFiguresTest, KernelsAreOfTheirStage) {
  EventFeed feed = Sampled(100, 10000);
  for (uint64_t i = 0; i < 100; i++) {
    OnHost(&feed, 1, "decode", i * kS, i * kS + 10 * kMs);
    feed.OnDevice(1, 1, "gemm", PPROF_CATEGORY_KERNEL, i * kS + kMs,
                  i * kS + 100 * kMs, i * kS + 300 * kMs)
        .depth = 1;
  }
  Energy energy(&feed);
  EXPECT_NEAR(2000, energy.Of("gpu:0 decode").joules, 1e-3);
  EXPECT_EQ(100u, energy.Of("gpu:0 decode").calls);
}

TEST(EnergyFiguresTest, WithoutACounterItIsThePower) {
  EventFeed feed = Sampled(100, -1);
  Busy(&feed, 1, "a", 0, 500);
  Energy energy(&feed);
  EXPECT_NEAR(5000, energy.Of("gpu:0 a").joules, 1e-3);
  EXPECT_NEAR(10000, energy.Of("gpu:0 (total)").joules, 1e-3);
}

// What no range and no kernel times may have been work.
TEST(EnergyFiguresTest, WithoutTimedWorkNobodyIsIdle) {
  EventFeed feed = Sampled(100, 12000);
  Energy energy(&feed);
  EXPECT_EQ(1u, energy.num());
  EXPECT_NEAR(12000, energy.Of("gpu:0 (total)").joules, 1e-3);
}

TEST(EnergyFiguresTest, ProcessorsHaveATotalAlone) {
  EventFeed feed = FindingsFeed(false);
  feed.Category(kMachine, "Machine");
  feed.AddWindow(0, 10 * kS);
  Count(&feed, "processors.energy_j", 0, 7);
  Count(&feed, "processors.energy_j", 10 * kS, 507);
  Energy energy(&feed);
  EXPECT_EQ(1u, energy.num());
  EXPECT_NEAR(500, energy.Of("processors (total)").joules, 1e-6);
}

}  // namespace
}  // namespace pprof_test
