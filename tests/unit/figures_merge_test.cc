// SPDX-License-Identifier: Apache-2.0
//
// Figures add up: in any tree and order of merges, and through one sink, to the
// same bytes. Rows that a lookup adds are in the order of their keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/mem.h"
#include "figures_text.h"
#include "report/figures/rows.h"
#include "report/figures/sum.h"
#include "report_text.h"
#include "scenario_s.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::FiguresText;
using pprof_test::Report;
using Random = std::mt19937_64;

// ---- figures of random content ----

char *Pick(Random *random, const char *const (&texts)[4]) {
  return const_cast<char *>(texts[(*random)() % 4]);
}

void AddSome(Random *random, ppi_spread *spread) {
  for (uint64_t n = (*random)() % 3; n > 0; n--)
    ppi_spread_add(spread, (*random)() >> (*random)() % 64);
}

void AddSome(Random *random, ppi_histogram *histogram) {
  for (uint64_t n = (*random)() % 120; n > 0; n--)
    ASSERT_TRUE(ppi_histogram_add(histogram, (*random)() % 1000));
}

const char *const kNames[4] = {"a", "b", "", "a b"};
const char *const kProcesses[4] = {"host 1", "host 2", "other 1", ""};

void AddNames(Random *random, ppi_figures *figures) {
  // A program may call a category of its own like one of ours.
  uint32_t category = PPROF_CATEGORY_OPERATOR;
  if ((*random)() % 4 == 0) category = PPI_CATEGORY_REGISTERED;
  ppi_report_category of = {};
  of.name = const_cast<char *>("Operator");
  of.category = category;
  ASSERT_NE(ppi_figures_category(figures, &of), nullptr);
  ppi_report_name *name =
      ppi_figures_name(figures, category, "Operator", Pick(random, kNames));
  ASSERT_NE(name, nullptr);
  AddSome(random, &name->host);
  AddSome(random, &name->inside);
  AddSome(random, &name->host_times);
  name->self_ns += (*random)() % 100;
  name->own_device_ns += (*random)() % 100;
  name->num_async += (*random)() % 100;
  ppi_report_thread_name key = {};
  key.process = Pick(random, kProcesses);
  key.thread = (*random)() % 3;
  key.name = Pick(random, kNames);
  key.category_name = Pick(random, kNames);
  key.category = category;
  ppi_report_thread_name *thread = ppi_figures_thread_name(figures, &key);
  ASSERT_NE(thread, nullptr);
  AddSome(random, &thread->host);
  AddSome(random, &thread->submit);
  AddSome(random, &thread->inside);
  AddSome(random, &thread->host_times);
  thread->self_ns += (*random)() % 100;
}

void AddParts(Random *random, ppi_figures *figures) {
  ppi_report_part key = {};
  key.process = Pick(random, kProcesses);
  key.thread = (*random)() % 3;
  key.op = Pick(random, kNames);
  key.child = Pick(random, kNames);
  key.launch = Pick(random, kNames);
  ppi_report_part *part = ppi_figures_part(figures, &key);
  ASSERT_NE(part, nullptr);
  AddSome(random, &part->host);
  AddSome(random, &part->device);
}

void AddMemory(Random *random, ppi_figures *figures) {
  std::string name = "gpu:" + std::to_string((*random)() % 200);
  ppi_report_place of = {};
  of.name = &name[0];
  ppi_report_place *place = ppi_figures_place(figures, &of);
  ASSERT_NE(place, nullptr);
  ppi_report_memory key = {};
  key.place = &name[0];
  key.name = Pick(random, kNames);
  key.is_reserved = (*random)() % 2;
  place->is_known[key.is_reserved] = true;
  place->peak_bytes[key.is_reserved] += (*random)() % 1000;
  ppi_report_memory *memory = ppi_figures_memory(figures, &key);
  ASSERT_NE(memory, nullptr);
  memory->allocations++;
  memory->frees += (*random)() % 2;
  memory->allocated_bytes += (*random)() % 1000;
  memory->freed_bytes += (*random)() % 1000;
}

void AddPerf(Random *random, ppi_report_perf *perf) {
  perf->num_steps += (*random)() % 20;
  AddSome(random, &perf->batch);
  AddSome(random, &perf->reader);
  if ((*random)() % 3 == 0) return;
  perf->num_stated = 1 + (*random)() % 5;
  perf->items = (*random)();
  perf->speed_min = 1.0 / static_cast<double>(1 + (*random)() % 1000);
  perf->speed_max = 1 + 1.0 / static_cast<double>(1 + (*random)() % 1000);
}

