// SPDX-License-Identifier: Apache-2.0
//
// What `compare` keeps of an input, and when two inputs were made differently.
#include "compare/compare_samples.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/compare_provenance.h"
#include "event_feed.h"

namespace {

using pprof_test::EventFeed;

class CompareSamplesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ppi_samples_init(&samples_, 1);
  }
  void TearDown() override {
    ppi_samples_clear(&samples_);
  }
  void Read(EventFeed *feed) {
    ASSERT_EQ(feed->Deliver(&samples_.base), PPROF_STATUS_OK);
  }
  const ppi_compare_stage *Find(const std::string &name, bool on_device) {
    for (size_t i = 0; i < samples_.num_stages; i++)
      if (samples_.stages[i].name == name &&
          samples_.stages[i].on_device == on_device)
        return &samples_.stages[i];
    return nullptr;
  }
  std::vector<double> Values(const std::string &name, bool on_device = false) {
    const ppi_compare_stage *stage = Find(name, on_device);
    if (!stage) return {-1};
    return {stage->values, stage->values + stage->num_values};
  }

  ppi_samples samples_;
};

// Two threads: what began first is the first call, which is no sample.
TEST_F(CompareSamplesTest, CallsAreInTheOrderOfTime) {
  EventFeed feed;
  feed.Lane(1, 11, "one");
  feed.Lane(2, 12, "two");
  feed.Range(1, "decode", PPROF_CATEGORY_DATALOADER, 100, 190);
  feed.Range(1, "decode", PPROF_CATEGORY_DATALOADER, 300, 320);
  feed.Range(2, "decode", PPROF_CATEGORY_DATALOADER, 50, 57);
  feed.Range(2, "decode", PPROF_CATEGORY_DATALOADER, 200, 210);
  Read(&feed);
  EXPECT_EQ(Values("decode"), (std::vector<double>{90, 10, 20}));
  const ppi_compare_stage *stage = Find("decode", false);
  EXPECT_EQ(stage->calls, 4u);
  EXPECT_EQ(stage->first_ns, 7u);
  EXPECT_EQ(stage->total_ns, 127);
  EXPECT_STREQ(stage->category, "Dataloader");
  EXPECT_FALSE(stage->is_step);
}

TEST_F(CompareSamplesTest, DeviceTimesStandApart) {
  EventFeed feed;
  feed.Lane(1, 11, "one");
  feed.Device(1, "cpu:0");
  feed.Stream(1, 1);
  for (uint64_t i = 0; i < 3; i++) {
    feed.Range(1, "model", PPROF_CATEGORY_INFERENCE, 100 * i, 100 * i + 5);
    feed.OnDevice(1, 1, "model", PPROF_CATEGORY_INFERENCE, 100 * i,
                  100 * i + 10, 100 * i + 40 + i);
  }
  pprof_event &untimed =
      feed.OnDevice(1, 1, "model", PPROF_CATEGORY_INFERENCE, 400, 0, 0);
  untimed.flags = PPROF_FLAG_NO_DEVICE_TIME;
  Read(&feed);
  EXPECT_EQ(Values("model"), (std::vector<double>{5, 5}));
  EXPECT_EQ(Values("model", true), (std::vector<double>{31, 32}));
  EXPECT_STREQ(samples_.places[PPI_PROVENANCE_DEVICES], "cpu");
}

// Cut ranges say nothing about how long a call takes; they are counted.
TEST_F(CompareSamplesTest, CutRangesAreNoSamples) {
  EventFeed feed;
  feed.Lane(1, 11, "one");
  feed.Range(1, "parse", PPROF_CATEGORY_CPU_TASK, 0, 3);
  feed.Range(1, "parse", PPROF_CATEGORY_CPU_TASK, 10, 14);
  feed.Range(1, "parse", PPROF_CATEGORY_CPU_TASK, 20, 99).flags =
      PPROF_FLAG_CLIPPED;
  feed.Range(1, "parse", PPROF_CATEGORY_CPU_TASK, 30, 98).flags =
      PPROF_FLAG_ABANDONED;
  Read(&feed);
  EXPECT_EQ(Values("parse"), (std::vector<double>{4}));
  EXPECT_EQ(Find("parse", false)->num_cut, 2u);
  EXPECT_EQ(Find("parse", false)->calls, 2u);
}

