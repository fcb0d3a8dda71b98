// SPDX-License-Identifier: Apache-2.0
//
// Shorter ways that a report takes where a run has little (one lane, plain
// ranges, nothing on devices) against the general ones, over random runs that
// have much and little, delivered alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

#include "event_feed.h"
#include "figures_text.h"
#include "report_text.h"
#include "tests/support/long_run.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::FiguresText;
using pprof_test::Report;
using Random = std::mt19937_64;

uint64_t Pick(Random *random, uint64_t n) {
  return n ? (*random)() % n : 0;
}

// Traits that a run may have beside nested ranges.
struct Traits {
  bool flags, steps, devices, kernels, overlaps, empty, numbers, work;
};

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed) {
    for (bool *has : {&has_.flags, &has_.steps, &has_.devices, &has_.kernels,
                      &has_.overlaps, &has_.empty, &has_.numbers, &has_.work})
      *has = Pick(&random_, 3) == 0;
    // More calls of a name than are its early ones.
    if (Pick(&random_, 12) == 0) length_ = 20000;
    // Much on a device, and nothing that takes the general way for it.
    if (seed % 40 == 7) {
      has_ = {};
      has_.steps = has_.devices = has_.kernels = true;
      length_ = 20000;
    }
    feed.Device(1, "gpu:0");
    feed.Stream(1, 1);
    feed.AddWindow(Pick(&random_, 100), length_ - 1000 + Pick(&random_, 2000));
    auto num_lanes = static_cast<uint32_t>(1 + Pick(&random_, 4) / 2 +
                                           Pick(&random_, 8) / 7 * 4);
    for (uint32_t lane = 1; lane <= num_lanes; lane++) {
      feed.Lane(lane, 100 + Pick(&random_, 2), "thread");
      MakeRanges(lane, 0, length_, 0);
      if (has_.overlaps) MakeOverlaps(lane);
    }
    if (has_.steps) MakeSteps();
    uint64_t num_devices = length_ > 4000 ? 4000 : 30;
    for (uint64_t n = has_.devices ? Pick(&random_, num_devices) : 0; n; n--)
      MakeDeviceRange(static_cast<uint32_t>(1 + Pick(&random_, num_lanes)));
    for (auto &lane : feed.lanes())
      std::stable_sort(lane.second.begin(), lane.second.end(),
                       [](const pprof_event &a, const pprof_event &b) {
                         return std::max(a.end_ns, a.device_end_ns) <
                                std::max(b.end_ns, b.device_end_ns);
                       });
  }

  EventFeed feed;

 private:
  void Add(uint32_t lane, uint64_t start, uint64_t end, uint64_t depth) {
    static const uint32_t categories[] = {
        PPROF_CATEGORY_FORWARD, PPROF_CATEGORY_OPERATOR,
        PPROF_CATEGORY_USER_DEFINED, PPROF_CATEGORY_COMMUNICATION};
    uint32_t category = categories[Pick(&random_, has_.flags ? 4 : 3)];
    uint64_t number = Pick(&random_, 3);
    std::string name = "site " + std::to_string(number);
    if (has_.numbers && number) feed.Fold(name, "site N", category);
    pprof_event &event = feed.Range(lane, name, category, start, end);
    event.depth = static_cast<uint32_t>(depth);
    if (has_.numbers && Pick(&random_, 2)) event.numbers = Numbers();
    if (has_.work && Pick(&random_, 6) == 0) event.work = Work();
    if (!has_.flags || Pick(&random_, 10)) return;
    static const uint32_t flags[] = {PPROF_FLAG_COMMUNICATION,
                                     PPROF_FLAG_CLIPPED, PPROF_FLAG_ASYNC};
    event.flags = flags[Pick(&random_, 3)];
  }

  // The numbers of a name that was folded into one without them.
  const pprof_numbers *Numbers() {
    pprof_numbers numbers = {};
    numbers.size = sizeof numbers;
    numbers.num = static_cast<uint32_t>(Pick(&random_, PPROF_MOST_NUMBERS + 1));
    for (uint32_t i = 0; i < numbers.num; i++)
      numbers.values[i] = Pick(&random_, 1000);
    numbers_.push_back(numbers);
    return &numbers_.back();
  }

  const pprof_work_amount *Work() {
    pprof_work_amount work = {};
    work.size = sizeof work;
    work.items = static_cast<double>(Pick(&random_, 100));
    work.bytes = static_cast<double>(Pick(&random_, 1 << 20));
    work_.push_back(work);
    return &work_.back();
  }

  // Children come before their parent, as they end before it.
  void MakeRanges(uint32_t lane, uint64_t from, uint64_t to, uint64_t depth) {
    while (from < to && depth < 6) {
      uint64_t start = from + Pick(&random_, 20);
      uint64_t length = Pick(&random_, depth ? 60 : 400);
      if (has_.empty && Pick(&random_, 4) == 0) length = 0;
      uint64_t end = start + length + !has_.empty;
      if (end > to) return;
      MakeRanges(lane, start, end, depth + 1);
      Add(lane, start, end, depth);
      from = end + Pick(&random_, 10);
    }
  }

  void MakeOverlaps(uint32_t lane) {
    for (uint64_t n = 1 + Pick(&random_, 4); n; n--) {
      uint64_t start = Pick(&random_, length_);
      Add(lane, start, start + Pick(&random_, 300), Pick(&random_, 4));
    }
  }

  void MakeSteps() {
    uint64_t at = Pick(&random_, 300);
    for (uint64_t n = Pick(&random_, 20); n; n--) {
      uint64_t to = at + Pick(&random_, 400);
      pprof_event &event = feed.Step(at, to);
      if (Pick(&random_, 12) == 0) event.flags |= PPROF_FLAG_CLIPPED;
      at = to + Pick(&random_, 2) * Pick(&random_, 20);
    }
  }

  void MakeDeviceRange(uint32_t lane) {
    uint64_t submit = Pick(&random_, length_);
    uint64_t from = submit + Pick(&random_, 60);
    bool is_kernel = has_.kernels || Pick(&random_, 2);
    feed.OnDevice(lane, 1, is_kernel ? "gemm" : "detect",
                  is_kernel ? PPROF_CATEGORY_KERNEL : PPROF_CATEGORY_INFERENCE,
                  submit, from, from + 1 + Pick(&random_, 80));
  }

  Random random_;
  Traits has_ = {};
  uint64_t length_ = 4000;
  std::deque<pprof_numbers> numbers_;
  std::deque<pprof_work_amount> work_;
};

