// SPDX-License-Identifier: Apache-2.0
//
// Random runs with nothing wrong have no problem: loops on the host, loops that
// keep a device busy most of the time, services with pauses, services of
// several workers. All have a start-up, cold beginnings and times that vary.
#include <algorithm>
#include <cmath>
#include <random>

#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

class Healthy {
 public:
  explicit Healthy(uint64_t seed) : random_(seed), feed_(MakeFeed(seed)) {
    start_ns_ = Between(0, 2000) * kMs;
    num_ = Between(50, 600);
    unit_ns_ = static_cast<double>(Between(2000, 50000)) * 1e3;
    switch (seed % 4) {
      case 0:
        HostLoop();
        break;
      case 1:
        DeviceLoop();
        break;
      case 2:
        ServiceWithPauses();
        break;
      default:
        Workers();
    }
    Memory();
  }
  EventFeed *feed() {
    return &feed_;
  }

 private:
  static EventFeed MakeFeed(uint64_t seed) {
    EventFeed feed = FindingsFeed(seed % 4 == 1 || seed % 4 == 2);
    for (uint32_t lane = 3; lane < 7; lane++)
      feed.Lane(lane, 100 + lane, "worker");
    return feed;
  }
  uint64_t Between(uint64_t low, uint64_t high) {
    return low + random_() % (high - low + 1);
  }
  // So much of a unit, a tenth more or less; of the first ones five times.
  uint64_t Time(double share, uint64_t at) {
    std::normal_distribution<double> normal(0, 0.1);
    double cold = at < num_cold_ ? 5 : 1;
    return static_cast<uint64_t>(unit_ns_ * share * cold *
                                 std::exp(normal(random_)));
  }

  // Five stages, of which one reads, and a little between.
  void HostLoop() {
    uint64_t now_ns = start_ns_;
    for (uint64_t i = 0; i < num_; i++) {
      uint64_t begin_ns = now_ns;
      feed_.Range(1, "load", PPROF_CATEGORY_DATALOADER, now_ns,
                  now_ns + Time(0.12, i));
      now_ns = LastEnd();
      for (const char *name : {"decode", "resize", "predict", "store"}) {
        OnHost(&feed_, 1, name, now_ns, now_ns + Time(0.2, i));
        now_ns = LastEnd();
      }
      now_ns += Time(0.05, num_);
      feed_.Step(begin_ns, now_ns);
    }
    feed_.AddWindow(0, now_ns);
  }
  uint64_t LastEnd() {
    return feed_.lanes()[1].back().end_ns;
  }

  // The device has 80 to 87 % of each step, in two stages of equal parts.
  void DeviceLoop() {
    uint64_t now_ns = start_ns_;
    for (uint64_t i = 0; i < num_; i++) {
      uint64_t begin_ns = now_ns, host_ns = Time(0.15, i);
      OnHost(&feed_, 1, "prepare", now_ns, now_ns + host_ns);
      now_ns += host_ns;
      double busy = static_cast<double>(host_ns) * (0.85 / 0.15);
      for (const char *name : {"detect", "classify"}) {
        uint64_t end_ns = now_ns + static_cast<uint64_t>(busy / 2);
        OnGpu(&feed_, 1, name, begin_ns + host_ns, now_ns, end_ns);
        now_ns = end_ns;
      }
      feed_.Step(begin_ns, now_ns);
    }
    feed_.AddWindow(0, now_ns + Between(0, 500) * kMs);
  }

  // One request at a time, and long times without any.
  void ServiceWithPauses() {
    uint64_t now_ns = start_ns_;
    for (uint64_t i = 0; i < num_; i++) {
      uint64_t host_ns = Time(0.15, i);
      OfRequest(&OnHost(&feed_, 1, "parse", now_ns, now_ns + host_ns), i + 1);
      now_ns += host_ns;
      uint64_t end_ns = now_ns + host_ns * 85 / 15;
      OfRequest(&OnGpu(&feed_, 1, "model", now_ns, now_ns, end_ns), i + 1);
      now_ns = end_ns + Between(0, 5) * static_cast<uint64_t>(unit_ns_);
    }
    feed_.AddWindow(0, now_ns);
  }

  // Four threads, each with a request at a time.
  void Workers() {
    uint64_t now_ns[4] = {start_ns_, start_ns_, start_ns_, start_ns_};
    for (uint64_t i = 0; i < num_; i++) {
      uint64_t &now = now_ns[i % 4];
      uint32_t lane = static_cast<uint32_t>(3 + i % 4);
      for (const char *name : {"parse", "check", "answer"}) {
        uint64_t end_ns = now + Time(0.33, i);
        OfRequest(&OnHost(&feed_, lane, name, now, end_ns), i + 1);
        now = end_ns;
      }
      now += Between(0, 2) * static_cast<uint64_t>(unit_ns_);
    }
    feed_.AddWindow(0, *std::max_element(now_ns, now_ns + 4));
  }

  // Caches fill at first, each unit needs more or less than the one before, and
  // now and then all that is not needed is given back.
  void Memory() {
    uint64_t end_ns = feed_.windows().back().close_ns;
    double base = static_cast<double>(Between(100, 1000)) * 1e6;
    double wave = 0, every = static_cast<double>(Between(10, 40));
    std::normal_distribution<double> normal(0, 0.03 * base);
    for (uint64_t i = 0; i < 2 * num_; i++) {
      double at = static_cast<double>(i), part = at / static_cast<double>(num_);
      wave = 0.8 * wave + normal(random_);
      pprof_event event = {};
      event.kind = PPROF_KIND_COUNTER;
      event.site = feed_.Site("heap", PPROF_CATEGORY_MEMORY);
      event.lane = 1;
      event.start_ns = event.end_ns =
          start_ns_ + (end_ns - start_ns_) / (2 * num_) * i;
      event.value = base * (2 - std::exp(-20 * part)) + wave +
                    base * 0.2 * std::fmod(at, every) / every;
      feed_.Add(1, event);
    }
  }

  std::mt19937_64 random_;
  EventFeed feed_;
  uint64_t start_ns_, num_, num_cold_ = 2;
  double unit_ns_;
};

TEST(FindingsPropertyTest, HealthyRunsHaveNoProblem) {
  size_t num_facts = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    Healthy run(seed);
    FindingsReport report(run.feed());
    ASSERT_EQ("", report.Problems()) << "seed " << seed;
    ASSERT_STRNE("", report.all().answer) << "seed " << seed;
    num_facts += report.all().num;
  }
  EXPECT_GT(num_facts, 50u);
}

}  // namespace
}  // namespace pprof_test
