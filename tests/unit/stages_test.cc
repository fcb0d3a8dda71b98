// SPDX-License-Identifier: Apache-2.0
//
// Stages: the cold beginning apart from the steady rest, found or as asked, in
// any order of arrival; rates, peaks and what is wrong with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "event_feed.h"
#include "report/figures/first_calls.h"
#include "view/report_options.h"
#include "view/view_stages.h"
#include "view_figures.h"

namespace {

using pprof_test::Figures;

class Phases {
 public:
  explicit Phases(const std::vector<uint64_t> &lengths, long warmup = -1,
                  uint64_t shuffle = 0) {
    std::vector<size_t> order(lengths.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    if (shuffle)
      std::shuffle(order.begin(), order.end(), std::mt19937_64(shuffle));
    ppi_first_calls early = {};
    for (size_t i : order) {
      const ppi_first_call call = {1000 * i, lengths[i], {}, 0};
      EXPECT_TRUE(
          ppi_first_calls_add(&early, &call, ppi_first_calls_most(warmup)));
    }
    EXPECT_TRUE(ppi_first_calls_split(&early, warmup, &phases_));
    ppi_first_calls_clear(&early);
  }
  ~Phases() {
    ppi_phases_clear(&phases_);
  }
  Phases(const Phases &) = delete;
  Phases &operator=(const Phases &) = delete;
  const ppi_phases *operator->() const {
    return &phases_;
  }
  ppi_phases *get() {
    return &phases_;
  }
  uint64_t Quantile(double q) const {
    return ppi_histogram_quantile(&phases_.steady_times, q);
  }

 private:
  ppi_phases phases_ = {};
};

std::vector<uint64_t> Steady(size_t num, uint64_t length) {
  return std::vector<uint64_t>(num, length);
}

TEST(StagesTest, FirstCallIsColdWhereItTakesLonger) {
  std::vector<uint64_t> lengths = Steady(20, 100);
  lengths[0] = 5000;
  Phases phases(lengths);
  EXPECT_EQ(phases->first.sum, 5000u);
  EXPECT_EQ(phases->cold.n, 1u);
  EXPECT_EQ(phases->steady.n, 19u);
  EXPECT_EQ(phases->steady.max, 100u);
  EXPECT_EQ(phases.Quantile(0.99), 100u);
}

// The later half is 100 and 200: median 150, both 50 away from it, so that
// three deviations are 222.4. The greater of the two would make it 644.
TEST(StagesTest, MedianOfAnEvenNumberIsBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(Phases({373, 100, 100, 200})->cold.n, 1u);
  EXPECT_EQ(Phases({372, 100, 100, 200})->cold.n, 0u);
}

// A beginning that is faster than the rest is not cold.
TEST(StagesTest, FasterCallsAreUsual) {
  std::vector<uint64_t> lengths = Steady(20, 1000);
  lengths[0] = lengths[1] = 1;
  EXPECT_EQ(Phases(lengths)->cold.n, 0u);
}

TEST(StagesTest, StageThatIsSteadyHasNoColdCalls) {
  Phases phases(Steady(50, 100));
  EXPECT_EQ(phases->cold.n, 0u);
  EXPECT_EQ(phases->steady.n, 50u);
  EXPECT_EQ(phases->first.sum, 100u);
}

// 3200, 1600, 800, ... fall to a level of 100: 110 is the limit.
TEST(StagesTest, DecayEndsWithinOneCall) {
  std::vector<uint64_t> lengths = Steady(100, 100);
  for (size_t i = 0; i < 5; i++) lengths[i] = 3200 >> i;
  EXPECT_EQ(Phases(lengths)->cold.n, 5u);
}

TEST(StagesTest, DecaysWithNoiseEndWithinOneCall) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.02);
  for (int turn = 0; turn < 500; turn++) {
    size_t cold = random() % 30;
    std::vector<uint64_t> lengths;
    for (size_t i = 0; i < 400; i++) {
      double level = i < cold ? 1.5 * static_cast<double>(cold - i) + 1 : 1;
      lengths.push_back(
          static_cast<uint64_t>(1e6 * level * (1 + noise(random))));
    }
    size_t found = Phases(lengths)->cold.n;
    EXPECT_LE(found, cold + 1) << "turn " << turn;
    EXPECT_GE(found + 1, cold) << "turn " << turn;
  }
}

TEST(StagesTest, SlowCallLaterIsNoBeginning) {
  std::vector<uint64_t> lengths = Steady(60, 100);
  lengths[5] = lengths[6] = lengths[30] = 9000;
  Phases phases(lengths);
  EXPECT_EQ(phases->cold.n, 0u);
  EXPECT_EQ(phases->steady.max, 9000u);
}

