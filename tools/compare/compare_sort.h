// SPDX-License-Identifier: Apache-2.0
//
// Sorts samples, or finds the one of a rank, in a time that does not depend on
// their order.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_sort_samples sorts n numbers, none of them NaN; `scratch` has room for n.
void ppi_sort_samples(float *values, float *scratch, size_t n);
// ppi_nth_sample answers the number that sorting would leave at `at`, below n.
float ppi_nth_sample(const float *values, size_t n, size_t at);

PPROF_END_C_
