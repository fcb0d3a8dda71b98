// SPDX-License-Identifier: Apache-2.0
//
// How often `compare` is wrong where nothing changed, whatever the durations
// are like, and how often it finds a change. The long version prints the tables
// of docs/compare.md.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "compare/compare_judge.h"
#include "tests/support/durations.h"
#include "tests/support/long_run.h"

namespace {

using pprof_test::Drift;
using pprof_test::Durations;
using pprof_test::Fast;
using pprof_test::Noise;
using pprof_test::Rounds;

const Noise kNoises[] = {
    {"independent", Fast::kNormal, 0.05, 0, 0, Drift::kNone, 0},
    {"AR(1) 0.5", Fast::kNone, 0, 0.5, 0.05, Drift::kNone, 0},
    {"AR(1) 0.9", Fast::kNone, 0, 0.9, 0.05, Drift::kNone, 0},
    {"AR(1) 0.97", Fast::kNone, 0, 0.97, 0.05, Drift::kNone, 0},
    {"AR(1) 0.99", Fast::kNone, 0, 0.99, 0.05, Drift::kNone, 0},
    {"two levels", Fast::kTwoLevels, 0.02, 0, 0, Drift::kNone, 0},
    {"two levels, AR(1) 0.9", Fast::kTwoLevels, 0.02, 0.9, 0.1, Drift::kNone,
     0},
    {"two levels, AR(1) 0.97", Fast::kTwoLevels, 0.02, 0.97, 0.1, Drift::kNone,
     0},
    {"levels that switch", Fast::kSwitch, 0.02, 0, 0, Drift::kNone, 0},
    {"heavy tail", Fast::kHeavy, 0.1, 0, 0, Drift::kNone, 0},
    {"heavy tail, AR(1) 0.9", Fast::kHeavy, 0.1, 0.9, 0.1, Drift::kNone, 0},
    {"heavy tail, AR(1) 0.97", Fast::kHeavy, 0.1, 0.97, 0.1, Drift::kNone, 0},
    {"wide, AR(1) 0.97", Fast::kNormal, 0.2, 0.97, 0.1, Drift::kNone, 0},
    {"spikes", Fast::kSpikes, 0.05, 0, 0, Drift::kNone, 0},
    {"spikes, AR(1) 0.97", Fast::kSpikes, 0.05, 0.97, 0.05, Drift::kNone, 0},
    {"line", Fast::kNormal, 0.05, 0, 0, Drift::kLine, 0.1},
    {"wave", Fast::kNormal, 0.05, 0, 0, Drift::kWave, 0.1},
    {"walk", Fast::kNormal, 0.05, 0, 0, Drift::kWalk, 0.1},
    // Slow, and less than the noise.
    {"weak walk", Fast::kNormal, 0.05, 0, 0, Drift::kWalk, 0.015},
    {"weakest walk", Fast::kNormal, 0.05, 0, 0, Drift::kWalk, 0.005},
    {"weak AR(1) 0.99", Fast::kNormal, 0.05, 0.99, 0.015, Drift::kNone, 0},
    {"two levels, AR(1) 0.99", Fast::kTwoLevels, 0.02, 0.99, 0.05, Drift::kNone,
     0},
    {"switching, walk", Fast::kSwitch, 0.02, 0, 0, Drift::kWalk, 0.1},
    {"heavy tail, walk", Fast::kHeavy, 0.05, 0, 0, Drift::kWalk, 0.05},
    {"spikes, walk", Fast::kSpikes, 0.05, 0, 0, Drift::kWalk, 0.02},
};

// Whether a level stays for so much of a run that the run hardly shows it.
bool StaysForARun(const Noise &noise, size_t calls) {
  double length = noise.slow > 0 ? 1 / (1 - noise.rho) : 0;
  return noise.drift == Drift::kWalk || length > static_cast<double>(calls) / 8;
}

// Those of which `calls` calls are many, or all.
std::vector<const Noise *> NoisesFor(size_t calls) {
  std::vector<const Noise *> noises;
  for (const Noise &noise : kNoises)
    if (!StaysForARun(noise, calls)) noises.push_back(&noise);
  return noises;
}

// One side of a pair: stages and what they hold.
class Side {
 public:
  void Add(const std::vector<double> &values) {
    kept_.push_back(
        {"stage " + std::to_string(kept_.size()), "Inference", {}, {}, {}});
    AddRun(values);
  }
  // To the last stage.
  void AddRun(const std::vector<double> &values) {
    Kept *kept = &kept_.back();
    kept->values.insert(kept->values.end(), values.begin(), values.end());
    kept->ends.push_back(kept->values.size());
    kept->stage.name = &kept->name[0];
    kept->stage.category = &kept->category[0];
    kept->stage.values = kept->values.data();
    kept->stage.ends = kept->ends.data();
    kept->stage.num_runs = kept->ends.size();
    kept->stage.num_values = kept->values.size();
  }
  const ppi_compare_stage *stage(size_t i) const {
    return &kept_[i].stage;
  }
  size_t size() const {
    return kept_.size();
  }

