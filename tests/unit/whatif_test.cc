// SPDX-License-Identifier: Apache-2.0
//
// Predictions beside what the same program with other durations truly does.
#include <functional>

#include "whatif/whatif_bootstrap.h"
#include "whatif_program.h"

namespace {

using pprof_test::Durations;
using pprof_test::Factors;
using pprof_test::kItems;
using pprof_test::kLag;
using pprof_test::Model;
using pprof_test::Program;
using Maker = std::function<void(const Factors &, Program *)>;
using Names = std::vector<std::string>;

// What is recorded once is predicted for all these.
void ExpectTruth(const Maker &make, const std::vector<Factors> &changes) {
  std::mt19937_64 random(7);
  for (int shuffled = 0; shuffled < 2; shuffled++) {
    Program recorded;
    make({}, &recorded);
    Model model(&recorded, shuffled ? &random : nullptr);
    model.Run({});
    EXPECT_EQ(recorded.ends, model.Ends());
    for (const Factors &factors : changes) {
      Program changed;
      make(factors, &changed);
      model.Run(factors);
      EXPECT_EQ(changed.ends, model.Ends())
          << factors.begin()->first << " " << factors.begin()->second;
    }
  }
}

TEST(WhatifTest, HostBoundLoop) {
  Maker make = [](const Factors &factors, Program *out) {
    TrainingLoop(Durations(factors), out, 100, 30);
  };
  ExpectTruth(make, {{{"load", 0.5}},
                     {{"load", 0.25}},
                     {{"load", 4}},
                     {{"model", 0.5}},
                     {{"model", 16}},
                     {{"load", 0.25}, {"model", 4}}});
}

TEST(WhatifTest, DeviceBoundLoop) {
  Maker make = [](const Factors &factors, Program *out) {
    DoubleBuffered(Durations(factors), out);
  };
  ExpectTruth(
      make,
      {{{"model", 0.5}}, {{"model", 2}}, {{"load", 0.25}}, {{"load", 2}}});
}

TEST(WhatifTest, QueueBoundThreads) {
  for (size_t in_flight : {1, 3, 8}) {
    Maker make = [=](const Factors &factors, Program *out) {
      TwoThreads(Durations(factors), out, in_flight, false, 20, 100);
    };
    ExpectTruth(make, {{{"rank", 0.5}},
                       {{"rank", 0.125}},
                       {{"rank", 2}},
                       {{"parse", 0.25}},
                       {{"parse", 16}},
                       {{"parse", 2}, {"rank", 0.25}}});
  }
}

// Each thread waits for the other now and then, in ranges that say so.
TEST(WhatifTest, WaitsInRanges) {
  for (size_t in_flight : {2, 3}) {
    Maker make = [=](const Factors &factors, Program *out) {
      TwoThreads(Durations(factors), out, in_flight, true, 60, 64);
    };
    ExpectTruth(make, {{{"rank", 0.5}},
                       {{"rank", 4}},
                       {{"parse", 0.25}},
                       {{"parse", 16}},
                       {{"parse", 2}, {"rank", 0.25}}});
  }
}

TEST(WhatifTest, PipelineOverADevice) {
  for (size_t in_flight : {2, 4}) {
    Maker make = [=](const Factors &factors, Program *out) {
      Pipeline(Durations(factors), out, in_flight);
    };
    ExpectTruth(make, {{{"detect", 0.5}},
                       {{"detect", 2}},
                       {{"decode", 4}},
                       {{"choose", 8}},
                       {{"decode", 0.5}, {"detect", 0.25}}});
  }
}

TEST(WhatifTest, CallOfAnotherThread) {
  Maker make = [](const Factors &factors, Program *out) {
    Calls(Durations(factors), out);
  };
  ExpectTruth(make, {{{"work", 0.5}}, {{"work", 2}}, {{"answer", 0.25}}});
}

// ---- what it says ----

TEST(WhatifTest, RateAndQuantilesOfAScript) {
  Program program;
  // Each request takes 100 us, and begins 10 us after the one before it.
  for (uint64_t i = 0; i < 200; i++)
    program.Host(1, "serve", 110000 * i, 110000 * i + 100000, i + 1);
  Model model(&program);
  ppi_whatif_result result = model.Run({});
  EXPECT_EQ(result.num, 200u);
  EXPECT_DOUBLE_EQ(result.rate.value, 1e9 / 110000);
  EXPECT_EQ(result.p50.value, 100000);
  EXPECT_EQ(result.p99.value, 100000);
  EXPECT_EQ(result.p99.low, 100000);
  EXPECT_EQ(result.p99.high, 100000);
  EXPECT_DOUBLE_EQ(result.path_ns, 110000 * 200 - 10000);
  EXPECT_DOUBLE_EQ(result.between_ns, 10000 * 199);
  result = model.Run({{"serve", 0.5}});
  EXPECT_DOUBLE_EQ(result.rate.value, 1e9 / 60000);
  EXPECT_EQ(result.p99.value, 50000);
  result = model.Run({{"serve", 0}});
  EXPECT_DOUBLE_EQ(result.rate.value, 1e9 / 10000);
}

TEST(WhatifTest, WhatLimitsChanges) {
  Program program;
  TwoThreads(Durations({}), &program, 3, false, 20, 100);
  Model model(&program);
  EXPECT_EQ("rank", model.Limit(model.Run({})));
  EXPECT_EQ("rank", model.Limit(model.Run({{"rank", 0.5}})));
  EXPECT_EQ("parse", model.Limit(model.Run({{"rank", 0.0625}})));
  EXPECT_EQ("parse", model.Limit(model.Run({{"parse", 16}})));
  EXPECT_EQ(3u, model.graph().in_flight);
}

TEST(WhatifTest, WaitsAreFound) {
  Program threads, loop, unmarked;
  TwoThreads(Durations({}), &threads, 3, true, 20, 100);
  EXPECT_EQ((Names{"wait for room"}), Model(&threads).Waits());
  TrainingLoop(Durations({}), &loop, 30, 100);
  EXPECT_EQ((Names{"wait"}), Model(&loop).Waits());
  TwoThreads(Durations({}), &unmarked, 3, false, 20, 100);
  EXPECT_EQ(Names{}, Model(&unmarked).Waits());
}

// Of a range in another one the inner factor counts, and the outer one
// elsewhere.
TEST(WhatifTest, NestedFactors) {
  Program program;
  for (uint64_t i = 0; i < 20; i++) {
    uint64_t from = 100000 * i;
    program.Host(1, "outer", from, from + 90000);
    program.Host(1, "inner", from + 10000, from + 50000);
    program.EndStep(from, from + 90000);
  }
  Model model(&program);
  model.Run({{"outer", 0.5}});
  EXPECT_DOUBLE_EQ(model.Ends()[1], 45000 + 10000 + 45000);
  model.Run({{"outer", 0.5}, {"inner", 2}});
  EXPECT_DOUBLE_EQ(model.Ends()[0], 5000 + 80000 + 20000);
  model.Run({{"inner", 0}});
  EXPECT_DOUBLE_EQ(model.Ends()[0], 50000);
}

// Threads that share no request are replayed each by itself.
TEST(WhatifTest, WithoutRequestsThreadsAreApart) {
  Program program;
  for (uint64_t i = 0; i < 20; i++) {
    program.Host(1, "make", 100000 * i, 100000 * i + 40000);
    program.Host(2, "use", 100000 * i + 41000, 100000 * i + 99000);
    program.EndStep(100000 * i, 100000 * i + 99000);
  }
  Model model(&program);
  model.Run({});
  EXPECT_EQ(program.ends, model.Ends());
  model.Run({{"make", 0.5}});
  EXPECT_EQ(program.ends, model.Ends());
  EXPECT_EQ(0u, model.graph().in_flight);
}

// All that a program does may be one request.
TEST(WhatifTest, OneRequestOfManyRanges) {
  Program program;
  for (uint64_t i = 0; i < 100000; i++)
    program.Host(1 + i % 2, "part", 100 * i, 100 * i + 90, 7);
  Model model(&program);
  ppi_whatif_result result = model.Run({{"part", 0.5}});
  EXPECT_EQ(1u, result.num);
  EXPECT_EQ(1u, model.graph().num_large);
}

// What ends at one moment depends on itself in no order.
TEST(WhatifTest, AllAtOnce) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; round++) {
    Program program;
    for (int i = 0; i < 30; i++) {
      uint64_t from = random() % 8, to = from + random() % 3;
      uint32_t lane = 1 + static_cast<uint32_t>(random() % 3);
      uint64_t flow = random() % 4;
      if (random() % 4)
        program.Host(lane, "host", from, to, flow);
      else
        // Clocks of devices are not exact.
        program.OnDevice(lane, "device", from + random() % 3, from, to, flow);
    }
    Model model(&program);
    model.Run({});
    for (uint32_t id = 1; id <= model.graph().num_pieces; id++)
      EXPECT_EQ(static_cast<double>(model.graph().pieces[id - 1].end_ns),
                model.End(id));
  }
}

