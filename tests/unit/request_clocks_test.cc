// SPDX-License-Identifier: Apache-2.0
//
// How far hosts' clocks are apart, by requests that go over them. Here the
// difference is known, so a stated bound must hold.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "request_fixture.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::kMs;
using pprof_test::kUs;
using pprof_test::kUser;

constexpr uint64_t kFirst = UINT64_C(1) << 63;  // of a context

// A part of a request, in true time.
struct Part {
  uint64_t flow, start_ns, end_ns;
};

// A host with a process, and by how much its clock is ahead.
struct Host {
  double ahead_ns = 0, drift = 0, step_ns = 0;
  uint64_t steps_at_ns = UINT64_MAX;
  std::vector<Part> parts = {};
  double Ahead(uint64_t at_ns) const {
    return ahead_ns + drift * static_cast<double>(at_ns) +
           (at_ns >= steps_at_ns ? step_ns : 0);
  }
  uint64_t Clock(uint64_t at_ns) const {
    return at_ns + static_cast<uint64_t>(std::llround(Ahead(at_ns)));
  }
};

struct Clocks {
  ppi_host_clocks known;
  uint64_t bound_ns;
};

pprof_report *ReportOf(const Host &host, size_t number) {
  EventFeed feed;
  std::string name = std::to_string(number);
  feed.Run(std::string(31, '0') + name, name);
  feed.SetHost("host" + name);
  feed.SetBegan(5000);
  feed.Lane(1, 100, "worker");
  for (const Part &part : host.parts) {
    pprof_event &event =
        feed.Range(1, "stage" + name, kUser, host.Clock(part.start_ns),
                   host.Clock(part.end_ns));
    event.flows = &part.flow;
    event.num_flows = 1;
  }
  feed.AddWindow(0, 3600000 * kMs);
  pprof_report *report = nullptr;
  EXPECT_EQ(PPROF_STATUS_OK, pprof_report_create(&report));
  ppi_report_details details = {};
  details.requests = details.answer = true;
  ppi_report_set_details(report, &details);
  EXPECT_EQ(PPROF_STATUS_OK, feed.Deliver(pprof_report_sink(report)));
  return report;
}

Clocks ClocksOf(const std::vector<Host> &hosts) {
  pprof_report *all = nullptr;
  for (size_t i = 0; i < hosts.size(); i++) {
    pprof_report *one = ReportOf(hosts[i], i);
    if (!all) {
      all = one;
      continue;
    }
    EXPECT_EQ(PPROF_STATUS_OK, ppi_report_add(all, one));
    pprof_report_destroy(one);
  }
  EXPECT_EQ(PPROF_STATUS_OK, ppi_report_join(all));
  const ppi_figures *figures = ppi_report_figures(all);
  EXPECT_TRUE(figures->are_joined);
  Clocks out = {figures->host_clocks, figures->clock_bound_ns};
  pprof_report_destroy(all);
  return out;
}

// Requests of 10 ms, one every 20 ms from 1 s on. The second host has each from
// 2 ms after its begin to 3 ms before its end.
std::vector<Host> Called(size_t num) {
  std::vector<Host> hosts(2);
  for (uint64_t i = 0; i < num; i++) {
    uint64_t at_ns = (1000 + 20 * i) * kMs;
    hosts[0].parts.push_back({kFirst + i, at_ns, at_ns + 10 * kMs});
    hosts[1].parts.push_back({kFirst + i, at_ns + 2 * kMs, at_ns + 7 * kMs});
  }
  return hosts;
}

TEST(RequestClocksTest, ACallBoundsTheDifference) {
  Clocks clocks = ClocksOf(Called(40));
  EXPECT_EQ(PPI_CLOCKS_BOUND, clocks.known);
  EXPECT_EQ(3 * kMs, clocks.bound_ns);
}

// By its clock the second host begins at 0.5 ms, and ends at 5.5.
TEST(RequestClocksTest, APlantedDifferenceIsWithinTheBound) {
  std::vector<Host> hosts = Called(40);
  hosts[1].ahead_ns = -1.5e6;
  Clocks clocks = ClocksOf(hosts);
  EXPECT_EQ(PPI_CLOCKS_BOUND, clocks.known);
  EXPECT_EQ(4500 * kUs, clocks.bound_ns);
}

// The difference of 4 ms leaves no time for the way there: nothing is known.
TEST(RequestClocksTest, APartThatSticksOutIsNoCall) {
  std::vector<Host> hosts = Called(40);
  hosts[1].ahead_ns = 4e6;
  EXPECT_EQ(PPI_CLOCKS_UNKNOWN, ClocksOf(hosts).known);
}

TEST(RequestClocksTest, NoDifferenceFitsAClockThatIsSet) {
  std::vector<Host> hosts = Called(90);
  hosts[1].step_ns = 12e6;
  hosts[1].steps_at_ns = 2200 * kMs;  // after 60 requests
  Clocks clocks = ClocksOf(hosts);
  EXPECT_EQ(PPI_CLOCKS_CONTRADICT, clocks.known);
  EXPECT_EQ(0u, clocks.bound_ns);
}