 private:
  struct Kept {
    std::string name, category;
    std::vector<float> values;
    std::vector<size_t> ends;
    ppi_compare_stage stage;
  };
  std::deque<Kept> kept_;
};

std::vector<ppi_comparison> Judge(const Side &a, const Side &b,
                                  ppi_metric metric, double margin) {
  std::vector<ppi_comparison> all(a.size());
  for (size_t i = 0; i < a.size(); i++) {
    all[i].stages[0] = a.stage(i);
    all[i].stages[1] = b.stage(i);
    all[i].metric = metric;
    all[i].margin = margin;
  }
  ppi_judge(all.data(), all.size());
  return all;
}

// Stages of one noise, or of all in turn.
struct Cell {
  const Noise *noise;  // NULL: all of them
  size_t calls, stages;
  ppi_metric metric;
};

void MakePair(Durations *durations, const Cell &cell, double factor, Side *a,
              Side *b) {
  const std::vector<const Noise *> all = NoisesFor(cell.calls);
  for (size_t i = 0; i < cell.stages; i++) {
    const Noise &noise = cell.noise ? *cell.noise : *all[i % all.size()];
    a->Add(durations->Make(noise, cell.calls, 1));
    b->Add(durations->Make(noise, cell.calls, factor));
  }
}

struct Count {
  size_t pairs = 0, alarms = 0, rows = 0, row_alarms = 0;
};

// Pairs of the same, with no threshold to hide behind.
Count CountAlarms(Durations *durations, const Cell &cell, size_t pairs) {
  Count count;
  for (; count.pairs < pairs; count.pairs++) {
    Side a, b;
    bool any = false;
    MakePair(durations, cell, 1, &a, &b);
    for (const ppi_comparison &one : Judge(a, b, cell.metric, 0)) {
      bool is_wrong = one.runs.verdict == PPI_VERDICT_SLOWER ||
                      one.runs.verdict == PPI_VERDICT_FASTER;
      any |= is_wrong;
      count.row_alarms += is_wrong;
      count.rows++;
    }
    count.alarms += any;
  }
  return count;
}

// How likely so many alarms, or more, were if 5 % of `num` had one. Below 0.01
// the bound of 99 % lies above 5 %.
double ChanceOf(size_t alarms, size_t num) {
  double n = static_cast<double>(num), chance = 0;
  for (size_t i = alarms; i <= num; i++) {
    double k = static_cast<double>(i);
    chance += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) -
                       std::lgamma(n - k + 1) + k * std::log(0.05) +
                       (n - k) * std::log(0.95));
  }
  return chance;
}