std::string TextOf(EventFeed *feed, ppi_report_details details, bool one_way,
                   Random random, size_t num_checkpoints) {
  Report report;
  details.one_way = one_way;
  ppi_report_set_details(report.get(), &details);
  EXPECT_EQ(PPROF_STATUS_OK,
            feed->DeliverAs(report.sink(), &random, num_checkpoints));
  return FiguresText(*ppi_report_figures(report.get())) +
         report.Write(PPI_FORMAT_JSON, nullptr);
}

TEST(ReportWaysPropertyTest, ShorterWaysSayTheSame) {
  const pprof_test::DaysSeeds seeds(pprof_test::Seeds(300, 600), 3);
  for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
    Random random(seed);
    RandomRun run(seed);
    ppi_report_details details = {};
    details.requests = details.answer = seed % 7 != 0;
    details.answer_of_steps = seed % 3 == 0;
    details.paths = seed % 11 != 0;
    details.flat_paths = seed % 13 == 0;
    details.by_thread = seed % 17 == 0;
    details.warmup = -1;
    for (size_t checkpoints : {0, 3, 40})
      ASSERT_EQ(TextOf(&run.feed, details, true, random, checkpoints),
                TextOf(&run.feed, details, false, random, checkpoints))
          << "seed " << seed << ", checkpoints: " << checkpoints;
  }
}

}  // namespace
