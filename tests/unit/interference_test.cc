// SPDX-License-Identifier: Apache-2.0
//
// Which stages share a device: worked examples by hand, random ranges against
// an oracle that looks at every nanosecond, and the view.
#include "report/parts/interference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "event_feed.h"
#include "view_figures.h"

namespace {

using pprof_test::Figures;

struct Range {
  uint32_t site, stream;
  uint64_t start, end;
};

struct Stage {
  uint64_t calls = 0, busy = 0, alone_calls = 0, alone = 0;
  bool operator==(const Stage &other) const {
    return calls == other.calls && busy == other.busy &&
           alone_calls == other.alone_calls && alone == other.alone;
  }
};
struct Pair {
  uint64_t overlap = 0, calls = 0, beside = 0;
  bool operator==(const Pair &other) const {
    return overlap == other.overlap && calls == other.calls &&
           beside == other.beside;
  }
};
typedef std::map<uint32_t, Stage> Stages;
typedef std::map<std::pair<uint32_t, uint32_t>, Pair> Pairs;

// Streams 1 to 9 are of device 0, 10 to 19 of device 1, and so on.
uint32_t DeviceOf(uint32_t stream) {
  return stream / 10;
}

class Interference {
 public:
  ~Interference() {
    ppi_interference_clear(all_.get());
  }
  void Take(const Range &range) {
    Take(range, DeviceOf(range.stream));
  }
  void Take(const Range &range, uint32_t device) {
    pprof_event event = {};
    event.kind = PPROF_KIND_DEVICE_RANGE;
    event.site = range.site;
    event.stream = range.stream;
    event.device_start_ns = range.start;
    event.device_end_ns = range.end;
    ASSERT_TRUE(ppi_interference_take(all_.get(), &event, device));
  }
  void Settle(uint64_t horizon) {
    ASSERT_TRUE(ppi_interference_settle(all_.get(), horizon));
  }
  size_t NumHeld() const {
    return all_->num_waiting + all_->num_active;
  }
  Stages GetStages(uint32_t device = 0) const {
    Stages out;
    for (size_t i = 0; i < all_->num_stages; i++) {
      const ppi_interference_stage &stage = all_->stages[i];
      if (stage.device == device)
        out[stage.site] = {stage.sums.num_calls, stage.sums.shared_ns,
                           stage.sums.num_measured, stage.sums.measured_ns};
    }
    return out;
  }
  Pairs GetPairs(uint32_t device = 0) const {
    Pairs out;
    for (size_t i = 0; i < all_->num_pairs; i++) {
      const ppi_interference_pair &pair = all_->pairs[i];
      if (all_->stages[pair.of].device == device)
        out[{all_->stages[pair.of].site, all_->stages[pair.by].site}] = {
            pair.sums.shared_ns, pair.sums.num_measured, pair.sums.measured_ns};
    }
    return out;
  }