// ---- how sure it is ----

TEST(WhatifTest, IntervalsOfEqualValuesAreNone) {
  std::vector<double> values(50, 7.0);
  std::vector<size_t> scratch(100);
  double low = 0, high = 0;
  EXPECT_TRUE(ppi_whatif_bootstrap_mean(values.data(), 50, &low, &high));
  EXPECT_EQ(low, 7);
  EXPECT_EQ(high, 7);
  EXPECT_TRUE(ppi_whatif_bootstrap_rank(values.data(), 50, 50, values.data(),
                                        scratch.data(), &low, &high));
  EXPECT_EQ(low, 7);
  EXPECT_EQ(high, 7);
  EXPECT_FALSE(ppi_whatif_bootstrap_mean(values.data(), 7, &low, &high));
  EXPECT_FALSE(ppi_whatif_bootstrap_rank(values.data(), 50, 99, values.data(),
                                         scratch.data(), &low, &high));
}

// Of independent values the mean's interval covers in about 95 of 100 samples;
// its length is about 2 x 1.96 / sqrt(n) of a deviation.
TEST(WhatifTest, IntervalsCoverTheMean) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(100, 10);
  int covered = 0;
  double length = 0;
  for (int sample = 0; sample < 200; sample++) {
    std::vector<double> values(400);
    for (double &value : values) value = normal(random);
    double low = 0, high = 0;
    ppi_whatif_bootstrap_mean(values.data(), values.size(), &low, &high);
    covered += low <= 100 && 100 <= high;
    length += high - low;
  }
  EXPECT_GE(covered, 180);
  EXPECT_LE(covered, 198);
  EXPECT_NEAR(length / 200, 2 * 1.96 * 10 / 20, 0.2);
}

}  // namespace