TEST(StagesTest, FastCallAmongColdOnesIsNoEnd) {
  std::vector<uint64_t> lengths = Steady(60, 100);
  lengths[0] = lengths[2] = lengths[3] = 9000;
  EXPECT_EQ(Phases(lengths)->cold.n, 4u);
}

// Of a normal distribution one call in 740 lies above three deviations.
TEST(StagesTest, NoiseIsNoBeginning) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> noise(1, 0.08);
  uint64_t found = 0;
  for (int turn = 0; turn < 500; turn++) {
    std::vector<uint64_t> lengths;
    for (int i = 0; i < 200; i++)
      lengths.push_back(static_cast<uint64_t>(1e6 * noise(random)));
    found += Phases(lengths)->cold.n;
  }
  EXPECT_LE(found, 5u);
}

TEST(StagesTest, FewCallsAreNotSplit) {
  EXPECT_EQ(Phases({9000, 100, 100})->cold.n, 0u);
  EXPECT_EQ(Phases({})->first.n, 0u);
  EXPECT_EQ(Phases({9000, 100, 100, 100})->cold.n, 1u);
}

TEST(StagesTest, WarmupIsAsAsked) {
  std::vector<uint64_t> lengths = Steady(10, 100);
  lengths[0] = 5000;
  EXPECT_EQ(Phases(lengths, 0)->cold.n, 0u);
  Phases three(lengths, 3);
  EXPECT_EQ(three->cold.n, 3u);
  EXPECT_EQ(three->cold.sum, 5200u);
  EXPECT_EQ(Phases(lengths, 100)->steady.n, 0u);
}

// Also beyond those that are looked at to find them.
TEST(StagesTest, LongWarmupIsAsAsked) {
  std::vector<uint64_t> lengths = Steady(1000, 100);
  std::fill(lengths.begin(), lengths.begin() + 300, 5000);
  for (uint64_t shuffle : {0, 3}) {
    Phases phases(lengths, 300, shuffle);
    EXPECT_EQ(phases->cold.n, 300u);
    EXPECT_EQ(phases->cold.sum, 300u * 5000);
    EXPECT_EQ(phases->steady.sum, 700u * 100);
  }
}

TEST(StagesTest, OrderOfArrivalShowsNowhere) {
  std::mt19937_64 random(5);
  std::vector<uint64_t> lengths;
  for (size_t i = 0; i < 1000; i++)
    lengths.push_back((i < 20 ? 5000 : 100) + random() % 5);
  Phases in_order(lengths);
  for (uint64_t seed = 1; seed < 20; seed++) {
    Phases shuffled(lengths, -1, seed);
    EXPECT_EQ(shuffled->cold.n, 20u);
    EXPECT_EQ(shuffled->cold.sum, in_order->cold.sum);
    EXPECT_EQ(shuffled->first.sum, in_order->first.sum);
    EXPECT_EQ(shuffled->steady.sum, in_order->steady.sum);
    EXPECT_TRUE(shuffled->steady.sum_squares == in_order->steady.sum_squares);
    for (double q : {0.01, 0.5, 0.99})
      EXPECT_EQ(shuffled.Quantile(q), in_order.Quantile(q));
  }
}

TEST(StagesTest, RunsAreSplitEachAndAddUp) {
  std::vector<uint64_t> lengths = Steady(20, 100);
  lengths[0] = 5000;
  Phases one(lengths), other(lengths);
  ASSERT_TRUE(ppi_phases_merge(one.get(), other.get()));
  EXPECT_EQ(one->first.n, 2u);
  EXPECT_EQ(one->cold.n, 2u);
  EXPECT_EQ(one->steady.n, 38u);
  EXPECT_EQ(one->steady_times.n, 38u);
}

// ---- peaks ----

TEST(PeaksTest, TypeNumberAndStages) {
  ppi_peaks peaks = {};
  ASSERT_EQ(ppi_peaks_parse("bf16=989T@model*,f32=67.5T", &peaks, nullptr),
            PPROF_STATUS_OK);
  ASSERT_EQ(peaks.num, 2u);
  const ppi_peak *peak = ppi_peaks_find(&peaks, "model1", nullptr);
  EXPECT_STREQ(peak->type, "bf16");
  EXPECT_DOUBLE_EQ(peak->flops, 989e12);
  EXPECT_DOUBLE_EQ(ppi_peak_bytes(peak->type), 2);
  peak = ppi_peaks_find(&peaks, "resize", nullptr);
  EXPECT_STREQ(peak->type, "f32");
  EXPECT_DOUBLE_EQ(peak->flops, 67.5e12);
  ASSERT_EQ(ppi_peaks_parse("fp8=1.979e15@a,other=3@a", &peaks, nullptr),
            PPROF_STATUS_OK);
  EXPECT_DOUBLE_EQ(ppi_peak_bytes(peaks.items[0].type), 1);
  EXPECT_DOUBLE_EQ(ppi_peak_bytes(peaks.items[1].type), 4);
  EXPECT_EQ(ppi_peaks_find(&peaks, "b", nullptr), nullptr);
}

