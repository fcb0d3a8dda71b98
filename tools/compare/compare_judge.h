// SPDX-License-Identifier: Apache-2.0
//
// Decides both answers about each stage from the samples of two inputs.
#pragma once

#include "compare/compare_comparison.h"

PPROF_BEGIN_C_

const char *ppi_verdict_name(ppi_verdict verdict);

// ppi_judge decides all `num` together. The chance of any false "faster" or
// "slower" is at most PPI_COMPARE_ALPHA for each question, for any `num`. If
// levels stay for a whole run, its calls do not show them, and that holds for
// each comparison instead.
void ppi_judge(ppi_comparison *comparisons, size_t num);

PPROF_END_C_