// As one run leaves them: few enough places to need no bound.
void MakeFigures(Random *random, ppi_figures *figures) {
  for (uint64_t n = (*random)() % 12; n > 0; n--) AddNames(random, figures);
  for (uint64_t n = (*random)() % 12; n > 0; n--) AddParts(random, figures);
  for (uint64_t n = (*random)() % 40; n > 0; n--) AddMemory(random, figures);
  AddPerf(random, &figures->perf);
  uint64_t *sums = &figures->distribution.host_calls;
  for (size_t i = 0; i < sizeof figures->distribution / sizeof *sums; i++)
    sums[i] = (*random)() % 1000;
}

// Joins two at random until one is left.
std::string TextOfSomeTree(uint64_t seed, Random *random) {
  std::vector<ppi_figures> parts(6);
  for (size_t i = 0; i < parts.size(); i++) {
    Random content(seed * 10 + i);
    MakeFigures(&content, &parts[i]);
  }
  while (parts.size() > 1) {
    std::shuffle(parts.begin(), parts.end(), *random);
    ppi_figures last = parts.back();
    parts.pop_back();
    EXPECT_TRUE(ppi_figures_add(&parts[0], &last));
    ppi_figures_clear(&last);
  }
  std::string text = FiguresText(parts[0]);
  ppi_figures_clear(&parts[0]);
  return text;
}

TEST(FiguresMergeTest, NoTreeOfMergesShows) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    Random random(seed);
    std::string expected = TextOfSomeTree(seed, &random);
    for (int tree = 0; tree < 6; tree++)
      ASSERT_EQ(TextOfSomeTree(seed, &random), expected) << seed;
  }
}

TEST(FiguresMergeTest, OutOfMemoryLeaksNothing) {
  Random random(1);
  ppi_figures from = {};
  MakeFigures(&random, &from);
  std::string whole;
  for (uint64_t n = 1; whole.empty(); n++) {
    Random other(2);
    ppi_figures into = {};
    MakeFigures(&other, &into);
    ppi_mem_fail_at(n);
    bool added = ppi_figures_add(&into, &from);
    ppi_mem_fail_at(0);
    if (added) whole = FiguresText(into);
    EXPECT_EQ(added, !whole.empty());
    ppi_figures_clear(&into);
  }
  Random again(2);
  ppi_figures first = {};
  MakeFigures(&again, &first);
  ASSERT_TRUE(ppi_figures_add(&from, &first));
  EXPECT_EQ(whole, FiguresText(from));
  ppi_figures_clear(&first);
  ppi_figures_clear(&from);
}

// ---- runs through reports ----

std::string TextOf(Report *report) {
  const ppi_figures *figures = ppi_report_figures(report->get());
  return figures
             ? report->Json() + report->Table(nullptr) + FiguresText(*figures)
             : "";
}

void MakeRun(EventFeed *feed, int i) {
  pprof_test::FillScenarioS(feed);
  Random random(static_cast<uint64_t>(i));
  for (int n = 0; n < 20; n++) {
    uint64_t start = random() % 90000000;
    feed->Range(1, "n" + std::to_string(random() % 4),
                static_cast<uint32_t>(random() % 16), start,
                start + random() % 9000000);
  }
  for (int n = 0; n < 15 && i % 3; n++)
    feed->Step((100 + n) * pprof_test::kMs, (101 + n) * pprof_test::kMs);
  feed->Run("run " + std::to_string(i), std::to_string(i));
  feed->Total(PPI_TOTAL_CRASH_SAFE, i != 2);
  feed->Total(PPI_TOTAL_CLOCK_ERROR_NS, static_cast<uint64_t>(7 * i % 5));
  feed->Note("device", "note " + std::to_string(i % 2));
}