TEST(PeaksTest, WhatIsNoneSaysSo) {
  ppi_peaks peaks = {};
  pprof_error error;
  for (const char *text : {"", "bf16", "bf16=", "=989T", "bf16=989X", "bf16=-1",
                           "bf16=nan", "bf16=1e999", "bf16=0", "bf16=989T@",
                           "a=1,,b=2", "atypenamethatistoolong=1"}) {
    EXPECT_EQ(ppi_peaks_parse(text, &peaks, &error), PPROF_STATUS_CONFIG)
        << text;
    EXPECT_NE(std::string(error.text).find("bf16=989T"), std::string::npos)
        << error.text;
  }
  std::string many = "a=1";
  for (int i = 0; i < 16; i++) many += ",a=1";
  EXPECT_EQ(ppi_peaks_parse(many.c_str(), &peaks, &error), PPROF_STATUS_CONFIG);
  EXPECT_STREQ(error.text, "more than 16 peaks");
}

// ---- the view ----

void Work(Figures *figures, uint32_t category, const std::string &name,
          double items, double bytes, double flops, double params) {
  figures->Flops(category, name, flops);
  for (size_t i = 0; i < (*figures)->num_work; i++) {
    ppi_report_work *work = &(*figures)->work[i];
    if (name != work->name) continue;
    work->items = items;
    work->bytes = bytes;
    work->params = params;
  }
}

// Four calls on the device of 1 s in all: a cold one of 0.4 s and three of
// 0.2 s. 80 items, 2e12 FLOP, 4e9 bytes, a quarter of them of the cold call;
// 1e6 parameters a call. Of the window's 2 s the first 0.5 were before the
// steady calls.
void FillModel(Figures *figures) {
  ppi_report_name *name =
      figures->Device(PPROF_CATEGORY_INFERENCE, "model",
                      {400000000, 200000000, 200000000, 200000000});
  Figures::Fill(&name->device_phases.first, {400000000});
  Figures::Fill(&name->device_phases.cold, {400000000});
  Figures::Fill(&name->device_phases.steady, &name->device_phases.steady_times,
                {200000000, 200000000, 200000000});
  Work(figures, PPROF_CATEGORY_INFERENCE, "model", 80, 4e9, 2e12, 4e6);
  (*figures)->work[0].cold = {20, 1e9, 5e11, 1e6};
  name->device_phases.cold_wall_ns = 500000000;
  (*figures)->details.warmup = -1;
  (*figures)->wall_ns = 2000000000;
}

TEST(StagesTest, EachCellOfAModel) {
  Figures figures;
  FillModel(&figures);
  ppi_peaks peaks = {};
  ASSERT_EQ(ppi_peaks_parse("bf16=8T", &peaks, nullptr), PPROF_STATUS_OK);
  ppi_report_options options = Figures::Options("stages");
  options.peaks = &peaks;
  std::string csv = figures.Write(PPI_FORMAT_CSV, options);
  EXPECT_EQ(csv.substr(csv.find('\n') + 1),
            "model,Inference,device,4,80.0,40.0,100.0,400000000,1,400000000,3,"
            "200000000,0,0.0,200000000,200000000,200000000,200000000,"
            "2500.0,1250.0,5.0,2.0,8000.0,bf16,31.25,,p90 p99\n");
  ASSERT_EQ(ppi_peaks_parse("bf16=1T", &peaks, nullptr), PPROF_STATUS_OK);
  csv = figures.Write(PPI_FORMAT_CSV, options);
  EXPECT_NE(csv.find(",1000.0,bf16,250.0,over peak,p90 p99\n"),
            std::string::npos)
      << csv;
}