 private:
  std::unique_ptr<ppi_interference> all_ = std::make_unique<ppi_interference>();
};

TEST(InterferenceTest, TwoStagesMeet) {
  Interference all;
  // A is alone for 10, B for 8; then A takes 16, of which 12 beside B.
  all.Take({1, 1, 0, 10});
  all.Take({2, 2, 20, 28});
  all.Take({1, 1, 40, 56});
  all.Take({2, 2, 42, 54});
  all.Settle(UINT64_MAX);
  EXPECT_EQ(all.GetStages(), (Stages{{1, {2, 26, 1, 10}}, {2, {2, 20, 1, 8}}}));
  EXPECT_EQ(all.GetPairs(),
            (Pairs{{{1, 2}, {12, 1, 16}}, {{2, 1}, {12, 1, 12}}}));
}

TEST(InterferenceTest, RangesThatTouchAndNestedOnesDoNotMeet) {
  Interference all;
  all.Take({1, 1, 0, 10});
  all.Take({2, 2, 10, 20});
  all.Take({3, 1, 2, 8});  // inside the first, on its stream
  all.Take({4, 3, 30, 30});
  all.Settle(UINT64_MAX);
  EXPECT_TRUE(all.GetPairs().empty());
  EXPECT_EQ(all.GetStages(), (Stages{{1, {1, 10, 1, 10}},
                                     {2, {1, 10, 1, 10}},
                                     {3, {1, 6, 1, 6}},
                                     {4, {1, 0, 0, 0}}}));
}

TEST(InterferenceTest, OneStageOnTwoStreamsMeetsItself) {
  Interference all;
  all.Take({1, 1, 0, 10});
  all.Take({1, 2, 5, 15});
  all.Settle(UINT64_MAX);
  EXPECT_EQ(all.GetStages(), (Stages{{1, {2, 15, 0, 0}}}));
  EXPECT_EQ(all.GetPairs(), (Pairs{{{1, 1}, {5, 2, 20}}}));
}

TEST(InterferenceTest, WhoMeetsTwoIsNoMeasureOfEither) {
  Interference all;
  all.Take({1, 1, 0, 10});
  all.Take({2, 2, 0, 5});
  all.Take({3, 3, 5, 10});
  all.Settle(UINT64_MAX);
  Pairs pairs = all.GetPairs();
  EXPECT_EQ((pairs[{1, 2}]), (Pair{5, 0, 0}));
  EXPECT_EQ((pairs[{1, 3}]), (Pair{5, 0, 0}));
  EXPECT_EQ((pairs[{2, 1}]), (Pair{5, 1, 5}));
}

TEST(InterferenceTest, DevicesAreApart) {
  Interference all;
  all.Take({1, 1, 0, 10});
  all.Take({1, 11, 0, 10});
  all.Settle(UINT64_MAX);
  EXPECT_TRUE(all.GetPairs(0).empty());
  EXPECT_TRUE(all.GetPairs(1).empty());
  EXPECT_EQ(all.GetStages(1), (Stages{{1, {1, 10, 1, 10}}}));
}

// What comes too late meets nothing, and changes nothing that is settled.
TEST(InterferenceTest, WhoComesBehindTheHorizonIsAlone) {
  Interference all;
  all.Take({1, 1, 0, 100});
  all.Settle(50);
  all.Take({2, 2, 10, 20});
  all.Take({3, 3, 12, 18});
  all.Take({4, 4, 40, 60});
  all.Settle(UINT64_MAX);
  EXPECT_EQ(all.GetStages(), (Stages{{1, {1, 100, 0, 0}},
                                     {2, {1, 0, 1, 10}},
                                     {3, {1, 0, 1, 6}},
                                     {4, {1, 10, 0, 0}}}));
  EXPECT_EQ(all.GetPairs(),
            (Pairs{{{1, 4}, {10, 0, 0}}, {{4, 1}, {10, 1, 20}}}));
}

// Stage i begins at i and takes 1000, each turn: i and k share what is left of
// it. As many pairs as there are, a border costs no more than it has
// neighbours.
TEST(InterferenceTest, AsManyStreamsAsStages) {
  constexpr uint32_t kStages = 250;
  constexpr uint64_t kTurns = 10;
  Interference all;
  for (uint64_t turn = 0; turn < kTurns; turn++) {
    for (uint32_t i = 0; i < kStages; i++)
      all.Take({i, i, 2000 * turn + i, 2000 * turn + i + 1000}, 0);
    all.Settle(2000 * turn + 100);
  }
  all.Settle(UINT64_MAX);
  Stages stages;
  Pairs pairs;
  for (uint32_t i = 0; i < kStages; i++) {
    stages[i] = {kTurns, kTurns * 1000, 0, 0};
    for (uint32_t k = 0; k < i; k++)
      pairs[{i, k}] = pairs[{k, i}] = {kTurns * (1000 - (i - k)), 0, 0};
  }
  EXPECT_EQ(all.GetStages(), stages);
  EXPECT_EQ(all.GetPairs(), pairs);
}

TEST(InterferenceTest, SettledRangesAreForgotten) {
  Interference all;
  for (uint64_t i = 0; i < 1000; i++) {
    all.Take({1, 1, i * 10, i * 10 + 10});
    all.Take({2, 2, i * 10 + 5, i * 10 + 8});
    all.Settle(i * 10);
    EXPECT_LE(all.NumHeld(), 4u);
  }
}

// ---- every nanosecond ----

// Of the calls of a site those that start before `warmup` others do are cold.
bool IsCold(const std::vector<Range> &ranges, const Range &call,
            size_t warmup) {
  size_t before = 0;
  for (const Range &range : ranges)
    before += range.site == call.site && range.start < call.start;
  return before < warmup;
}

void LookAtEach(const std::vector<Range> &ranges, uint32_t device,
                Stages *stages, Pairs *pairs, size_t warmup = 0) {
  std::vector<uint64_t> beside(ranges.size());
  std::vector<std::set<uint32_t>> met(ranges.size());
  uint64_t last = 0;
  for (const Range &range : ranges) last = std::max(last, range.end);
  for (uint64_t now = 0; now < last; now++) {
    std::set<uint32_t> busy;
    std::set<std::pair<uint32_t, uint32_t>> both;
    for (size_t i = 0; i < ranges.size(); i++) {
      const Range &a = ranges[i];
      if (DeviceOf(a.stream) != device || a.start > now || a.end <= now)
        continue;
      busy.insert(a.site);
      bool shares = false;
      for (const Range &b : ranges) {
        if (b.stream == a.stream || DeviceOf(b.stream) != device ||
            b.start > now || b.end <= now)
          continue;
        shares = true;
        met[i].insert(b.site);
        both.insert({a.site, b.site});
      }
      beside[i] += shares;
    }
    for (uint32_t site : busy) (*stages)[site].busy++;
    for (const auto &pair : both) (*pairs)[pair].overlap++;
  }
  for (size_t i = 0; i < ranges.size(); i++) {
    const Range &range = ranges[i];
    if (DeviceOf(range.stream) != device) continue;
    Stage &stage = (*stages)[range.site];
    stage.calls++;
    uint64_t length = range.end - range.start;
    if (IsCold(ranges, range, warmup)) continue;
    if (length > 0 && met[i].empty()) {
      stage.alone_calls++;
      stage.alone += length;
    }
    if (met[i].size() != 1 || 2 * beside[i] < length) continue;
    Pair &pair = (*pairs)[{range.site, *met[i].begin()}];
    pair.calls++;
    pair.beside += length;
  }
}

TEST(InterferenceTest, EqualsTheOracleInAnyOrderOfArrival) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 300; turn++) {
    std::vector<Range> ranges;
    size_t num = 1 + random() % 30;
    for (size_t i = 0; i < num; i++) {
      uint64_t start = random() % 60;
      ranges.push_back({static_cast<uint32_t>(1 + random() % 4),
                        static_cast<uint32_t>(random() % 2 * 10 + random() % 4),
                        start, start + random() % 20});
    }
    Interference all;
    std::vector<Range> left = ranges;
    std::shuffle(left.begin(), left.end(), random);
    for (uint64_t horizon = 0; horizon <= 60; horizon += 1 + random() % 20) {
      // Whatever begins before the horizon comes first, and some of the rest.
      std::vector<Range> later;
      for (const Range &range : left) {
        if (range.start < horizon || random() % 2)
          all.Take(range);
        else
          later.push_back(range);
      }
      left = later;
      all.Settle(horizon);
    }
    for (const Range &range : left) all.Take(range);
    all.Settle(UINT64_MAX);
    for (uint32_t device = 0; device < 2; device++) {
      Stages stages;
      Pairs pairs;
      LookAtEach(ranges, device, &stages, &pairs);
      ASSERT_EQ(all.GetStages(device), stages) << "turn " << turn;
      ASSERT_EQ(all.GetPairs(device), pairs) << "turn " << turn;
    }
  }
}

