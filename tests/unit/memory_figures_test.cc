// SPDX-License-Identifier: Apache-2.0
//
// Memory by place and owner: example E16 and the Memory table of scenario S of
// the reference, and what is no number of bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "report/figures/rows.h"
#include "report/figures/sum.h"
#include "report/parts/memory.h"
#include "report/run/run.h"

namespace {

constexpr uint32_t kMatmul = 1, kStep = 2, kMatmulToo = 3;

struct Change {
  std::string place;
  double level, bytes;
  uint32_t owner;
  bool is_reserved;
};

class MemoryFiguresTest : public testing::Test {
 protected:
  void SetUp() override {
    Define(kMatmul, "matmul");
    Define(kStep, "ProfileStep#0");
    Define(kMatmulToo, "matmul");
  }
  void TearDown() override {
    ppi_memory_clear(&memory_);
    ppi_figures_clear(&figures_);
    ppi_run_clear(&run_);
  }
  void Define(uint32_t id, const char *name) {
    pprof_definition site = {PPROF_DEFINITION_SITE, id, 0, 0, 0, name};
    ASSERT_EQ(ppi_run_define(&run_, &site), PPROF_STATUS_OK);
  }

  static void Tell(ppi_memory *memory, const Change &change) {
    pprof_work_amount work = {sizeof work, 0, change.bytes, 0, 0};
    pprof_event event = {};
    event.kind = PPROF_KIND_COUNTER;
    event.value = change.level;
    event.work = &work;
    if (change.is_reserved) event.flags = PPROF_FLAG_RESERVED;
    ppi_memory_change out;
    ASSERT_TRUE(ppi_memory_level(memory, change.place.c_str(), &event, &out));
    ASSERT_TRUE(
        ppi_memory_own(memory, change.place.c_str(), change.owner, &out));
  }
  void Tell(const char *place, double level, double bytes,
            uint32_t owner = kMatmul, bool is_reserved = false) {
    Tell(&memory_, {place, level, bytes, owner, is_reserved});
  }
  const ppi_figures &Fill() {
    ppi_figures_clear(&figures_);
    EXPECT_TRUE(ppi_memory_fill(&memory_, &run_.ids, &figures_));
    return figures_;
  }
  // "place name kind allocations frees allocated freed" of every row, and
  // "place kind peak" of every peak.
  static std::string Text(const ppi_figures &figures) {
    std::string text;
    for (size_t i = 0; i < figures.num_memory; i++) {
      const ppi_report_memory &row = figures.memory[i];
      text += std::string(row.place) + " '" + row.name + "' " +
              (row.is_reserved ? "reserved " : "allocated ") +
              std::to_string(row.allocations) + " " +
              std::to_string(row.frees) + " " +
              std::to_string(row.allocated_bytes) + " " +
              std::to_string(row.freed_bytes) + "\n";
    }
    for (size_t i = 0; i < figures.num_places; i++)
      for (int kind = 0; kind < 2; kind++)
        if (figures.places[i].is_known[kind])
          text += std::string(figures.places[i].name) +
                  (kind ? " reserved " : " allocated ") +
                  std::to_string(figures.places[i].peak_bytes[kind]) + "\n";
    return text;
  }