// Three quarters of 2e12 FLOP in 0.6 s are 2.5 TFLOP/s, of 8 TFLOP/s 31.25 %;
// in the 1.5 s from the first steady call on 12.5 %.
TEST(StagesTest, RooflinesOfWhatIsStated) {
  Figures figures;
  FillModel(&figures);
  ppi_peaks peaks = {};
  ASSERT_EQ(ppi_peaks_parse("bf16=8T,bytes=10G", &peaks, nullptr),
            PPROF_STATUS_OK);
  ppi_report_options options = {};
  ppi_rooflines found;
  ASSERT_EQ(ppi_stage_rooflines(&*figures, &options, &found), PPROF_STATUS_OK);
  EXPECT_EQ(found.num, 0u) << "of what is not known";
  options.peaks = &peaks;
  ASSERT_EQ(ppi_stage_rooflines(&*figures, &options, &found), PPROF_STATUS_OK);
  ASSERT_EQ(found.num, 1u);
  const ppi_roofline &model = found.items[0];
  EXPECT_STREQ(model.stage, "model");
  EXPECT_STREQ(model.type, "bf16");
  EXPECT_EQ(model.model, nullptr);
  EXPECT_TRUE(model.on_device);
  EXPECT_EQ(model.calls, 3);
  const ppi_roofline_reported told = ppi_roofline_tell(&model);
  EXPECT_DOUBLE_EQ(told.mfu, 31.25);
  EXPECT_DOUBLE_EQ(told.wall_mfu, 12.5);
  EXPECT_DOUBLE_EQ(told.intensity, 500);
  EXPECT_DOUBLE_EQ(told.ridge, 800);
  EXPECT_DOUBLE_EQ(told.reach, 50);
  figures->work[0].flops = INFINITY;
  ASSERT_EQ(ppi_stage_rooflines(&*figures, &options, &found), PPROF_STATUS_OK);
  EXPECT_EQ(found.num, 0u) << "absurd work";
}

TEST(StagesTest, RooflinesOfAModel) {
  Figures figures;
  FillModel(&figures);
  figures->work[0].flops = figures->work[0].cold.flops = 0;
  figures->work[0].bytes = figures->work[0].cold.bytes = 0;
  ppi_stage_costs costs = {};
  costs.num = 2;
  snprintf(costs.items[0].glob, sizeof costs.items[0].glob, "mod*");
  snprintf(costs.items[1].glob, sizeof costs.items[1].glob, "nowhere");
  costs.items[0].flops = 6e11;
  costs.items[0].bytes = 3e9;
  ppi_report_options options = {};
  options.costs = &costs;
  ppi_rooflines found;
  ASSERT_EQ(ppi_stage_rooflines(&*figures, &options, &found), PPROF_STATUS_OK);
  ASSERT_EQ(found.num, 1u);
  // Three calls in 0.6 s.
  EXPECT_DOUBLE_EQ(ppi_roofline_tell(&found.items[0]).rate, 3e12);
  EXPECT_DOUBLE_EQ(found.items[0].bytes, 9e9);
  EXPECT_TRUE(found.is_used[0]);
  EXPECT_FALSE(found.is_used[1]);
}

TEST(StagesTest, WithoutItemsRatesAreOfCalls) {
  Figures figures;
  FillModel(&figures);
  figures->work[0].items = figures->work[0].cold.items = 0;
  std::string csv = figures.Csv("stages");
  EXPECT_NE(csv.find("model,Inference,device,4,,2.0,5.0,"), std::string::npos)
      << csv;
}

TEST(StagesTest, WorkThatCannotBeIsFlaggedAndDividesNothing) {
  Figures figures;
  FillModel(&figures);
  figures->work[0].flops = -1;
  EXPECT_NE(figures.Csv("stages").find(",absurd work,"), std::string::npos);
  figures->work[0].flops = INFINITY;
  EXPECT_NE(figures.Csv("stages").find(",absurd work,"), std::string::npos);
  Figures idle;
  idle.Host(PPROF_CATEGORY_USER_DEFINED, "instant", {0});
  Work(&idle, PPROF_CATEGORY_USER_DEFINED, "instant", 1, 1, 1, 1);
  std::string csv = idle.Csv("stages");
  EXPECT_NE(csv.find(",work in no time,"), std::string::npos) << csv;
  EXPECT_EQ(csv.find("inf"), std::string::npos);
  EXPECT_EQ(csv.find("nan"), std::string::npos);
}