TEST(FiguresMergeTest, RunsThroughOneSinkAreMerged) {
  std::vector<int> order = {0, 1, 2, 3, 4};
  Random random(4);
  std::string expected;
  for (int round = 0; round < 6; round++) {
    Report all, merged, added;
    for (size_t i = 0; i < order.size(); i++) {
      EventFeed feed, again, third;
      MakeRun(&feed, order[i]);
      MakeRun(&again, order[order.size() - 1 - i]);
      ASSERT_EQ(feed.Deliver(all.sink()), PPROF_STATUS_OK);
      Report one;
      ASSERT_EQ(again.Deliver(i ? one.sink() : merged.sink()), PPROF_STATUS_OK);
      if (i) {
        ASSERT_EQ(pprof_report_merge(merged.get(), one.get()), PPROF_STATUS_OK);
        ASSERT_EQ(ppi_report_add(added.get(), one.get()), PPROF_STATUS_OK);
      } else {
        MakeRun(&third, order[order.size() - 1]);
        ASSERT_EQ(third.Deliver(added.sink()), PPROF_STATUS_OK);
      }
    }
    if (round == 0) expected = TextOf(&merged);
    EXPECT_EQ(TextOf(&merged), expected);
    EXPECT_EQ(TextOf(&added), expected);
    EXPECT_EQ(TextOf(&all), expected);
    EXPECT_NE(expected, "");
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST(FiguresMergeTest, DetailsMustBeAlike) {
  for (size_t i = 0; i < 12; i++) {
    ppi_report_details details = {};
    bool *flags[] = {&details.by_thread,
                     &details.operator_parts,
                     &details.paddle_distribution,
                     &details.requests,
                     &details.answer,
                     &details.paths,
                     &details.flat_paths,
                     &details.kernels,
                     &details.allocations,
                     &details.courses};
    details.warmup = i == 11 ? 2 : -1;
    if (i >= 1 && i <= 10) *flags[i - 1] = true;
    Report one, other;
    ppi_report_set_details(other.get(), &details);
    EventFeed feed, again;
    MakeRun(&feed, 1);
    MakeRun(&again, 2);
    ASSERT_EQ(feed.Deliver(one.sink()), PPROF_STATUS_OK);
    ASSERT_EQ(again.Deliver(other.sink()), PPROF_STATUS_OK);
    std::string before = TextOf(&one);
    EXPECT_EQ(pprof_report_merge(one.get(), other.get()),
              i ? PPROF_STATUS_INVALID : PPROF_STATUS_OK);
    if (i) {
      EXPECT_EQ(ppi_report_add(one.get(), other.get()), PPROF_STATUS_INVALID);
      EXPECT_EQ(TextOf(&one), before);
    }
    ppi_report_details got = ppi_report_figures(other.get())->details;
    EXPECT_EQ(std::memcmp(&got, &details, sizeof got), 0);
  }
}

TEST(FiguresMergeTest, DetailsOutlastFurtherRuns) {
  ppi_report_details details = {};
  details.by_thread = details.paddle_distribution = true;
  details.requests = details.answer = details.paths = true;
  details.flat_paths = details.kernels = true;
  details.courses = true;
  details.warmup = -1;
  Report report, other;
  ppi_report_set_details(report.get(), &details);
  ppi_report_set_details(other.get(), &details);
  for (int i = 0; i < 3; i++) {
    EventFeed feed;
    MakeRun(&feed, i);
    Report *to = i < 2 ? &report : &other;
    ASSERT_EQ(feed.Deliver(to->sink()), PPROF_STATUS_OK);
  }
  ASSERT_EQ(pprof_report_merge(report.get(), other.get()), PPROF_STATUS_OK);
  ppi_report_details got = ppi_report_figures(report.get())->details;
  EXPECT_EQ(std::memcmp(&got, &details, sizeof got), 0);
}

// The runs before one that fails stay, unless it is the adding that fails.
TEST(FiguresMergeTest, AFurtherRunThatFailsAddsNothing) {
  Report first, both;
  for (int i = 0; i < 2; i++) {
    EventFeed feed;
    MakeRun(&feed, i);
    if (i == 0) {
      ASSERT_EQ(feed.Deliver(first.sink()), PPROF_STATUS_OK);
    }
    ASSERT_EQ(feed.Deliver(both.sink()), PPROF_STATUS_OK);
  }
  const std::string one = TextOf(&first), two = TextOf(&both);
  bool stayed = false, is_done = false;
  for (uint64_t n = 1; !is_done; n += 7) {
    Report report;
    EventFeed feed, again;
    MakeRun(&feed, 0);
    MakeRun(&again, 1);
    ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
    ppi_mem_fail_at(n);
    pprof_status status = again.Deliver(report.sink());
    ppi_mem_fail_at(0);
    is_done = status == PPROF_STATUS_OK;
    std::string text = TextOf(&report);
    EXPECT_TRUE(is_done ? text == two : text == one || text.empty());
    stayed |= !is_done && text == one;
  }
  EXPECT_TRUE(stayed);
}

}  // namespace