// One caller in a hundred gave up; its callee went on.
TEST(RequestClocksTest, ACallerThatGaveUpSaysNothing) {
  std::vector<Host> hosts = Called(100);
  hosts[1].parts[50].start_ns += 7 * kMs;
  hosts[1].parts[50].end_ns += 7 * kMs;
  Clocks clocks = ClocksOf(hosts);
  EXPECT_EQ(PPI_CLOCKS_BOUND, clocks.known);
  EXPECT_EQ(3 * kMs, clocks.bound_ns);
}

// A request goes from the second host to the third one, too.
TEST(RequestClocksTest, HostsBetweenAddUp) {
  std::vector<Host> hosts = Called(40);
  hosts.push_back({});
  for (const Part &part : hosts[0].parts)
    hosts[2].parts.push_back(
        {part.flow, part.start_ns + 8 * kMs, part.end_ns - kMs});
  Clocks clocks = ClocksOf(hosts);
  EXPECT_EQ(PPI_CLOCKS_BOUND, clocks.known);
  EXPECT_EQ(11 * kMs, clocks.bound_ns);
}

TEST(RequestClocksTest, OneAfterTheOtherSaysNothing) {
  std::vector<Host> hosts = Called(40);
  for (Part &part : hosts[1].parts) {
    part.start_ns += 9 * kMs;
    part.end_ns += 9 * kMs;
  }
  EXPECT_EQ(PPI_CLOCKS_UNKNOWN, ClocksOf(hosts).known);
}

struct Random {
  explicit Random(uint64_t seed) : engine(seed) {}
  double Up(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(engine);
  }
  uint64_t Ns(double least_ms, double most_ms) {
    return static_cast<uint64_t>(1e6 * Up(least_ms, most_ms));
  }
  std::mt19937_64 engine;
};

enum Shape { kCalls, kStreams };

// Calls of one host or of both, with random times on the way and in each. Of
// streams, the second host begins and ends after the first one.
std::vector<Host> Any(Random *random, Shape shape) {
  std::vector<Host> hosts(2);
  double way_ms = random->Up(0.05, 3);
  uint64_t at_ns = 1000 * kMs, num = 20 + random->engine() % 60;
  for (uint64_t i = 0; i < num; i++) {
    uint64_t there_ns = random->Ns(0.02, way_ms);
    uint64_t back_ns = random->Ns(0.02, way_ms);
    uint64_t work_ns = random->Ns(1, 8);
    uint64_t begin_ns = at_ns + there_ns, end_ns = begin_ns + work_ns;
    uint64_t until_ns = shape == kCalls
                            ? end_ns + back_ns
                            : end_ns - std::min(back_ns, work_ns / 2);
    size_t caller = num % 2 && i % 2;  // of an odd number, every second
    hosts[caller].parts.push_back({kFirst + i, at_ns, until_ns});
    hosts[1 - caller].parts.push_back({kFirst + i, begin_ns, end_ns});
    at_ns = end_ns + random->Ns(1, 200);
  }
  return hosts;
}

double MostAhead(const Host &host) {
  double most_ns = 0;
  for (const Part &part : host.parts)
    most_ns = std::fmax(most_ns, std::fabs(host.Ahead(part.start_ns)));
  return most_ns;
}

// Over random differences, drifts and steps.
TEST(RequestClocksTest, AStatedBoundHolds) {
  size_t num_bound = 0, num_contradict = 0;
  for (uint64_t seed = 0; seed < 600; seed++) {
    Random random(seed);
    std::vector<Host> hosts = Any(&random, kCalls);
    Host *host = &hosts[seed & 1];
    host->ahead_ns = random.Up(-2e6, 2e6);
    if (seed % 3 == 1) host->drift = random.Up(-400e-6, 400e-6);
    if (seed % 3 == 2) {
      host->step_ns = random.Up(-20e6, 20e6);
      host->steps_at_ns = host->parts[host->parts.size() / 2].start_ns;
    }
    Clocks clocks = ClocksOf(hosts);
    num_contradict += clocks.known == PPI_CLOCKS_CONTRADICT;
    if (seed % 3 != 2) {
      EXPECT_NE(PPI_CLOCKS_CONTRADICT, clocks.known) << "seed " << seed;
    }
    if (clocks.known != PPI_CLOCKS_BOUND) continue;
    num_bound++;
    EXPECT_GE(static_cast<double>(clocks.bound_ns) + 2, MostAhead(*host))
        << "seed " << seed;
  }
  EXPECT_LT(100u, num_bound);
  EXPECT_LT(0u, num_contradict);
}

// Equal clocks show that these are no calls.
TEST(RequestClocksTest, StreamsSayNothing) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    Random random(seed);
    EXPECT_EQ(PPI_CLOCKS_UNKNOWN, ClocksOf(Any(&random, kStreams)).known)
        << "seed " << seed;
  }
}

}  // namespace