// ---- cold calls ----

class Report {
 public:
  Report(pprof_test::EventFeed *feed, long warmup,
         std::mt19937_64 *random = nullptr) {
    EXPECT_EQ(pprof_report_create(&report_), PPROF_STATUS_OK);
    ppi_report_details details = {};
    details.warmup = warmup;
    ppi_report_set_details(report_, &details);
    EXPECT_EQ(
        feed->DeliverAs(pprof_report_sink(report_), random, random ? 8 : 0),
        PPROF_STATUS_OK);
  }
  ~Report() {
    pprof_report_destroy(report_);
  }
  Report(const Report &) = delete;
  Report &operator=(const Report &) = delete;
  std::string Write(ppi_report_format format) const {
    ppi_report_options options = Figures::Options("interference");
    char *text = nullptr;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    EXPECT_EQ(ppi_report_write(report_, &options, format, file),
              PPROF_STATUS_OK);
    fclose(file);
    std::string written(text, len);
    free(text);
    return written;
  }
  const ppi_figures *figures() const {
    return ppi_report_figures(report_);
  }

 private:
  pprof_report *report_ = nullptr;
};

void AddDevice(pprof_test::EventFeed *feed) {
  feed->Lane(1, 100, "worker");
  feed->Device(1, "gpu 0");
  for (uint32_t stream = 1; stream < 5; stream++) {
    feed->Lane(1000 + stream, 0, "gpu");
    feed->Stream(stream, 1);
  }
}