// Names that fold are one stage, those that came before it began, too.
TEST_F(CompareSamplesTest, NamesThatFoldAreOneStage) {
  EventFeed feed;
  feed.Lane(1, 11, "one");
  for (uint64_t i = 0; i < 3; i++)
    feed.Range(1, "step " + std::to_string(i), PPROF_CATEGORY_CPU_TASK, 100 * i,
               100 * i + 10 + i);
  feed.Range(1, "step {}", PPROF_CATEGORY_CPU_TASK, 50, 57);
  for (uint64_t i = 0; i < 3; i++)
    feed.Fold("step " + std::to_string(i), "step {}", PPROF_CATEGORY_CPU_TASK);
  Read(&feed);
  EXPECT_EQ(Values("step {}"), (std::vector<double>{7, 11, 12}));
  EXPECT_EQ(samples_.num_stages, 1u);
}

// Imported steps carry their number in the name.
// Those that have folded away leave no hole, and each has its own place.
TEST_F(CompareSamplesTest, StagesAreFoundBySideNameAndCategory) {
  EventFeed feed;
  feed.Lane(1, 11, "one");
  feed.Device(1, "cpu:0");
  feed.Stream(1, 1);
  for (uint64_t i = 0; i < 40; i++) {
    std::string name = "step " + std::to_string(i);
    feed.Range(1, name, PPROF_CATEGORY_CPU_TASK, 100 * i, 100 * i + 5);
    feed.Range(1, "own " + std::to_string(i), PPROF_CATEGORY_CPU_TASK,
               100 * i + 10, 100 * i + 12);
    feed.Fold(name, "step {}", PPROF_CATEGORY_CPU_TASK);
  }
  feed.Range(1, "own 7", PPROF_CATEGORY_INFERENCE, 5000, 5003);
  feed.OnDevice(1, 1, "own 7", PPROF_CATEGORY_INFERENCE, 6000, 6010, 6044);
  Read(&feed);
  EXPECT_EQ(samples_.num_stages, 43u);
  for (size_t i = 0; i < samples_.num_stages; i++)
    EXPECT_EQ(ppi_samples_find(&samples_, &samples_.stages[i]),
              &samples_.stages[i]);
  char name[] = "step 3", category[] = "CpuTask";
  ppi_compare_stage like = {};
  like.name = name;
  like.category = category;
  EXPECT_EQ(ppi_samples_find(&samples_, &like), nullptr);
}

TEST_F(CompareSamplesTest, StepsAreOneStage) {
  EventFeed feed;
  feed.Lane(1, 11, "one");
  feed.Range(1, "ProfileStep#1", PPROF_CATEGORY_PROFILE_STEP, 0, 10);
  feed.Range(1, "ProfileStep#2", PPROF_CATEGORY_PROFILE_STEP, 10, 30);
  Read(&feed);
  EXPECT_EQ(Values("ProfileStep"), (std::vector<double>{20}));
  EXPECT_TRUE(Find("ProfileStep", false)->is_step);
}

// The same name of two categories is two stages; each run has a first call.
TEST_F(CompareSamplesTest, SeveralRuns) {
  for (int run = 0; run < 2; run++) {
    EventFeed feed;
    feed.Lane(1, 11, "one");
    // Other ids than in the first run.
    if (run) feed.Site("before", PPROF_CATEGORY_CPU_TASK);
    feed.Range(1, "decode", PPROF_CATEGORY_DATALOADER, 0, 1 + run);
    feed.Range(1, "decode", PPROF_CATEGORY_DATALOADER, 10, 15 + run);
    feed.Range(1, "decode", PPROF_CATEGORY_INFERENCE, 20, 27);
    Read(&feed);
  }
  EXPECT_EQ(samples_.num_runs, 2u);
  EXPECT_EQ(samples_.num_stages, 2u);
  EXPECT_EQ(Values("decode"), (std::vector<double>{5, 6}));
  const ppi_compare_stage *stage = Find("decode", false);
  EXPECT_EQ(stage->first_ns, 1u);
  EXPECT_EQ(std::vector<size_t>(stage->ends, stage->ends + stage->num_runs),
            (std::vector<size_t>{1, 2}));
  EXPECT_EQ(samples_.stages[1].num_values, 0u);
  EXPECT_EQ(samples_.stages[1].calls, 2u);
}

class CompareProvenanceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ppi_samples_init(&a_, 1);
    ppi_samples_init(&b_, 1);
  }
  void TearDown() override {
    ppi_samples_clear(&a_);
    ppi_samples_clear(&b_);
    ppi_page_clear(&differences_);
    ppi_page_clear(&notes_);
  }
  static void Begin(ppi_samples *samples, std::vector<ppi_text> texts) {
    pprof_run_info info = {};
    info.texts = texts.data();
    info.num_texts = texts.size();
    ASSERT_EQ(samples->base.begin(&samples->base, &info), PPROF_STATUS_OK);
  }
  bool Differ() {
    return ppi_provenance_differs(&a_, "A", &b_, "B", &differences_, &notes_);
  }
  std::string Differences() {
    return differences_.bytes ? differences_.bytes : "";
  }
  std::string Notes() {
    return notes_.bytes ? notes_.bytes : "";
  }

  ppi_samples a_, b_;
  ppi_page differences_ = {}, notes_ = {};
};

TEST_F(CompareProvenanceTest, TheSame) {
  Begin(&a_, {{"host", "h"}, {"clock", "tsc"}, {"cpu", "c"}});
  Begin(&b_, {{"host", "h"}, {"clock", "tsc"}, {"cpu", "c"}});
  EXPECT_FALSE(Differ());
  EXPECT_EQ(Notes(), "");
}

TEST_F(CompareProvenanceTest, AnotherMachine) {
  Begin(&a_, {{"host", "h"}, {"clock", "tsc"}, {"cpu", "c\x1b[2J"}});
  Begin(&b_, {{"host", "i"}, {"clock", "tsc"}, {"cpu", "d"}});
  EXPECT_TRUE(Differ());
  EXPECT_EQ(Differences(),
            "A and B differ in host: 'h' and 'i'\n"
            "A and B differ in cpu: 'c\\x1B[2J' and 'd'\n");
}

// Names of files are not how a run was made; the rest of the configuration is.
TEST_F(CompareProvenanceTest, AnotherConfiguration) {
  Begin(&a_, {{"config",
               "output: a.pplog\nmode: full\nexports:\n"
               "  - path: a\n"}});
  Begin(&b_, {{"config",
               "output: b.pplog\nmode: full\nexports:\n"
               "  - path: b\n"}});
  EXPECT_FALSE(Differ());
  ppi_samples_clear(&b_);
  ppi_samples_init(&b_, 1);
  Begin(&b_, {{"config", "output: b.pplog\nmode: timer_only\nexports:\n"}});
  EXPECT_TRUE(Differ());
  EXPECT_EQ(Differences(),
            "A and B differ in config: 'mode: full' and 'mode: timer_only'\n");
}

// Each text once, however often runs alternate between them.
TEST_F(CompareProvenanceTest, ConfigurationsThatAlternate) {
  for (int i = 0; i < 6; i++)
    Begin(&a_, {{"config", i % 2 ? "mode: full\n" : "mode: timer_only\n"}});
  EXPECT_STREQ(a_.places[PPI_PROVENANCE_CONFIG],
               "mode: timer_only\n\nmode: full\n");
  Begin(&b_, {{"config", "mode: full\n"}});
  EXPECT_TRUE(Differ());
  Begin(&b_, {{"config", "mode: timer_only\n"}});
  differences_.len = 0;
  EXPECT_FALSE(Differ());
}

// Runs on several machines are the same set in whatever order they are.
TEST_F(CompareProvenanceTest, SeveralMachines) {
  Begin(&a_, {{"host", "h"}, {"clock", "tsc"}});
  Begin(&a_, {{"host", "i"}, {"clock", "tsc"}});
  Begin(&a_, {{"host", "h"}, {"clock", "tsc"}});
  Begin(&b_, {{"host", "i"}, {"clock", "tsc"}});
  EXPECT_TRUE(Differ());
  EXPECT_EQ(Differences(), "A and B differ in host: 'h' and 'i'\n");
  Begin(&b_, {{"host", "h"}, {"clock", "tsc"}});
  EXPECT_FALSE(Differ());
}

