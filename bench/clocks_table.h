// SPDX-License-Identifier: Apache-2.0
//
// The results of a pipeline timed in several ways: statistics and a table.
#ifndef EXAMPLES_CLOCKS_TABLE_H_
#define EXAMPLES_CLOCKS_TABLE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

enum Stage { kDetector, kShrink, kClassifier, kWait, kNumStages };
constexpr const char *kStageNames[kNumStages] = {"detector", "shrink",
                                                 "classifier", "wait"};

// All in milliseconds.
struct Samples {
  std::vector<double> iterations;
  std::vector<double> stages[kNumStages];  // empty: not measured this way
  std::vector<double> rounds;              // an iteration's median in each
};

// `bare` and `again` are measured without any timing: before the others in
// each round, and after them.
struct Results {
  Samples bare, host_clocks, synchronize, events, pprof, again;
};

inline double Median(std::vector<double> values) {
  if (values.empty()) return NAN;
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A way's added time in an iteration, in %: the median of its rounds, each
// against the bare rounds beside it, so that drift of the machine cancels.
inline double Cost(const Results &results, const Samples &way) {
  std::vector<double> costs;
  for (size_t i = 0; i < way.rounds.size(); i++) {
    const double bare = (results.bare.rounds[i] + results.again.rounds[i]) / 2;
    costs.push_back(100 * (way.rounds[i] / bare - 1));
  }
  return Median(costs);
}

// By how much two bare rounds side by side differ, in %.
inline double Spread(const Results &results) {
  std::vector<double> differences;
  for (size_t i = 0; i < results.bare.rounds.size(); i++)
    differences.push_back(
        100 * fabs(results.again.rounds[i] / results.bare.rounds[i] - 1));
  return Median(differences);
}

inline void PrintRow(const char *way, const Samples &samples) {
  printf("%-12s %10.3f", way, Median(samples.iterations));
  for (const std::vector<double> &stage : samples.stages) {
    if (stage.empty())
      printf(" %10s", "-");
    else
      printf(" %10.3f", Median(stage));
  }
  printf("\n");
}

inline void PrintTable(const Results &results) {
  printf("%-12s %10s", "timed by", "iteration");
  for (const char *name : kStageNames) printf(" %10s", name);
  printf("\n");
  PrintRow("nothing", results.bare);
  PrintRow("host clocks", results.host_clocks);
  PrintRow("synchronize", results.synchronize);
  PrintRow("events", results.events);
  PrintRow("pprof", results.pprof);
  PrintRow("nothing", results.again);
}

inline void Explain(const Results &results, const char *log) {
  const Samples &host_clocks = results.host_clocks;
  const Samples &synchronize = results.synchronize, &pprof = results.pprof;
  const auto median_ms = [](const Samples &samples, Stage stage) {
    return Median(samples.stages[stage]);
  };
  const auto more_us = [&](Stage stage) {
    return 1e3 * (median_ms(synchronize, stage) - median_ms(pprof, stage));
  };
  printf(
      "\nTwo rounds without timing, side by side, differ by %.2f %%: a cost\n"
      "  below that cannot be told from none.\n",
      Spread(results));
  printf(
      "host clocks: %+.2f %% on the pipeline. They saw the submitting, not\n"
      "  the work: %.3f ms for a detector that runs %.3f ms. The rest turns\n"
      "  up in the wait, %.3f ms for both models at once.\n",
      Cost(results, host_clocks), median_ms(host_clocks, kDetector),
      median_ms(pprof, kDetector), median_ms(host_clocks, kWait));
  printf(
      "synchronize: %+.2f %% on the pipeline. It saw the work and a trip to\n"
      "  the device and back (%+.0f and %+.0f us), but the CPU no longer "
      "works\n"
      "  while the device does: what it measures is another pipeline.\n",
      Cost(results, synchronize), more_us(kDetector), more_us(kClassifier));
  printf(
      "pprof: %+.2f %% on the pipeline. The models' times are the device's "
      "own.\n"
      "  `pprof-report %s` shows the last round.\n",
      Cost(results, pprof), log);
}

#endif  // EXAMPLES_CLOCKS_TABLE_H_
