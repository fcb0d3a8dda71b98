// SPDX-License-Identifier: Apache-2.0
//
// From the samples of two inputs to a verdict for each stage.
#ifndef PPI_COMPARE_JUDGE_H_
#define PPI_COMPARE_JUDGE_H_

#include "compare/compare_samples.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_COMPARE_ALPHA 0.05
// What p must be below: a fifth is left for what no model holds.
#define PPI_COMPARE_ALARM 0.04
#define PPI_COMPARE_HUGE 10.0  // a change that no table writes out

typedef enum ppi_verdict {
  PPI_VERDICT_FASTER = 0,
  PPI_VERDICT_SLOWER,
  PPI_VERDICT_SAME,
  PPI_VERDICT_AMBIGUOUS,
  PPI_NUM_VERDICTS
} ppi_verdict;
const char *ppi_verdict_name(ppi_verdict verdict);

// One figure of one stage, of A (the base) and of B. Fill in the stages, the
// inputs they come from, the metric and the margin.
typedef struct ppi_comparison {
  size_t inputs[2];
  const ppi_compare_stage *stages[2];  // NULL: not in that input
  ppi_metric metric;
  double margin;  // changes up to it do not matter: 0.05 is 5 %
  ppi_estimate estimates[2];
  // Of B / A, with its own interval of 95 %; 0: there is none.
  double ratio, low, high;
  double p_rank;      // that there is any change; of this row alone
  double p;           // that the change is above the margin, corrected
  double detectable;  // the change that would have been found in 9 of 10 runs
  // Whether its calls were looked at, and whether they allow a test. What was
  // looked at counts in the correction: what is left out then is no accident.
  bool is_read, is_tested;
  ppi_verdict verdict;
  char reason[80];  // of an ambiguous one
} ppi_comparison;

// ppi_judge decides all `num` together: however many there are, the chance of
// any faster or slower where nothing changed is at most PPI_COMPARE_ALPHA.
// False when out of memory.
bool ppi_judge(ppi_comparison *comparisons, size_t num);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COMPARE_JUDGE_H_