// Prints one table, and holds each of its cells and all of them together: 5 %
// of pairs, whatever their number of stages. No run shows levels that stay for
// as long as it takes. Of these 5 % of all stages' comparisons may be wrong.
class AlarmTable {
 public:
  explicit AlarmTable(uint64_t seed) : durations_(seed) {
    printf("| durations | calls | stages | figure | pairs | alarms |\n");
    printf("|---|---:|---:|---|---:|---:|\n");
  }
  // Of runs of many calls there are fewer pairs: they take longer.
  void Run(const Cell &cell, size_t pairs) {
    if (cell.calls < ppi_metric_need(cell.metric)) return;
    size_t percent = cell.calls > 1000 ? 16 : cell.calls > 300 ? 40 : 100;
    Count count = CountAlarms(&durations_, cell, pairs * percent / 100);
    const char *name = cell.noise ? cell.noise->name : "all of these";
    printf("| %s | %zu | %zu | %s | %zu | %zu |\n", name, cell.calls,
           cell.stages, ppi_metric_name(cell.metric), count.pairs,
           count.alarms);
    fflush(stdout);
    if (cell.noise && StaysForARun(*cell.noise, cell.calls)) {
      long_.pairs += count.pairs;
      long_.alarms += count.alarms;
      long_.rows += count.rows;
      long_.row_alarms += count.row_alarms;
      return;
    }
    EXPECT_GE(ChanceOf(count.alarms, count.pairs), 0.01)
        << name << ", " << cell.calls << " calls, " << cell.stages
        << " stages, " << ppi_metric_name(cell.metric) << ": " << count.alarms
        << " of " << count.pairs;
    pairs_ += count.pairs;
    alarms_ += count.alarms;
  }
  ~AlarmTable() {
    printf("| together | | | | %zu | %zu |\n", pairs_, alarms_);
    EXPECT_LE(alarms_, pairs_ / 20);
    printf("| levels that stay | | | | %zu | %zu |\n", long_.pairs,
           long_.alarms);
    printf("| of these, comparisons | | | | %zu | %zu |\n", long_.rows,
           long_.row_alarms);
    EXPECT_GE(ChanceOf(long_.row_alarms, long_.rows), 0.01);
    EXPECT_LE(long_.alarms, long_.pairs / 10);  // as compare_results.md has it
  }

 private:
  Durations durations_;
  size_t pairs_ = 0, alarms_ = 0;
  Count long_;  // of levels that a run hardly shows: all of them together
};

void RunNoises(AlarmTable *table, size_t stages, size_t pairs,
               const std::vector<size_t> &calls) {
  for (size_t n : calls)
    for (const Noise &noise : kNoises)
      for (ppi_metric metric :
           {PPI_METRIC_MEAN, PPI_METRIC_P50, PPI_METRIC_P90, PPI_METRIC_P99})
        table->Run({&noise, n, stages, metric}, pairs);
}

TEST(ComparePropertyTest, OneStageThatDidNotChange) {
  AlarmTable table(1);
  RunNoises(&table, 1, Rounds(20, 100), {50, 300});
  if (pprof_test::IsLongRun()) RunNoises(&table, 1, 100, {100, 1000, 5000});
}

TEST(ComparePropertyTest, SixStagesThatDidNotChange) {
  AlarmTable table(2);
  for (size_t n : {300, 50, 100, 1000, 5000}) {
    if (n != 300 && !pprof_test::IsLongRun()) continue;
    for (const Noise &noise : kNoises)
      for (ppi_metric metric : {PPI_METRIC_MEAN, PPI_METRIC_P50})
        table.Run({&noise, n, 6, metric}, Rounds(10, 50));
  }
}

TEST(ComparePropertyTest, FiftyStagesThatDidNotChange) {
  AlarmTable table(3);
  for (size_t n : {50, 100, 300, 1000, 5000}) {
    if (n > 300 && !pprof_test::IsLongRun()) continue;
    for (ppi_metric metric :
         {PPI_METRIC_MEAN, PPI_METRIC_P50, PPI_METRIC_P90, PPI_METRIC_P99})
      table.Run({nullptr, n, 50, metric}, Rounds(4, 25));
  }
}

// Of `pairs` in which one of six stages became slower.
size_t CountFound(Durations *durations, const Cell &cell, double factor,
                  size_t pairs) {
  size_t found = 0;
  for (size_t pair = 0; pair < pairs; pair++) {
    Side a, b;
    MakePair(durations, cell, 1, &a, &b);
    a.Add(durations->Make(*cell.noise, cell.calls, 1));
    b.Add(durations->Make(*cell.noise, cell.calls, factor));
    found += Judge(a, b, cell.metric, 0.01).back().runs.verdict ==
             PPI_VERDICT_SLOWER;
  }
  return found;
}