void AddCall(pprof_test::EventFeed *feed, const std::string &name,
             uint32_t stream, uint64_t start, uint64_t end) {
  feed->OnDevice(1, stream, name, PPROF_CATEGORY_INFERENCE, start, start, end);
}

// Three first calls of 1000 ns, alone; eight of 100 beside B; four of 50 alone.
// Beside B a call takes twice as long, not 100 / ((3000 + 200) / 7) of it.
TEST(InterferenceTest, ColdCallsAreNoMeasure) {
  pprof_test::EventFeed feed;
  AddDevice(&feed);
  for (uint64_t i = 0; i < 15; i++) {
    uint64_t start = 10000 * (i + 1), length = i < 3 ? 1000 : i < 11 ? 100 : 50;
    AddCall(&feed, "A", 1, start, start + length);
    if (i >= 3 && i < 11) AddCall(&feed, "B", 2, start, start + 100);
  }
  for (long warmup : {-1, 3}) {
    std::string csv = Report(&feed, warmup).Write(PPI_FORMAT_CSV);
    EXPECT_NE(csv.find("A,B,gpu 0,15,800,20.0,4,50,8,100,2.0\n"),
              std::string::npos)
        << csv;
    // Of B none is found, three were asked.
    EXPECT_NE(csv.find(warmup < 0 ? "B,A,gpu 0,8,800,100.0,0,,8,100,\n"
                                  : "B,A,gpu 0,8,800,100.0,0,,5,100,\n"),
              std::string::npos)
        << csv;
  }
  std::string all = Report(&feed, 0).Write(PPI_FORMAT_CSV);
  EXPECT_NE(all.find("A,B,gpu 0,15,800,20.0,7,457,8,100,0.21875\n"),
            std::string::npos)
      << all;
  // Twelve of fifteen are cold: three steady ones alone, none beside.
  Report few(&feed, 12);
  EXPECT_NE(few.Write(PPI_FORMAT_CSV).find("A,B,gpu 0,15,800,20.0,3,50,0,,\n"),
            std::string::npos);
  EXPECT_NE(few.Write(PPI_FORMAT_TABLE).find(" n/r\n"), std::string::npos);
  std::mt19937_64 random(2);
  for (int turn = 0; turn < 5; turn++)
    EXPECT_EQ(Report(&feed, -1, &random).Write(PPI_FORMAT_JSON),
              Report(&feed, -1).Write(PPI_FORMAT_JSON));
}

