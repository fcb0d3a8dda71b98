// SPDX-License-Identifier: Apache-2.0
//
// How often `try` is wrong, and what it finds: its own decisions, stopping
// where it stops, on simulated runs. The long version prints the tables of
// docs/compare.md.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "compare/compare_turns.h"
#include "tests/support/long_run.h"

namespace {

using pprof_test::Rounds;

enum class Runs { kNormal, kHeavy, kDrift, kShared, kOutliers };

struct Kind {
  const char *name;
  Runs runs;
};
const Kind kKinds[] = {
    {"normal, 2 %", Runs::kNormal},
    {"heavy tails, Student's with 3 degrees", Runs::kHeavy},
    {"a machine that warms up by 20 %", Runs::kDrift},
    {"a level of the machine, AR(1) 0.8, of 5 %", Runs::kShared},
    {"one run in 20 is 20 % slower", Runs::kOutliers},
};

// The figures of runs, one behind the other as they are made.
class Machine {
 public:
  Machine(const Kind &kind, uint64_t seed) : kind_(kind), random_(seed) {}
  // Before each run.
  void Next() {
    at_++;
    level_ = 0.8 * level_ + 0.6 * normal_(random_);
    is_slow_ = std::uniform_real_distribution<double>()(random_) < 0.05;
  }
  // log of a stage's figure in this run.
  double Figure() {
    double noise = 0.02 * normal_(random_);
    switch (kind_.runs) {
      case Runs::kHeavy:
        return 0.02 * std::student_t_distribution<double>(3)(random_);
      case Runs::kDrift:
        return noise + 0.2 * at_ / 60;
      case Runs::kShared:
        return noise + 0.05 * level_;
      case Runs::kOutliers:
        return noise + (is_slow_ ? 0.2 : 0);
      default:
        return noise;
    }
  }