// What a device is decides, not which of several it is.
TEST_F(CompareProvenanceTest, DevicesAreComparedByWhatTheyAre) {
  const auto device = [](ppi_samples *samples, const char *name) {
    pprof_definition definition = {};
    definition.kind = PPROF_DEFINITION_DEVICE;
    definition.id = 1;
    definition.name = name;
    ASSERT_EQ(samples->base.define(&samples->base, &definition),
              PPROF_STATUS_OK);
  };
  const struct {
    const char *devices[2], *models[2], *differ;
  } cases[] = {
      {{"cuda:0", "cuda:1"}, {"", ""}, ""},
      {{"GPU0", "GPU7"}, {"NVIDIA H100", "NVIDIA H100"}, ""},
      {{"GPU0", "GPU0"},
       {"NVIDIA H100", "AMD Instinct MI300X"},
       "A and B differ in device_models: 'NVIDIA H100' and 'AMD Instinct "
       "MI300X'\n"},
      {{"GPU0", "GPU0"},
       {"NVIDIA H100\nNVIDIA A2", "NVIDIA A2\nNVIDIA H100"},
       ""},
      {{"GPU0", "GPU0"}, {"NVIDIA H100", ""}, ""},
      {{"cuda:0", "hip:0"},
       {"", ""},
       "A and B differ in devices: 'cuda' and 'hip'\n"},
  };
  for (const auto &each : cases) {
    TearDown();
    SetUp();
    Begin(&a_, {{"clock", "c"}, {"device_models", each.models[0]}});
    Begin(&b_, {{"clock", "c"}, {"device_models", each.models[1]}});
    device(&a_, each.devices[0]);
    device(&b_, each.devices[1]);
    EXPECT_EQ(Differ(), each.differ[0] != '\0') << each.differ;
    EXPECT_EQ(Differences(), each.differ);
  }
}

// Another version of the profiler measures the same things.
TEST_F(CompareProvenanceTest, VersionsAndTracesAreNotes) {
  Begin(&a_, {{"host", "h"}, {"clock", "tsc"}, {"version", "1"}});
  Begin(&b_, {{"version", "2"}});
  EXPECT_FALSE(Differ());
  EXPECT_EQ(Notes(), "A and B differ in version: '1' and '2'\n");
  EXPECT_TRUE(ppi_provenance_known(&a_));
  EXPECT_FALSE(ppi_provenance_known(&b_));
}

// ---- the machine ----

void Count(EventFeed *feed, const char *name, uint64_t time_ns, double value) {
  constexpr uint32_t kMachine = 40;  // a registered category
  feed->Category(kMachine, "Machine");
  pprof_event event = {};
  event.kind = PPROF_KIND_COUNTER;
  event.site = feed->Site(name, kMachine);
  event.lane = 1;
  event.start_ns = event.end_ns = time_ns;
  event.value = value;
  feed->Add(1, event);
}

// A device that clocks `mhz` for half of its second, and 1 600 MHz else.
EventFeed Clocked(double mhz) {
  EventFeed feed;
  feed.Lane(1, 11, "one");
  feed.Lane(1001, 0, "stream");
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  Count(&feed, "gpu:0.sm_mhz", 0, 1600);
  Count(&feed, "gpu:0.sm_mhz", 500000000, mhz);
  Count(&feed, "gpu:0.sm_mhz", 1000000000, mhz);
  for (uint64_t i = 0; i < 3; i++) {
    feed.OnDevice(1, 1, "gemm", PPROF_CATEGORY_INFERENCE, i * 1000,
                  i * 1000 + 100, i * 1000 + 300);
    feed.Range(1, "load", PPROF_CATEGORY_DATALOADER, i * 1000, i * 1000 + 50);
  }
  return feed;
}

TEST_F(CompareSamplesTest, ClocksAreAMeanOverTime) {
  EventFeed feed = Clocked(1312);
  Read(&feed);
  EXPECT_DOUBLE_EQ(1456, ppi_compare_clock(&samples_.machine));
  ppi_compare_machine base = {};
  base.clocks[0].sum = 1600e9;
  base.clocks[0].ns = 1e9;
  char text[64] = "";
  EXPECT_TRUE(
      ppi_compare_clock_differs(&base, &samples_.machine, text, sizeof text));
  EXPECT_STREQ("9 % lower clocks", text);
  // 2 % is what a device does by itself.
  base.clocks[0].sum = 1485e9;
  EXPECT_FALSE(
      ppi_compare_clock_differs(&base, &samples_.machine, text, sizeof text));
  base = {};
  EXPECT_FALSE(
      ppi_compare_clock_differs(&base, &samples_.machine, text, sizeof text));
}