// Starts differ, so that which calls come first is not open to debate.
TEST(InterferenceTest, SteadyCallsEqualTheOracle) {
  std::mt19937_64 random(17);
  for (int turn = 0; turn < 200; turn++) {
    pprof_test::EventFeed feed;
    AddDevice(&feed);
    std::vector<Range> ranges;
    size_t num = 1 + random() % 40;
    for (uint64_t i = 0; i < num; i++) {
      uint64_t start = 2 * i + 1 + random() % 2;
      ranges.push_back({static_cast<uint32_t>(1 + random() % 3),
                        static_cast<uint32_t>(1 + random() % 3), start,
                        start + 1 + random() % 12});
    }
    for (const Range &range : ranges)
      AddCall(&feed, std::string(1, static_cast<char>('A' + range.site)),
              range.stream, range.start, range.end);
    size_t warmup = random() % 6;
    Stages stages;
    Pairs pairs;
    LookAtEach(ranges, 0, &stages, &pairs, warmup);
    Report report(&feed, static_cast<long>(warmup), &random);
    const ppi_figures *figures = report.figures();
    for (size_t i = 0; i < figures->num_interference; i++) {
      const ppi_report_interference &row = figures->interference[i];
      auto of = static_cast<uint32_t>(row.name[0] - 'A');
      if (row.other[0] == 0) {
        ASSERT_EQ((Stage{row.num_calls, row.shared_ns, row.num_measured,
                         row.measured_ns}),
                  stages[of])
            << "turn " << turn;
        continue;
      }
      auto by = static_cast<uint32_t>(row.other[0] - 'A');
      ASSERT_EQ((Pair{row.shared_ns, row.num_measured, row.measured_ns}),
                (pairs[{of, by}]))
          << "turn " << turn;
    }
  }
}

// ---- the view ----

void Add(Figures *figures, const char *name, const char *other,
         ppi_report_interference numbers) {
  ppi_report_interference key = {};
  std::string device = "gpu 0", first = name, second = other;
  key.device = &device[0];
  key.name = &first[0];
  key.other = &second[0];
  ppi_report_interference *row = ppi_figures_interference(&**figures, &key);
  numbers.device = row->device;
  numbers.name = row->name;
  numbers.other = row->other;
  *row = numbers;
}

ppi_report_interference Numbers(uint64_t calls, uint64_t shared,
                                uint64_t measured, uint64_t measured_ns) {
  return {nullptr, nullptr, nullptr, calls, shared, measured, measured_ns, 0};
}

// Three calls alone take 10 each, three beside B 15: 1.5. B has two alone only.
TEST(InterferenceTest, SlowdownIsOfTheAverageAlone) {
  Figures figures;
  Add(&figures, "A", "", Numbers(6, 72, 3, 30));
  Add(&figures, "A", "B", Numbers(0, 36, 3, 45));
  Add(&figures, "B", "", Numbers(3, 36, 2, 9));
  Add(&figures, "B", "A", Numbers(0, 36, 3, 36));
  std::string csv = figures.Csv("interference");
  EXPECT_EQ(csv,
            "name,other,device,calls,overlap_ns,overlap_ratio_%,calls_alone,"
            "alone_avg_ns,calls_beside,beside_avg_ns,slowdown\n"
            "A,B,gpu 0,6,36,50.0,3,10,3,15,1.5\n"
            "B,A,gpu 0,3,36,100.0,2,5,3,12,\n");
}

TEST(InterferenceTest, NothingToShowSaysWhy) {
  Figures figures;
  EXPECT_EQ(figures.Table("interference").find("Interference Summary: no "),
            0u);
  Add(&figures, "A", "", Numbers(4, 48, 2, 20));
  EXPECT_NE(figures.Table("interference").find("no two stages"),
            std::string::npos);
}

}  // namespace