  ppi_run run_ = {};
  ppi_memory memory_ = {};
  ppi_figures figures_ = {};
};

TEST_F(MemoryFiguresTest, E16AllocationsAndFrees) {
  Tell("gpu:0", 100, 100);
  Tell("gpu:0", 150, 50);
  Tell("gpu:0", 120, -30);
  EXPECT_EQ(Text(Fill()),
            "gpu:0 'matmul' allocated 2 1 150 30\n"
            "gpu:0 allocated 150\n");
}

TEST_F(MemoryFiguresTest, TheTableOfScenarioS) {
  Tell("gpu:0", 1024, 1024, kStep, true);
  Tell("gpu:0", 800, 100);
  Tell("gpu:0", 150, 50);
  Tell("gpu:0", 120, -30);
  EXPECT_EQ(Text(Fill()),
            "gpu:0 'matmul' allocated 2 1 150 30\n"
            "gpu:0 'ProfileStep#0' reserved 1 0 1024 0\n"
            "gpu:0 allocated 800\n"
            "gpu:0 reserved 1024\n");
}

TEST_F(MemoryFiguresTest, EachOwnerIsHeldOnce) {
  for (int i = 0; i < 100; i++)
    Tell("gpu:0", 1, i % 3 ? 1 : -1, i % 4 ? kMatmul : kStep, i % 2 == 0);
  ASSERT_EQ(memory_.num_places, 1u);
  EXPECT_EQ(memory_.places[0].num_owners, 3u);  // the step's: reserved only
}

TEST_F(MemoryFiguresTest, OwnersOfOneNameAreOneRow) {
  Tell("cpu", 5, 5, kMatmul);
  Tell("cpu", 12, 7, kMatmulToo);
  Tell("cpu", 13, 1, 0);
  EXPECT_EQ(Text(Fill()),
            "cpu '' allocated 1 0 1 0\n"
            "cpu 'matmul' allocated 2 0 12 0\n"
            "cpu allocated 13\n");
}

TEST_F(MemoryFiguresTest, WithoutAChangeThereIsOnlyAPeak) {
  pprof_event event = {};
  event.kind = PPROF_KIND_COUNTER;
  event.value = 77;
  ppi_memory_change change;
  ASSERT_TRUE(ppi_memory_level(&memory_, "gpu:0", &event, &change));
  EXPECT_EQ(change.bytes, 0);
  Tell("gpu:0", 70, 0);
  EXPECT_EQ(Text(Fill()), "gpu:0 allocated 77\n");
}

TEST_F(MemoryFiguresTest, WhatIsNoNumberOfBytes) {
  const double nan = std::nan(""),
               inf = std::numeric_limits<double>::infinity();
  Tell("a", nan, nan);
  Tell("a", inf, -inf);
  Tell("a", nan, 0.4);
  EXPECT_EQ(Text(Fill()), "");
  Tell("b", -5, nan);
  EXPECT_EQ(Text(Fill()), "b allocated 0\n");
  Tell("b", inf, 3);
  Tell("b", 2.5, -0.6);
  EXPECT_EQ(Text(Fill()),
            "b 'matmul' allocated 1 1 3 1\n"
            "b allocated 3\n");
}

// 2^62 bytes at most for each, 2^64 - 1 for their sum.
TEST_F(MemoryFiguresTest, HugeSizesStopAtABound) {
  Tell("a", 1e300, 1e300);
  Tell("a", 1e19, -1e300);
  EXPECT_EQ(Text(Fill()),
            "a 'matmul' allocated 1 1 4611686018427387904 4611686018427387904\n"
            "a allocated 4611686018427387904\n");
  for (int i = 0; i < 4; i++) Tell("a", 0, 1e300);
  EXPECT_EQ(
      Text(Fill()),
      "a 'matmul' allocated 5 1 18446744073709551615 4611686018427387904\n"
      "a allocated 4611686018427387904\n");
}

TEST_F(MemoryFiguresTest, ThreeCategoriesOwnNothing) {
  EXPECT_FALSE(ppi_memory_can_own(PPROF_CATEGORY_OPERATOR_INNER));
  EXPECT_FALSE(ppi_memory_can_own(PPROF_CATEGORY_RUNTIME));
  EXPECT_FALSE(ppi_memory_can_own(PPROF_CATEGORY_PYTHON_OP));
  EXPECT_TRUE(ppi_memory_can_own(PPROF_CATEGORY_OPERATOR));
  EXPECT_TRUE(ppi_memory_can_own(PPROF_CATEGORY_PROFILE_STEP));
}

std::string PlaceName(size_t i) {
  return "gpu:" +
         std::string(i < 10    ? "00"
                     : i < 100 ? "0"
                               : "") +
         std::to_string(i);
}

// 100 places and one called as the rest is, in any order: those whose names
// come first are apart, the sums of all are there.
TEST_F(MemoryFiguresTest, TooManyPlacesAreOne) {
  std::vector<Change> all;
  for (size_t i = 0; i < 100; i++) {
    double bytes = static_cast<double>(i);
    all.push_back({PlaceName(i), 2000 + bytes, 10 + bytes, kMatmul, false});
    all.push_back({PlaceName(i), 5, -1, kStep, i % 2 == 0});
  }
  all.push_back({"<other>", 1000, 1, kMatmul, false});
  std::mt19937_64 random(3);
  std::string first;
  for (int round = 0; round < 20; round++) {
    std::shuffle(all.begin(), all.end(), random);
    for (const Change &change : all) Tell(&memory_, change);
    const ppi_figures &figures = Fill();
    ASSERT_EQ(figures.num_places, 65u);
    EXPECT_STREQ(figures.places[0].name, "<other>");
    EXPECT_STREQ(figures.places[1].name, "gpu:000");
    EXPECT_STREQ(figures.places[64].name, "gpu:063");
    EXPECT_EQ(figures.places[0].peak_bytes[0], 2099u);
    EXPECT_EQ(figures.places[0].peak_bytes[1], 5u);
    // 64 to 99: 36 changes of 10 + i, and the one of the name itself.
    EXPECT_EQ(Text(figures).substr(0, 87),
              "<other> 'ProfileStep#0' allocated 0 18 0 18\n"
              "<other> 'matmul' allocated 37 0 3295 0\n"
              "<oth");
    if (round == 0) first = Text(figures);
    ASSERT_EQ(Text(figures), first);
    ppi_memory_clear(&memory_);
  }
}

// The same places over several reports: no tree of merges shows.
TEST_F(MemoryFiguresTest, MergedPlacesAreBoundedInAnyOrder) {
  std::mt19937_64 random(5);
  std::string expected;
  for (int round = 0; round < 12; round++) {
    std::vector<ppi_figures> parts(6);
    for (size_t i = 0; i < 6; i++) {
      ppi_memory memory = {};
      for (size_t place = 0; place < 40; place++)
        Tell(&memory, {PlaceName(i * 7 + place * 3), 1.0 * (i + place), 4,
                       place % 3 ? kMatmul : kStep, place % 2 == 0});
      ASSERT_TRUE(ppi_memory_fill(&memory, &run_.ids, &parts[i]));
      ppi_memory_clear(&memory);
    }
    while (parts.size() > 1) {
      std::shuffle(parts.begin(), parts.end(), random);
      ppi_figures last = parts.back();
      parts.pop_back();
      ASSERT_TRUE(ppi_figures_add_memory(&parts[0], &last));
      ppi_figures_clear(&last);
    }
    if (round == 0) expected = Text(parts[0]);
    EXPECT_EQ(Text(parts[0]), expected);
    EXPECT_EQ(parts[0].num_places, 65u);
    ppi_figures_clear(&parts[0]);
  }
}

}  // namespace