// A service of one thread: a call of 1 s that loads, 200 ms without one, then
// 49 calls of 2 ms each with 0.2 ms between them, 10 items a call. Steady, that
// is 490 items in 49 * 2 + 48 * 0.2 = 107.6 ms; in the window 500 in 1307.6.
class Service {
 public:
  explicit Service(bool two_sites = false, size_t num_calls = 50) {
    feed_.Lane(1, 100, "worker");
    feed_.Category(kMine, "Mine");
    feed_.Category(kMine + 1, "Mine");
    uint64_t now = 1000000, window = now;
    for (size_t i = 0; i < num_calls; i++) {
      uint64_t end = now + (i == 0 ? 1000000000 : 2000000);
      pprof_event &event =
          feed_.Range(1, "infer", kMine + (two_sites ? i % 2 : 0), now, end);
      work_.push_back({sizeof(pprof_work_amount), 10, 0, 0, 0});
      event.work = &work_.back();
      now = end + (i == 0 ? 200000000 : 200000);
    }
    feed_.AddWindow(window, now - 200000);
  }
  // The row of the stage.
  std::string Csv(long warmup, std::mt19937_64 *random = nullptr) {
    pprof_report *report = nullptr;
    EXPECT_EQ(pprof_report_create(&report), PPROF_STATUS_OK);
    ppi_report_details details = {};
    details.warmup = warmup;
    ppi_report_set_details(report, &details);
    EXPECT_EQ(
        feed_.DeliverAs(pprof_report_sink(report), random, random ? 8 : 0),
        PPROF_STATUS_OK);
    ppi_report_options options = Figures::Options("stages");
    char *text = nullptr;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    EXPECT_EQ(ppi_report_write(report, &options, PPI_FORMAT_CSV, file),
              PPROF_STATUS_OK);
    fclose(file);
    std::string csv(text, len);
    free(text);
    pprof_report_destroy(report);
    return csv.substr(csv.find('\n') + 1);
  }

 private:
  static constexpr uint32_t kMine = PPROF_CATEGORY_FIRST_REGISTERED;
  pprof_test::EventFeed feed_;
  std::deque<pprof_work_amount> work_;
};

// 490 / 0.1076 s and 490 / 0.098 s.
const char kSteadyRates[] = "infer,Mine,host,50,500.0,4553.903346,5000.0,";

TEST(StagesTest, RatesAreOfSteadyCalls) {
  Service service;
  EXPECT_EQ(service.Csv(-1).find(kSteadyRates), 0u) << service.Csv(-1);
  EXPECT_EQ(service.Csv(1).find(kSteadyRates), 0u);
  // 500 / 1.3076 s, 500 / 1.098 s.
  EXPECT_EQ(
      service.Csv(0).find("infer,Mine,host,50,500.0,382.379933,455.373406,"),
      0u)
      << service.Csv(0);
  // The last call alone: 10 / 2 ms, in a window of as long.
  EXPECT_EQ(service.Csv(49).find("infer,Mine,host,50,500.0,5000.0,5000.0,"), 0u)
      << service.Csv(49);
  EXPECT_EQ(service.Csv(50).find("infer,Mine,host,50,500.0,,,"), 0u)
      << service.Csv(50);
  std::mt19937_64 random(8);
  for (int turn = 0; turn < 5; turn++)
    EXPECT_EQ(service.Csv(-1, &random), service.Csv(-1));
}

// The last 272 of 400: 2720 / (272 * 2 + 271 * 0.2 ms). The last 100: 1000 /
// (100 * 2 + 99 * 0.2 ms).
TEST(StagesTest, RatesAreOfSteadyCallsAfterALongWarmup) {
  Service service(false, 400);
  EXPECT_EQ(
      service.Csv(128).find("infer,Mine,host,400,4000.0,4546.974256,5000.0,"),
      0u)
      << service.Csv(128);
  EXPECT_EQ(
      service.Csv(300).find("infer,Mine,host,400,4000.0,4549.590537,5000.0,"),
      0u)
      << service.Csv(300);
}

// Marked in two places of a program, it is one stage with one first call.
TEST(StagesTest, SitesOfOneNameAreOneStage) {
  EXPECT_EQ(Service(true).Csv(-1), Service().Csv(-1));
  EXPECT_EQ(Service(true).Csv(20), Service().Csv(20));
}

// Submitted, with work, and never timed: the host's side is not its time.
TEST(StagesTest, DeviceStageWithoutTimesSaysSo) {
  Figures figures;
  ppi_report_name *name = figures.Device(PPROF_CATEGORY_INFERENCE, "model", {});
  Figures::Fill(&name->submit, {5, 6, 7});
  Work(&figures, PPROF_CATEGORY_INFERENCE, "model", 3, 0, 0, 0);
  std::string csv = figures.Csv("stages");
  EXPECT_NE(csv.find("model,Inference,,3,3.0,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",no device time,"), std::string::npos) << csv;
}

TEST(StagesTest, APrintOfAllViewsLeavesThemOut) {
  Figures figures;
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "stage", {5});
  EXPECT_NE(figures.Table("stages").find("Stages"), std::string::npos);
  EXPECT_EQ(figures.Table(nullptr).find("Stages"), std::string::npos);
}

}  // namespace