const Noise &kIndependent = kNoises[0], &kHalf = kNoises[1];

TEST(ComparePropertyTest, OneOfSixStagesBecameSlower) {
  Durations durations(4);
  size_t pairs = Rounds(40, 200);
  EXPECT_GE(CountFound(&durations, {&kIndependent, 250, 5, PPI_METRIC_MEAN},
                       1.1, pairs),
            pairs * 9 / 10);
  for (ppi_metric metric : {PPI_METRIC_MEAN, PPI_METRIC_P50})
    EXPECT_GE(CountFound(&durations, {&kHalf, 1000, 5, metric}, 1.1, pairs),
              pairs * 9 / 10);
}

// The table of changes that are found; calls that are independent, or nearly,
// show one of 20 % however it is asked for.
TEST(ComparePropertyTest, HowManyChangesAreFound) {
  Durations durations(5);
  const bool is_long = pprof_test::IsLongRun();
  const size_t pairs = Rounds(10, 60);
  printf("| durations | calls | figure | 5 %% | 10 %% | 20 %% |\n");
  printf("|---|---:|---|---:|---:|---:|\n");
  for (const Noise &noise : kNoises) {
    bool is_easy = &noise == &kIndependent || &noise == &kHalf;
    for (size_t n : {50, 250, 1000}) {
      if (!is_long && (!is_easy || n < 250)) continue;
      for (ppi_metric metric : {PPI_METRIC_MEAN, PPI_METRIC_P50}) {
        printf("| %s | %zu | %s |", noise.name, n, ppi_metric_name(metric));
        size_t found = 0;
        for (double factor : {1.05, 1.1, 1.2}) {
          found = CountFound(&durations, {&noise, n, 0, metric}, factor, pairs);
          printf(" %zu |", found);
        }
        printf("\n");
        fflush(stdout);
        if (is_easy && n >= 250) {
          EXPECT_GE(found, pairs * 9 / 10);
        }
      }
    }
  }
}

// A change that `compare` reports as detectable is found in 9 of 10
// measurements.
TEST(ComparePropertyTest, FindsWhatItSaysItWould) {
  Durations durations(6);
  const Cell cell = {&kHalf, 1000, 1, PPI_METRIC_P50};
  double detectable = 0;
  for (int i = 0; i < 20; i++) {
    Side a, b;
    MakePair(&durations, cell, 1, &a, &b);
    detectable += Judge(a, b, cell.metric, 0.01)[0].runs.detectable / 20;
  }
  EXPECT_LT(detectable, 0.08);
  size_t pairs = Rounds(60, 600);
  EXPECT_GE(CountFound(&durations, {&kHalf, 1000, 0, cell.metric},
                       1 + detectable, pairs),
            pairs * 85 / 100);
}

// The program did not change. Its figure is known to half of the threshold of
// the command line.
TEST(ComparePropertyTest, UnchangedIsTheSame) {
  Durations durations(7);
  size_t pairs = Rounds(60, 600);
  for (double spread : {0.01, 0.02}) {
    const Noise noise = {"", Fast::kNormal, spread, 0, 0, Drift::kNone, 0};
    for (ppi_metric metric : {PPI_METRIC_MEAN, PPI_METRIC_P50}) {
      size_t same = 0;
      for (size_t pair = 0; pair < pairs; pair++) {
        Side a, b;
        MakePair(&durations, {&noise, 250, 1, metric}, 1, &a, &b);
        same += Judge(a, b, metric, 0.01)[0].runs.verdict == PPI_VERDICT_SAME;
      }
      EXPECT_GE(same, pairs * 85 / 100) << spread << ppi_metric_name(metric);
    }
  }
}

// Runs of these programs differ by 2 %, with calls of any kind.
struct Programs {
  size_t runs_a, runs_b, stages;
  double factor;  // of the last stage of B
};

