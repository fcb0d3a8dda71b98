// SPDX-License-Identifier: Apache-2.0
//
// From the samples of two inputs to both answers about each stage.
#ifndef PPI_COMPARE_JUDGE_H_
#define PPI_COMPARE_JUDGE_H_

#include "compare/compare_comparison.h"

#ifdef __cplusplus
extern "C" {
#endif

const char *ppi_verdict_name(ppi_verdict verdict);

// ppi_judge decides all `num` together: however many there are, the chance of
// any faster or slower where nothing changed is at most PPI_COMPARE_ALPHA, for
// each question. False when out of memory.
bool ppi_judge(ppi_comparison *comparisons, size_t num);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COMPARE_JUDGE_H_