 private:
  const Kind &kind_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double at_ = 0, level_ = 0;
  bool is_slow_ = false;
};

constexpr size_t kStages = 10, kChanged = 6, kMostRuns = 30;

// A B, then B A; `changes` are of each program's stage kChanged.
void Try(Machine *machine, const std::vector<double> &changes, double until,
         ppi_turns *turns) {
  ppi_turns_open(turns, changes.size(), kStages, kMostRuns, until);
  const size_t num = changes.size() + 1;
  do {
    std::vector<std::vector<double>> figures(num);
    for (size_t i = 0; i < num; i++) {
      size_t one = turns->num_rounds % 2 ? num - 1 - i : i;
      if (one && turns->is_out[one - 1]) continue;
      machine->Next();
      for (size_t k = 0; k < kStages; k++)
        figures[one].push_back(machine->Figure());
    }
    for (size_t one = 1; one < num; one++)
      for (size_t k = 0; k < figures[one].size(); k++)
        ppi_turns_add(turns, one - 1, k,
                      figures[one][k] - figures[0][k] +
                          (k == kChanged ? changes[one - 1] : 0));
  } while (ppi_turns_end_round(turns));
}

struct Count {
  size_t alarms = 0, found = 0, rounds = 0;
};

// Of `tries` of one program whose stage kChanged takes longer by `change`.
Count CountTries(const Kind &kind, double change, double until, size_t tries) {
  Count count;
  for (size_t i = 0; i < tries; i++) {
    Machine machine(kind, 1000 + i);
    ppi_turns turns;
    Try(&machine, {std::log1p(change)}, until, &turns);
    bool alarm = false;
    for (size_t k = 0; k < kStages; k++)
      if (k != kChanged || change == 0)
        alarm |= ppi_turns_figure(&turns, 0, k)->decision.verdict <=
                 PPI_VERDICT_SLOWER;
    count.alarms += alarm;
    count.found += ppi_turns_figure(&turns, 0, kChanged)->decision.verdict ==
                   PPI_VERDICT_SLOWER;
    count.rounds += turns.num_rounds;
    ppi_turns_close(&turns);
  }
  return count;
}

// 1 000 tries of a program against itself: at most 5 % name any stage, for
// each kind of runs.
TEST(CompareTurnsTest, TheSameProgram) {
  const size_t tries = 1000;
  printf("| runs | until | any of ten stages named | runs a side |\n");
  printf("|---|---:|---:|---:|\n");
  for (const Kind &kind : kKinds)
    for (double until : {0.03, 0.05, 0.1}) {
      if (until > 0.03 && !pprof_test::IsLongRun()) continue;
      Count count = CountTries(kind, 0, until, tries);
      printf("| %s | %g %% | %zu of %zu | %.1f |\n", kind.name, 100 * until,
             count.alarms, tries, 1.0 * count.rounds / tries);
      EXPECT_LE(count.alarms, tries * 5 / 100) << kind.name;
    }
}

// 3 and 5 % in one of ten stages: found in 9 of 10, in at most 30 runs a side,
// where that is what is looked for.
TEST(CompareTurnsTest, OneOfTenStagesIsSlower) {
  const size_t tries = Rounds(300, 1000);
  printf("| runs | slower by | found | another stage named | runs a side |\n");
  printf("|---|---:|---:|---:|---:|\n");
  for (const Kind &kind : kKinds) {
    for (double change : {0.03, 0.05, 0.1}) {
      Count count = CountTries(kind, change, change, tries);
      printf("| %s | %g %% | %.1f %% | %.1f %% | %.1f |\n", kind.name,
             100 * change, 100.0 * count.found / tries,
             100.0 * count.alarms / tries, 1.0 * count.rounds / tries);
      EXPECT_LE(count.alarms, tries * 5 / 100) << kind.name;
      if (kind.runs == Runs::kNormal || kind.runs == Runs::kDrift) {
        EXPECT_GE(count.found, tries * 9 / 10) << kind.name << change;
      } else if (change < 0.04) {  // Student's alone found 38 % of kOutliers'
        EXPECT_GE(count.found, tries * 4 / 10) << kind.name << change;
      }
    }
  }
}

// Of eight programs the fastest one is left, and most runs were of the good
// ones: the worst half took part in one look's rounds.
TEST(CompareTurnsTest, SeveralProgramsAreHalved) {
  const size_t tries = Rounds(100, 1000);
  size_t best = 0, runs = 0;
  for (size_t i = 0; i < tries; i++) {
    Machine machine(kKinds[0], 9000 + i);
    ppi_turns turns;
    // The first stage decides: its figures are the programs' own here.
    ppi_turns_open(&turns, 8, 1, kMostRuns, 0.05);
    do {
      machine.Next();
      double base = machine.Figure();
      for (size_t one = 0; one < 8; one++) {
        if (turns.is_out[one]) continue;
        double change = -0.03 * static_cast<double>((one * 3) % 8);
        ppi_turns_add(&turns, one, 0, machine.Figure() - base + change);
      }
    } while (ppi_turns_end_round(&turns));
    for (size_t one = 0; one < 8; one++) runs += turns.rounds_of[one];
    best += !turns.is_out[5];  // 15 % 8 is 7, the most
    EXPECT_EQ(ppi_turns_figure(&turns, 5, 0)->decision.verdict,
              PPI_VERDICT_FASTER);
    ppi_turns_close(&turns);
  }
  EXPECT_GE(best, tries * 85 / 100);
  EXPECT_LE(runs, tries * 60);
}

// The interval holds the change in 95 of 100, wherever it stopped.
TEST(CompareTurnsTest, TheIntervalHoldsTheChange) {
  size_t missed = 0, tries = Rounds(300, 2000);
  for (size_t i = 0; i < tries; i++) {
    Machine machine(kKinds[0], 5000 + i);
    ppi_turns turns;
    Try(&machine, {std::log(1.07)}, 0.05, &turns);
    const ppi_turn_figure *figure = ppi_turns_figure(&turns, 0, kChanged);
    missed += figure->decision.low > 1.07 || figure->decision.high < 1.07;
    ppi_turns_close(&turns);
  }
  EXPECT_LE(missed, tries / 20);
}

}  // namespace