// At 0.91 of the clock 200 ns are 182 of the base's; the host's stay.
TEST_F(CompareSamplesTest, DeviceTimesAreAdjustedToTheClock) {
  EventFeed feed = Clocked(1312);
  Read(&feed);
  ppi_compare_machine base = {};
  base.clocks[0].sum = 1600e9;
  base.clocks[0].ns = 1e9;
  EXPECT_NEAR(0.91, ppi_samples_adjust(&samples_, &base), 1e-9);
  for (double ns : Values("gemm", true)) EXPECT_NEAR(182, ns, 1e-3);
  for (double ns : Values("load")) EXPECT_EQ(50, ns);
}

TEST_F(CompareSamplesTest, TheMachineIsNotedWhereItDiffers) {
  EventFeed feed = Clocked(1312);
  Count(&feed, "cgroup.throttled_us", 0, 5000);
  Count(&feed, "cgroup.throttled_us", 1000000000, 315000);
  Count(&feed, "processors.others_us", 0, 0);
  Count(&feed, "processors.others_us", 1000000000, 1500000);
  Read(&feed);
  ppi_samples base;
  ppi_samples_init(&base, 1);
  EventFeed quiet = Clocked(1600);
  Count(&quiet, "cgroup.throttled_us", 0, 0);
  Count(&quiet, "cgroup.throttled_us", 1000000000, 0);
  Count(&quiet, "processors.others_us", 0, 0);
  Count(&quiet, "processors.others_us", 1000000000, 100000);
  ASSERT_EQ(quiet.Deliver(&base.base), PPROF_STATUS_OK);
  ppi_page notes = {};
  ppi_compare_machine_note(&base.machine, &samples_.machine, "B", &notes);
  EXPECT_STREQ(
      "B ran at 9 % lower clocks: 1456 against 1600 MHz\n"
      "B was throttled by its cgroup for 31 % of the time, the base for 0 %\n"
      "B ran while other processes took 1.5 processors, the base while they "
      "took 0.1\n",
      notes.bytes);
  ppi_page_clear(&notes);
  ppi_samples_clear(&base);
}

// A kernel of half of each second at 100 W takes 5 000 J in 100 s, which has 10
// requests, of 5 tokens each, and 4 steps.
TEST_F(CompareSamplesTest, EnergyIsDividedByUnits) {
  constexpr uint64_t kSecond = 1000000000;
  EventFeed feed;
  feed.Lane(1, 11, "engine");
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.AddWindow(0, 100 * kSecond);
  uint64_t flows[10];
  pprof_work_amount five = {sizeof five, 5, 0, 0, 0};
  for (uint64_t i = 0; i < 100; i++) {
    Count(&feed, "gpu:0.power_w", i * kSecond, 100);
    feed.OnDevice(1, 1, "model", PPROF_CATEGORY_INFERENCE, i * kSecond,
                  i * kSecond, i * kSecond + kSecond / 2);
    if (i % 25 == 0) feed.Step(i * kSecond, (i + 25) * kSecond);
    if (i % 10 != 0) continue;
    flows[i / 10] = 1000 + i;
    for (bool is_token : {true, false}) {
      pprof_event &event =
          feed.Range(1, is_token ? "token" : "chat", PPROF_CATEGORY_INFERENCE,
                     i * kSecond, (i + 9) * kSecond);
      if (is_token) event.kind = PPROF_KIND_MARK, event.work = &five;
      if (is_token) event.start_ns = event.end_ns;
      event.flags =
          is_token ? PPROF_FLAG_REQUEST : PPROF_FLAG_REQUEST | PPROF_FLAG_ASYNC;
      event.flows = &flows[i / 10];
      event.num_flows = 1;
    }
  }
  Count(&feed, "gpu:0.power_w", 100 * kSecond, 100);
  samples_.wants_energy = true;
  Read(&feed);
  ASSERT_EQ(Values("(request)", true).size(), 1u);
  EXPECT_NEAR(Values("(request)", true)[0], 500e9, 1e6);
  EXPECT_NEAR(Values("(token)", true)[0], 100e9, 1e6);
  EXPECT_NEAR(Values("(step)", true)[0], 1250e9, 1e6);
}

}  // namespace
