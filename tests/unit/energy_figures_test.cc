// SPDX-License-Identifier: Apache-2.0
//
// Where the energy of a device goes: by stage, too short, idle; together what
// its counter says.
#include <cmath>
#include <map>

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
    const ppi_energy &energy = report_.figures()->energy;
    for (size_t i = 0; i < energy.num; i++) {
      static const char *const kinds[] = {"", "(too short)", "(idle)",
                                          "(total)"};
      const ppi_energy_row &row = energy.rows[i];
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
