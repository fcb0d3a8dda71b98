// SPDX-License-Identifier: Apache-2.0
//
// Batch times, reader times and speeds, where figures_property_test.cc and
// tests/oracle do not look.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/figures/sum.h"
#include "report/spans/perf.h"

namespace {

constexpr uint64_t kMs = 1000000;

struct Range {
  bool is_step;
  uint64_t from, to;
  double items;
  uint32_t flags;
};

void ExpectSpread(const ppi_spread &got, uint64_t n, uint64_t sum, uint64_t max,
                  uint64_t min) {
  EXPECT_EQ(got.n, n);
  EXPECT_EQ(got.sum, sum);
  EXPECT_EQ(got.max, max);
  EXPECT_EQ(got.min, min);
}

class Perf {
 public:
  Perf() = default;
  ~Perf() {
    ppi_perf_clear(&perf_);
  }
  Perf(const Perf &) = delete;
  Perf &operator=(const Perf &) = delete;

  void Take(const Range &range) {
    Tell(range, ppi_perf_take);
  }
  void Open(const Range &range) {
    Tell(range, ppi_perf_open);
  }
  void Step(uint64_t from, uint64_t to, double items = 0, uint32_t flags = 0) {
    Take({true, from, to, items, flags});
  }
  void Reader(uint64_t from, uint64_t to) {
    Take({false, from, to, 0, 0});
  }
  void Settle(uint64_t horizon) {
    EXPECT_TRUE(ppi_perf_settle(&perf_, horizon));
  }
  ppi_report_perf Figures() {
    ppi_report_perf figures = {};
    EXPECT_TRUE(ppi_perf_fill(&perf_, &figures));
    return figures;
  }
  size_t NumHeld() const {
    return perf_.num_readers + perf_.batches.num;
  }

 private:
  void Tell(const Range &range,
            bool (*tell)(ppi_perf *, const pprof_event *, uint32_t)) {
    pprof_work_amount work = {sizeof work, range.items, 0, 0, 0};
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.start_ns = range.from;
    event.end_ns = range.to;
    event.flags = range.flags;
    if (range.items != 0) event.work = &work;
    EXPECT_TRUE(tell(&perf_, &event,
                     range.is_step ? PPROF_CATEGORY_PROFILE_STEP
                                   : PPROF_CATEGORY_DATALOADER));
  }

  ppi_perf perf_ = {};
};

TEST(PerfFiguresTest, SomeStepsWithoutItems) {
  Perf perf;
  for (uint64_t i = 0; i < 13; i++)
    perf.Step(i * kMs, i * kMs + kMs, i == 11 ? 0 : 0.5);
  ppi_report_perf figures = perf.Figures();
  EXPECT_EQ(figures.batch.n, 3u);
  EXPECT_EQ(figures.num_stated, 2u);
  EXPECT_TRUE(figures.items == PPI_PERF_ITEM);
  EXPECT_DOUBLE_EQ(figures.speed_max, 500);
}

TEST(PerfFiguresTest, OddItemsAndLengths) {
  Perf perf;
  for (uint64_t i = 0; i < 10; i++) perf.Step(i, i + 1, 1);
  perf.Step(20, 20, 3);  // as if it had lasted a nanosecond
  perf.Step(30, 10, std::nan(""));
  perf.Step(40, 41, -4);
  perf.Step(50, 51, 1e300);
  perf.Reader(50, 45);
  ppi_report_perf figures = perf.Figures();
  ExpectSpread(figures.batch, 4, 2, 1, 0);
  ExpectSpread(figures.reader, 1, 0, 0, 0);
  EXPECT_EQ(figures.num_stated, 2u);
  EXPECT_DOUBLE_EQ(figures.speed_min, 3e9);
  EXPECT_DOUBLE_EQ(figures.speed_max, 0x1p62 * 1e9);
}

// The first step comes last: what was warm-up till then is a batch.
TEST(PerfFiguresTest, AStepThatComesLateDrivesOneOut) {
  Perf perf;
  for (uint64_t i = 1; i <= 10; i++) {
    perf.Reader(i * 10 + 2, i * 10 + 3);
    perf.Open({true, 0, i * 10 + 5, 0, 0});
    perf.Settle(i * 10 + 5);
    perf.Step(i * 10, i * 10 + 8);
  }
  perf.Step(0, 9);
  ppi_report_perf figures = perf.Figures();
  EXPECT_EQ(figures.num_steps, 11u);
  ExpectSpread(figures.batch, 1, 8, 8, 8);
  ExpectSpread(figures.reader, 1, 1, 1, 1);
}

// A million ranges, all of which wait for one step to end.
TEST(PerfFiguresTest, ALongOpenStepHoldsLittle) {
  Perf perf;
  for (uint64_t i = 0; i < 10; i++) perf.Step(i, i + 1);
  size_t most = 0;
  for (uint64_t i = 0; i < 1000000; i++) {
    perf.Reader(100 + i, 100 + i + 7);
    if (i % 1000 != 999) continue;
    perf.Open({true, 50, 100 + i, 0, 0});
    perf.Settle(100 + i);
    most = std::max(most, perf.NumHeld());
  }
  EXPECT_LE(most, 2u);
  perf.Step(50, 2000000);
  ExpectSpread(perf.Figures().reader, 1000000, 7000000, 7, 7);
}

// A Dataloader range that lasts over many steps: only where it began is kept.
TEST(PerfFiguresTest, ALongOpenReaderHoldsLittle) {
  Perf perf;
  size_t most = 0;
  for (uint64_t i = 0; i < 10000; i++) {
    perf.Step(i * 10, i * 10 + 5);  // with a gap behind it
    perf.Open({false, 203, i * 10 + 6, 0, 0});
    perf.Settle(i * 10 + 6);
    most = std::max(most, perf.NumHeld());
  }
  EXPECT_LE(most, 2u);
  perf.Reader(203, 100000);
  ExpectSpread(perf.Figures().reader, 1, 99797, 99797, 99797);
}

}  // namespace
