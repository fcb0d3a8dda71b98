// SPDX-License-Identifier: Apache-2.0
//
// From the samples of two inputs to both answers about each stage.
#pragma once

#include "compare/compare_comparison.h"

PPROF_BEGIN_C_

const char *ppi_verdict_name(ppi_verdict verdict);

// ppi_judge decides all `num` together: however many there are, the chance of
// any faster or slower where nothing changed is at most PPI_COMPARE_ALPHA, for
// each question. False when out of memory.
bool ppi_judge(ppi_comparison *comparisons, size_t num);

PPROF_END_C_