void MakeRuns(Durations *durations, const Programs &cell, bool is_b,
              Side *out) {
  for (size_t i = 0; i < cell.stages; i++) {
    const Noise &noise = kNoises[i % (sizeof kNoises / sizeof *kNoises)];
    double factor = is_b && i + 1 == cell.stages ? cell.factor : 1;
    for (size_t run = 0; run < (is_b ? cell.runs_b : cell.runs_a); run++) {
      double level = std::exp(0.02 * durations->Normal());
      auto values = durations->Make(noise, 50, factor * level);
      run == 0 ? out->Add(values) : out->AddRun(values);
    }
  }
}

// Pairs with any alarm, or in which the last stage alone is slower.
Count CountPrograms(Durations *durations, const Programs &cell, size_t pairs) {
  Count count;
  for (; count.pairs < pairs; count.pairs++) {
    Side a, b;
    MakeRuns(durations, cell, false, &a);
    MakeRuns(durations, cell, true, &b);
    auto all = Judge(a, b, PPI_METRIC_P50, 0);
    bool any = false;
    for (const ppi_comparison &one : all)
      any |= one.programs.verdict <= PPI_VERDICT_SLOWER;
    count.alarms += any;
    count.rows += all.back().programs.verdict == PPI_VERDICT_SLOWER;
  }
  return count;
}

TEST(ComparePropertyTest, Programs) {
  Durations durations(9);
  size_t pairs = Rounds(20, 300);
  printf("| runs a side | stages | alarms | +10 %% found | +20 %% found |\n");
  printf("|---:|---:|---:|---:|---:|\n");
  for (auto [a, b] :
       {std::pair<size_t, size_t>{3, 3}, {5, 5}, {10, 10}, {3, 10}})
    for (size_t stages : {1, 10}) {
      Count same = CountPrograms(&durations, {a, b, stages, 1}, pairs);
      size_t found[2], at = 0;
      for (double factor : {1.1, 1.2})
        found[at++] =
            CountPrograms(&durations, {a, b, stages, factor}, pairs).rows;
      printf("| %zu, %zu | %zu | %zu of %zu | %zu | %zu |\n", a, b, stages,
             same.alarms, same.pairs, found[0], found[1]);
      fflush(stdout);
      EXPECT_GE(ChanceOf(same.alarms, same.pairs), 0.01)
          << a << ", " << b << " runs, " << stages;
      if (a > 3) {
        EXPECT_GE(found[1], pairs * 9 / 10) << a << " runs, " << stages;
      }
    }
}

// A newcomer measures these once: 3 996 requests with a median that falls by a
// third, and compile modes of 55 calls each.
TEST(ComparePropertyTest, OneRunEachDecidesWhatItCan) {
  Durations durations(8);
  size_t pairs = Rounds(5, 100);
  for (const Noise &noise : kNoises) {
    size_t found = 0;
    for (size_t pair = 0; pair < pairs; pair++) {
      Side a, b;
      MakePair(&durations, {&noise, 3996, 1, PPI_METRIC_P50}, 2.12 / 3.22, &a,
               &b);
      found += Judge(a, b, PPI_METRIC_P50, 0.01)[0].runs.verdict ==
               PPI_VERDICT_FASTER;
    }
    printf("| %s | %zu of %zu |\n", noise.name, found, pairs);
    bool is_shown = !StaysForARun(noise, 3996);
    EXPECT_GE(found, pairs * (is_shown ? 9 : 3) / 10) << noise.name;
  }
  for (double factor : {8.08 / 10.15, 5.15 / 8.08}) {
    size_t found = 0;
    for (size_t pair = 0; pair < 20 * pairs; pair++) {
      Side a, b;
      MakePair(&durations, {&kIndependent, 54, 1, PPI_METRIC_P50}, factor, &a,
               &b);
      found += Judge(a, b, PPI_METRIC_P50, 0.01)[0].runs.verdict ==
               PPI_VERDICT_FASTER;
    }
    printf("| 54 calls, %g | %zu of %zu |\n", factor, found, 20 * pairs);
    EXPECT_GE(found, 20 * pairs * 99 / 100);
  }
}

}  // namespace
