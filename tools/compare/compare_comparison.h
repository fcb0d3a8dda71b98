// SPDX-License-Identifier: Apache-2.0
//
// One figure of one stage on two sides, and two answers: whether these runs
// differ, and whether the programs differ.
#pragma once

#include "compare/compare_samples.h"

#define PPI_COMPARE_ALPHA 0.05
// Runs differ if p is below this. It is strict, since no model covers every
// dependence.
#define PPI_COMPARE_ALARM 0.01
#define PPI_COMPARE_HUGE 10.0  // a change that no table writes out

typedef enum ppi_verdict {
  PPI_VERDICT_FASTER = 0,
  PPI_VERDICT_SLOWER,
  PPI_VERDICT_SAME,
  PPI_VERDICT_AMBIGUOUS,
  PPI_NUM_VERDICTS
} ppi_verdict;

// The spread of one program's figure from run to run, in logarithms.
typedef struct ppi_run_spread {
  double squares;  // of the figures about their program's mean
  size_t degrees;  // runs less programs; 0: nothing is known
  double largest;  // between two runs of one program
} ppi_run_spread;

// The answer to one question.
typedef struct ppi_decision {
  bool is_tested;
  ppi_verdict verdict;
  double ratio, low, high;  // B / A with its own interval of 95 %; 0: none
  double p_rank;            // of any change; of this row alone
  double p;                 // of a change above the margin, corrected
  double detectable;  // the change that 9 of 10 measurements would have found
  double stays_for;   // calls of a level, if much of a run; else 0
  size_t more_runs;   // a side, enough to decide; 0: unknown, or too many
  char reason[80];    // of an ambiguous one
} ppi_decision;

// One figure of one stage, of A (the base) and of B. Fill in the stages, the
// inputs they come from, the metric, the margin and the history.
typedef struct ppi_comparison {
  size_t inputs[2];
  const ppi_compare_stage *stages[2];  // NULL: not in that input
  ppi_metric metric;
  double margin;           // changes up to it do not matter: 0.05 is 5 %
  ppi_run_spread history;  // of runs that are in neither input
  ppi_estimate estimates[2];
  // Whether its calls were read. All rows that were read count in the
  // correction; the others are left out without regard to results.
  bool is_read;
  ppi_decision runs, programs;
} ppi_comparison;
