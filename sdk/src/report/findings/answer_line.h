// SPDX-License-Identifier: Apache-2.0
//
// The line of the answer: which stage, how much, why.
#ifndef PPI_FINDINGS_ANSWER_LINE_H_
#define PPI_FINDINGS_ANSWER_LINE_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_answer_line says which part of a unit's time is the greatest, unless a
// rule has given the answer.
void ppi_answer_line(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_FINDINGS_ANSWER_LINE_H_
